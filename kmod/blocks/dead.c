// SPDX-License-Identifier: GPL-2.0-only
/* What is left of dead nodes, see dead.h. */
#include <linux/ktime.h>

#include "blocks/cache.h"
#include "blocks/dead.h"
#include "blocks/effects.h"
#include "blocks/step.h"
#include "core/controller.h"
#include "net/outbox.h"

#define AGAIN_NS	(40 * NSEC_PER_MSEC)	/* most answers come sooner; docs/kernel.md has it */

bool weft_block_gone(struct weft_block *blk, u32 dead)
{
	struct weft_outbox outbox;
	struct weft_out out;
	bool done = true;

	weft_outbox_init(&outbox, blk->cache->node);
	weft_block_begin(blk);
	if (blk->phase == WEFT_BLOCK_LIVE) {
		done = weft_line_gone(&blk->line, dead, &out);
		/* no program's access is worth that all others wait */
		if (!done)
			blk->keep = blk->late = 0;
		weft_block_carry_out(blk, &out, NULL, &outbox);
	}
	weft_block_end(blk, &outbox);
	weft_outbox_send(&outbox);
	if (!done)
		weft_block_take_now(blk);
	return done;
}

/*
 * If answers came slowly lately the first time-out is long, too: a blade that was away has
 * made it a second, and what is lost as it comes back is still waiting for it.
 */
static bool waits_long(const struct weft_block *blk)
{
	return blk->losses || ktime_get_ns() - max(blk->asked, blk->repeated) > AGAIN_NS;
}

void weft_block_again(struct weft_block *blk)
{
	struct weft_outbox outbox;

	weft_outbox_init(&outbox, blk->cache->node);
	weft_block_begin(blk);
	if (blk->phase == WEFT_BLOCK_LIVE && blk->retry_at && waits_long(blk))
		blk->retry_at = ktime_get_ns();
	weft_block_end(blk, &outbox);
	weft_outbox_send(&outbox);
}
