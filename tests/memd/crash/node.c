// SPDX-License-Identifier: GPL-2.0-only
/* The node that is played, see node.h. */
#include "node.h"

#include "machine.h"
#include "mutant.h"
#include "promise.h"
#include "tests/common/check.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/lines/grace.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/net/members.h"

#define SYNCS	3u	/* at a time: some wait while a sync is under way */

u64 node_syncs, node_syncs_of_life;

static struct msync syncs_asked[SYNCS];
static u32 life;

void node_begin(void)
{
	memset(syncs_asked, 0, sizeof(syncs_asked));
	node_syncs_of_life = 0;
}

void node_send(u8 type, u32 txn, const struct weft_call *c)
{
	blade_receive(type, NODE, NODE_ADDR + NODE, txn, c);
}

enum outcome node_outcome(u32 txn, struct weft_call *reply)
{
	return blade_outcome(NODE, txn, reply);
}

static void take_syncs(void)
{
	struct weft_call reply;
	enum outcome o;
	u32 i;

	for (i = 0; i < SYNCS; i++) {
		struct msync *sync = &syncs_asked[i];

		if (!sync->txn)
			continue;
		o = node_outcome(sync->txn, &reply);
		CHECK(o != UNKNOWN);
		if (o == ANSWERED)
			CHECK_EQ(reply.err, 0);
		if (o == WAITING && mutant != SYNC_FIRST)
			continue;
		sync->txn = 0;
		node_syncs++;
		node_syncs_of_life++;
		promise_keep_sync(sync);
	}
}

void node_take_answers(void)
{
	struct weft_call reply;
	enum outcome o;
	u32 i;

	take_syncs();
	for (i = 0; i < promised.n_regions; i++) {
		struct mregion *mr = &promised.regions[i];

		if (!mr->txn)
			continue;
		o = node_outcome(mr->txn, &reply);
		CHECK(o != UNKNOWN);
		if (o == WAITING && mutant == ANSWER_FIRST) {
			struct region *r = region_named(blade.b->regions, mr->name,
							(u32)strlen(mr->name));

			if (mr->state == ASKED && !r)
				continue;
			reply.err = 0;
			reply.region = r ? r->id : mr->id;
			o = ANSWERED;
		}
		if (o == WAITING)
			continue;
		CHECK_EQ(reply.err, 0);
		promise_answered(mr, &reply);
	}
}

void node_wait(u32 ms)
{
	while (ms--) {
		blade_tick();
		machine_disk_works();
		node_take_answers();
	}
}

/* It gives back what it has, which is nothing, or is new. */
void node_join(void)
{
	struct weft_call c = { .op = WEFT_CALL_JOIN, .node = NODE, .addr = NODE_ADDR + NODE };
	const struct member *who = &blade.b->members->by_id[NODE];
	u32 txn, i;

	memd_start(&blade);
	node_wait(5);
	if (blade.b->grace->waiting) {
		struct weft_call renew = { .op = WEFT_CALL_RENEW, .node = NODE };

		node_send(WEFT_MSG_REPLY, blade.b->grace->txn[NODE], &renew);
	}
	for (i = 0; i < 3 && blade.b->grace->active; i++)
		node_wait(250);
	CHECK(!blade.b->grace->active);
	c.life = ++life;
	txn = blade_next_call(NODE);
	/* its former life is taken out first, so it is repeated, as nodes do */
	for (i = 0; i < 20 && !(blade.b->members->mask && who->life == c.life); i++) {
		node_send(WEFT_MSG_CALL, txn, &c);
		node_wait(50);
	}
	CHECK(blade.b->members->mask);
	CHECK_EQ(who->life, c.life);
}

void node_sync(void)
{
	struct weft_call c = { .op = WEFT_CALL_SYNC }, reply;
	struct msync *sync = NULL;
	u32 i;

	for (i = 0; i < SYNCS && !sync; i++)
		if (!syncs_asked[i].txn)
			sync = &syncs_asked[i];
	if (!sync)
		return;
	promise_note_sync(sync);
	sync->txn = blade_next_call(NODE);
	node_send(WEFT_MSG_CALL, sync->txn, &c);
	CHECK(node_outcome(sync->txn, &reply) != UNKNOWN);
	mutant_join_sync();
	node_take_answers();
}
