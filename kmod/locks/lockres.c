// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of this node's locks, and their life: found, made, killed, freed.  Called by the
 * files of this folder, control/inspect.c and fs/policy.c.  Decides nothing about a lock: that
 * is step.c.
 */
#include <linux/build_bug.h>
#include <linux/lockdep.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "locks/lockres.h"
#include "net/node.h"

struct weft_lock_tuning weft_lock_tuning = {
	.fetch = true,
	.pass = true,
	.learn = true,
	.map = true,
	.keep = true,
	.local_hands = 16,
};

/* To measure what each of them brings. */
module_param_named(lock_fetch, weft_lock_tuning.fetch, bool, 0644);
MODULE_PARM_DESC(lock_fetch, "ask for all that a lock guards when the lock has come");
module_param_named(lock_pass, weft_lock_tuning.pass, bool, 0644);
MODULE_PARM_DESC(lock_pass, "pass what a lock guards on with it, and expect it with it: the same on all nodes");
module_param_named(lock_learn, weft_lock_tuning.learn, bool, 0644);
MODULE_PARM_DESC(lock_learn, "learn what a lock guards from what programs miss that have it, if none has said it");
module_param_named(lock_map, weft_lock_tuning.map, bool, 0644);
MODULE_PARM_DESC(lock_map, "map what has come with a lock for the thread that got it, before it touches that");
module_param_named(lock_keep, weft_lock_tuning.keep, bool, 0644);
MODULE_PARM_DESC(lock_keep, "keep a lock, and what it guards, when it is left: if not, each lock is fetched anew");
module_param_named(lock_local_hands, weft_lock_tuning.local_hands, uint, 0644);
MODULE_PARM_DESC(lock_local_hands, "how often this node serves its own programs while another node waits for a lock");

static_assert(sizeof(long) >= sizeof(u64), "names of lines are indices");

void weft_locks_woken(struct weft_locks *locks)
{
	if (wq_has_sleeper(&locks->gone))
		wake_up_all(&locks->gone);
}

/* a cache of its own: a lock takes a little over 512 bytes, and a node may have very many */
static struct kmem_cache *lockres_cache;
static struct lock_class_key lockres_table_class;

static void lockres_free(struct rcu_head *rcu)
{
	kmem_cache_free(lockres_cache, container_of(rcu, struct weft_lockres, rcu));
}

void weft_lockres_put(struct weft_lockres *lr)
{
	struct weft_locks *locks = lr->locks;

	if (!refcount_dec_and_test(&lr->ref))
		return;
	/* weft_lockres_find() in softirq may still read @ref */
	call_rcu(&lr->rcu, lockres_free);
	atomic_dec(&locks->alive);
	weft_locks_woken(locks);
}

struct weft_lockres *weft_lockres_alloc(struct weft_locks *locks, u64 key, gfp_t gfp)
{
	struct weft_lockres *lr = kmem_cache_zalloc(lockres_cache, gfp);

	if (!lr)
		return NULL;
	atomic_inc(&locks->alive);
	weft_lock_init(&lr->core, key, locks->node->id);
	lr->locks = locks;
	spin_lock_init(&lr->lock);
	refcount_set(&lr->ref, 2); /* the table's and the caller's */
	INIT_LIST_HEAD(&lr->waiters);
	init_waitqueue_head(&lr->awaiting);
	return lr;
}

void weft_lockres_discard(struct weft_lockres *lr)
{
	atomic_dec(&lr->locks->alive);
	kmem_cache_free(lockres_cache, lr);
}

struct weft_lockres *weft_lockres_find(struct xarray *locks, unsigned long index)
{
	struct weft_lockres *lr;

	rcu_read_lock();
	lr = xa_load(locks, index);
	if (lr && !refcount_inc_not_zero(&lr->ref))
		lr = NULL;
	rcu_read_unlock();
	return lr;
}

struct weft_lockres *weft_lockres_next(struct weft_locks *locks, u64 *key, u64 last)
{
	unsigned long at = *key;
	struct weft_lockres *lr;

	rcu_read_lock();
	lr = xa_find(&locks->table, &at, last, XA_PRESENT);
	while (lr && !refcount_inc_not_zero(&lr->ref))
		lr = xa_find_after(&locks->table, &at, last, XA_PRESENT);
	rcu_read_unlock();
	*key = at;
	return lr;
}

struct weft_lockres *weft_lockres_get(struct weft_locks *locks, u64 key)
{
	struct weft_lockres *lr;
	int err;

	do {
		lr = weft_lockres_find(&locks->table, key);
		if (lr)
			return lr;
		lr = weft_lockres_alloc(locks, key, GFP_KERNEL_ACCOUNT);
		if (!lr)
			return ERR_PTR(-ENOMEM);
		err = xa_insert_bh(&locks->table, key, lr, GFP_KERNEL_ACCOUNT);
		if (!err)
			return lr;
		weft_lockres_discard(lr);
	} while (err == -EBUSY); /* another thread has inserted the lock */
	return ERR_PTR(err);
}

void weft_lockres_no_stray(struct weft_lockres *lr)
{
	lockdep_assert_held(&lr->lock);
	if (lr->stray)
		atomic_dec(&lr->locks->strays);
	lr->stray = false;
}

void weft_lockres_kill(struct weft_lockres *lr)
{
	lockdep_assert_held(&lr->lock);
	lr->dead = true;
	weft_lockres_no_stray(lr);
	if (lr->handing)
		atomic_dec(&lr->locks->hand_overs);
	lr->handing = false;
	/* a timer that is running sees @dead and gives its reference back */
	if (lr->armed && hrtimer_try_to_cancel(&lr->timer) == 1) {
		lr->armed = false;
		weft_lockres_put(lr);
	}
	xa_erase_bh(&lr->locks->table, lr->core.key);
	weft_lockres_put(lr);
	weft_locks_woken(lr->locks);
}

void weft_locks_init(struct weft_locks *locks, struct weft_node *node,
		     struct weft_regions *regions)
{
	memset(locks, 0, sizeof(*locks));
	locks->node = node;
	locks->regions = regions;
	/*
	 * Softirqs take the lock of this xarray and of no other in the file or bundle, which all
	 * have one lockdep class by xa_init_flags().
	 */
	xa_init_flags(&locks->table, XA_FLAGS_LOCK_BH);
	lockdep_set_class(&locks->table.xa_lock, &lockres_table_class);
	init_waitqueue_head(&locks->gone);
}

void weft_locks_exit(struct weft_locks *locks)
{
	xa_destroy(&locks->table);
}

int weft_lockres_init(void)
{
	lockres_cache = kmem_cache_create("weft_lock", sizeof(struct weft_lockres), 0, 0, NULL);
	return lockres_cache ? 0 : -ENOMEM;
}

void weft_lockres_exit(void)
{
	rcu_barrier(); /* lockres_free() of dead locks */
	kmem_cache_destroy(lockres_cache);
}
