// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that take locks homed at real memory blades, with and without a switch,
 * on a network that loses, repeats and reorders: never a writer beside anybody
 * else, everybody gets what he waits for, and nothing is left in the switch.
 *
 *	memd-locks switch|plain BLADES LOSS DUP REORDER TIMES [SEED [RESTARTS [MOVES]]]
 *
 * So many RESTARTS of a blade, killed, of both, or of the switch: who holds a lock goes on.
 *
 * LOSS, DUP and REORDER in parts of 1000; until locks were taken so many TIMES that
 * had to be asked for.  What a node takes of its own cache does not count: while this
 * machine keeps the blades waiting, a node does nothing but that.
 */
#include <signal.h>

#include "fake.h"
#include "lock.h"

#define NODES		5
#define LOCKS		20
#define TIMEOUT_MS	25u
#define BACKOFF_MS	2
#define LIMIT_MS	(10000 * (u64)rig_scale())

/* A lock at a node, with one program that wants or has it. */
struct seat {
	struct weft_lock l;
	u8 want;
	u8 hold;
	bool asked;	/* for what it wants or holds */
	u64 timer;
	u64 since;	/* waiting */
};

static struct seat seats[RIG_NODES + 1][LOCKS];
static u32 region, blades;
static unsigned long taken[3], cached, waited_for;
static u32 claims, renewals;
static long restarts;
static u64 begun[RIG_BLADES];	/* of each blade, when it was started again */

/* On both sides of a page's border, and where the blades take turns. */
static u64 offset(u32 i)
{
	return i * 4096 / 2 + (i & 1 ? 0 : 61);
}

static void carry_out(struct fake *f, struct seat *s, struct weft_lock_out *out)
{
	struct weft_lock_out more;
	u32 i;

	for (i = 0; i < out->n; i++) {
		struct weft_send *m = &out->send[i];

		rig_send(f->at, m->to ? m->to : fake_home(f, s->l.key), &m->msg);
	}
	CHECK(!(out->effects & WEFT_DO_FAIL));
	if (out->effects & WEFT_DO_WAKE && s->want && s->l.state >= s->want) {
		s->hold = s->want;
		s->want = WEFT_I;
	}
	if (out->effects & WEFT_DO_TIMER)
		s->timer = now_ms() + (out->effects & WEFT_DO_BACKOFF ?
			BACKOFF_MS + rig_random(BACKOFF_MS) :
			TIMEOUT_MS << (s->l.tries < 4 ? s->l.tries : 4));
	else if (weft_lock_idle(&s->l))
		s->timer = 0;
	if (out->effects & WEFT_DO_FREE)
		weft_lock_init(&s->l, s->l.key, s->l.self);
	if (s->l.revoking && !s->hold) {
		weft_lock_revoked(&s->l, &more);
		carry_out(f, s, &more);
	}
}

/* Ask for what the program still waits for. */
static void pursue(struct fake *f, struct seat *s)
{
	struct weft_lock_out out;

	if (!s->want)
		return;
	if (weft_lock_perm(&s->l) >= s->want) {
		s->hold = s->want;
		s->want = WEFT_I;
		return;
	}
	s->asked = true;
	weft_lock_want(&s->l, s->want, ++f->seq, &out);
	carry_out(f, s, &out);
}

static struct seat *seat_of(struct fake *f, u64 key)
{
	u32 i;

	for (i = 0; i < LOCKS; i++)
		if (seats[f->id][i].l.key == key)
			return &seats[f->id][i];
	CHECK_FAIL("node %u is asked for lock %llx", f->id, (unsigned long long)key);
}

static void take_lock(struct fake *f, const struct weft_msg *msg)
{
	struct seat *s = seat_of(f, msg->line);
	struct weft_lock_out out;

	weft_lock_recv(&s->l, msg, ++f->seq, &out);
	carry_out(f, s, &out);
	pursue(f, s);
}

/* As kmod/locks/reclaim.c does: what programs hold is claimed, the rest begins anew. */
static void renew_locks(struct fake *f, u32 blade, const struct weft_call *c)
{
	u8 payload[WEFT_CALL_LEN_MAX], *p;
	struct weft_call claim = {
		.op = WEFT_CALL_CLAIM, .life = c->life,
		.region = c->op == WEFT_CALL_MOVE ? c->region : 0,
	};
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL,
		.src = (u8)f->id,
		.txn = weft_txn(f->id, ++f->seq),
		.payload = payload,
	};
	u32 i;

	CHECK(!(c->valid & WEFT_RENEW_LATE));
	renewals++;
	for (i = 0; i < LOCKS; i++) {
		struct seat *s = &seats[f->id][i];
		struct weft_lock old = s->l;

		if (fake_home(f, old.key) != blade)
			continue;
		if (s->hold) {
			p = claim.list + claim.list_len;
			put_unaligned_be64(old.key, p);
			put_unaligned_be32(old.yielding && (int)(old.yield - old.epoch) > 0 ?
					   old.yield : old.epoch, p + 8);
			put_unaligned_be32((u32)old.state << 24, p + 12);
			claim.list_len += WEFT_CLAIM_LEN;
			claims++;
		}
		if (!s->hold || old.state == WEFT_S) {
			weft_lock_init(&s->l, old.key, old.self);
			s->l.state = s->hold ? WEFT_S : WEFT_I;
			s->l.epoch = s->hold ? old.epoch : 0;
			s->timer = 0;
			pursue(f, s);
		}
	}
	msg.len = weft_call_pack(&claim, payload);
	if (claim.region)
		f->move_claim[blade - WEFT_BLADE_MIN] = msg.txn;
	else
		f->claim_txn[blade - WEFT_BLADE_MIN] = msg.txn;
	rig_send(f->at, blade, &msg);
}

static void check_lock(u32 i)
{
	u32 n, readers = 0, writers = 0;

	for (n = 1; n <= NODES; n++) {
		const struct seat *s = &seats[n][i];

		readers += s->l.state == WEFT_S;
		writers += s->l.state == WEFT_M;
		CHECK(s->hold <= s->l.state);
	}
	CHECK(writers + !!readers <= 1);
}

static void show(u32 i)
{
	u32 n;

	for (n = 1; n <= NODES; n++) {
		const struct seat *s = &seats[n][i];

		fprintf(stderr, "node %u: program waits %u holds %u; state %u want %u revoking %d tenured %d handing %d to %x query %x epoch %u last %u waiting on %x queue of %u timer in %lld ms\n",
			n, s->want, s->hold, s->l.state, s->l.want, s->l.revoking,
			s->l.tenured, s->l.handing, s->l.handed_to, s->l.query,
			s->l.epoch, s->l.last, s->l.waiting_on, s->l.queue.n,
			s->timer ? (long long)(s->timer - now_ms()) : 0);
	}
}

/*
 * Since when somebody should have answered this seat, which waits.  Who waits gets nothing of
 * a blade that is dead, and a blade has to join the first one before it serves: each restart
 * takes both some 2 s, and several may follow one another before a lock has its turn.
 */
static u64 answerable(const struct seat *s)
{
	u64 home = begun[fake_home(&fakes[1], s->l.key) - WEFT_BLADE_MIN];
	u64 up = home > begun[0] ? home : begun[0];

	return s->since > up ? s->since : up;
}

static void time_out(void)
{
	struct weft_lock_out out;
	u64 now = now_ms();
	u32 n, i;

	for (n = 1; n <= NODES; n++)
		for (i = 0; i < LOCKS; i++) {
			struct seat *s = &seats[n][i];

			if (s->want && now > answerable(s) + LIMIT_MS) {
				show(i);
				CHECK_FAIL("node %u never gets lock %u", n, i);
			}
			if (!s->timer || s->timer > now)
				continue;
			s->timer = 0;
			weft_lock_timeout(&s->l, &out);
			carry_out(&fakes[n], s, &out);
		}
}

static void let_go(struct fake *f, struct seat *s)
{
	struct weft_lock_out out;

	if (s->asked)
		taken[s->hold]++;
	else
		cached++;
	s->hold = WEFT_I;
	s->asked = false;
	if (!s->l.revoking)
		return;
	waited_for++;
	weft_lock_revoked(&s->l, &out);
	carry_out(f, s, &out);
}

static void step(void)
{
	u32 n = 1 + rig_random(NODES);
	/* some are wanted by many */
	u32 i = rig_random(2) ? rig_random(3) : rig_random(LOCKS);
	struct fake *f = &fakes[n];
	struct seat *s = &seats[n][i];
	struct weft_lock_out out;

	if (s->hold) {
		/* long enough for a restart in the midst of it */
		if (!restarts || !rig_random(16))
			let_go(f, s);
	} else if (!s->want && !rig_random(16) && weft_lock_evict(&s->l, &out)) {
		carry_out(f, s, &out);
	} else if (!s->want) {
		s->want = rig_random(3) ? WEFT_S : WEFT_M;
		s->since = now_ms();
		pursue(f, s);
	}
	fake_step(0);
	time_out();
	check_lock(i);
}

/* Nobody wants, nobody holds, nobody has any. */
static void settle(void)
{
	u64 end = now_ms() + LIMIT_MS;
	struct weft_lock_out out;
	bool busy = true;
	u32 n, i;

	while (busy) {
		busy = false;
		for (n = 1; n <= NODES; n++)
			for (i = 0; i < LOCKS; i++) {
				struct seat *s = &seats[n][i];

				if (s->hold)
					let_go(&fakes[n], s);
				else if (!s->want && weft_lock_evict(&s->l, &out))
					carry_out(&fakes[n], s, &out);
				busy |= s->want || s->l.state || !weft_lock_idle(&s->l);
				check_lock(i);
			}
		fake_step(1);
		time_out();
		if (now_ms() > end)
			CHECK_FAIL("locks do not come to rest");
	}
}

/*
 * The nodes go on with the locks that they have, though not so fast that they are done
 * with all they want before the blade is there again.
 */
static void restart_something(void)
{
	u32 which = rig_random(blades + rig_p4 + (blades > 1)), before = renewals, i;
	u64 end = now_ms() + 2 * LIMIT_MS;
	bool all = which >= blades;

	if (rig_p4 && which == blades) {
		rig_switch_restart();
		return;
	}
	for (i = 0; i < blades; i++)
		if (all || i == which)
			rig_memd_stop(WEFT_BLADE_MIN + i, SIGKILL);
	while (rig_random(8))
		step();
	for (i = 0; i < blades; i++)
		if (all || i == which) {
			rig_blade_start(blades, i);
			begun[i] = now_ms();
		}
	while (renewals == before) {
		CHECK(now_ms() < end);
		fake_step(1);
		step();
	}
}

/* Now and then the locks get other homes, but for the last time certainly. */
static void move_something(void)
{
	CHECK_EQ(fake_spread(&fakes[1], region, 1 + rig_random((1u << blades) - 1)), 0);
}

static void move_for_certain(void)
{
	u32 before = fakes[2].moves, homes = blades > 1 ? 2 : 1;
	u64 end = now_ms() + 2 * LIMIT_MS;
	struct weft_call c;

	/* it is there already: away first */
	CHECK_EQ(fake_spread(&fakes[1], region, 1), 0);
	while (fake_call_region(&fakes[1], WEFT_CALL_GETATTR, region, &c) || c.homes != 1 ||
	       c.valid & WEFT_REGION_FROZEN) {
		CHECK(now_ms() < end);
		step();
	}
	CHECK_EQ(fake_spread(&fakes[1], region, homes), 0);
	while (fake_call_region(&fakes[1], WEFT_CALL_GETATTR, region, &c) || c.homes != homes ||
	       c.valid & WEFT_REGION_FROZEN) {
		CHECK(now_ms() < end);
		step();
	}
	CHECK(fakes[2].moves > before);
}

int main(int argc, char **argv)
{
	struct rig_job job;
	u32 n, i, slots = 0;
	struct weft_call c;
	unsigned long times;
	long left, moves, left_moves;
	int k;

	job = rig_begin(argc, argv);
	blades = job.blades;
	times = job.times;
	left = restarts = job.restarts;
	left_moves = moves = job.moves;
	fake_init(blades);
	fake_take_lock = take_lock;
	fake_renew_locks = renew_locks;
	for (n = 1; n <= NODES; n++)
		CHECK_EQ(fake_join(&fakes[n]), 0);
	CHECK_EQ(fake_create(&fakes[1], "locks", LOCKS * 4096, 4096, &region), 0);
	for (n = 1; n <= NODES; n++) {
		CHECK_EQ(fake_open(&fakes[n], region, 4096), 0);
		for (i = 0; i < LOCKS; i++)
			weft_lock_init(&seats[n][i].l,
				       weft_line_key(region, WEFT_KIND_LOCK, offset(i)),
				       (u8)n);
	}
	rig_faults = job.faults;
	while (taken[WEFT_S] + taken[WEFT_M] < times) {
		step();
		if (left && taken[WEFT_S] + taken[WEFT_M] >
			    times / (unsigned long)(restarts + 1) *
			    (unsigned long)(restarts - left + 1)) {
			left--;
			restart_something();
		}
		if (left_moves && taken[WEFT_S] + taken[WEFT_M] >
			    times / (unsigned long)(moves + 1) *
			    (unsigned long)(moves - left_moves + 1)) {
			left_moves--;
			move_something();
		}
	}
	if (moves)
		move_for_certain();
	CHECK(!left && !left_moves);
	/* a switch's restart has no claims, and a blade's few if hardly a lock is held */
	for (k = 0; restarts && claims <= (u32)restarts; k++) {
		CHECK(k < 20);
		restart_something();
		for (i = 0; i < 1000; i++)
			step();
	}
	settle();
	rig_faults = (struct rig_faults){ 0 };
	CHECK(taken[WEFT_S] > times / 4);
	CHECK(taken[WEFT_M] > times / 8);
	CHECK(waited_for > times / 8);
	if (rig_p4)
		CHECK(restarts || moves || rig_switch.count[WEFT_COUNT_HANDED] > times / 8);
	/* what stands beyond the new end leaves the switch, then the rest */
	CHECK_EQ(fake_set_size(&fakes[1], region, LOCKS / 2 * 4096 / 2), 0);
	CHECK_EQ(fake_call_named(&fakes[1], WEFT_CALL_UNLINK, "locks", &c), 0);
	for (n = 1; n <= NODES; n++)
		CHECK_EQ(fake_call_region(&fakes[n], WEFT_CALL_CLOSE, region, &c), 0);
	for (k = 0; k < 100; k++)
		fake_step(10);
	/* a blade that begins while there is a region leaves its mark, see looks_mark() */
	for (i = 0; i < WEFT_SWITCH_SLOTS; i++)
		slots += weft_line_region(rig_switch.slots[i].tag) == region;
	/* a blade does not know what its former life has put there */
	CHECK(restarts || moves || !slots);
	rig_blades_stop(blades, SIGTERM);
	printf("asked for and taken to read %lu, to write %lu; %lu taken without asking; somebody else waited %lu times; %u claims\n",
	       taken[WEFT_S], taken[WEFT_M], cached, waited_for,
	       claims);
	rig_close();
	return check_result();
}
