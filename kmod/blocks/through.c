// SPDX-License-Identifier: GPL-2.0-only
/* Write a block through before its ownership moves, see through.h. */
#include <linux/ktime.h>

#include "base/stats.h"
#include "blocks/cache.h"
#include "blocks/region.h"
#include "blocks/through.h"
#include "net/node.h"

void weft_through_wrote(struct weft_block *blk)
{
	u64 index = weft_line_index(blk->line.key);

	if (weft_through_kept(blk->region) && !xa_get_mark(&blk->region->blocks, index, WEFT_THROUGH_MARK))
		xa_set_mark(&blk->region->blocks, index, WEFT_THROUGH_MARK);
}

void weft_through_begin(struct weft_region *region)
{
	struct weft_block *blk;
	unsigned long index;

	xa_for_each(&region->blocks, index, blk)
		xa_set_mark(&region->blocks, index, WEFT_THROUGH_MARK);
}

/* Is there time left?  The first call starts the clock. */
static bool in_time(struct weft_block *blk)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&blk->lock);
	if (!blk->through_until)
		blk->through_until = now + (u64)READ_ONCE(blk->cache->node->timeout_ms) *
				  NSEC_PER_MSEC / 2;
	if (now < blk->through_until)
		return true;
	if (blk->modified || blk->line.op == WEFT_OP_CLEAN)
		weft_stat_inc(weft_block_counters(blk), WEFT_STAT_UNSAFE_BLOCKS);
	blk->modified = false;
	return false;
}

bool weft_through_first(struct weft_block *blk)
{
	const struct weft_line *l = &blk->line;

	return l->revoking == 2 && l->state == WEFT_M && l->rq.type == WEFT_MSG_INV &&
	       weft_through_kept(blk->region) && (blk->modified || l->op == WEFT_OP_CLEAN) &&
	       in_time(blk);
}

bool weft_through_under_way(struct weft_block *blk)
{
	return weft_through_first(blk) && (blk->line.op != WEFT_OP_NONE || blk->line.held);
}

bool weft_through_deaf(struct weft_block *blk, const struct weft_msg *msg)
{
	const struct weft_line *l = &blk->line;

	return msg->type == WEFT_MSG_INV && l->op == WEFT_OP_PUT && l->quiesced &&
	       l->state == WEFT_M && !l->written && blk->modified &&
	       weft_through_kept(blk->region) && in_time(blk);
}
