// SPDX-License-Identifier: GPL-2.0-only
/* How inodes come and go, see lifetime.h. */
#include <linux/log2.h>
#include <linux/pagemap.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "blocks/flush.h"
#include "fs/attr.h"
#include "fs/fault.h"
#include "fs/file.h"
#include "fs/fsync.h"
#include "fs/inode.h"
#include "fs/lifetime.h"
#include "fs/mount.h"
#include "fs/openstate.h"
#include "fs/policy.h"
#include "fs/rack.h"
#include "locks/lockfile.h"
#include "locks/reclaim.h"

static struct kmem_cache *inode_cache;

static int init_region(struct inode *inode, const struct weft_call *attr)
{
	struct weft_inode *wi = weft_inode_of(inode);
	int err;

	if (attr->block > WEFT_FRAGS_MAX * wi->rack->node.fragment)
		return -EFBIG;
	inode->i_flags |= S_NOATIME | S_NOCMTIME;
	inode->i_op = &weft_file_inode_operations;
	inode->i_fop = &weft_file_operations;
	inode->i_mapping->a_ops = &weft_address_space_operations;
	/* we hold on to the pages: neither movable nor reclaimed */
	mapping_set_gfp_mask(inode->i_mapping, GFP_HIGHUSER);
	mapping_set_unevictable(inode->i_mapping);
	mapping_set_large_folios(inode->i_mapping);
	/* the first that is heard of it, whatever number its last change has */
	wi->region.policy = attr->policy;
	wi->nodes = attr->nodes;
	err = weft_homes_first(&wi->rack->node, &wi->region, attr);
	if (err)
		return err;
	weft_inode_update(wi, attr);
	return weft_region_add(&wi->rack->cache.regions, &wi->region, attr->region,
			       (u8)ilog2(attr->block));
}

struct inode *weft_inode_get(struct super_block *sb,
			     const struct weft_call *attr)
{
	struct inode *inode;
	int err;

	inode = iget_locked(sb, attr->region);
	if (!inode)
		return ERR_PTR(-ENOMEM);
	if (!(weft_inode_state(inode) & I_NEW)) {
		weft_inode_update(weft_inode_of(inode), attr);
		return inode;
	}
	err = init_region(inode, attr);
	if (!err) {
		unlock_new_inode(inode);
		return inode;
	}
	iget_failed(inode);
	return ERR_PTR(err);
}

/*
 * Blocks go home, then the inode goes, in a context that may wait for the network.
 * Unmounting sees to the blocks of those that this has not begun with.
 */
static void home_work(struct work_struct *work)
{
	struct weft_inode *wi = container_of(work, struct weft_inode, home_work);
	u32 uses;

	if (READ_ONCE(weft_mount_of(wi->vfs.i_sb)->leaving) || !igrab(&wi->vfs))
		return;
	uses = READ_ONCE(wi->uses);
	weft_flush_region(wi);
	/* what is left now is lost when the inode goes, unless it has been used since */
	spin_lock(&wi->lock);
	wi->returned = wi->uses == uses;
	spin_unlock(&wi->lock);
	/* if it was the last one: the inode goes, and this work with it */
	iput(&wi->vfs);
}

/*
 * Who uses a region last may be anybody: a program that closes it, or one that needs
 * memory and has the kernel look for names that can go.  They do not wait for blocks to
 * get home: the inode stays until they have.  While it has blocks it is in no list of
 * inodes that can be reclaimed (mapping_shrinkable()).
 */
int weft_inode_unused(struct inode *inode)
{
	struct weft_inode *wi = weft_inode_of(inode);

	lockdep_assert_held(&inode->i_lock);
	if (READ_ONCE(wi->gone))
		return 1;
	if (!weft_drop_unused(inode))
		return 0;
	if (!wi->region.id || xa_empty(&wi->region.blocks) || READ_ONCE(wi->returned) ||
	    READ_ONCE(weft_mount_of(inode->i_sb)->leaving))
		return 1;
	queue_work(wi->rack->home_wq, &wi->home_work);
	return 0;
}

void weft_inode_evict(struct inode *inode)
{
	struct weft_inode *wi = weft_inode_of(inode);

	/* it may be this that evicts us; else it finds that the inode goes */
	if (current_work() == &wi->home_work)
		cancel_work(&wi->home_work);
	else
		cancel_work_sync(&wi->home_work);
	if (wi->region.id) {
		/*
		 * Unlinked or not: another node may have it open.  Before an unmount
		 * there are none left, see weft_inode_unused().
		 */
		if (!READ_ONCE(wi->gone) && !READ_ONCE(wi->returned))
			weft_flush_region(wi);
		weft_region_drop(&wi->region, 0);
		weft_slots_stop(&wi->slots);
		weft_klock_leave(&wi->rack->locks, wi->region.id);
		/* the eviction may be taking the last ones apart */
		wait_event(wi->rack->cache.room, xa_empty(&wi->region.blocks));
		weft_region_remove(&wi->rack->cache.regions, &wi->region);
		weft_place_leave(&wi->rack->node.places, wi->region.id);
		/* LEAVE says it of all regions at once */
		if (wi->open_asked && !weft_mount_of(inode->i_sb)->leaving)
			weft_openstate_close(wi);
	}
	truncate_inode_pages_final(&inode->i_data);
	clear_inode(inode);
}

static int refresh(struct weft_region *region)
{
	return weft_inode_refresh(weft_inode_of_region(region));
}

struct inode *weft_inode_alloc(struct super_block *sb)
{
	struct weft_inode *wi = alloc_inode_sb(sb, inode_cache, GFP_KERNEL);

	if (!wi)
		return NULL;
	/* @vfs is the constructor's, init_once() */
	memset_after(wi, 0, vfs);
	wi->rack = weft_mount_of(sb)->rack;
	weft_region_init(&wi->region, &wi->rack->cache, &wi->vfs.i_data, refresh);
	spin_lock_init(&wi->lock);
	mutex_init(&wi->open_lock);
	INIT_WORK(&wi->home_work, home_work);
	INIT_WORK(&wi->mtime_work, weft_inode_mtime_work);
	weft_slots_init(&wi->slots, &wi->region, &wi->rack->locks);
	return &wi->vfs;
}

/* After a grace period: messages look inodes up under RCU. */
void weft_inode_free(struct inode *inode)
{
	kmem_cache_free(inode_cache, weft_inode_of(inode));
}

static void init_once(void *p)
{
	inode_init_once(&((struct weft_inode *)p)->vfs);
}

int weft_lifetime_init(void)
{
	/* not SLAB_ACCOUNT: blocks in the cache hold inodes, see charge.h */
	inode_cache = kmem_cache_create("weft_inode", sizeof(struct weft_inode),
					0, SLAB_RECLAIM_ACCOUNT, init_once);
	return inode_cache ? 0 : -ENOMEM;
}

void weft_lifetime_exit(void)
{
	rcu_barrier(); /* inodes that are still to be freed */
	kmem_cache_destroy(inode_cache);
}
