// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of RDMA needs no card: which way a block goes, what is under way, and that memory
 * which a card reads is neither used for anything else nor returned to the system.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/common/check.h"
#include "tools/common/random.h"
#include "tools/memd/base/log.h"
#include "tools/memd/base/options.h"
#include "tools/memd/rdma/memory.h"
#include "tools/memd/rdma/sendq.h"
#include "tools/memd/store/backing.h"
#include "tools/memd/store/frames.h"

#define ADDR		0x0A000001u
#define MEMORY		(20u << 20)	/* 6 chunks, the last one short */
#define PIECES_MAX	16u
#define NODES		0x10000u	/* to a key, makes that of nodes */

static u64 state = 1;

static u32 below(u32 n)
{
	return random_u32(&state) % n;
}

/* --- which way -------------------------------------------------------------- */

static void choices(void)
{
	struct rdma_sendq l = { .addr = ADDR };
	u32 i;

	CHECK_EQ(rdma_sendq_choose(&l, ADDR, 1, 1, 2), RDMA_NO_CONNECTION);
	l.up = true;
	CHECK_EQ(rdma_sendq_choose(&l, ADDR, 1, 1, 2), RDMA_LANDS);
	CHECK_EQ(rdma_sendq_choose(&l, ADDR + 1, 1, 1, 2), RDMA_NO_CONNECTION);
	CHECK_EQ(rdma_sendq_choose(&l, ADDR, 1, 1, RDMA_DEPTH), RDMA_LANDS);
	CHECK_EQ(rdma_sendq_choose(&l, ADDR, 1, 1, RDMA_DEPTH + 1), RDMA_FULL);
	/* what nothing has been sent to has not been sent to */
	CHECK_EQ(rdma_sendq_choose(&l, ADDR, 0, 0, 2), RDMA_LANDS);
	for (i = 0; i < RDMA_DEPTH / 2; i++) {
		CHECK_EQ(rdma_sendq_choose(&l, ADDR, i, 7 * i, 2), RDMA_LANDS);
		rdma_sendq_went(&l, i, 7 * i, 2);
	}
	CHECK_EQ(l.busy, RDMA_DEPTH);
	CHECK_EQ(rdma_sendq_choose(&l, ADDR, i, 7 * i, 1), RDMA_FULL);
	l.busy = 0;
	/* of keys that were used the last ones are remembered, however many there were */
	for (; i < 1000; i++) {
		CHECK_EQ(rdma_sendq_choose(&l, ADDR, i - RDMA_RECENT, 7 * (i - RDMA_RECENT), 2),
			 RDMA_AGAIN);
		CHECK_EQ(rdma_sendq_choose(&l, ADDR, i - 1, 7 * (i - 1), 2), RDMA_AGAIN);
		/* the key of another transaction is another one, the number has come round */
		CHECK_EQ(rdma_sendq_choose(&l, ADDR, i - 1, 1, 2), RDMA_LANDS);
		rdma_sendq_went(&l, i, 7 * i, 0);
		CHECK_EQ(rdma_sendq_choose(&l, ADDR, i - RDMA_RECENT, 7 * (i - RDMA_RECENT), 2),
			 RDMA_LANDS);
	}
	l.broken = true;
	CHECK_EQ(rdma_sendq_choose(&l, ADDR, 5000, 1, 2), RDMA_NO_CONNECTION);
	l.broken = false;
	l.over = true;
	CHECK_EQ(rdma_sendq_choose(&l, ADDR, 5000, 1, 2), RDMA_NO_CONNECTION);
}

static void flights(void)
{
	static struct rdma_writes fs;
	struct rdma_transfer *f[RDMA_WRITES];
	u64 name[RDMA_WRITES];
	u32 i, round;

	rdma_writes_init(&fs);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < RDMA_WRITES; i++) {
			f[i] = rdma_writes_take(&fs, (u8)(1 + i % 32));
			CHECK(f[i]);
			/* what the card says late is not of this one */
			CHECK(!round || name[rdma_writes_index(&fs, f[i])] != f[i]->name);
			CHECK(rdma_writes_find(&fs, f[i]->name) == f[i]);
			CHECK(!rdma_writes_find(&fs, f[i]->name + RDMA_WRITES));
		}
		CHECK(!rdma_writes_take(&fs, 1));
		for (i = 0; i < RDMA_WRITES; i++) {
			name[rdma_writes_index(&fs, f[i])] = f[i]->name;
			rdma_writes_put(&fs, f[i]);
			CHECK(!rdma_writes_find(&fs, name[rdma_writes_index(&fs, f[i])]));
		}
	}
	CHECK_EQ(fs.n_free, RDMA_WRITES);
}

/* --- memory: a card that is played ------------------------------------------ */

static struct frames frames;
static struct backing backing = { .fd = -1 };
static struct rdma_memory mem;
static bool refuses;
static u32 asked, registrations;

/* What a card has: the memory of before is not seen if it was returned meanwhile. */
struct registered {
	u8 *at;
	size_t len;
};

static void *add(void *card, void *at, size_t len, bool nodes, struct rdma_keys *keys)
{
	struct registered *r = malloc(sizeof(*r));

	CHECK(card == &registrations && r);
	CHECK((u8 *)at >= frames.mem && (u8 *)at + len <= frames.mem +
	      (size_t)frames.total * FRAME_SIZE);
	asked++;
	if (refuses) {
		free(r);
		errno = ENOMEM;
		return NULL;
	}
	r->at = at;
	r->len = len;
	/* a card pins it */
	CHECK(!mlock(at, len) || errno == ENOMEM || errno == EPERM);
	keys->own = (u32)((u8 *)at - frames.mem) / FRAME_SIZE;
	keys->nodes = nodes ? keys->own + NODES : 0;
	registrations++;
	return r;
}

static void del(void *card, void *registered)
{
	struct registered *r = registered;

	CHECK(card == &registrations && registrations--);
	/* nothing of it has been returned yet: the chunk's frames in use are as they were */
	munlock(r->at, r->len);
	free(r);
}

static const struct rdma_memory_ops ops = { .add = add, .del = del };

static void begin(void)
{
	char err[ERR_MAX];

	CHECK(!frames_init(&frames, MEMORY, &backing, err));
	CHECK(rdma_memory_init(&mem, &frames, &ops, &registrations));
	asked = 0;
	refuses = false;
}

static void end(void)
{
	rdma_memory_drop(&mem);
	CHECK_EQ(registrations, 0);
	CHECK_EQ(mem.bytes, 0);
	rdma_memory_exit(&mem);
	frames_exit(&frames);
}

static u8 data[PIECES_MAX * FRAME_SIZE];

static u32 store(u32 pieces, u8 pattern)
{
	bool later;

	memset(data, pattern, (size_t)pieces * FRAME_SIZE);
	return frames_store(&frames, 1, 0, pieces, 1, data, &later);
}

static bool has(u32 first, u32 pieces, u8 pattern)
{
	u32 i;

	CHECK(!frames_load(&frames, first, 0, data, pieces * FRAME_SIZE));
	for (i = 0; i < pieces * FRAME_SIZE; i++)
		if (data[i] != pattern)
			return false;
	return true;
}

static void refused(void)
{
	struct rdma_keys keys;
	u32 frame;

	begin();
	frame = store(1, 1);
	refuses = true;
	log_silent = true;
	CHECK(!rdma_memory_use(&mem, frame, 5000, &keys));
	CHECK(!rdma_memory_use(&mem, frame, 5000 + RDMA_MEMORY_AGAIN_MS - 1, &keys));
	CHECK_EQ(asked, 1);
	CHECK(!rdma_memory_use(&mem, frame, 5000 + RDMA_MEMORY_AGAIN_MS, &keys));
	CHECK_EQ(asked, 2);
	refuses = false;
	CHECK(!rdma_memory_use(&mem, frame, 5001 + RDMA_MEMORY_AGAIN_MS, &keys));
	CHECK(rdma_memory_use(&mem, frame, 5000 + 2 * RDMA_MEMORY_AGAIN_MS, &keys));
	CHECK_EQ(registrations, 1);
	rdma_memory_unuse(&mem, frame);
	log_silent = false;
	end();
}

/* What is given back while a card reads it stays, and is there for others afterwards. */
static void held(void)
{
	u32 frame, other, used;
	struct rdma_keys keys;

	begin();
	frame = store(4, 7);
	used = frames.used;
	CHECK(frames_hold(&frames, frame));
	CHECK(frames_hold(&frames, frame));
	CHECK(rdma_memory_use(&mem, frame, 0, &keys));
	frames_release(&frames, frame, true);
	frames_give_back(&frames);
	CHECK_EQ(frames.held, 4);
	other = store(4, 8);
	CHECK(other != frame && has(frame, 4, 7) && has(other, 4, 8));
	frames_drop(&frames, frame);
	CHECK_EQ(frames.held, 4);
	rdma_memory_unuse(&mem, frame);
	CHECK_EQ(registrations, 1);
	frames_drop(&frames, frame);
	CHECK_EQ(frames.held, 0);
	CHECK_EQ(frames.used, used);
	/* its memory has been returned, for which the card had to let go */
	CHECK_EQ(registrations, 0);
	CHECK_EQ(frames_memory(&frames, frame)[0], 0);
	CHECK(has(other, 4, 8));
	/* without a hold it is as it always was: what comes next gets them, in their order */
	frames_release(&frames, other, false);
	CHECK_EQ(store(1, 9), other);
	other = store(3, 9);
	CHECK_EQ(rdma_memory_piece(&frames, &other), 3);
	end();
}

/* Another block of the chunk is read when some of it is returned: that waits. */
static void returned_late(void)
{
	u32 gone, taken, stays;
	struct rdma_keys keys;

	begin();
	gone = store(1, 1);
	taken = store(1, 2);
	stays = store(1, 3);
	CHECK(frames_hold(&frames, stays) && rdma_memory_use(&mem, stays, 0, &keys));
	frames_release(&frames, gone, true);
	frames_release(&frames, taken, true);
	frames_give_back(&frames);
	CHECK_EQ(registrations, 1);
	CHECK_EQ(frames_memory(&frames, gone)[0], 1);
	CHECK_EQ(store(1, 4), taken);
	rdma_memory_unuse(&mem, stays);
	frames_drop(&frames, stays);
	CHECK_EQ(registrations, 0);
	CHECK_EQ(frames_memory(&frames, gone)[0], 0);
	CHECK(has(taken, 1, 4) && has(stays, 1, 3));
	end();
}

/*
 * A chunk that nodes may read stays registered whoever gives memory of it back, which is ours until
 * nodes may not read any more.
 */
static void nodes_read(void)
{
	u32 gone, taken, stays;
	struct rdma_keys keys;

	begin();
	gone = store(1, 1);
	taken = store(1, 2);
	stays = store(1, 3);
	CHECK(rdma_memory_use(&mem, stays, 0, &keys));
	CHECK_EQ(keys.nodes, 0);
	mem.nodes = true;
	/* what is used just now stays as it is */
	CHECK(rdma_memory_use(&mem, stays, 0, &keys));
	CHECK(!keys.nodes && asked == 1);
	rdma_memory_unuse(&mem, stays);
	rdma_memory_unuse(&mem, stays);
	CHECK(rdma_memory_use(&mem, stays, 0, &keys));
	CHECK_EQ(keys.nodes, keys.own + NODES);
	CHECK(asked == 2 && registrations == 1);
	frames_release(&frames, gone, true);
	frames_release(&frames, taken, true);
	frames_give_back(&frames);
	rdma_memory_unuse(&mem, stays);
	CHECK_EQ(registrations, 1);
	CHECK_EQ(frames_memory(&frames, gone)[0], 1);
	CHECK_EQ(store(1, 4), taken);
	CHECK(rdma_memory_use(&mem, stays, 0, &keys));
	rdma_memory_unuse(&mem, stays);
	CHECK_EQ(asked, 2);
	rdma_memory_drop(&mem);
	mem.nodes = false;
	CHECK_EQ(registrations, 0);
	CHECK_EQ(frames_memory(&frames, gone)[0], 0);
	CHECK(has(taken, 1, 4) && has(stays, 1, 3));
	CHECK(rdma_memory_use(&mem, stays, 0, &keys));
	CHECK_EQ(keys.nodes, 0);
	rdma_memory_unuse(&mem, stays);
	end();
}

/* The mark of a chain goes when it is given back, also if it is held then; and only that one. */
static void marks(void)
{
	static u64 mark[MEMORY / FRAME_SIZE + 1024];
	u32 one, two, held;
	struct rdma_keys keys;

	begin();
	CHECK(frames.total < sizeof(mark) / sizeof(mark[0]));
	one = store(2, 1);
	two = store(2, 2);
	held = store(2, 3);
	/* nothing has one */
	frames_unmark(&frames, one);
	frames.mark = mark;
	mark[one] = 11;
	mark[two] = 22;
	mark[held] = 33;
	CHECK(frames_hold(&frames, held) && rdma_memory_use(&mem, held, 0, &keys));
	frames_release(&frames, held, true);
	CHECK(!mark[held] && frames.held == 2);
	rdma_memory_unuse(&mem, held);
	frames_drop(&frames, held);
	frames_release(&frames, one, false);
	CHECK(!mark[one] && mark[two] == 22);
	frames_unmark(&frames, FRAME_NONE);
	frames_unmark(&frames, two);
	CHECK(!mark[two] && has(two, 2, 2));
	end();
}

/* Memory is full but for what a card reads: the next block comes later, not never. */
static void full(void)
{
	u32 last = 0, frame;
	bool later;

	begin();
	while ((frame = store(1, 1)))
		last = frame;
	CHECK(!frames_store(&frames, 1, 0, 1, 1, data, &later) && !later);
	CHECK(frames_hold(&frames, last));
	frames_release(&frames, last, false);
	CHECK(!frames_store(&frames, 1, 0, 1, 1, data, &later) && later);
	frames_drop(&frames, last);
	CHECK_EQ(store(1, 1), last);
	end();
}

/* --- memory: everything at once --------------------------------------------- */

#define BLOCKS	700
#define READS	40

static struct {
	u32 first;
	u32 pieces;
	u8 pattern;
} block[BLOCKS];

static struct {
	u32 first;
	u32 pieces;
	u8 pattern;
} reading[READS];

static void unuse_all(u32 first)
{
	u32 at = first;

	while (at) {
		u32 from = at;

		rdma_memory_piece(&frames, &at);
		rdma_memory_unuse(&mem, from);
	}
}

static void start_reading(u32 i, u32 which)
{
	u32 at = block[which].first, n = 0;
	struct rdma_keys keys;

	CHECK(frames_hold(&frames, at));
	while (at) {
		u32 from = at, pieces = rdma_memory_piece(&frames, &at);

		CHECK(pieces && frames_chunk(from) == frames_chunk(from + pieces - 1));
		CHECK(rdma_memory_use(&mem, from, 0, &keys));
		CHECK_EQ(keys.own, frames_chunk(from) * FRAMES_PER_CHUNK);
		n += pieces;
	}
	CHECK_EQ(n, block[which].pieces);
	reading[i].first = block[which].first;
	reading[i].pieces = block[which].pieces;
	reading[i].pattern = block[which].pattern;
}

static void end_reading(u32 i)
{
	/* what the card has read is what stood there when it was told to */
	CHECK(has(reading[i].first, reading[i].pieces, reading[i].pattern));
	unuse_all(reading[i].first);
	frames_drop(&frames, reading[i].first);
	reading[i].first = 0;
}

static void replace(u32 i, bool give_back)
{
	u32 pieces = 1u << below(5), old = block[i].first;
	u8 pattern = (u8)(1 + below(255));

	if (!give_back) {
		block[i].first = store(pieces, pattern);
		block[i].pieces = pieces;
		block[i].pattern = pattern;
	}
	if (old) {
		frames_release(&frames, old, give_back);
		if (give_back) {
			frames_give_back(&frames);
			block[i].first = 0;
		}
	}
}

static void anything(bool nodes)
{
	u32 n, i, reads = 0;

	begin();
	mem.nodes = nodes;
	for (n = 0; n < 40000; n++) {
		i = below(BLOCKS);
		if (below(3))
			replace(i, block[i].first && !below(4));
		i = below(READS);
		if (reading[i].first) {
			end_reading(i);
		} else {
			u32 which = below(BLOCKS);

			if (block[which].first) {
				start_reading(i, which);
				reads++;
			}
		}
	}
	CHECK(reads > 10000);
	for (i = 0; i < READS; i++)
		if (reading[i].first)
			end_reading(i);
	for (i = 0; i < BLOCKS; i++)
		if (block[i].first) {
			CHECK(has(block[i].first, block[i].pieces, block[i].pattern));
			frames_release(&frames, block[i].first, true);
			block[i].first = 0;
		}
	frames_give_back(&frames);
	CHECK_EQ(frames.used, 0);
	CHECK_EQ(frames.held, 0);
	end();
}

int main(void)
{
	choices();
	flights();
	refused();
	held();
	returned_late();
	nodes_read();
	marks();
	full();
	anything(false);
	anything(true);
	return check_result();
}
