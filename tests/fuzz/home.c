// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: a line at its home, and a switch, fed with any messages in any
 * order.  Whatever comes, what goes out stays within what it may be.
 */

#include "home.h"
#include "tests/stations.h"
#include "fuzz.h"

#define SELF		33
#define MEMBERS		0x1Fu
#define STEP		20	/* bytes of input a message is made of */

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct weft_slot slots[WEFT_SWITCH_SLOTS];

static void check(const struct weft_home_line *l, const struct weft_home_out *out)
{
	CHECK(l->place <= WEFT_DROPPING);
	CHECK(!(out->targets & ~MEMBERS));
	CHECK(!out->targets == (out->dest != WEFT_TO_NODES));
	CHECK(out->dest <= WEFT_TO_NODES);
	CHECK(!out->chase || weft_node_bit(out->chase));
	if (out->to_switch) {
		u32 who = weft_txn_member(out->sw.txn), bit = weft_node_bit(who);

		CHECK(out->sw.src == SELF && out->sw.line == l->key);
		/* of others, it ends what a node has left over that is no member any more */
		CHECK(who == SELF ||
		     (out->sw.type == WEFT_MSG_ABORT && bit && !(bit & MEMBERS)));
	}
	/* a line that moves has a timer, or it might never arrive */
	if (out->to_switch && l->place != WEFT_AT_HOME && l->place != WEFT_IN_SWITCH)
		CHECK(out->timer);
	if (out->dest != WEFT_TO_NOBODY)
		CHECK(!out->msg.payload && !out->msg.len);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct weft_switch sw = { .slots = slots, .members = MEMBERS };
	u64 key = weft_line_key(1, WEFT_KIND_PAGE, 7);
	struct weft_home_line l;
	struct weft_home_out out;
	u32 fresh = 0, targets;

	stations_by_id(&sw);
	memset(&slots[weft_line_slot(key)], 0, sizeof(slots[0]));
	weft_home_init(&l, key, SELF);
	memset(&out, 0, sizeof(out));
	for (; size >= STEP; data += STEP, size -= STEP) {
		struct weft_msg m = {
			.type = data[0] & 63,
			.flags = data[1],
			.src = (u8)(1 + (data[2] & 63) % 48),
			.status = data[3] % 3,
			.info = data[4] & 7,
			.line = key,
			.copyset = data[5],
			.grant = data[6] & 0x80 ? l.e.grant : data[6],
			.nonce = data[7] & 0x80 ? l.gen : data[7],
			.txn = get_unaligned_be32(data + 8),
			.holder = get_unaligned_be32(data + 12),
		};

		switch (data[16] & 7) {
		case 0:
			m.txn = l.txn;
			break;
		case 1:
			m.txn = weft_txn(m.src, data[17]);
			break;
		case 2:
			m.txn = l.e.lock;
			m.src = (u8)weft_txn_member(l.e.lock);
			break;
		case 3:
			/* what the switch says to what was sent last */
			if (out.to_switch) {
				m = out.sw;
				weft_switch_handle(&sw, m.src, &m, &targets);
			}
			break;
		case 4:
			CHECK(weft_home_recall(&l, ++fresh, &out) ==
			     (l.place == WEFT_AT_HOME));
			check(&l, &out);
			continue;
		case 5:
			weft_home_timeout(&l, &out);
			check(&l, &out);
			continue;
		default:
			break;
		}
		weft_home_recv(&l, MEMBERS, data[18] & 1, &m, ++fresh, &out);
		check(&l, &out);
	}
	return 0;
}
