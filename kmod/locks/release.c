// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write what was modified under a lock home before the lock leaves the node
 * (durability=release).  Called by step.c, under the lock's spinlock, and by lockfile.c.  What
 * waits for the network does so in the work queue.
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "base/stats.h"
#include "blocks/clean.h"
#include "blocks/region.h"
#include "locks/release.h"
#include "locks/slots.h"
#include "locks/step.h"
#include "net/node.h"
#include "net/outbox.h"

#define AT_A_TIME	16	/* locks and regions that are written home at a time */

/* its work waits for memory blades */
static struct workqueue_struct *release_wq;

static bool is_asked(struct weft_locks *locks, u32 id)
{
	struct weft_region *region;
	bool asked;

	rcu_read_lock();
	region = weft_region_find(locks->regions, id);
	asked = region && weft_region_durability(region) == WEFT_POLICY_RELEASE &&
		atomic_read(&region->nr_blocks);
	rcu_read_unlock();
	return asked;
}

static unsigned long limit(const struct weft_locks *locks)
{
	return jiffies + msecs_to_jiffies(READ_ONCE(locks->node->timeout_ms) / 2);
}

static void release_work(struct work_struct *work)
{
	struct weft_lockres *lr = container_of(work, struct weft_lockres, homing_work);
	u32 region = weft_line_region(lr->core.key);
	struct weft_locks *locks = lr->locks;
	struct weft_outbox outbox;
	int err = weft_clean_marked(locks->regions, region, limit(locks));

	if (err) {
		weft_stat_inc(&locks->node->counters, WEFT_STAT_LOCK_UNSAFE);
		pr_warn_ratelimited("weft: region %u: the lock at %llu is handed on before what was modified under it is home: its memory blade does not answer\n",
				    region, weft_line_index(lr->core.key));
	}
	weft_lockres_begin(lr, &outbox);
	lr->homing = false;
	lr->home = lr->homing_time == lr->home_time;
	lr->home_moves = lr->homing_moves;
	weft_lockres_end(lr, &outbox);
	weft_lockres_put(lr);
}

bool weft_release_ready(struct weft_lockres *lr)
{
	lockdep_assert_held(&lr->lock);
	if (lr->core.state != WEFT_M)
		return true;
	if (lr->homing)
		return false;
	/* all is at home, and no program has held the lock since */
	if (lr->home && lr->home_moves == lr->moves)
		return true;
	if (!is_asked(lr->locks, weft_line_region(lr->core.key)))
		return true;
	weft_stat_inc(&lr->locks->node->counters, WEFT_STAT_LOCK_HOME_FIRST);
	lr->homing = true;
	lr->homing_moves = lr->moves;
	lr->homing_time = lr->home_time;
	refcount_inc(&lr->ref);
	/* here, not with each lock: few ever use it; the work is not queued now */
	INIT_WORK(&lr->homing_work, release_work);
	queue_work(release_wq, &lr->homing_work);
	return false;
}

void weft_release_void(struct weft_lockres *lr)
{
	lockdep_assert_held(&lr->lock);
	lr->home = false;
	lr->home_time++;
}

void weft_release_left_work(struct work_struct *work)
{
	struct weft_slots *slots = container_of(work, struct weft_slots, left);

	/* a thread that waits for one of the locks hears it if the time was too short */
	weft_clean_marked(slots->locks->regions, slots->region->id, limit(slots->locks));
}

void weft_release_left(struct weft_slots *slots)
{
	if (is_asked(slots->locks, slots->region->id))
		queue_work(release_wq, &slots->left);
}

int weft_release_setup(void)
{
	release_wq = alloc_workqueue("weft-release", WQ_UNBOUND | WQ_MEM_RECLAIM, AT_A_TIME);
	return release_wq ? 0 : -ENOMEM;
}

void weft_release_cleanup(void)
{
	destroy_workqueue(release_wq);
}
