// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prefetching, see ahead.h.  A sequential access doubles the reader's window, or quadruples a
 * small one.  The blocks asked for reach between half a window and a window ahead of the reader,
 * so that requests leave in batches.
 *
 * A sequential access may skip the blocks that fault-around has mapped, but no more: if it could
 * skip a whole window, random accesses would pass for sequential ones, the more often the larger
 * the window, and would fetch blocks that other nodes are writing.
 */
#include <linux/minmax.h>

#include "base/stats.h"
#include "blocks/access.h"
#include "blocks/flight.h"
#include "fs/ahead.h"
#include "fs/rack.h"
#include "net/node.h"
#include "net/outbox.h"

#define WINDOW_MIN	4		/* blocks */
#define WINDOW_BYTES	(2u << 20)	/* in flight for one reader, at most */
#define CACHE_PART	8		/* a reader may fill one part in so many of the cache */
#define SKIP_BYTES	(64u << 10)	/* fault_around_bytes, unless somebody changed it */
#define SEND_BATCH	32		/* requests; the first of them waits for the last */

/* Bytes that may be in flight to this node from all homes of the region together. */
static u64 windows(const struct weft_inode *wi)
{
	u32 homes = weft_place_homes(&wi->rack->node.places, wi->region.id), home;
	u64 bytes = 0;

	for (home = WEFT_BLADE_MIN; homes; home++, homes >>= 1)
		if (homes & 1)
			bytes += weft_flight_size(&wi->rack->cache, home);
	return bytes;
}

/*
 * The largest window, in blocks.  Blocks read ahead must not evict each other from a small cache,
 * and must fit into the windows of the homes: else half a window could not be asked for at once.
 */
static u32 window_max(const struct weft_inode *wi)
{
	u64 cache = (u64)READ_ONCE(wi->rack->cache.max_pages) << PAGE_SHIFT;
	u64 bytes = min3((u64)WINDOW_BYTES, cache / CACHE_PART, windows(wi));

	return max_t(u32, bytes >> wi->region.block_shift, 1);
}

/* Return: the reader that block @index continues; else a new one in place of the oldest. */
static struct weft_stream *find_stream(struct weft_inode *wi, u64 index)
{
	u64 skip = (SKIP_BYTES >> wi->region.block_shift) + 1;
	struct weft_stream *oldest = &wi->stream[0];
	int i;

	lockdep_assert_held(&wi->lock);
	for (i = 0; i < WEFT_STREAMS; i++) {
		struct weft_stream *s = &wi->stream[i];

		if (s->age && index > s->at && index <= s->end && index - s->at <= skip)
			return s;
		if (s->age < oldest->age)
			oldest = s;
	}
	oldest->window = 0;
	oldest->at = index;
	oldest->end = index + 1;
	return oldest;
}

static u32 larger(u32 window, u32 most)
{
	window *= window < most / 16 ? 4 : 2;
	return min(max_t(u32, window, WINDOW_MIN), most);
}

static void next_window(struct weft_inode *wi, u64 index, u64 *from, u64 *to)
{
	u32 most = window_max(wi);
	struct weft_stream *s;

	spin_lock(&wi->lock);
	s = find_stream(wi, index);
	s->age = ++wi->stream_age;
	/* block 0 opens a window at once, any other first access does not */
	if (index > s->at || !index)
		s->window = larger(s->window, most);
	s->at = index;
	*from = max(s->end, index + 1);
	*to = max(*from, index + 1 + s->window);
	if (*to - *from < s->window / 2)
		*to = *from;
	s->end = *to;
	spin_unlock(&wi->lock);
}

/* Blocks from @from on were not asked for: the reader's next access does. */
static void not_asked(struct weft_inode *wi, u64 from, u64 to)
{
	int i;

	spin_lock(&wi->lock);
	for (i = 0; i < WEFT_STREAMS; i++)
		if (wi->stream[i].end == to && wi->stream[i].at < from)
			wi->stream[i].end = from;
	spin_unlock(&wi->lock);
}

/* Return: false: no room, in the cache or in the window of the block's home. */
static bool ask(struct weft_inode *wi, u64 index, struct weft_outbox *outbox)
{
	struct weft_block *blk;
	bool asked;

	if (!weft_flight_room(&wi->region, index)) {
		weft_stat_inc(&wi->rack->node.counters, WEFT_STAT_READ_AHEAD_HELD);
		return false;
	}
	blk = weft_block_get(&wi->region, index, false, 0);
	if (IS_ERR(blk))
		return false;
	asked = weft_block_prefetch(blk, outbox);
	weft_block_put(blk);
	return asked;
}

void weft_ahead(struct weft_inode *wi, u64 index)
{
	struct weft_outbox outbox;
	u64 from, to, end, blocks;

	next_window(wi, index, &from, &end);
	blocks = DIV_ROUND_UP_ULL(i_size_read(&wi->vfs), weft_region_block(&wi->region));
	to = min(end, blocks);
	weft_outbox_init(&outbox, &wi->rack->node);
	for (; from < to; from++) {
		if (!ask(wi, from, &outbox)) {
			not_asked(wi, from, end);
			break;
		}
		if (outbox.n >= SEND_BATCH)
			weft_outbox_send(&outbox);
	}
	weft_outbox_send(&outbox);
}
