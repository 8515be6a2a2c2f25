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
	struct weft_klock *kl = container_of(work, struct weft_klock, homing_work);
	u32 region = weft_line_region(kl->core.key);
	struct weft_locks *locks = kl->locks;
	struct weft_outbox outbox;
	int err = weft_clean_marked(locks->regions, region, limit(locks));

	if (err) {
		weft_stat_inc(&locks->node->counters, WEFT_STAT_LOCK_UNSAFE);
		pr_warn_ratelimited("weft: region %u: the lock at %llu is handed on before what was modified under it is home: its memory blade does not answer\n",
				    region, weft_line_index(kl->core.key));
	}
	weft_klock_begin(kl, &outbox);
	kl->homing = false;
	kl->home = kl->homing_time == kl->home_time;
	kl->home_moves = kl->homing_moves;
	weft_klock_end(kl, &outbox);
	weft_klock_put(kl);
}

bool weft_release_ready(struct weft_klock *kl)
{
	lockdep_assert_held(&kl->lock);
	if (kl->core.state != WEFT_M)
		return true;
	if (kl->homing)
		return false;
	/* all is at home, and no program has held the lock since */
	if (kl->home && kl->home_moves == kl->moves)
		return true;
	if (!is_asked(kl->locks, weft_line_region(kl->core.key)))
		return true;
	weft_stat_inc(&kl->locks->node->counters, WEFT_STAT_LOCK_HOME_FIRST);
	kl->homing = true;
	kl->homing_moves = kl->moves;
	kl->homing_time = kl->home_time;
	refcount_inc(&kl->ref);
	/* here, not with each lock: few ever use it; the work is not queued now */
	INIT_WORK(&kl->homing_work, release_work);
	queue_work(release_wq, &kl->homing_work);
	return false;
}

void weft_release_void(struct weft_klock *kl)
{
	lockdep_assert_held(&kl->lock);
	kl->home = false;
	kl->home_time++;
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
