// SPDX-License-Identifier: GPL-2.0-only
/* Nodes that have died, see fence.h. */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>

#include "blocks/dead.h"
#include "fs/fence.h"
#include "fs/inode.h"
#include "fs/rack.h"
#include "locks/giveback.h"
#include "rack/member.h"

#define LIMIT_MS	1000	/* then the blade asks again */
#define AGAIN_FIRST_MS	10	/* until what the dead did not answer is asked for again, ... */
#define AGAIN_LAST_MS	640	/* ... doubled until then */

static void blocks_of(struct weft_inode *wi, u32 dead, bool *done)
{
	struct weft_block *blk;
	u64 index = 0;

	for (; (blk = weft_block_next(&wi->region, &index)); index++) {
		if (dead)
			*done &= weft_block_gone(blk, dead);
		else
			weft_block_again(blk);
		weft_block_put(blk);
		cond_resched();
	}
}

static void all_blocks(struct weft_rack *rack, u32 dead, bool *done)
{
	struct weft_inode *wi;
	u32 region = 0;

	while ((wi = weft_inode_grab_next(rack, &region))) {
		blocks_of(wi, dead, done);
		iput(&wi->vfs);
	}
}

static void ask_again(struct weft_rack *rack, u32 region)
{
	struct weft_inode *wi;
	bool done = true;

	weft_klock_again(&rack->locks, region);
	if (!region) {
		all_blocks(rack, 0, &done);
		return;
	}
	wi = weft_inode_grab(rack, region);
	if (!wi)
		return;
	blocks_of(wi, 0, &done);
	iput(&wi->vfs);
}

/*
 * The members change when all nodes have answered, and then all that was asked of the dead
 * can be had.  Requests that nobody answered are far apart by now.
 */
static void again_work(struct work_struct *work)
{
	struct weft_rack *rack = container_of(to_delayed_work(work), struct weft_rack, again);
	u32 ms;

	weft_member_refresh(&rack->member);
	ask_again(rack, READ_ONCE(rack->again_region));
	ms = READ_ONCE(rack->again_ms) * 2;
	WRITE_ONCE(rack->again_ms, ms);
	if (ms <= AGAIN_LAST_MS)
		queue_delayed_work(rack->home_wq, &rack->again, msecs_to_jiffies(ms));
}

int weft_fence(struct weft_rack *rack, u32 dead)
{
	unsigned long end = jiffies + msecs_to_jiffies(LIMIT_MS);
	bool done;

	if (!weft_member_fence(&rack->member, dead))
		return 0;
	/* pairs with weft_recv(), which looks in softirq */
	synchronize_rcu();
	weft_klock_gone(&rack->locks, dead);
	for (;;) {
		done = true;
		all_blocks(rack, dead, &done);
		if (done)
			break;
		if (time_after(jiffies, end))
			return -EAGAIN;
		usleep_range(500, 1000);
	}
	weft_fence_again(rack, 0);
	return 0;
}

void weft_fence_again(struct weft_rack *rack, u32 region)
{
	/* two at a time are as good as all; if both come here at once, timers do the rest */
	if (delayed_work_pending(&rack->again) && READ_ONCE(rack->again_region) != region)
		region = 0;
	WRITE_ONCE(rack->again_region, region);
	WRITE_ONCE(rack->again_ms, AGAIN_FIRST_MS);
	mod_delayed_work(rack->home_wq, &rack->again, msecs_to_jiffies(AGAIN_FIRST_MS));
}

void weft_fence_stop(struct weft_rack *rack)
{
	cancel_delayed_work_sync(&rack->again);
}

void weft_fence_init(struct weft_rack *rack)
{
	INIT_DELAYED_WORK(&rack->again, again_work);
}
