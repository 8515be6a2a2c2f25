// SPDX-License-Identifier: GPL-2.0-only
/* The blade, see blade.h. */
#include "blade.h"

#include "disk.h"
#include "node.h"
#include "tests/common/check.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/front/memd.h"
#include "tools/memd/net/members.h"
#include "tools/memd/net/reply.h"
#include "tools/memd/net/udp.h"

struct memd blade;
u32 blade_number;
bool blade_starting;

void blade_start(struct memd *b, const char *path)
{
	struct options o = {
		.id = (u8)(WEFT_BLADE_MIN + blade_number), .memory = 1 << 20,
		.blades = 1 + blade_number, .backing = path,
		.peers = { BLADE_ADDR, BLADE_ADDR + 1 },
	};
	char err[ERR_MAX] = "";

	if (memd_init(b, &o, NULL, err) || udp_open_none(b->udp))
		CHECK_FAIL("the blade does not start: %s", err);
	b->udp->fragment = 16384;
	b->udp->addr = BLADE_ADDR + blade_number;
	/* as nodes that are members */
	b->b->members->by_id[NODE].addr = NODE_ADDR + NODE;
}

void blade_kill(struct memd *b)
{
	disk_dead = true;
	memd_exit(b);
	disk_dead = false;
}

void blade_tick(void)
{
	blade.timers.now++;
	timers_run(&blade.timers, &blade);
	udp_flush(blade.udp);
}

u32 blade_next_call(u32 id)
{
	static u32 seq;

	return weft_txn(id, ++seq);
}

void blade_receive(u8 type, u32 id, u32 addr, u32 txn, const struct weft_call *c)
{
	static u8 buf[WEFT_WIRE_HDR_LEN + 8192];
	struct weft_msg msg = {
		.type = type, .src = (u8)id, .txn = txn, .nonce = 77, .rack = 0,
		.payload = buf + WEFT_WIRE_HDR_LEN,
	};
	size_t len;

	msg.len = weft_call_pack(c, buf + WEFT_WIRE_HDR_LEN);
	len = weft_wire_pack(&msg, buf, NULL, memd_time(&blade));
	memd_receive(&blade, buf, len, addr, blade.udp->port);
	udp_flush(blade.udp);
}

enum outcome blade_outcome(u32 id, u32 txn, struct weft_call *reply)
{
	const struct caller *c = blade.b->callers[id];
	u32 i;

	for (i = 0; c && i < CALLS_KEPT; i++) {
		const struct kept_reply *k = &c->kept[i];

		if (k->txn != txn)
			continue;
		if (k->pending)
			return WAITING;
		CHECK(!weft_call_unpack(reply, k->payload, k->len));
		return ANSWERED;
	}
	return UNKNOWN;
}
