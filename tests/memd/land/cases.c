// SPDX-License-Identifier: GPL-2.0-only
/* Blocks land, or do not, while the node and the blade live, see cases.h. */
#include "cases.h"

#include "link.h"
#include "tests/common/check.h"
#include "tools/common/random.h"

#define READS		600u
#define MEMORY		(64u << 20)	/* of a blade */
#define CONNECTIONS	100u
#define LATER		(WEFT_TICK_HZ * 12)

static u64 state = 1;

static void contents(void)
{
	u64 before = counter("rdma_landed"), bytes = counter("rdma_landed_bytes");
	u64 data = counter("out_data");
	u32 i;

	for (i = 0; i < BLOCKS; i++)
		lands_one(i);
	/* its card tells the blade after it has told us */
	counter_becomes("rdma_landed", before + BLOCKS);
	CHECK_EQ(counter("rdma_landed_bytes"), bytes + (u64)BLOCKS * BLOCK);
	CHECK_EQ(counter("out_data"), data);
	counter_becomes("rdma_under_way", 0);
	CHECK(counter("rdma_registered_bytes") > 0);
}

/* Many at a time, of blocks that get new contents meanwhile. */
static void many(void)
{
	u32 txn[CARD_LANDINGS], index[CARD_LANDINGS], i, n;
	u64 of, least[CARD_LANDINGS];

	for (n = 0; n < READS; n += CARD_LANDINGS) {
		for (i = 0; i < CARD_LANDINGS; i++) {
			struct weft_landing landing = card_open(&card, i);

			index[i] = random_u32(&state) % WRITTEN;
			least[i] = written[index[i]];
			txn[i] = player_txn();
			player_ask(index[i], txn[i], &landing);
		}
		for (i = 0; i < 2; i++) {
			u32 which = random_u32(&state) % CARD_LANDINGS;

			written[index[which]] = player_write(index[which]);
		}
		for (i = 0; i < CARD_LANDINGS; i++) {
			u32 got = landed(&of), k = 0;

			while (k < CARD_LANDINGS && txn[k] != got)
				k++;
			CHECK(k < CARD_LANDINGS);
			CHECK(of >= least[k]);
			player_check_block(card_memory[k], index[k], of);
			txn[k] = 0;
		}
	}
	counter_becomes("rdma_under_way", 0);
}

/* A request that has come twice is not written twice: the second time it is told by UDP. */
static void twice(void)
{
	struct weft_landing landing = card_open(&card, 0);
	u32 txn = player_txn();
	u64 of, again = counter("rdma_asked_again"), broken = counter("rdma_broken");

	player_ask(1, txn, &landing);
	CHECK_EQ(landed(&of), txn);
	player_ask(1, txn, &landing);
	CHECK(player_data_comes(txn, WAIT_MS));
	CHECK_EQ(counter("rdma_asked_again"), again + 1);
	CHECK_EQ(counter("rdma_broken"), broken);
	lands_one(2);
}

/* With a key that is closed, or never was one, the connection ends, and nothing else. */
static void closed_key(bool never)
{
	struct weft_landing landing = card_open(&card, 0);
	u64 of, broken = counter("rdma_broken");
	u32 txn = player_txn();

	if (never) {
		landing.key ^= 0x5A00;
	} else {
		player_ask(1, txn, &landing);
		CHECK_EQ(landed(&of), txn);
		txn = player_txn();
	}
	memset(card_memory, 0x77, sizeof(card_memory));
	player_ask(1, txn, &landing);
	counter_becomes("rdma_broken", broken + 1);
	counter_becomes("rdma_connections", 0);
	counter_becomes("rdma_under_way", 0);
	CHECK(card_memory[0][0] == 0x77 && card_memory[0][BLOCK - 1] == 0x77);
	/* the request is repeated, with or without a landing */
	player_ask(1, txn, &landing);
	CHECK(player_data_comes(txn, WAIT_MS));
	txn = player_txn();
	player_ask(2, txn, NULL);
	CHECK(player_data_comes(txn, WAIT_MS));
	card_disconnect(&card);
	link_up();
	lands_one(3);
}

static struct weft_landing room(u32 i)
{
	return (struct weft_landing){ .addr = card.rooms.addr + i * WEFT_ROOM_SIZE,
				      .key = card.rooms.key };
}

static void tell(u32 index, u64 version, u32 size, struct weft_landing where)
{
	u8 buf[CARD_MESSAGE];

	card_send(&card, buf, player_home(buf, index, version, size, &where));
}

/* Blocks go home: written into rooms, each of them, and to where the line is. */
static void goes_home(void)
{
	u64 before = counter("rdma_home"), bytes = counter("rdma_home_bytes"), version;
	u32 i, index;

	CHECK(card.n_rooms > 1 && card.n_rooms <= WEFT_ROOMS_MAX);
	for (i = 0; i < card.n_rooms; i++) {
		struct weft_landing to = room(i);

		index = i % WRITTEN;
		version = player_fill(index, card_memory[0]);
		CHECK(card_write(&card, 0, &to));
		tell(index, version, BLOCK, to);
		CHECK(player_acked(version, WAIT_MS));
		CHECK_EQ(card_room_free(&card, WAIT_MS), i);
		written[index] = version;
		lands_one(index);
	}
	CHECK_EQ(counter("rdma_home"), before + card.n_rooms);
	CHECK_EQ(counter("rdma_home_bytes"), bytes + (u64)card.n_rooms * BLOCK);
}

/* What is older than what is at home is acknowledged, and nothing else. */
static void goes_home_late(void)
{
	struct weft_landing to = room(0);

	player_fill(3, card_memory[0]);
	CHECK(card_write(&card, 0, &to));
	tell(3, written[3] - 1, BLOCK, to);
	CHECK(player_acked(written[3] - 1, WAIT_MS));
	CHECK_EQ(card_room_free(&card, WAIT_MS), 0);
	lands_one(3);
}

/* What does not name a room, or did not come by the card, is not looked at. */
static void no_room(void)
{
	struct weft_landing past = room(card.n_rooms), within = room(1), other = room(1);
	u64 unexpected = counter("unexpected"), home = counter("rdma_home");
	u64 bad = counter("bad_messages"), version = player_fill(4, card_memory[0]);

	CHECK(card_write(&card, 0, &other));
	within.addr += 4096;
	tell(4, version, BLOCK, past);
	tell(4, version, BLOCK, within);
	other.key ^= 0x5A00;
	tell(4, version, BLOCK, other);
	other = room(1);
	player_home_udp(4, version, &other);
	counter_becomes("unexpected", unexpected + 4);
	CHECK_EQ(counter("rdma_home"), home);
	/* of another size than the region's blocks: the room is free again all the same */
	tell(4, version, BLOCK / 2, room(1));
	CHECK_EQ(card_room_free(&card, WAIT_MS), 1);
	CHECK_EQ(counter("bad_messages"), bad + 1);
	CHECK(!player_acked(version, 200));
	lands_one(4);
	CHECK_EQ(counter("rdma_connections"), 1);
}

/* A room of a new connection has nothing of the one before, nor anything else of the blade's. */
static void empty_room(void)
{
	struct weft_landing landing;
	u32 txn = player_txn();
	u64 version, of;

	card_disconnect(&card);
	counter_becomes("rdma_connections", 0);
	link_up();
	version = player_write(7) + 1;
	player_fill(7, card_memory[0]);
	tell(7, version, BLOCK, room(0));
	CHECK(player_acked(version, WAIT_MS));
	CHECK_EQ(card_room_free(&card, WAIT_MS), 0);
	landing = card_open(&card, 0);
	player_ask(7, txn, &landing);
	CHECK_EQ(landed(&of), txn);
	CHECK_EQ(of, version);
	player_check_block(card_memory[0], 7, 0);
	written[7] = player_write(7);
	lands_one(7);
}

/* Only rooms can be written: what is behind them cannot, and then nothing by that connection. */
static void behind_rooms(void)
{
	struct weft_landing past = room(card.n_rooms), first = room(0);

	CHECK(!card_write(&card, 0, &past));
	CHECK(!card_write(&card, 0, &first));
	card_disconnect(&card);
	counter_becomes("rdma_connections", 0);
	link_up();
	lands_one(5);
}

static void refused(struct weft_hello hello, const struct weft_key *with)
{
	u64 before = counter("rdma_refused"), there = counter("rdma_connections");

	CHECK(!card_connect(&card, player.blade_addr, &hello, with));
	CHECK_EQ(counter("rdma_refused"), before + 1);
	CHECK_EQ(counter("rdma_connections"), there);
}

static void wrong_hellos(void)
{
	struct weft_hello hello = right();
	struct weft_key other;

	hello.rack = 7;
	refused(hello, &player.key);
	hello = right();
	hello.to = player.blade + 1;
	refused(hello, &player.key);
	hello = right();
	/* a node that is not there; and none */
	hello.from = 2;
	refused(hello, &player.key);
	hello.from = player.blade + 1;
	refused(hello, &player.key);
	weft_key_init(&other, (const u8 *)"this is another key than the rack's");
	refused(right(), &other);
	if (!player.key.set)
		return;
	refused(right(), NULL);
	hello = right();
	hello.stamp.tick -= LATER;
	refused(hello, &player.key);
	hello = right();
	hello.stamp.epoch++;
	refused(hello, &player.key);
}

static void connections(void)
{
	struct card first;
	u32 i;

	for (i = 0; i < CONNECTIONS; i++) {
		card_disconnect(&card);
		/* as if the node had ended without saying so, which a second one tells */
		link_up();
		if (i % 10 == 0)
			lands_one(i % BLOCKS);
	}
	first = card;
	card = (struct card){ 0 };
	link_up();
	CHECK_EQ(counter("rdma_connections"), 1);
	lands_one(5);
	card_disconnect(&card);
	card_disconnect(&first);
	counter_becomes("rdma_connections", 0);
	link_up();
	lands_one(6);
}

void case_lands(void)
{
	link_up();
	contents();
	many();
	twice();
	closed_key(false);
	closed_key(true);
	goes_home();
	goes_home_late();
	no_room();
	empty_room();
	behind_rooms();
	card_disconnect(&card);
	counter_becomes("rdma_connections", 0);
	wrong_hellos();
	link_up();
	connections();
	card_disconnect(&card);
}

void case_udp(void)
{
	struct weft_landing landing = { .addr = 4096, .key = 1 };
	u64 before = counter("rdma_not_connected");
	u32 i, txn;

	CHECK_EQ(counter("rdma"), 0);
	CHECK_EQ(counter("rdma_connections"), 0);
	CHECK_EQ(counter("rdma_registered_bytes"), 0);
	for (i = 0; i < BLOCKS; i++) {
		txn = player_txn();
		player_ask(i, txn, &landing);
		CHECK(player_data_comes(txn, WAIT_MS));
	}
	CHECK_EQ(counter("rdma_not_connected"), before + BLOCKS);
}

void case_unlocked(void)
{
	u64 refused_before = counter("rdma_not_registered");
	u64 marks = counter("rdma_registered_bytes");
	struct weft_landing landing;
	u32 txn = player_txn();

	/* one number for each frame of 4 KiB, and no frame */
	CHECK(marks && marks < MEMORY / 4096 * 8 * 2);
	link_up();
	landing = card_open(&card, 0);
	player_ask(1, txn, &landing);
	CHECK(player_data_comes(txn, WAIT_MS));
	CHECK_EQ(counter("rdma_not_registered"), refused_before + 1);
	CHECK_EQ(counter("rdma_registered_bytes"), marks);
	card_close(&card);
	/* the same connection brings what needs no frame */
	lands_one(WRITTEN);
	CHECK_EQ(counter("rdma_connections"), 1);
	card_disconnect(&card);
}

void case_removed(void)
{
	struct weft_landing landing;
	u32 txn = player_txn();

	link_up();
	lands_one(1);
	landing = card_open(&card, 0);
	puts("connected");
	fflush(stdout);
	counter_becomes("rdma", 0);
	counter_becomes("rdma_connections", 0);
	CHECK_EQ(counter("rdma_registered_bytes"), 0);
	player_ask(1, txn, &landing);
	CHECK(player_data_comes(txn, WAIT_MS));
	card_disconnect(&card);
	puts("gone");
	fflush(stdout);
	counter_becomes("rdma", 1);
	link_up();
	lands_one(1);
	card_disconnect(&card);
}
