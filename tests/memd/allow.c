// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who gets lines of a region from real memory blades: nodes that have opened it, and that it is
 * for; and whom a node may let in.  With a switch (tools/directory/directory.c) and without one.
 *
 *	memd-allow plain|switch 1|2
 */
#include <signal.h>

#include "fake.h"

#define BLADE		WEFT_BLADE_MIN
#define LINES		4
#define APART		64u	/* the blades take turns */
#define SIZE		(64ull * APART * 4096)
#define WAIT_MS		(20000 * rig_scale())
#define QUIET_MS	300	/* what is refused does not come within that */

static u32 blades, region, seq;

static u64 stat_of_all(const char *name)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < blades; i++)
		sum += fake_stat(&fakes[1], BLADE + i, name);
	return sum;
}

static int set_nodes(u32 id, u32 nodes, u32 *users)
{
	struct weft_call c = {
		.op = WEFT_CALL_SETATTR, .region = id, .valid = WEFT_SET_NODES, .nodes = nodes,
	};
	int err = fake_call(&fakes[1], BLADE, &c, WAIT_MS);

	*users = c.members;
	return err;
}

static u32 get_nodes(u32 id)
{
	struct weft_call c;

	CHECK_EQ(fake_call_region(&fakes[2], WEFT_CALL_GETATTR, id, &c), 0);
	return c.nodes;
}

/* Sends a request as no program could.  Return: why it is refused, 0: it is not. */
static u16 ask(struct fake *f, u8 type, u64 line)
{
	struct weft_msg msg = {
		.type = type, .src = (u8)f->id, .txn = weft_txn(f->id, 1u << 20 | ++seq),
		.line = line,
	};
	u64 end = now_ms() + WAIT_MS;

	f->last = (struct weft_msg){ 0 };
	rig_send(f->at, BLADE + weft_line_home(line, blades), &msg);
	while (now_ms() < end) {
		fake_step(1);
		if (f->last.txn == msg.txn)
			return f->last.type == WEFT_MSG_NACK ? f->last.info : 0;
	}
	CHECK_FAIL("node %u hears nothing of its %s", f->id, weft_msg_name(type));
}

static void take_lock(struct fake *f, const struct weft_msg *msg)
{
	f->last = *msg;
}

/* It gets nothing, whatever it asks for. */
static void gets_nothing(struct fake *f, u16 why)
{
	static const u8 types[] = { WEFT_MSG_GETS, WEFT_MSG_GETM, WEFT_MSG_READ };
	const char *name = why == WEFT_WHY_NO_LINE ? "refused_not_allowed" : "refused_not_opened";
	u64 before = stat_of_all(name);
	u32 i, k;

	for (i = 0; i < LINES; i++)
		for (k = 0; k < sizeof(types); k++)
			CHECK_EQ(ask(f, types[k], weft_line_key(region, WEFT_KIND_PAGE,
								 i * APART)), why);
	CHECK_EQ(stat_of_all(name), before + LINES * sizeof(types));
	CHECK_EQ(ask(f, WEFT_MSG_ACQUIRE, weft_line_key(region, WEFT_KIND_LOCK, 64)), why);
}

/* What it writes home does not stay, and is not acknowledged. */
static void writes_nothing(struct fake *f)
{
	static u8 data[1024];
	struct weft_msg msg = {
		.type = WEFT_MSG_WB, .src = (u8)f->id, .txn = weft_txn(f->id, 1u << 20 | ++seq),
		.line = weft_line_key(region, WEFT_KIND_PAGE, 0), .version = 1ull << 40,
		.info = sizeof(data), .size = 4096, .len = sizeof(data), .payload = data,
	};
	u64 end = now_ms() + QUIET_MS, before = stat_of_all("write_backs");

	f->last = (struct weft_msg){ 0 };
	for (; msg.offset < msg.size; msg.offset += sizeof(data))
		rig_send(f->at, BLADE, &msg);
	while (now_ms() < end) {
		fake_step(1);
		CHECK(f->last.type != WEFT_MSG_WB_ACK);
	}
	CHECK_EQ(stat_of_all("write_backs"), before);
}

/* All lines of the region are used by these two; the last one who wrote was @value. */
static void work(struct fake *f, struct fake *g, u8 value)
{
	u32 i;

	for (i = 0; i < LINES; i++) {
		fake_fill(f, fake_line(f, region, i), (u8)(value + i));
		CHECK(fake_get(g, fake_line(g, region, i), WEFT_S));
		CHECK(fake_is_filled(fake_line(g, region, i), 4096, (u8)(value + i)));
	}
	fake_settle();
}

static void not_opened(void)
{
	struct fake *a = &fakes[1], *b = &fakes[2];
	struct weft_call c;

	CHECK_EQ(fake_create(a, "opened", SIZE, 4096, &region), 0);
	gets_nothing(a, WEFT_WHY_MOVING);
	CHECK_EQ(fake_open(a, region, 4096), 0);
	fake_fill(a, fake_line(a, region, 0), 7);
	/* that another one has it open is not enough; in the switch nobody looks */
	fake_evict_all();
	fake_settle();
	if (!rig_p4)
		gets_nothing(b, WEFT_WHY_MOVING);
	writes_nothing(b);
	CHECK_EQ(fake_open(b, region, 4096), 0);
	CHECK(fake_get(b, fake_line(b, region, 0), WEFT_S));
	CHECK(fake_is_filled(fake_line(b, region, 0), 4096, 7));
	fake_evict_all();
	CHECK_EQ(fake_call_region(b, WEFT_CALL_CLOSE, region, &c), 0);
	writes_nothing(b);
	if (!rig_p4)
		gets_nothing(b, WEFT_WHY_MOVING);
	CHECK_EQ(fake_call_region(b, WEFT_CALL_OPEN, region, &c), 0);
}

static int open_as(struct fake *f, u32 how, u32 want, u32 uid, u32 gid)
{
	struct weft_call c = {
		.op = WEFT_CALL_OPEN, .region = region, .valid = how, .mode = want, .uid = uid,
		.gid = gid,
	};

	return fake_call(f, BLADE, &c, WAIT_MS);
}

/* The region is user 7's, of group 8, 0640: what nodes say must be consistent with that. */
static void users(void)
{
	static const struct {
		u32 how;
		u32 want;
		u32 uid;
		u32 gid;
		int err;
	} tries[] = {
		{ WEFT_OPEN_OWNER, 6, 7, 8, 0 }, { WEFT_OPEN_OWNER, 4, 7, 0, 0 },
		{ WEFT_OPEN_OWNER, 6, 9, 8, EACCES }, { WEFT_OPEN_OWNER, 7, 7, 8, EACCES },
		{ WEFT_OPEN_GROUP, 4, 9, 8, 0 }, { WEFT_OPEN_GROUP, 6, 9, 8, EACCES },
		{ WEFT_OPEN_GROUP, 4, 9, 10, EACCES }, { WEFT_OPEN_GROUP, 4, 7, 8, EACCES },
		{ WEFT_OPEN_OTHER, 4, 9, 10, EACCES }, { WEFT_OPEN_OTHER, 0, 9, 10, 0 },
		{ WEFT_OPEN_CAPABLE, 6, 0, 0, 0 }, { WEFT_OPEN_NEW, 6, 7, 0, 0 },
		{ WEFT_OPEN_NEW, 6, 9, 0, EACCES }, { WEFT_OPEN_NEW + 1, 4, 7, 8, EACCES },
	};
	u64 before = stat_of_all("opens_refused");
	struct weft_call c;
	u32 i, refused = 0;

	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		CHECK_EQ(open_as(&fakes[1], tries[i].how, tries[i].want, tries[i].uid,
				 tries[i].gid), tries[i].err);
		refused += tries[i].err != 0;
	}
	CHECK_EQ(stat_of_all("opens_refused"), before + refused);
	/* who changes the mode changes what the next one may */
	c = (struct weft_call){
		.op = WEFT_CALL_SETATTR, .region = region, .valid = WEFT_SET_MODE, .mode = 0604,
	};
	CHECK_EQ(fake_call(&fakes[2], BLADE, &c, WAIT_MS), 0);
	CHECK_EQ(open_as(&fakes[1], WEFT_OPEN_GROUP, 4, 9, 8), EACCES);
	CHECK_EQ(open_as(&fakes[1], WEFT_OPEN_OTHER, 4, 9, 10), 0);
}

/* --- for some nodes --------------------------------------------------------------------- */

/*
 * A program of a node that is to lose the region goes on, whatever becomes of that.  Meanwhile
 * another node asks for which nodes it is.
 */
static void goes_on(struct fake *f)
{
	struct weft_call c = { .op = WEFT_CALL_GETATTR, .region = region };
	u32 i;

	fake_call_begin(&fakes[2], BLADE, &c);
	for (i = 0; i < LINES; i++)
		fake_want(f, fake_line(f, region, i), WEFT_M);
}

/* What that one was told is what was so before: it would keep the other one. */
static void heard_nothing(struct fake *f, u32 policy)
{
	u64 end = now_ms() + WAIT_MS;

	while (!f->replied) {
		CHECK(now_ms() < end);
		fake_step(1);
	}
	CHECK_EQ(f->reply.op, WEFT_CALL_GETATTR);
	CHECK_EQ(f->reply.nodes, 0);
	CHECK_EQ(f->reply.policy, policy);
}

static void some_nodes(void)
{
	struct fake *a = &fakes[1], *b = &fakes[2], *c = &fakes[3];
	struct weft_call call;
	u32 users, policy, i;
	u64 end;

	CHECK_EQ(fake_open(c, region, 4096), 0);
	work(a, c, 10);
	work(c, b, 20);
	CHECK_EQ(ask(c, WEFT_MSG_ACQUIRE, weft_line_key(region, WEFT_KIND_LOCK, 64)), 0);
	if (rig_p4)
		CHECK(stat_of_all("lines_in_switch") >= LINES);
	CHECK_EQ(get_nodes(region), 0);

	/* in use: it is as it was */
	work(a, b, 25);
	c->uses = true;
	fake_refuses = goes_on;
	policy = b->reply.policy;
	CHECK_EQ(set_nodes(region, 3, &users), EBUSY);
	CHECK_EQ(users, 4);
	heard_nothing(b, policy);
	/* the node that was asked hears how it ended */
	end = now_ms() + WAIT_MS;
	while (c->changed.nodes) {
		CHECK(now_ms() < end);
		fake_step(1);
	}
	CHECK_EQ(get_nodes(region), 0);
	fake_settle();
	for (i = 0; i < LINES; i++) {
		CHECK(!fake_line(c, region, i)->failed);
		CHECK_EQ(weft_line_perm(&fake_line(c, region, i)->l), WEFT_M);
	}
	work(c, a, 30);
	c->uses = false;
	fake_refuses = NULL;
	c->deaf = true;
	CHECK_EQ(set_nodes(region, 3, &users), ETIMEDOUT);
	CHECK_EQ(users, 4);
	CHECK_EQ(get_nodes(region), 0);
	c->deaf = false;
	work(c, b, 40);
	/* the last it has modified, and has to write home */
	for (i = 0; i < LINES; i++)
		fake_fill(c, fake_line(c, region, i), (u8)(45 + i));
	fake_settle();

	CHECK_EQ(set_nodes(region, 3, &users), 0);
	CHECK_EQ(get_nodes(region), 3);
	CHECK_EQ(stat_of_all("lines_in_switch"), 0);
	CHECK_EQ(stat_of_all("lines_moving"), 0);
	/* what only that node had modified is there */
	for (i = 0; i < LINES; i++) {
		CHECK(fake_get(a, fake_line(a, region, i), WEFT_S));
		CHECK(fake_is_filled(fake_line(a, region, i), 4096, (u8)(45 + i)));
	}
	work(a, b, 50);
	work(b, a, 60);
	CHECK_EQ(stat_of_all("lines_in_switch"), 0);
	gets_nothing(c, WEFT_WHY_NO_LINE);
	writes_nothing(c);
	CHECK_EQ(fake_open(c, region, 4096), EACCES);
	CHECK_EQ(open_as(c, WEFT_OPEN_CAPABLE, 6, 0, 0), EACCES);
	CHECK_EQ(fake_set_size(c, region, 4096), EACCES);
	/* attributes are for all */
	CHECK_EQ(fake_call_region(c, WEFT_CALL_GETATTR, region, &call), 0);
	CHECK_EQ(call.nodes, 3);
	work(a, b, 70);
	/* to have no rights to a lock of it does not need one */
	CHECK_EQ(ask(c, WEFT_MSG_ACQUIRE, weft_line_key(region, WEFT_KIND_LOCK, 64)),
		 WEFT_WHY_NO_LINE);
	/* nothing else at the same time, and by who asks properly */
	call = (struct weft_call){
		.op = WEFT_CALL_SETATTR, .region = region,
		.valid = WEFT_SET_NODES | WEFT_SET_MODE,
	};
	CHECK_EQ(fake_call(a, BLADE, &call, WAIT_MS), EINVAL);
}

static void start(u32 i)
{
	rig_blade_start(blades, i);
}

static void wait_ready(void)
{
	u64 end = now_ms() + WAIT_MS;
	u32 i;

	for (i = 0; i < blades; i++)
		while (!fake_stat(&fakes[1], BLADE + i, "ready"))
			CHECK(now_ms() < end);
}

/* It outlives each of the blades; what was set before the switch had lines stays so. */
static void restarts(void)
{
	struct fake *a = &fakes[1], *b = &fakes[2], *c = &fakes[3];
	u32 i, users, old;

	CHECK_EQ(fake_create(a, "old", 4096, 4096, &old), 0);
	for (i = 0; i < blades; i++) {
		work(a, b, (u8)(80 + 10 * i));
		rig_memd_stop(BLADE + i, SIGKILL);
		start(i);
		wait_ready();
		CHECK_EQ(get_nodes(region), 3);
		work(b, a, (u8)(100 + 10 * i));
		gets_nothing(c, WEFT_WHY_NO_LINE);
		CHECK_EQ(fake_open(c, region, 4096), EACCES);
	}
	/* lines of a region of before may be in a switch, where no blade would find them */
	CHECK_EQ(set_nodes(old, 3, &users), rig_p4 ? EOPNOTSUPP : 0);
	CHECK_EQ(get_nodes(old), rig_p4 ? 0 : 3);
	/* one more node, and one less; then all */
	CHECK_EQ(set_nodes(region, 7, &users), 0);
	CHECK_EQ(fake_open(c, region, 4096), 0);
	work(c, a, 150);
	CHECK_EQ(set_nodes(region, 3, &users), 0);
	gets_nothing(c, WEFT_WHY_NO_LINE);
	CHECK_EQ(set_nodes(region, 0, &users), 0);
	CHECK_EQ(fake_open(c, region, 4096), 0);
	work(c, b, 160);
	work(a, c, 170);
}

/* All homes serve; of how that is known nothing is left. */
static void wait_served(void)
{
	u64 end = now_ms() + WAIT_MS;
	struct fake *f = &fakes[4];
	struct weft_call c;

	CHECK_EQ(fake_join(f), 0);
	CHECK_EQ(fake_create(f, "first", SIZE, 4096, &region), 0);
	CHECK_EQ(fake_open(f, region, 4096), 0);
	work(f, f, 1);
	fake_evict_all();
	CHECK_EQ(fake_call_named(f, WEFT_CALL_UNLINK, "first", &c), 0);
	CHECK_EQ(fake_leave(f), 0);
	f->dead = true;
	while (stat_of_all("regions"))
		CHECK(now_ms() < end);
}

int main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{ "not_opened", not_opened }, { "users", users }, { "some_nodes", some_nodes },
		{ "restarts", restarts }, { 0 }
	};
	u32 i;

	if (argc != 3)
		CHECK_FAIL("usage: memd-allow plain|switch 1|2");
	blades = !strcmp(argv[2], "2") ? 2 : 1;
	rig_open(true, 1);
	rig_p4 = !strcmp(argv[1], "switch");
	fake_apart = APART;
	fake_take_lock = take_lock;
	rig_blades_start(blades);
	fake_init(blades);
	for (i = 1; i <= 3; i++)
		CHECK_EQ(fake_join(&fakes[i]), 0);
	wait_served();
	return rig_run(tests, NULL);
}
