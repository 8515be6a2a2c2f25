// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots of regions, blocks and locks, see inspect.h. */
#include <linux/dcache.h>

#include "base/compat.h"
#include "blocks/block.h"
#include "control/inspect.h"
#include "fs/inode.h"
#include "fs/rack.h"
#include "locks/lockres.h"
#include "locks/slots.h"
#include "weft.h"

/* Copy the region's name, which is in the only directory; "" if it has none. */
static void get_name(struct inode *inode, char *name)
{
	struct dentry *dentry;

	*name = 0;
	spin_lock(&inode->i_lock);
	/* i_dentry shares its memory with i_rcu, which is in use once the inode is being freed */
	if (weft_inode_state(inode) & (I_FREEING | I_WILL_FREE | I_CLEAR))
		goto out;
	weft_for_each_alias(dentry, inode) {
		spin_lock(&dentry->d_lock);
		if (!d_unhashed(dentry) && dentry->d_name.len <= WEFT_NAME_MAX) {
			memcpy(name, dentry->d_name.name, dentry->d_name.len);
			name[dentry->d_name.len] = 0;
		}
		spin_unlock(&dentry->d_lock);
		if (*name)
			break;
	}
out:
	spin_unlock(&inode->i_lock);
}

bool weft_inspect_region(struct weft_rack *rack, u32 *region, struct weft_region_info *info)
{
	struct weft_inode *wi;
	struct weft_region *r;

	/* RCU: the inode may be being freed, its memory stays */
	rcu_read_lock();
	r = weft_region_next(&rack->cache.regions, region);
	if (r) {
		wi = weft_inode_of_region(r);
		info->region = *region;
		info->block = weft_region_block(&wi->region);
		info->lines = (u32)atomic_read(&wi->region.nr_blocks);
		info->locks = READ_ONCE(wi->slots.n);
		info->size = (u64)i_size_read(&wi->vfs);
		info->policy = READ_ONCE(wi->region.policy) & WEFT_POLICY_ALL;
		info->nodes = READ_ONCE(wi->nodes);
		info->homes = weft_place_homes(&rack->node.places, *region);
		info->gone = READ_ONCE(wi->gone);
		get_name(&wi->vfs, info->name);
	}
	rcu_read_unlock();
	return r;
}

static bool may(struct inode *inode, int what)
{
	return !inode_permission(weft_no_idmap, inode, what | MAY_NOT_BLOCK);
}

bool weft_inspect_allowed(struct weft_rack *rack, u32 region, bool contents)
{
	struct inode *inode, *dir = NULL;
	struct dentry *root = NULL;
	struct weft_region *r;
	bool allowed = false;

	/* both inodes may be being freed, as in weft_inspect_region() */
	rcu_read_lock();
	r = weft_region_find(&rack->cache.regions, region);
	inode = r ? &weft_inode_of_region(r)->vfs : NULL;
	if (inode)
		root = READ_ONCE(inode->i_sb->s_root);
	if (root)
		dir = d_inode_rcu(root);
	if (dir && contents)
		allowed = may(dir, MAY_EXEC) && may(inode, MAY_READ);
	else if (dir)
		allowed = may(dir, MAY_READ | MAY_EXEC);
	rcu_read_unlock();
	return allowed;
}

static void look_at_line(struct weft_block *blk, struct weft_line_info *info)
{
	spin_lock_bh(&blk->lock);
	info->state = blk->line.state;
	info->op = blk->line.op;
	info->dirty = blk->dirty;
	info->revoking = blk->line.revoking;
	info->ahead = blk->ahead;
	info->waiters = blk->pins;
	info->misses = blk->misses;
	info->revocations = blk->revocations;
	spin_unlock_bh(&blk->lock);
}

bool weft_inspect_line(struct weft_rack *rack, u32 region, u64 *index,
		       struct weft_line_info *info)
{
	struct weft_block *blk = NULL;
	struct weft_region *r;

	rcu_read_lock();
	r = weft_region_find(&rack->cache.regions, region);
	if (r)
		blk = weft_block_next(r, index);
	rcu_read_unlock();
	if (!blk)
		return false;
	info->region = region;
	info->index = *index;
	look_at_line(blk, info);
	weft_block_put(blk);
	return true;
}

static void look_at_lock(struct weft_lockres *lr, struct weft_lock_info *info)
{
	u64 word;

	spin_lock_bh(&lr->lock);
	word = lr->word ? READ_ONCE(*lr->word) : 0;
	info->state = lr->core.state;
	info->want = lr->core.want;
	info->open = lr->word;
	info->writer = word & WEFT_WORD_OWNER;
	info->readers = (u32)((word & WEFT_WORD_READERS) / WEFT_WORD_READER);
	if (word & WEFT_WORD_LISTED && lr->lists)
		info->readers += weft_holds_listed(lr->lists, lr->slot);
	info->tenured = lr->core.tenured;
	info->revoking = lr->core.revoking;
	info->waiters = lr->nr_waiters;
	info->queue = lr->core.queue.n;
	info->grants = lr->grants;
	info->hand_overs = lr->hand_overs;
	spin_unlock_bh(&lr->lock);
}

bool weft_inspect_lock(struct weft_rack *rack, u64 *key, u64 last, struct weft_lock_info *info)
{
	struct weft_lockres *lr = weft_lockres_next(&rack->locks, key, last);

	if (!lr)
		return false;
	info->region = weft_line_region(*key);
	info->offset = weft_line_index(*key);
	look_at_lock(lr, info);
	weft_lockres_put(lr);
	return true;
}
