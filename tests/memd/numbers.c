// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers of regions are used once, and there are 16 million: who makes and removes
 * regions for hours leaves numbers for others, and when there are none the rack goes on
 * with the regions that it has.  A blade without a network, at the end of its numbers.
 */
#include "rig.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/base/log.h"
#include "tools/memd/catalog/catalog.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/lines/quota.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/net/members.h"
#include "tools/memd/net/reply.h"
#include "tools/memd/net/udp.h"

#define MIB		(1ull << 20)
#define KEPT		((WEFT_REGION_MAX + 1) / 16)
#define ADDR		0x0A570001u

static struct memd m;

/* A blade that has @left numbers for all, and KEPT for the privileged. */
static void start(u32 left)
{
	struct options o = {
		.id = WEFT_BLADE_MIN, .memory = 64 * MIB, .blades = 1, .peers = { ADDR + 100 },
	};
	char err[ERR_MAX];

	if (memd_init(&m, &o, NULL, err) || udp_open_none(m.udp))
		CHECK_FAIL("%s", err);
	m.udp->addr = ADDR + 100;
	m.b->members->by_id[1].addr = ADDR;
	m.b->members->by_id[1].in = true;
	m.b->members->mask = weft_node_bit(1);
	m.b->ready = true;
	m.b->regions->next_id = WEFT_REGION_MAX + 1 - KEPT - left;
	CHECK_EQ(quota_numbers_left(&m), KEPT + left);
}

static void pass(u32 ms)
{
	while (ms--) {
		m.timers.now++;
		timers_run(&m.timers, &m);
		udp_flush(m.udp);
	}
}

static u16 call(struct weft_call *c)
{
	static u32 seq;
	struct request q = { .src = 1, .from = ADDR, .txn = weft_txn(1, ++seq), .call = *c };
	enum answer a = catalog_call(&m, &q);

	q.call = *c;
	udp_flush(m.udp);
	CHECK(a != ANSWER_NOT);
	return q.reply.err;
}

static u16 named(u16 op, u32 uid, u32 valid, const char *name, u64 size)
{
	struct weft_call c = {
		.op = op, .uid = uid, .valid = valid, .mode = 0600, .size = size,
		.name_len = (u16)strlen(name),
	};

	memcpy(c.name, name, c.name_len);
	return call(&c);
}

/* A region is made, and removed. */
static u16 use_one(u32 uid, u32 valid)
{
	u16 err = named(WEFT_CALL_CREATE, uid, valid, "x", 0);

	if (!err)
		CHECK_EQ(named(WEFT_CALL_UNLINK, uid, 0, "x", 0), 0);
	pass(2);
	return err;
}

static u32 use_all(u32 uid, u32 valid, u16 wanted)
{
	u32 n = 0;
	u16 err;

	while (!(err = use_one(uid, valid)))
		CHECK(n++ < 2 * KEPT);
	CHECK_EQ(err, wanted);
	return n;
}

/* Each gets half of what is left, root the rest. */
static void users(void)
{
	u32 i;

	start(1000);
	CHECK_EQ(named(WEFT_CALL_CREATE, 5, 0, "kept", 4096), 0);
	CHECK_EQ(use_all(7, 0, EDQUOT), 500);
	CHECK_EQ(use_all(7, 0, EDQUOT), 0);
	/* that one was the first one's, too */
	CHECK_EQ(use_all(8, 0, EDQUOT), 250);
	CHECK_EQ(use_all(9, 0, EDQUOT), 125);
	/* what did not become one has used up nothing */
	for (i = 0; i < 100; i++)
		CHECK_EQ(named(WEFT_CALL_CREATE, 10, 0, "large", 65 * MIB), ENOSPC);
	CHECK_EQ(use_all(10, 0, EDQUOT), 62);
	CHECK_EQ(quota_numbers_left(&m), KEPT + 62);
	memd_exit(&m);
}

/* However many users join in, none of them takes what is kept for root. */
static void crowd(void)
{
	u32 uid, sum = 0;
	u16 err = 0;

	start(4000);
	for (uid = 1; uid < 10000 && err != ENOSPC; uid++)
		for (;;) {
			err = use_one(uid, 0);
			if (err)
				break;
			sum++;
		}
	CHECK(sum <= 4000 && sum > 3900);
	CHECK(quota_numbers_left(&m) >= KEPT);
	CHECK_EQ(use_one(0, 0), 0);
	CHECK_EQ(use_one(7, WEFT_CREATE_UNLIMITED), 0);
	memd_exit(&m);
}

/* Root has used up the last one: a sentence, and all that is there works on. */
static void the_end(void)
{
	u32 region;

	start(2);
	CHECK_EQ(named(WEFT_CALL_CREATE, 5, 0, "kept", 4096), 0);
	region = m.b->regions->by_id[0]->id;
	m.b->regions->next_id = WEFT_REGION_MAX - 9;
	CHECK_EQ(use_all(0, 0, ENOSPC), 10);
	CHECK_EQ(quota_numbers_left(&m), 0);
	CHECK_EQ(use_one(7, 0), ENOSPC);
	CHECK_EQ(use_one(7, WEFT_CREATE_UNLIMITED), ENOSPC);
	CHECK_EQ(named(WEFT_CALL_LOOKUP, 5, 0, "kept", 0), 0);
	CHECK_EQ(call(&(struct weft_call){ .op = WEFT_CALL_SETATTR, .region = region,
					   .valid = WEFT_SET_SIZE, .size = 8192 }), 0);
	CHECK_EQ(region_find(m.b->regions, region)->size, 8192);
	memd_exit(&m);
}

int main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{ "users", users }, { "crowd", crowd }, { "end", the_end }, { 0 }
	};

	rig_open(false, 1);
	log_silent = true;
	return rig_run(tests, argc > 1 ? argv[1] : NULL);
}
