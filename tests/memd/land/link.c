// SPDX-License-Identifier: GPL-2.0-only
/* The connection of a node that is played, see link.h. */
#include "link.h"

#include "tests/common/check.h"

_Static_assert(BLOCK == CARD_BLOCK, "a block lands in a landing");

struct card card;
u64 written[BLOCKS];
struct told told;

struct weft_hello right(void)
{
	return (struct weft_hello){ .from = player.node, .to = player.blade, .stamp = player_time() };
}

void link_up(void)
{
	struct weft_hello hello = right(), back;
	const struct rdma_cm_event *told;

	CHECK(card_connect(&card, player.blade_addr, &hello, &player.key));
	/* what accepts says who it is, too */
	told = card.id->event;
	CHECK(told && told->param.conn.private_data_len >= WEFT_HELLO_LEN);
	CHECK(!weft_hello_unpack(&back, told->param.conn.private_data,
				 told->param.conn.private_data_len, &player.key));
	CHECK_EQ(back.from, player.blade);
	CHECK_EQ(back.to, player.node);
	CHECK(!player.key.set || weft_stamp_fresh(player_time(), back.stamp));
	card.rooms = back.rooms;
	card.n_rooms = back.n_rooms;
	counter_becomes("rdma_connections", 1);
}

u32 landed_within(u64 *version, int ms)
{
	u8 buf[CARD_MESSAGE];
	struct weft_msg m;
	u32 len = card_take(&card, buf, ms);

	if (!len)
		return 0;
	CHECK(!weft_wire_unpack(&m, buf, len, &player.key));
	CHECK_EQ(m.type, WEFT_MSG_LANDED);
	CHECK_EQ(m.src, player.blade);
	CHECK_EQ(m.size, BLOCK);
	CHECK_EQ(m.info, 0);
	CHECK_EQ(m.offset, 0);
	CHECK(weft_deed_unpack(&told.deed, &m) || !m.len);
	told.flags = m.flags;
	CHECK(!player.key.set || weft_stamp_fresh(player_time(), m.stamp));
	*version = m.version;
	return m.txn;
}

u32 landed(u64 *version)
{
	u32 txn = landed_within(version, WAIT_MS);

	CHECK(txn);
	return txn;
}

void lands_one(u32 index)
{
	struct weft_landing landing = card_open(&card, 0);
	u32 txn = player_txn();
	u64 of;

	player_ask(index, txn, &landing);
	CHECK_EQ(landed(&of), txn);
	CHECK_EQ(of, written[index]);
	player_check_block(card_memory[0], index, of);
}
