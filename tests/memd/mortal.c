// SPDX-License-Identifier: GPL-2.0-only
/* Nodes that die, see mortal.h. */
#include "mortal.h"

#define BEAT_MS		50
#define TIMEOUT_MS	30	/* of a lock */

u32 mortal_blades;
u32 mortal_nodes;
u32 mortal_told_not_yet;
struct mortal_seat mortal_seats[MORTALS + 1];

static const char *lease;
static bool backing;

static void take_lock(struct fake *f, const struct weft_msg *msg);
static void fence_locks(struct fake *f, u32 dead);
static void beat(void);

/* --- the rack ------------------------------------------------------------------- */

void mortal_start(u32 i)
{
	char file[128];
	const char *const args[] = {
		"--memory", "64M", "--lease", lease,
		"--switch", rig_p4 ? "auto" : "none",
		"--peers", mortal_blades == 2 ? "10.87.0.101,10.87.0.105" : "10.87.0.101",
		backing ? "--backing" : NULL, file, NULL
	};

	snprintf(file, sizeof(file), "%s/mortal-%u", rig_dir(), i);
	rig_memd_start(WEFT_BLADE_MIN + i, args);
}

void mortal_open(bool p4, u32 n_blades, const char *lease_ms, bool files, u32 nodes)
{
	u32 i;

	lease = lease_ms;
	backing = files;
	mortal_blades = n_blades;
	mortal_nodes = nodes;
	rig_open(true, 1);
	rig_p4 = p4;
	for (i = 0; i < n_blades; i++)
		mortal_start(i);
	fake_init(n_blades);
	fake_take_lock = take_lock;
	fake_fence_locks = fence_locks;
	fake_idle = beat;
	for (i = 1; i <= nodes; i++)
		CHECK_EQ(fake_join(&fakes[i]), 0);
}

/* Those that live say so, if it is time. */
static void beat(void)
{
	static u64 next;
	u8 payload[WEFT_CALL_LEN_MAX];
	u32 i;

	if (!strcmp(lease, "0") || now_ms() < next)
		return;
	next = now_ms() + BEAT_MS;
	for (i = 1; i <= mortal_nodes; i++) {
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

void mortal_live(u64 ms)
{
	u64 end = now_ms() + ms;

	while (now_ms() < end)
		fake_step(1);
}

/* --- blocks ---------------------------------------------------------------------- */

/* Have others heard that it is dead?  Then no blade answers it any more, even if it lives. */
static bool is_out(u32 id)
{
	u32 i;

	for (i = 1; i <= mortal_nodes; i++)
		if (fakes[i].fenced & weft_node_bit(id))
			return true;
	return false;
}

/* Return: false if the node is taken out before. */
static bool get(struct fake *f, struct fake_line *fl, u8 perm)
{
	u64 end = now_ms() + MORTAL_LIMIT_MS;

	while (!fake_want(f, fl, perm)) {
		if (is_out(f->id))
			return false;
		CHECK(now_ms() < end);
		fake_step(1);
	}
	return true;
}

static bool settle(const struct fake_line *fl)
{
	u64 end = now_ms() + MORTAL_LIMIT_MS;

	while (!weft_line_idle(&fl->l)) {
		if (is_out(fl->l.self))
			return false;
		CHECK(now_ms() < end);
		fake_step(1);
	}
	return true;
}

u64 mortal_get(struct fake *f, struct fake_line *fl, u8 perm)
{
	u64 begun = now_ms();

	CHECK(get(f, fl, perm));
	return now_ms() - begun;
}

void mortal_settle(const struct fake_line *fl)
{
	CHECK(settle(fl));
}

bool mortal_try_modify(struct fake *f, struct fake_line *fl, u8 home, u8 now)
{
	if (!get(f, fl, WEFT_M))
		return false;
	memset(fl->data, home, WEFT_REGION_BLOCK_MAX);
	if (!settle(fl))
		return false;
	mortal_live(50);
	CHECK(fake_clean(f, fl));
	if (!settle(fl))
		return false;
	memset(fl->data, now, WEFT_REGION_BLOCK_MAX);
	return true;
}

void mortal_modify(struct fake *f, struct fake_line *fl, u8 home, u8 now)
{
	CHECK(mortal_try_modify(f, fl, home, now));
}

/* --- what blades say -------------------------------------------------------------- */

u64 mortal_stat(struct fake *f, const char *name)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < mortal_blades; i++)
		sum += fake_stat(f, WEFT_BLADE_MIN + i, name);
	return sum;
}

u64 mortal_lost(struct fake *f, u32 region, u32 flags)
{
	u64 sum = 0;
	u32 i, k;

	for (i = 0; i < mortal_blades; i++) {
		struct weft_call c = {
			.op = WEFT_CALL_LOST, .region = region, .valid = flags,
		};

		CHECK_EQ(fake_call(f, WEFT_BLADE_MIN + i, &c, MORTAL_LIMIT_MS), 0);
		CHECK_EQ(c.cookie, 0);
		sum += c.used;
		for (k = 0; k + 24 <= c.list_len; k += 24) {
			CHECK_EQ(get_unaligned_be32(c.list + k), region);
			sum += get_unaligned_be64(c.list + k + 16);
		}
	}
	return sum;
}

/* Do all blades know who is left? */
static bool all_know(struct fake *f)
{
	u32 i, alive = 0;

	for (i = 1; i <= mortal_nodes; i++)
		alive += !fakes[i].dead;
	for (i = 0; i < mortal_blades; i++)
		if (fake_stat(f, WEFT_BLADE_MIN + i, "nodes") != alive)
			return false;
	return true;
}

void mortal_wait_swept(struct fake *f, u64 fenced)
{
	u64 end = now_ms() + MORTAL_LIMIT_MS;

	do {
		CHECK(now_ms() < end);
		mortal_live(10);
	} while (fake_stat(f, WEFT_BLADE_MIN, "nodes_fenced") < fenced ||
		 !all_know(f) || mortal_stat(f, "lines_moving"));
	mortal_live(50);
}

/* --- locks, of one program a node ------------------------------------------------- */

static void lock_out(u32 n, struct weft_lock_out *out)
{
	struct mortal_seat *s = &mortal_seats[n];
	u32 i;

	for (i = 0; i < out->n; i++) {
		struct weft_send *m = &out->send[i];

		rig_send(fakes[n].at, m->to ? m->to : WEFT_BLADE_MIN +
			 weft_line_home(s->l.key, mortal_blades), &m->msg);
	}
	s->timer = out->effects & WEFT_DO_TIMER ? now_ms() + TIMEOUT_MS :
		   weft_lock_idle(&s->l) ? 0 : s->timer;
	if (out->effects & WEFT_DO_TIMER)
		s->refused = out->effects & WEFT_DO_BACKOFF;
	if (!s->timer)
		s->late = 0;
}

static void take_lock(struct fake *f, const struct weft_msg *msg)
{
	struct weft_lock_out out;

	if (f->id > mortal_nodes || msg->line != mortal_seats[f->id].l.key)
		return;
	weft_lock_recv(&mortal_seats[f->id].l, msg, ++f->seq, &out);
	lock_out(f->id, &out);
}

static void fence_locks(struct fake *f, u32 dead)
{
	struct weft_lock_out out;

	if (f->id > mortal_nodes || !mortal_seats[f->id].l.key)
		return;
	weft_lock_gone(&mortal_seats[f->id].l, dead, &out);
	lock_out(f->id, &out);
}

/* What a program holds is claimed at the lock's home, which begins anew. */
static void claim_lock(struct fake *f, u32 blade, const struct weft_call *c)
{
	const struct weft_lock *l = &mortal_seats[f->id].l;
	struct weft_call claim = { .op = WEFT_CALL_CLAIM, .life = c->life };
	u32 *txn = &f->claim_txn[blade - WEFT_BLADE_MIN];
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL, .src = (u8)f->id, .payload = payload,
	};

	/* RENEW has come again, and no answer: the same claim, which counts once */
	if (*txn <= 1)
		*txn = weft_txn(f->id, ++f->seq);
	msg.txn = *txn;
	if (f->id <= mortal_nodes && l->tenured &&
	    blade == WEFT_BLADE_MIN + weft_line_home(l->key, mortal_blades)) {
		put_unaligned_be64(l->key, claim.list);
		put_unaligned_be32(l->epoch, claim.list + 8);
		put_unaligned_be32((u32)l->state << 24, claim.list + 12);
		claim.list_len = WEFT_CLAIM_LEN;
	}
	msg.len = weft_call_pack(&claim, payload);
	rig_send(f->at, blade, &msg);
}

void mortal_claim(bool on)
{
	fake_renew_locks = on ? claim_lock : NULL;
}

void mortal_seat(u64 key)
{
	u32 i;

	for (i = 1; i <= mortal_nodes; i++) {
		weft_lock_init(&mortal_seats[i].l, key, (u8)i);
		mortal_seats[i].timer = 0;
		mortal_seats[i].late = 0;
		mortal_seats[i].refused = false;
		mortal_seats[i].lets = false;
	}
}

/* As chases() of kmod/locks/step.c. */
static bool chases(struct mortal_seat *s, bool refused)
{
	bool waits = s->l.want && !s->l.tenured;

	if (refused)
		return (s->l.handing || waits) && weft_chase_is_due(s->l.nacks);
	return ++s->late >= WEFT_CHASE_AFTER && waits;
}

void mortal_mind(u32 n)
{
	struct mortal_seat *s = &mortal_seats[n];
	struct weft_lock_out out;
	bool refused;

	if (s->lets && s->l.revoking)
		mortal_let_lock(n);
	if (!s->timer || s->timer > now_ms() || fakes[n].dead)
		return;
	refused = s->refused;
	weft_lock_timeout(&s->l, &out);
	lock_out(n, &out);
	if (chases(s, refused))
		rig_send(fakes[n].at, WEFT_BLADE_MIN + weft_line_home(s->l.key, mortal_blades),
			 &(struct weft_msg){
				.type = WEFT_MSG_CHASE, .src = (u8)n, .txn = s->l.txn,
				.line = s->l.key,
			 });
}

void mortal_step(u32 n)
{
	fake_step(1);
	mortal_mind(n);
}

void mortal_ask_lock(u32 n, u8 perm)
{
	struct weft_lock_out out;

	weft_lock_want(&mortal_seats[n].l, perm, ++fakes[n].seq, &out);
	lock_out(n, &out);
}

u64 mortal_get_lock(u32 n, u8 perm)
{
	u64 begun = now_ms();

	mortal_ask_lock(n, perm);
	while (weft_lock_perm(&mortal_seats[n].l) < perm) {
		CHECK(now_ms() - begun < MORTAL_LIMIT_MS);
		mortal_step(n);
	}
	return now_ms() - begun;
}

void mortal_let_lock(u32 n)
{
	struct weft_lock_out out;

	/* somebody else may want it already */
	if (mortal_seats[n].l.revoking || weft_lock_evict(&mortal_seats[n].l, &out)) {
		weft_lock_revoked(&mortal_seats[n].l, &out);
		lock_out(n, &out);
	}
}

void mortal_leave_lock(u32 n)
{
	u64 end = now_ms() + MORTAL_LIMIT_MS;

	mortal_let_lock(n);
	while (!weft_lock_idle(&mortal_seats[n].l)) {
		CHECK(now_ms() < end);
		mortal_step(n);
	}
}

/* --- coming back ------------------------------------------------------------------ */

/* What was in its memory is gone. */
static void forget_all(struct fake *f)
{
	u32 r, i;

	for (r = 0; r < FAKE_REGIONS; r++)
		for (i = 0; i < FAKE_LINES; i++) {
			struct fake_line *fl = &f->region[r].line[i];

			if (!fl->data)
				continue;
			weft_line_init(&fl->l, fl->l.key, (u8)f->id);
			fl->timer = 0;
			fl->failed = false;
		}
	weft_lock_init(&mortal_seats[f->id].l, mortal_seats[f->id].l.key, (u8)f->id);
	mortal_seats[f->id].timer = 0;
	mortal_seats[f->id].late = 0;
}

/* Nodes of even numbers are of a time when there was no "not yet". */
static void join(struct fake *f)
{
	u64 end = now_ms() + MORTAL_LIMIT_MS;
	bool asks_again = f->id % 2;
	struct weft_call c;
	int err;
	u32 i;

	do {
		c = (struct weft_call){
			.op = WEFT_CALL_JOIN, .node = f->id, .life = f->life,
			.addr = rig_addr(f->at), .valid = asks_again ? WEFT_JOIN_ASKS_AGAIN : 0,
		};
		CHECK(now_ms() < end);
		err = fake_call(f, WEFT_BLADE_MIN, &c, 100);
		CHECK(err != EAGAIN || asks_again);
		mortal_told_not_yet += err == EAGAIN;
	} while (err);
	f->booting = false;
	for (i = 1; i <= mortal_nodes; i++)
		fakes[i].fenced &= ~weft_node_bit(f->id);
	fake_open_all(f);
}

void mortal_come_back(struct fake *f)
{
	struct weft_call c = { .op = WEFT_CALL_PEERS, .node = f->id, .life = f->life };

	f->dead = false;
	CHECK_EQ(fake_call(f, WEFT_BLADE_MIN, &c, MORTAL_LIMIT_MS), 0);
	CHECK(!(c.members & weft_node_bit(f->id)));
	forget_all(f);
	join(f);
}

void mortal_come_back_all(void)
{
	u32 i;

	for (i = 1; i <= mortal_nodes; i++) {
		struct fake *f = &fakes[i];
		struct weft_call c = { .op = WEFT_CALL_PEERS, .node = i, .life = f->life };

		CHECK_EQ(fake_call(f, WEFT_BLADE_MIN, &c, MORTAL_LIMIT_MS), 0);
		if (!(c.members & weft_node_bit(i)))
			mortal_come_back(f);
	}
}

void mortal_boot(struct fake *f)
{
	forget_all(f);
	f->dead = false;
	f->booting = true;
	f->fenced = 0;
	f->life += 1000;
	join(f);
}
