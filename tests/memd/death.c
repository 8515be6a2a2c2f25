// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes die, and the rack goes on without them: what they had modified is what was last
 * written home, and said to be lost; their locks are free, and who has one next hears why;
 * nobody reads what only the dead knew of while another reads something else.  A node that
 * was only silent is let in again when it has dropped everything.
 *
 *	memd-death plain|switch 1|2
 */
#include <signal.h>

#include "fake.h"
#include "lock.h"

#define LEASE		"400"
#define LEASE_MS	400
#define BEAT_MS		50
#define LATEST_MS	(LEASE_MS + 600)	/* from the last sign of life */
#define LIMIT_MS	10000

static u32 blades;

/* The first blade's or the second one's life, with what its file has. */
static void start(u32 i)
{
	char file[128];
	const char *const args[] = {
		"--memory", "64M", "--lease", LEASE, "--backing", file,
		"--switch", rig_p4 ? "auto" : "none",
		"--peers", blades == 2 ? "10.87.0.101,10.87.0.105" : "10.87.0.101", NULL
	};

	snprintf(file, sizeof(file), "%s/death-%u", rig_dir(), i);
	rig_memd_start(WEFT_BLADE_MIN + i, args);
}

/* Those that live say so. */
static void beat(void)
{
	static u64 next;
	u8 payload[WEFT_CALL_LEN_MAX];
	u32 i;

	if (now_ms() < next)
		return;
	next = now_ms() + BEAT_MS;
	for (i = 1; i <= 3; i++) {
		struct fake *f = &fakes[i];
		struct weft_call c = {
			.op = WEFT_CALL_PEERS, .node = f->id, .life = f->life,
		};
		struct weft_msg msg = {
			.type = WEFT_MSG_CALL, .src = (u8)f->id,
			.txn = weft_txn(f->id, ++f->seq), .nonce = rig_random(~0u),
			.payload = payload,
		};

		msg.len = weft_call_pack(&c, payload);
		if (!f->dead)
			rig_send(f->at, WEFT_BLADE_MIN, &msg);
	}
}

static void live_for(u64 ms)
{
	u64 end = now_ms() + ms;

	while (now_ms() < end) {
		beat();
		fake_step(1);
	}
}

/* Permission for a line, while all that live go on living.  Return: milliseconds. */
static u64 get(struct fake *f, struct fake_line *fl, u8 perm)
{
	u64 begun = now_ms();

	while (!fake_want(f, fl, perm)) {
		CHECK(now_ms() - begun < LIMIT_MS);
		beat();
		fake_step(1);
	}
	return now_ms() - begun;
}

/* Nothing of the line is under way any more. */
static void settle(struct fake_line *fl)
{
	u64 end = now_ms() + LIMIT_MS;

	while (!weft_line_idle(&fl->l)) {
		CHECK(now_ms() < end);
		beat();
		fake_step(1);
	}
}

/* Node @f owns the block, which its home has with @home in it, and itself with @now. */
static void modify(struct fake *f, struct fake_line *fl, u8 home, u8 now)
{
	get(f, fl, WEFT_M);
	memset(fl->data, home, WEFT_REGION_BLOCK_MAX);
	settle(fl);
	live_for(50);
	CHECK(fake_clean(f, fl));
	settle(fl);
	memset(fl->data, now, WEFT_REGION_BLOCK_MAX);
}

/* Its home has begun a new life, and has taken the block back. */
static void wait_given_back(const struct fake_line *fl)
{
	u64 end = now_ms() + LIMIT_MS;

	while (weft_line_perm(&fl->l) != WEFT_I) {
		CHECK(now_ms() < end);
		beat();
		fake_step(1);
	}
}

static u64 stat_of_all(struct fake *f, const char *name)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < blades; i++)
		sum += fake_stat(f, WEFT_BLADE_MIN + i, name);
	return sum;
}

/* How many blocks of the region are lost, by all blades. */
static u64 count_lost(struct fake *f, u32 region, u32 flags)
{
	u64 sum = 0;
	u32 i, k;

	for (i = 0; i < blades; i++) {
		struct weft_call c = {
			.op = WEFT_CALL_LOST, .region = region, .valid = flags,
		};

		CHECK_EQ(fake_call(f, WEFT_BLADE_MIN + i, &c, LIMIT_MS), 0);
		CHECK_EQ(c.cookie, 0);
		sum += c.used;
		for (k = 0; k + 24 <= c.list_len; k += 24) {
			CHECK_EQ(get_unaligned_be32(c.list + k), region);
			sum += get_unaligned_be64(c.list + k + 16);
		}
	}
	return sum;
}

static void wait_swept(struct fake *f, u64 fenced)
{
	u64 end = now_ms() + LIMIT_MS;

	do {
		CHECK(now_ms() < end);
		live_for(10);
	} while (fake_stat(f, WEFT_BLADE_MIN, "nodes_fenced") < fenced ||
		 stat_of_all(f, "lines_moving"));
	live_for(50);
}

/* --- locks, of one program a node ------------------------------------------------- */

static struct seat {
	struct weft_lock l;
	u64 timer;
	u32 late;	/* time-outs in a row */
} seats[4];

static void lock_out(u32 n, struct weft_lock_out *out)
{
	struct seat *s = &seats[n];
	u32 i;

	for (i = 0; i < out->n; i++) {
		struct weft_send *m = &out->send[i];

		rig_send(fakes[n].at, m->to ? m->to : WEFT_BLADE_MIN +
			 weft_line_home(s->l.key, blades), &m->msg);
	}
	s->timer = out->effects & WEFT_DO_TIMER ? now_ms() + 30 :
		   weft_lock_idle(&s->l) ? 0 : s->timer;
	if (!s->timer)
		s->late = 0;
}

static void take_lock(struct fake *f, const struct weft_msg *msg)
{
	struct weft_lock_out out;

	if (f->id > 3 || msg->line != seats[f->id].l.key)
		return;
	weft_lock_recv(&seats[f->id].l, msg, ++f->seq, &out);
	lock_out(f->id, &out);
}

static void fence_locks(struct fake *f, u32 dead)
{
	struct weft_lock_out out;

	if (f->id > 3 || !seats[f->id].l.key)
		return;
	weft_lock_gone(&seats[f->id].l, dead, &out);
	lock_out(f->id, &out);
}

/* A moment in which all that live do, and node @n minds its lock. */
static void lock_step(u32 n)
{
	struct weft_lock_out out;

	beat();
	fake_step(1);
	if (!seats[n].timer || seats[n].timer > now_ms())
		return;
	weft_lock_timeout(&seats[n].l, &out);
	lock_out(n, &out);
	if (seats[n].l.want && ++seats[n].late >= WEFT_CHASE_AFTER)
		rig_send(fakes[n].at, WEFT_BLADE_MIN + weft_line_home(seats[n].l.key, blades),
			 &(struct weft_msg){
				.type = WEFT_MSG_CHASE, .src = (u8)n, .txn = seats[n].l.txn,
				.line = seats[n].l.key,
			 });
}

/* Return: milliseconds until it was there. */
static u64 get_lock(u32 n, u8 perm)
{
	struct weft_lock_out out;
	u64 begun = now_ms();

	weft_lock_want(&seats[n].l, perm, ++fakes[n].seq, &out);
	lock_out(n, &out);
	while (weft_lock_perm(&seats[n].l) < perm) {
		CHECK(now_ms() - begun < LIMIT_MS);
		lock_step(n);
	}
	return now_ms() - begun;
}

static void leave_lock(u32 n)
{
	u64 end = now_ms() + LIMIT_MS;
	struct weft_lock_out out;

	/* somebody else may want it already */
	if (seats[n].l.revoking || weft_lock_evict(&seats[n].l, &out)) {
		weft_lock_revoked(&seats[n].l, &out);
		lock_out(n, &out);
	}
	while (!weft_lock_idle(&seats[n].l)) {
		CHECK(now_ms() < end);
		lock_step(n);
	}
}

/* --- what happens -------------------------------------------------------------------- */

/* A node that comes back as it was finds that it is out, and joins as a new life. */
static void come_back(struct fake *f)
{
	struct weft_call c = { .op = WEFT_CALL_PEERS, .node = f->id, .life = f->life };
	struct weft_out out;
	u64 end = now_ms() + LIMIT_MS;
	u32 r, i;

	f->dead = false;
	CHECK_EQ(fake_call(f, WEFT_BLADE_MIN, &c, LIMIT_MS), 0);
	CHECK(!(c.members & weft_node_bit(f->id)));
	for (r = 0; r < FAKE_REGIONS; r++)
		for (i = 0; i < FAKE_LINES; i++)
			if (f->region[r].line[i].data)
				weft_line_forget(&f->region[r].line[i].l, &out);
	do {
		c = (struct weft_call){
			.op = WEFT_CALL_JOIN, .node = f->id, .life = f->life,
			.addr = rig_addr(f->at),
		};
		CHECK(now_ms() < end);
		beat();
	} while (fake_call(f, WEFT_BLADE_MIN, &c, 100));
	for (i = 1; i <= 3; i++)
		fakes[i].fenced &= ~weft_node_bit(f->id);
	fake_open_all(f);
}

/* An owner dies: what it modified is as it was at home, for everybody. */
static void owner_dies(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2], *c = &fakes[3];
	struct fake_line *al = fake_line(a, region, 0), *bl = fake_line(b, region, 0);
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced"), took;

	modify(a, al, 1, 2);
	a->dead = true;
	took = get(b, bl, WEFT_S);
	CHECK(took >= LEASE_MS / 2);
	CHECK(took < LATEST_MS);
	printf("# an owner's block is there %llu ms after the last sign of it, with a lease of %d\n",
	       (unsigned long long)took, LEASE_MS);
	CHECK(fake_is_filled(bl, 4096, 1));
	get(c, fake_line(c, region, 0), WEFT_M);
	CHECK(fake_is_filled(fake_line(c, region, 0), 4096, 1));
	wait_swept(b, fenced + 1);
	CHECK_EQ(fake_stat(b, WEFT_BLADE_MIN, "nodes"), 2);
	CHECK_EQ(count_lost(b, region, 0), 1);
	/* what it says now does not count: that it writes home, that it asks */
	a->dead = false;
	fake_clean(a, al);
	live_for(200);
	a->dead = true;
	CHECK(fake_evict(c, fake_line(c, region, 0), false));
	live_for(100);
	get(b, bl, WEFT_M);
	CHECK(fake_is_filled(bl, 4096, 1));
	CHECK_EQ(count_lost(b, region, WEFT_LOST_ACCEPT), 1);
	CHECK_EQ(count_lost(b, region, 0), 0);
	come_back(a);
	get(a, fake_line(a, region, 0), WEFT_S);
	CHECK(fake_is_filled(fake_line(a, region, 0), 4096, 1));
}

/* What is lost is listed before anybody asks for it. */
static void unasked(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
	u32 i;

	for (i = 8; i < 12; i++)
		modify(a, fake_line(a, region, i), 6, 7);
	get(a, fake_line(a, region, 12), WEFT_S);
	live_for(50);
	a->dead = true;
	wait_swept(b, fenced + 1);
	CHECK_EQ(count_lost(b, region, 0), 4);
	for (i = 8; i < 12; i++) {
		get(b, fake_line(b, region, i), WEFT_S);
		CHECK(fake_is_filled(fake_line(b, region, i), 4096, 6));
	}
	CHECK_EQ(count_lost(b, region, WEFT_LOST_ACCEPT), 4);
	come_back(a);
}

/* Only who was lent a block knows of that: it is given up before others read the home's. */
static void lender_dies(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2], *c = &fakes[3];
	struct fake_line *al = fake_line(a, region, 1), *bl = fake_line(b, region, 1),
			 *cl = fake_line(c, region, 1);
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
	u32 txn;

	modify(a, al, 3, 4);
	txn = fake_expect(b, bl, WEFT_S);
	CHECK(fake_pass(a, al, txn, false));
	live_for(100);
	CHECK_EQ(weft_line_perm(&bl->l), WEFT_S);
	CHECK(fake_is_filled(bl, 4096, 4));
	a->dead = true;
	get(c, cl, WEFT_S);
	CHECK(fake_is_filled(cl, 4096, 3));
	CHECK_EQ(weft_line_perm(&bl->l), WEFT_I);
	get(b, bl, WEFT_S);
	CHECK(fake_is_filled(bl, 4096, 3));
	wait_swept(b, fenced + 1);
	CHECK_EQ(count_lost(b, region, WEFT_LOST_ACCEPT), 1);
	come_back(a);
}

/* Who only reads leaves nothing behind, and nobody waits for it but for the lease. */
static void reader_dies(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	struct fake_line *al = fake_line(a, region, 2), *bl = fake_line(b, region, 2);
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");

	get(b, bl, WEFT_M);
	memset(bl->data, 5, WEFT_REGION_BLOCK_MAX);
	get(a, al, WEFT_S);
	live_for(100);
	a->dead = true;
	get(b, bl, WEFT_M);
	CHECK(fake_is_filled(bl, 4096, 5));
	wait_swept(b, fenced + 1);
	CHECK_EQ(count_lost(b, region, 0), 0);
	come_back(a);
}

/* A lock of a dead node is free; who has it next hears it, once. */
static void holder_dies(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced"), took;
	u32 i;

	for (i = 1; i <= 3; i++)
		weft_lock_init(&seats[i].l, weft_line_key(region, WEFT_KIND_LOCK, 64), (u8)i);
	fake_take_lock = take_lock;
	fake_fence_locks = fence_locks;
	get_lock(3, WEFT_S);
	CHECK(!seats[3].l.died);
	leave_lock(3);
	get_lock(1, WEFT_M);
	CHECK(!seats[1].l.died);
	live_for(100);
	a->dead = true;
	took = get_lock(2, WEFT_M);
	CHECK(took < LATEST_MS);
	printf("# a holder's lock is there %llu ms after the last sign of it\n",
	       (unsigned long long)took);
	CHECK(seats[2].l.died);
	leave_lock(2);
	get_lock(3, WEFT_M);
	CHECK(!seats[3].l.died);
	leave_lock(3);
	wait_swept(b, fenced + 1);
	come_back(a);
}

/* Who only waits for a lock leaves its place, and whoever waits behind it has the lock. */
static void waiter_dies(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced"), end = now_ms() + LIMIT_MS;
	struct weft_lock_out out;
	u32 i;

	for (i = 1; i <= 3; i++)
		weft_lock_init(&seats[i].l, weft_line_key(region, WEFT_KIND_LOCK, 128), (u8)i);
	get_lock(3, WEFT_M);
	weft_lock_want(&seats[1].l, WEFT_M, ++a->seq, &out);
	lock_out(1, &out);
	live_for(100);
	CHECK_EQ(weft_lock_perm(&seats[1].l), WEFT_I);
	a->dead = true;
	weft_lock_want(&seats[2].l, WEFT_M, ++b->seq, &out);
	lock_out(2, &out);
	live_for(100);
	leave_lock(3);
	while (weft_lock_perm(&seats[2].l) < WEFT_M) {
		CHECK(now_ms() < end);
		lock_step(2);
	}
	leave_lock(2);
	wait_swept(b, fenced + 1);
	get_lock(3, WEFT_M);
	leave_lock(3);
	come_back(a);
}

/*
 * A lock is in the switch, and its home begins a new life, in which it knows nothing of that.
 * Then its holder dies.  All the same who asks for it has it, and hears why.
 */
static void holder_dies_unknown(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
	u32 i, home;

	for (i = 1; i <= 3; i++)
		weft_lock_init(&seats[i].l, weft_line_key(region, WEFT_KIND_LOCK, 192), (u8)i);
	home = WEFT_BLADE_MIN + weft_line_home(seats[1].l.key, blades);
	get_lock(1, WEFT_M);
	live_for(200);
	rig_memd_stop(home, SIGKILL);
	a->dead = true;
	start(home - WEFT_BLADE_MIN);
	live_for(300);
	get_lock(2, WEFT_M);
	CHECK(seats[2].l.died);
	leave_lock(2);
	if (home == WEFT_BLADE_MIN)
		fenced = 0;
	wait_swept(b, fenced + 1);
	get_lock(3, WEFT_M);
	CHECK(!seats[3].l.died);
	leave_lock(3);
	come_back(a);
}

/* The same of a block: it is lost, and listed. */
static void owner_dies_unknown(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	struct fake_line *al = fake_line(a, region, 24), *bl = fake_line(b, region, 24);
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
	u32 home = WEFT_BLADE_MIN + weft_line_home(al->l.key, blades);

	modify(a, al, 10, 11);
	rig_memd_stop(home, SIGKILL);
	start(home - WEFT_BLADE_MIN);
	wait_given_back(al);
	/* the switch still has the line, and its home does not know */
	get(a, al, WEFT_M);
	CHECK(fake_is_filled(al, 4096, 11));
	memset(al->data, 12, WEFT_REGION_BLOCK_MAX);
	live_for(100);
	a->dead = true;
	if (home == WEFT_BLADE_MIN)
		fenced = 0;
	wait_swept(b, fenced + 1);
	CHECK_EQ(count_lost(b, region, WEFT_LOST_ACCEPT), 1);
	get(b, bl, WEFT_S);
	CHECK(fake_is_filled(bl, 4096, 11));
	come_back(a);
}

/* Who dies while it writes home what it drops: its home has that, or what it had, all of it. */
static void leaver_dies(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	struct fake_line *al, *bl;
	u64 fenced;
	u32 i, k;

	for (i = 16; i < 20; i++) {
		fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");
		al = fake_line(a, region, i);
		bl = fake_line(b, region, i);
		modify(a, al, 8, 9);
		(void)fake_evict(a, al, false);
		for (k = i % 4; k; k--)
			fake_step(1);
		a->dead = true;
		get(b, bl, WEFT_S);
		CHECK(fake_is_filled(bl, 4096, 8) || fake_is_filled(bl, 4096, 9));
		wait_swept(b, fenced + 1);
		come_back(a);
	}
	(void)count_lost(b, region, WEFT_LOST_ACCEPT);
}

/* An administrator need not wait; nor does a node that comes again as another life. */
static void by_hand_and_again(u32 region)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	struct weft_call c = { .op = WEFT_CALL_FENCE_NODE, .members = weft_node_bit(2) };
	u64 fenced = fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced");

	CHECK_EQ(fake_call(b, WEFT_BLADE_MIN, &c, LIMIT_MS), EINVAL);
	c = (struct weft_call){ .op = WEFT_CALL_FENCE_NODE, .members = weft_node_bit(7) };
	CHECK_EQ(fake_call(b, WEFT_BLADE_MIN, &c, LIMIT_MS), ENOENT);
	get(a, fake_line(a, region, 3), WEFT_M);
	c = (struct weft_call){ .op = WEFT_CALL_FENCE_NODE, .members = weft_node_bit(1) };
	CHECK_EQ(fake_call(b, WEFT_BLADE_MIN, &c, LIMIT_MS), 0);
	a->dead = true;
	CHECK(get(b, fake_line(b, region, 3), WEFT_M) < LEASE_MS);
	wait_swept(b, fenced + 1);
	come_back(a);
	CHECK(fake_stat(b, WEFT_BLADE_MIN, "nodes_fenced") == fenced + 1);
}

int main(int argc, char **argv)
{
	u32 region, i;

	if (argc != 3)
		CHECK_FAIL("usage: memd-death plain|switch 1|2");
	blades = !strcmp(argv[2], "2") ? 2 : 1;
	rig_open(true, 1);
	rig_p4 = !strcmp(argv[1], "switch");
	for (i = 0; i < blades; i++)
		start(i);
	fake_init(blades);
	for (i = 1; i <= 3; i++)
		CHECK_EQ(fake_join(&fakes[i]), 0);
	CHECK_EQ(fake_create(&fakes[1], "lines", 256 * 4096, 4096, &region), 0);
	for (i = 1; i <= 3; i++)
		CHECK_EQ(fake_open(&fakes[i], region, 4096), 0);
	owner_dies(region);
	unasked(region);
	lender_dies(region);
	reader_dies(region);
	holder_dies(region);
	waiter_dies(region);
	if (rig_p4) {
		holder_dies_unknown(region);
		owner_dies_unknown(region);
	}
	leaver_dies(region);
	by_hand_and_again(region);
	rig_close();
	return check_result();
}
