// SPDX-License-Identifier: GPL-2.0-only
/*
 * A memory blade that was out of touch with the first one joins it again.  A node has gone
 * meanwhile, and nobody says how: what it had modified is lost, and is listed, as if the blade
 * had heard of its death.  The blade is the real one in this process, the first one and the
 * node are played.
 */
#include <errno.h>

#include "rig.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/base/log.h"
#include "tools/memd/catalog/follow.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/lines/grace.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/net/members.h"
#include "tools/memd/net/udp.h"

#define NODE		1u
#define NODE_ADDR	0x0A570001u
#define FIRST_ADDR	0x0A570065u
#define REGION		7u
#define MEMORY		(1u << 20)
#define RENEW_MS	1000	/* nobody has anything: it is over by then */
#define SWEEP_MS	100

static struct memd m;
static u32 txns;

/* Milliseconds. */
static void pass(u32 ms)
{
	while (ms--) {
		m.timers.now++;
		timers_run(&m.timers, &m);
		udp_flush(m.udp);
	}
}

static void receive(const struct weft_msg *msg, u32 from)
{
	static u8 buf[WEFT_WIRE_HDR_LEN + 8192];
	size_t len;

	if (msg->len)
		memcpy(buf + WEFT_WIRE_HDR_LEN, msg->payload, msg->len);
	len = weft_wire_pack(msg, buf, NULL, memd_time(&m));
	memd_receive(&m, buf, len, from, m.udp->port);
	udp_flush(m.udp);
}

/* The first blade's answer to what it was asked last. */
static void answered(u8 op, u16 err)
{
	struct weft_call c = { .op = op, .err = err };
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg msg = {
		.type = WEFT_MSG_REPLY, .src = WEFT_BLADE_MIN, .txn = m.b->follow->txn,
		.nonce = m.b->follow->nonce, .payload = payload,
	};

	CHECK(msg.txn);
	msg.len = weft_call_pack(&c, payload);
	receive(&msg, FIRST_ADDR);
}

/* What the first blade says by itself. */
static void told(struct weft_call *c, u32 nonce)
{
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg msg = {
		.type = WEFT_MSG_CALL, .src = WEFT_BLADE_MIN, .nonce = nonce,
		.txn = weft_txn(WEFT_BLADE_MIN, ++txns), .payload = payload,
	};

	c->life = m.b->life;
	c->cookie = m.b->follow->seq + 1;
	msg.len = weft_call_pack(c, payload);
	receive(&msg, FIRST_ADDR);
}

static void told_members(u32 members, bool whole)
{
	struct weft_call c = { .op = WEFT_CALL_MEMBERS, .members = members, .valid = whole };

	if (members) {
		put_unaligned_be32(NODE << 24 | WEFT_PEER_MEMBER << 16, c.list);
		put_unaligned_be32(NODE_ADDR, c.list + 4);
		c.list_len = 8;
	}
	told(&c, 5);
}

static void told_region(void)
{
	struct weft_call c = {
		.op = WEFT_CALL_REGION, .region = REGION, .block = 4096, .size = 64 * 4096,
		.name_len = 1, .name = "r", .members = weft_node_bit(NODE),
	};

	told(&c, 0);
}

static void joins(void)
{
	pass(50);
	answered(WEFT_CALL_JOIN, 0);
	told_region();
}

/* A block that is at home there, and that the node has to write from here on. */
static struct block *taken(void)
{
	struct weft_msg msg = {
		.type = WEFT_MSG_GETM, .src = NODE, .txn = weft_txn(NODE, 1),
		.line = weft_line_key(REGION, WEFT_KIND_PAGE, 0),
	};
	struct region *r = region_find(m.b->regions, REGION);
	struct block *b;

	CHECK(r && region_is_home(m.b->regions, r, msg.line));
	receive(&msg, NODE_ADDR);
	b = region_block(m.b->regions, r, 0, false);
	CHECK(b && b->line.e.lock == msg.txn);
	msg.type = WEFT_MSG_COMMIT;
	msg.status = WEFT_M;
	msg.copyset = weft_node_bit(NODE);
	msg.grant = b->line.e.grant;
	receive(&msg, NODE_ADDR);
	CHECK(!b->line.e.lock && b->line.e.status == WEFT_M);
	CHECK_EQ(b->line.e.copyset, weft_node_bit(NODE));
	return b;
}

static void begin(void)
{
	struct options o = {
		.id = WEFT_BLADE_MIN + 1, .memory = MEMORY, .blades = 2,
		.peers = { FIRST_ADDR, FIRST_ADDR + 1 },
	};
	char err[ERR_MAX];

	if (memd_init(&m, &o, NULL, err) || udp_open_none(m.udp))
		CHECK_FAIL("%s", err);
	m.udp->fragment = 1408;
	m.udp->addr = FIRST_ADDR + 1;
	memd_start(&m);
	joins();
	told_members(0, true);
	pass(RENEW_MS);
	CHECK(m.b->ready && grace_is_over(&m));
	told_members(weft_node_bit(NODE), false);
	CHECK_EQ(m.b->members->mask, weft_node_bit(NODE));
}

/* @there: the node still is. */
static void again(bool there)
{
	struct block *b;

	begin();
	b = taken();
	/* once a second it asks whether it still belongs to the rack */
	pass(1100);
	answered(WEFT_CALL_PEERS, EHOSTDOWN);
	CHECK(!m.b->ready);
	joins();
	told_members(there ? weft_node_bit(NODE) : 0, true);
	pass(SWEEP_MS);
	CHECK(m.b->ready);
	CHECK_EQ(b->lost, !there);
	CHECK_EQ(m.stats.count[STAT_BLOCK_LOST], !there);
	memd_exit(&m);
}

/* One that has left, and whom the first blade has not taken for dead, has lost nothing. */
static void left(void)
{
	struct block *b;

	begin();
	b = taken();
	told_members(0, false);
	pass(SWEEP_MS);
	CHECK(!b->lost);
	memd_exit(&m);
}

int main(void)
{
	log_silent = true;
	again(true);
	again(false);
	left();
	return check_result();
}
