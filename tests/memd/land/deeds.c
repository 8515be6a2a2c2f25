// SPDX-License-Identifier: GPL-2.0-only
/* The node's card reads blocks from the blade's memory by itself, or may not, see deeds.h. */
#include "deeds.h"

#include "link.h"
#include "tests/common/check.h"
#include "tools/common/clock.h"
#include "tools/common/random.h"

#define HERE		1u		/* landing that is read into; blocks land in the first */
#define VERSIONS	40u
#define RACES		60u
#define CHUNK		(4u << 20)	/* what is registered together */
#define SHORT		33u		/* blocks that are left */

static u64 state = 1;

/* What comes with a block. */
static struct weft_deed comes_with(u32 index)
{
	lands_one(index);
	return told.deed;
}

static struct weft_deed deed_of(u32 index)
{
	struct weft_deed deed = comes_with(index);

	CHECK(deed.block.key && deed.mark.key && deed.number);
	return deed;
}

static u64 mark(const struct weft_deed *deed)
{
	CHECK(card_read(&card, HERE, &deed->mark, 8));
	return get_unaligned_be64(card_memory[HERE]);
}

/* The block, and after it the mark, which overwrites nothing.  Return: whether it is good. */
static bool reads(const struct weft_deed *deed)
{
	CHECK(card_read(&card, HERE, &deed->block, BLOCK));
	CHECK(card_read(&card, HERE + 1, &deed->mark, 8));
	return get_unaligned_be64(card_memory[HERE + 1]) == deed->number;
}

static bool same(const struct weft_deed *a, const struct weft_deed *b)
{
	return a->block.addr == b->block.addr && a->block.key == b->block.key &&
	       a->mark.addr == b->mark.addr && a->mark.key == b->mark.key &&
	       a->number == b->number;
}

static void one_version(void)
{
	u64 before = counter("rdma_deeds");
	struct weft_deed first = deed_of(1), again;

	CHECK(reads(&first));
	player_check_block(card_memory[HERE], 1, written[1]);
	again = deed_of(1);
	CHECK(same(&first, &again));
	CHECK(reads(&first));
	CHECK_EQ(counter("rdma_deeds"), before + 2);
	/* another block has another one */
	again = deed_of(2);
	CHECK(again.number != first.number && again.block.addr != first.block.addr);
	/* of zeros nobody has any */
	CHECK(!comes_with(WRITTEN).block.key);
	CHECK_EQ(counter("rdma_deeds"), before + 3);
}

/* One that has got new contents is known by its mark, also when that has another number. */
static void versions(void)
{
	struct weft_deed old = deed_of(1), new;
	u32 i;

	for (i = 0; i < VERSIONS; i++) {
		written[1] = player_write(1);
		CHECK(mark(&old) != old.number);
		new = deed_of(1);
		CHECK(new.number != old.number);
		CHECK(mark(&old) != old.number);
		CHECK(reads(&new));
		player_check_block(card_memory[HERE], 1, written[1]);
		old = new;
	}
}

/* Read all the time while the block, and others whose frames it had, are written. */
static void races(void)
{
	u32 i, index, good = 0;
	struct weft_deed deed;
	u64 one, other, end;

	for (i = 0; i < RACES; i++) {
		index = random_u32(&state) % (WRITTEN - 1);
		deed = deed_of(index);
		one = player_begin_write(index);
		other = player_begin_write(index + 1);
		for (end = now_ms() + WAIT_MS; reads(&deed); good++) {
			CHECK(now_ms() < end);
			player_check_block(card_memory[HERE], index, written[index]);
		}
		CHECK(player_acked(other, WAIT_MS));
		written[index] = one;
		written[index + 1] = other;
	}
	lands_one(index);
	lands_one(index + 1);
}

/* What goes with the end of a region is not there any more, which costs no connection. */
static void shorter(void)
{
	u64 bytes, broken = counter("rdma_broken");
	struct weft_deed deed;
	u32 last = BLOCKS - 1;

	written[last] = player_write(last);
	deed = deed_of(last);
	bytes = counter("rdma_registered_bytes");
	player_resize(SHORT);
	CHECK(!reads(&deed));
	CHECK_EQ(counter("rdma_registered_bytes"), bytes);
	player_resize(BLOCKS);
	CHECK(!reads(&deed));
	CHECK_EQ(counter("rdma_broken"), broken);
	CHECK_EQ(counter("rdma_connections"), 1);
	lands_one(1);
}

/* A dead node had something newer: who reads by itself would not hear of that. */
static void lost(void)
{
	struct weft_landing landing;
	struct weft_deed deed = deed_of(2);
	u32 txn = player_txn();
	u64 of;

	landing = card_open(&card, 0);
	player_ask_of_dead(2, txn, &landing);
	CHECK_EQ(landed(&of), txn);
	CHECK(told.flags & WEFT_F_LOST && !told.deed.block.key);
	CHECK(mark(&deed) != deed.number);
	CHECK(!comes_with(2).block.key);
	CHECK(told.flags & WEFT_F_LOST);
	deed = deed_of(3);
	CHECK(!(told.flags & WEFT_F_LOST));
}

static void anew(void)
{
	card_disconnect(&card);
	counter_becomes("rdma_connections", 0);
	link_up();
}

/* As long as a region is for some nodes only nobody may read by itself; nor what it had before. */
static void restricted(void)
{
	struct weft_deed old = deed_of(4), deed;
	u64 end, given;

	player_restrict(weft_node_bit(player.node));
	CHECK_EQ(counter("rdma_connections"), 0);
	CHECK(counter("rdma_registered_bytes") < CHUNK);
	anew();
	given = counter("rdma_deeds");
	CHECK(!comes_with(4).block.key);
	CHECK(!card_read(&card, HERE, &old.block, 8));
	anew();
	CHECK(!comes_with(4).block.key);
	CHECK(mark(&old) != old.number);
	CHECK_EQ(counter("rdma_deeds"), given);
	player_restrict(0);
	for (end = now_ms() + WAIT_MS; !comes_with(4).block.key; usleep(20000))
		CHECK(now_ms() < end);
	deed = told.deed;
	CHECK(deed.number != old.number);
	CHECK(reads(&deed));
	player_check_block(card_memory[HERE], 4, written[4]);
	CHECK_EQ(counter("rdma_connections"), 1);
}

/* A deed lets nobody write. */
static void only_reads(void)
{
	struct weft_deed deed = deed_of(5);

	CHECK(!card_write(&card, HERE, &deed.block));
	anew();
	deed = deed_of(5);
	CHECK(!card_write(&card, HERE, &deed.mark));
	anew();
	lands_one(5);
}

void case_deeds(void)
{
	player.answers = true;
	link_up();
	one_version();
	versions();
	races();
	lost();
	only_reads();
	restricted();
	shorter();
	card_disconnect(&card);
}

void case_no_deeds(void)
{
	link_up();
	CHECK(!comes_with(1).block.key);
	CHECK(!comes_with(WRITTEN).block.key);
	CHECK_EQ(counter("rdma_deeds"), 0);
	card_disconnect(&card);
}
