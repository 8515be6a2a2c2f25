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

#include "locks/klock.h"
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
static struct kmem_cache *klock_cache;
static struct lock_class_key klock_table_class;

static void klock_free(struct rcu_head *rcu)
{
	kmem_cache_free(klock_cache, container_of(rcu, struct weft_klock, rcu));
}

void weft_klock_put(struct weft_klock *kl)
{
	struct weft_locks *locks = kl->locks;

	if (!refcount_dec_and_test(&kl->ref))
		return;
	/* weft_klock_find() in softirq may still read @ref */
	call_rcu(&kl->rcu, klock_free);
	atomic_dec(&locks->alive);
	weft_locks_woken(locks);
}

struct weft_klock *weft_klock_alloc(struct weft_locks *locks, u64 key, gfp_t gfp)
{
	struct weft_klock *kl = kmem_cache_zalloc(klock_cache, gfp);

	if (!kl)
		return NULL;
	atomic_inc(&locks->alive);
	weft_lock_init(&kl->core, key, locks->node->id);
	kl->locks = locks;
	spin_lock_init(&kl->lock);
	refcount_set(&kl->ref, 2); /* the table's and the caller's */
	INIT_LIST_HEAD(&kl->waiters);
	init_waitqueue_head(&kl->awaiting);
	return kl;
}

void weft_klock_discard(struct weft_klock *kl)
{
	atomic_dec(&kl->locks->alive);
	kmem_cache_free(klock_cache, kl);
}

struct weft_klock *weft_klock_find(struct xarray *locks, unsigned long index)
{
	struct weft_klock *kl;

	rcu_read_lock();
	kl = xa_load(locks, index);
	if (kl && !refcount_inc_not_zero(&kl->ref))
		kl = NULL;
	rcu_read_unlock();
	return kl;
}

struct weft_klock *weft_klock_next(struct weft_locks *locks, u64 *key, u64 last)
{
	unsigned long at = *key;
	struct weft_klock *kl;

	rcu_read_lock();
	kl = xa_find(&locks->table, &at, last, XA_PRESENT);
	while (kl && !refcount_inc_not_zero(&kl->ref))
		kl = xa_find_after(&locks->table, &at, last, XA_PRESENT);
	rcu_read_unlock();
	*key = at;
	return kl;
}

struct weft_klock *weft_klock_get(struct weft_locks *locks, u64 key)
{
	struct weft_klock *kl;
	int err;

	do {
		kl = weft_klock_find(&locks->table, key);
		if (kl)
			return kl;
		kl = weft_klock_alloc(locks, key, GFP_KERNEL_ACCOUNT);
		if (!kl)
			return ERR_PTR(-ENOMEM);
		err = xa_insert_bh(&locks->table, key, kl, GFP_KERNEL_ACCOUNT);
		if (!err)
			return kl;
		weft_klock_discard(kl);
	} while (err == -EBUSY); /* another thread has inserted the lock */
	return ERR_PTR(err);
}

void weft_klock_no_stray(struct weft_klock *kl)
{
	lockdep_assert_held(&kl->lock);
	if (kl->stray)
		atomic_dec(&kl->locks->strays);
	kl->stray = false;
}

void weft_klock_kill(struct weft_klock *kl)
{
	lockdep_assert_held(&kl->lock);
	kl->dead = true;
	weft_klock_no_stray(kl);
	if (kl->handing)
		atomic_dec(&kl->locks->hand_overs);
	kl->handing = false;
	/* a timer that is running sees @dead and gives its reference back */
	if (kl->armed && hrtimer_try_to_cancel(&kl->timer) == 1) {
		kl->armed = false;
		weft_klock_put(kl);
	}
	xa_erase_bh(&kl->locks->table, kl->core.key);
	weft_klock_put(kl);
	weft_locks_woken(kl->locks);
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
	lockdep_set_class(&locks->table.xa_lock, &klock_table_class);
	init_waitqueue_head(&locks->gone);
}

void weft_locks_exit(struct weft_locks *locks)
{
	xa_destroy(&locks->table);
}

int weft_klock_init(void)
{
	klock_cache = kmem_cache_create("weft_lock", sizeof(struct weft_klock), 0, 0, NULL);
	return klock_cache ? 0 : -ENOMEM;
}

void weft_klock_exit(void)
{
	rcu_barrier(); /* klock_free() of dead locks */
	kmem_cache_destroy(klock_cache);
}
