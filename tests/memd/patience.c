// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a memory blade that begins a new life waits for a node: a blade without a
 * network, whose time is played.
 */
#include <unistd.h>

#include "rig.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/base/log.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/lines/blocks.h"
#include "tools/memd/lines/grace.h"
#include "tools/memd/lines/recovery.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/net/members.h"
#include "tools/memd/net/reply.h"
#include "tools/memd/net/udp.h"

#define BLOCKS	2048u
#define ADDR	0x0A570000u

static struct memd m;
static struct region *r;
static u64 began;

/* Everything that is due within so many milliseconds. */
static void pass(u64 ms)
{
	while (ms--) {
		m.timers.now++;
		timers_run(&m.timers, &m);
		udp_flush(m.udp);
	}
}

/* A blade that was restarted, with nodes 1 and 2 still up. */
static void start(u64 memory)
{
	struct options o = {
		.id = WEFT_BLADE_MIN, .memory = memory, .blades = 1,
		.peers = { ADDR + 101 },
	};
	char err[ERR_MAX];
	u32 id;

	if (memd_init(&m, &o, NULL, err) || udp_open_none(m.udp))
		CHECK_FAIL("%s", err);
	m.udp->fragment = 4096;
	m.udp->addr = ADDR + 101;
	r = region_add(m.b->regions, 7, 4096, "r", 1);
	CHECK(r && region_prepare(r, BLOCKS * 4096));
	r->size = BLOCKS * 4096;
	region_account(m.b->regions, r, 0, r->size);
	for (id = 1; id <= 2; id++) {
		m.b->members->by_id[id].addr = ADDR + id;
		m.b->members->by_id[id].in = true;
		m.b->members->mask |= weft_node_bit(id);
	}
	memd_start(&m);
	CHECK(m.b->grace->active);
	/* the first messages go when the timer runs */
	pass(10);
	CHECK(m.b->grace->asking);
	CHECK_EQ(m.b->grace->waiting, 3);
	began = m.timers.now;
}

static void stop(void)
{
	memd_exit(&m);
}

static void reply(u32 id, u16 err, u64 used)
{
	struct weft_call c = { .op = WEFT_CALL_RENEW, .err = err, .used = used };
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg msg = {
		.type = WEFT_MSG_REPLY, .src = (u8)id, .txn = m.b->grace->txn[id],
		.payload = payload, .len = weft_call_pack(&c, payload),
	};

	CHECK(recovery_reply(&m, &msg));
}

static void write_home(u32 id, u32 index, u64 version)
{
	static u8 data[4096];
	struct weft_msg msg = {
		.type = WEFT_MSG_WB, .src = (u8)id, .txn = weft_txn(id, index),
		.line = weft_line_key(r->id, WEFT_KIND_PAGE, index),
		.version = version, .info = 4096, .size = 4096, .len = 4096,
		.payload = data,
	};

	blocks_write(&m, &msg);
	udp_flush(m.udp);
}

static u16 claim(u32 id)
{
	struct request q = {
		.src = (u8)id,
		.call = { .op = WEFT_CALL_CLAIM, .life = m.b->grace->life },
	};

	return recovery_claim(&m, &q);
}

/* --- tests -------------------------------------------------------------------- */

/* Who says nothing is waited for as long as ever, and nobody else for him. */
static void silent(void)
{
	start(64 << 20);
	reply(2, 0, 0);
	pass(RECOVERY_LIMIT_MS - 1000);
	CHECK(m.b->grace->active);
	CHECK_EQ(m.b->grace->late, 0);
	pass(2000);
	CHECK(!m.b->grace->active);
	CHECK_EQ(m.b->grace->late, 1);
	stop();
}

/* Two minutes of blocks that come, with gaps that are almost too long. */
static void blocks(void)
{
	u32 i;

	start(1ull << 30);
	reply(2, 0, 0);
	for (i = 0; i < 10; i++) {
		pass(RECOVERY_LIMIT_MS - 3000);
		write_home(1, i, 5);
		CHECK(m.b->grace->active);
		CHECK_EQ(m.b->grace->late, 0);
	}
	CHECK_EQ(m.b->grace->stored[1], 10);
	reply(1, 0, 0);
	CHECK(!m.b->grace->active);
	CHECK_EQ(m.b->grace->late, 0);
	stop();
}

/* The same block again is no progress. */
static void repetitions(void)
{
	u32 i;

	start(1ull << 30);
	reply(2, 0, 0);
	for (i = 0; i < 20 && m.b->grace->active; i++) {
		write_home(1, 3, 5);
		pass(1000);
	}
	CHECK(!m.b->grace->active);
	CHECK_EQ(m.b->grace->late, 1);
	CHECK(m.timers.now - began < RECOVERY_LIMIT_MS + 2000);
	stop();
}

/* A node that has much to drop has nothing to send but its word; locks count, too. */
static void words(void)
{
	u64 done = 0;
	u32 i;

	start(1ull << 30);
	reply(2, 0, 0);
	for (i = 0; i < 30; i++) {
		pass(3000);
		reply(1, EINPROGRESS, done += 1000);
		CHECK(m.b->grace->active);
		CHECK_EQ(m.b->grace->late, 0);
	}
	pass(12000);
	CHECK_EQ(claim(1), 0);
	pass(12000);
	CHECK_EQ(m.b->grace->late, 0);
	/* it is there, but does nothing any more */
	for (i = 0; i < 10 && m.b->grace->active; i++) {
		reply(1, EINPROGRESS, done);
		pass(1000);
	}
	CHECK(!m.b->grace->active);
	CHECK_EQ(m.b->grace->late, 1);
	stop();
}

/* Who never comes to an end is waited for until the bound, which grows with memory. */
static void endless(void)
{
	u64 done = 0, bound;
	u32 k;

	for (k = 0; k < 2; k++) {
		start((64ull << 20) << (4 * k));
		bound = recovery_bound(&m);
		CHECK_EQ(bound, RECOVERY_BASE_MS + (k ? 1 << 20 : 1 << 16));
		reply(2, 0, 0);
		while (m.timers.now - began < bound - 2000) {
			pass(1000);
			reply(1, EINPROGRESS, ++done);
			write_home(1, (u32)(done % BLOCKS), done + 10);
			CHECK_EQ(claim(1), 0);
		}
		CHECK(m.b->grace->active);
		CHECK_EQ(m.b->grace->late, 0);
		pass(4000);
		CHECK(!m.b->grace->active);
		CHECK_EQ(m.b->grace->late, 1);
		/* what it says now counts for nothing, until it has dropped all */
		CHECK_EQ(claim(1), ESTALE);
		reply(1, EINPROGRESS, ++done);
		CHECK_EQ(m.b->grace->late, 1);
		reply(1, 0, 0);
		CHECK_EQ(m.b->grace->late, 0);
		stop();
	}
}

int main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{ "silent", silent }, { "blocks", blocks },
		{ "repetitions", repetitions }, { "words", words },
		{ "endless", endless },
		{ 0 }
	};

	log_silent = true;
	return rig_run(tests, argc > 1 ? argv[1] : NULL);
}
