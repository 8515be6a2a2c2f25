// SPDX-License-Identifier: GPL-2.0-only
/* Life of inodes, see lifetime.h. */
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
	/* blocks hold references to their pages, which can be neither moved nor reclaimed */
	mapping_set_gfp_mask(inode->i_mapping, GFP_HIGHUSER);
	mapping_set_unevictable(inode->i_mapping);
	mapping_set_large_folios(inode->i_mapping);
	/* the first answer about this inode counts, whatever number its change has */
	wi->region.policy = attr->policy;
	wi->nodes = attr->nodes;
	err = weft_homes_first(&wi->rack->node, &wi->region, attr);
	if (err)
		return err;
	weft_inode_update(wi, attr);
	return weft_region_add(&wi->rack->cache.regions, &wi->region, attr->region,
			       (u8)ilog2(attr->block));
}

struct inode *weft_inode_get(struct super_block *sb, const struct weft_call *attr)
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
 * Give the blocks back, then drop the inode, in a context that may wait for the network.  Once the
 * unmount has begun, the eviction gives back the blocks of all other inodes.
 */
static void home_work(struct work_struct *work)
{
	struct weft_inode *wi = container_of(work, struct weft_inode, home_work);
	u32 uses;

	if (READ_ONCE(weft_mount_of(wi->vfs.i_sb)->leaving) || !igrab(&wi->vfs))
		return;
	uses = READ_ONCE(wi->uses);
	weft_flush_region(wi);
	/* the eviction loses blocks that are left, unless a program has used the region since */
	spin_lock(&wi->lock);
	wi->returned = wi->uses == uses;
	spin_unlock(&wi->lock);
	/* may evict the inode, and this work with it */
	iput(&wi->vfs);
}

/*
 * Any thread may drop the last reference: a program that closes the file, or one whose allocation
 * reclaims dentries.  It must not wait for the network, so the inode stays until home_work() has
 * given its blocks back.  An inode with blocks is in no list of inodes to reclaim
 * (mapping_shrinkable()).
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

	/* if it runs elsewhere, its igrab() fails: the inode is being freed */
	if (current_work() == &wi->home_work)
		cancel_work(&wi->home_work);
	else
		cancel_work_sync(&wi->home_work);
	if (wi->region.id) {
		/*
		 * Unlinked or not: another node may have it open.  Blocks are left here only
		 * during an unmount, see weft_inode_unused().
		 */
		if (!READ_ONCE(wi->gone) && !READ_ONCE(wi->returned))
			weft_flush_region(wi);
		weft_region_drop(&wi->region, 0);
		weft_slots_stop(&wi->slots);
		weft_lockres_leave(&wi->rack->locks, wi->region.id);
		/* the eviction of blocks may still be taking the last ones apart */
		wait_event(wi->rack->cache.room, xa_empty(&wi->region.blocks));
		weft_region_remove(&wi->rack->cache.regions, &wi->region);
		weft_place_leave(&wi->rack->node.places, wi->region.id);
		/* an unmount sends LEAVE, which closes all regions at once */
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

/* Called after a grace period: arriving messages look inodes up under RCU. */
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
	/* not SLAB_ACCOUNT: cached blocks, which are the node's, keep inodes, see blocks/pages.c */
	inode_cache = kmem_cache_create("weft_inode", sizeof(struct weft_inode),
					0, SLAB_RECLAIM_ACCOUNT, init_once);
	return inode_cache ? 0 : -ENOMEM;
}

void weft_lifetime_exit(void)
{
	rcu_barrier(); /* for weft_inode_free() of all inodes */
	kmem_cache_destroy(inode_cache);
}
