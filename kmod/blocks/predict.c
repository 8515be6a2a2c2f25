// SPDX-License-Identifier: GPL-2.0-only
/* The access predictor, see predict.h; docs/kernel.md ("What, and how") has the rules. */
#include <linux/minmax.h>

#include "base/stats.h"
#include "blocks/cache.h"
#include "blocks/pages.h"
#include "blocks/predict.h"

/* Most turns that a block is mapped in between two looks of the kernel. */
#define RUN_WRITE	16	/* the word that is usually written tells as well */
#define RUN_READ	4	/* nothing else tells */

static void count(struct weft_block *blk, unsigned int stat, u64 n)
{
	weft_stat_add(weft_block_counters(blk), stat, n);
}

void weft_predict_came(struct weft_block *blk)
{
	struct weft_predict *h = &blk->predict;

	lockdep_assert_held(&blk->lock);
	h->come = true;
	h->mapped = false;
	h->used = WEFT_I;
	WRITE_ONCE(h->looking, true);
}

void weft_predict_forget(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	blk->predict.come = false;
	blk->predict.mapped = false;
	WRITE_ONCE(blk->predict.looking, false);
}

void weft_predict_touched(struct weft_block *blk, u8 perm, u32 at)
{
	struct weft_predict *h = &blk->predict;

	spin_lock_bh(&blk->lock);
	h->come = false;
	if (perm > h->used) {
		h->used = perm;
		/* a read does not show where writers begin */
		if (perm >= h->usual)
			h->at = at;
	}
	spin_unlock_bh(&blk->lock);
}

/* Count the turns in which the block was mapped to read: this look tells of what use that was. */
static void settle(struct weft_block *blk)
{
	struct weft_predict *h = &blk->predict;

	if (blk->bound.learnt)
		count(blk, h->used ? WEFT_STAT_LOCK_LEARNT_SAVED : WEFT_STAT_LOCK_LEARNT_USELESS,
		      h->unsure);
	if (!h->used)
		count(blk, WEFT_STAT_LOCK_BLOCKS_UNUSED, h->unsure);
	h->unsure = 0;
}

/* The kernel has looked: predict the next turns. */
static void looked(struct weft_block *blk)
{
	struct weft_predict *h = &blk->predict;

	settle(blk);
	if (h->same && h->used == WEFT_M)
		h->whole = true;
	else if (h->same)
		count(blk, WEFT_STAT_LOCK_BLOCKS_UNUSED, 1);
	h->same = false;
	/* a holder that may only read does not show what writers do */
	h->usual = h->used && blk->line.state != WEFT_M ? max(h->usual, h->used) : h->used;
	h->run = h->used ? clamp(2 * h->run, 1, h->usual == WEFT_M ? RUN_WRITE : RUN_READ) : 0;
	h->left = h->run;
}

/* The bytes that show a write: the word that programs usually write first, or the page. */
static u64 written_word(struct weft_block *blk)
{
	const struct weft_predict *h = &blk->predict;

	return h->whole ? weft_pages_hash(blk, h->at) : weft_pages_word(blk, h->at);
}

/* The block was mapped to write: has a program written? */
static void written(struct weft_block *blk)
{
	struct weft_predict *h = &blk->predict;

	if (blk->line.state != WEFT_M)
		return; /* another node has taken it without the lock */
	h->same = written_word(blk) == h->was;
	if (h->same) {
		/* not written, or with the same bytes, or elsewhere: look in the next turn */
		h->left = 0;
	} else if (blk->bound.learnt && blk->bound.brought) {
		blk->bound.saved = true;
		count(blk, WEFT_STAT_LOCK_LEARNT_SAVED, 1);
	}
}

void weft_predict_left(struct weft_block *blk)
{
	lockdep_assert_held(&blk->lock);
	if (blk->predict.looking)
		looked(blk);
	else if (blk->predict.mapped)
		written(blk);
	weft_predict_forget(blk);
}

u8 weft_predict_map(struct weft_block *blk, u8 perm, u32 *at)
{
	struct weft_predict *h = &blk->predict;

	lockdep_assert_held(&blk->lock);
	perm = min3(perm, h->usual, weft_line_perm(&blk->line));
	if (!h->come || !h->left || !perm)
		return WEFT_I;
	h->come = false;
	h->left--;
	WRITE_ONCE(h->looking, false);
	*at = h->at;
	h->mapped = perm == WEFT_M;
	if (h->mapped)
		h->was = written_word(blk);
	else if (h->unsure < U8_MAX)
		h->unsure++;
	return perm;
}
