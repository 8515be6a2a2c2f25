// SPDX-License-Identifier: GPL-2.0-only
/* Inodes and their attributes, see inode.h. */
#include <linux/capability.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "cache.h"
#include "compat.h"
#include "fault.h"
#include "homeward.h"
#include "inode.h"
#include "klock.h"
#include "node.h"
#include "opened.h"
#include "super.h"

#define AT_A_TIME	16	/* inodes whose blocks go home, or whose times are told */

/* Inodes by number of the region, for messages.  Looked up under RCU. */
static DEFINE_XARRAY(regions);
static atomic_t region_count = ATOMIC_INIT(0);	/* entries of regions */
static struct kmem_cache *inode_cache;
static struct workqueue_struct *home_wq;	/* what inodes that are not used have to tell */

struct weft_inode *weft_inode_find(u32 region)
{
	return xa_load(&regions, region);
}

struct weft_inode *weft_inode_find_next(u32 *region)
{
	unsigned long at = *region;
	struct weft_inode *wi;

	wi = xa_find(&regions, &at, WEFT_REGION_MAX, XA_PRESENT);
	*region = (u32)at;
	return wi;
}

u32 weft_inode_count(void)
{
	return (u32)atomic_read(&region_count);
}

struct weft_inode *weft_inode_grab(u32 region)
{
	struct weft_inode *wi;

	rcu_read_lock();
	wi = weft_inode_find(region);
	if (wi && !igrab(&wi->vfs))
		wi = NULL;
	rcu_read_unlock();
	return wi;
}

struct weft_inode *weft_inode_grab_next(u32 *region)
{
	unsigned long at = *region;
	struct weft_inode *wi;

	rcu_read_lock();
	do {
		wi = xa_find_after(&regions, &at, WEFT_REGION_MAX, XA_PRESENT);
	} while (wi && !igrab(&wi->vfs));
	rcu_read_unlock();
	*region = wi ? (u32)at : 0;
	return wi;
}

bool weft_inode_leaving(u32 blades, bool late)
{
	struct weft_inode *wi;
	unsigned long at = 0;
	bool any = false;

	rcu_read_lock();
	xa_for_each(&regions, at, wi) {
		/* one who calls this at a time */
		WRITE_ONCE(wi->renew, wi->renew | blades);
		if (late)
			WRITE_ONCE(wi->lose, wi->lose | blades);
		any |= weft_inode_state(&wi->vfs) & (I_FREEING | I_WILL_FREE) &&
		       !xa_empty(&wi->lines);
	}
	rcu_read_unlock();
	return any;
}

void weft_inode_renewed(void)
{
	struct weft_inode *wi;
	unsigned long at = 0;

	rcu_read_lock();
	xa_for_each(&regions, at, wi) {
		WRITE_ONCE(wi->renew, 0);
		WRITE_ONCE(wi->lose, 0);
	}
	rcu_read_unlock();
}

/* --- attributes -------------------------------------------------------------------- */

static void set_size(struct weft_inode *wi, u64 size)
{
	spin_lock(&wi->lock);
	i_size_write(&wi->vfs, (loff_t)size);
	wi->vfs.i_blocks = (size + 511) >> 9;
	spin_unlock(&wi->lock);
}

void weft_inode_update(struct weft_inode *wi, const struct weft_call *attr)
{
	struct inode *inode = &wi->vfs;

	inode->i_mode = S_IFREG | (attr->mode & 07777);
	inode->i_uid = make_kuid(&init_user_ns, attr->uid);
	inode->i_gid = make_kgid(&init_user_ns, attr->gid);
	if (!READ_ONCE(wi->mtime_dirty))
		weft_set_times(inode, ns_to_timespec64((s64)attr->mtime));
	set_size(wi, attr->size);
}

static bool attr_valid(const struct inode *inode, const struct weft_call *attr)
{
	return attr->region && attr->region <= WEFT_REGION_MAX &&
	       is_power_of_2(attr->block) && attr->block >= PAGE_SIZE &&
	       attr->block <= WEFT_BLOCK_MAX &&
	       attr->size <= (u64)inode->i_sb->s_maxbytes;
}

int weft_inode_call(struct weft_inode *wi, struct weft_call *call)
{
	int err;

	call->region = wi->region;
	err = weft_node_call(call);
	if (err == -ENOENT) {
		/* unlinked, and not open anywhere that the blade knows of */
		WRITE_ONCE(wi->gone, true);
		return -ESTALE;
	}
	if (err)
		return err;
	if (call->region != wi->region || !attr_valid(&wi->vfs, call))
		return -EUCLEAN;
	weft_inode_update(wi, call);
	return 0;
}

static struct weft_call *new_call(u16 op)
{
	struct weft_call *call = kzalloc(sizeof(*call), GFP_KERNEL);

	if (call)
		call->op = op;
	return call;
}

int weft_inode_refresh(struct weft_inode *wi)
{
	struct weft_call *call = new_call(WEFT_CALL_GETATTR);
	int err;

	if (!call)
		return -ENOMEM;
	err = weft_inode_call(wi, call);
	kfree(call);
	return err;
}

bool weft_inode_unlimited(void)
{
	/* that it may not is no failure to be audited */
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
}

static u32 set_size_flags(void)
{
	return WEFT_SET_SIZE | (weft_inode_unlimited() ? WEFT_SET_UNLIMITED : 0);
}

int weft_inode_resize(struct weft_inode *wi, u64 size, bool grow)
{
	struct weft_call *call = new_call(WEFT_CALL_SETATTR);
	int err;

	if (!call)
		return -ENOMEM;
	call->valid = set_size_flags() | (grow ? WEFT_SET_GROW : 0);
	call->size = size;
	err = weft_inode_call(wi, call);
	kfree(call);
	return err;
}

void weft_inode_written(struct weft_inode *wi)
{
	struct timespec64 now;

	ktime_get_coarse_real_ts64(&now);
	weft_set_times(&wi->vfs, now);
	WRITE_ONCE(wi->mtime_dirty, true);
}

int weft_inode_flush_mtime(struct weft_inode *wi)
{
	struct weft_call *call;
	int err;

	if (!xchg(&wi->mtime_dirty, false))
		return 0;
	call = new_call(WEFT_CALL_SETATTR);
	if (!call)
		return -ENOMEM;
	call->valid = WEFT_SET_MTIME;
	call->mtime = timespec64_to_ns(&(struct timespec64){
		weft_mtime(&wi->vfs).tv_sec, weft_mtime(&wi->vfs).tv_nsec });
	err = weft_inode_call(wi, call);
	kfree(call);
	return err;
}

/*
 * An unmount waits for all of these, and so for one time-out at most: those that are under
 * way when it begins, or the first of those after them, find that the blade is silent.
 */
static void mtime_work(struct work_struct *work)
{
	struct weft_inode *wi = container_of(work, struct weft_inode, mtime_work);
	struct weft_mount *m = weft_mount_of(wi->vfs.i_sb);

	if (!READ_ONCE(m->leaving) || !READ_ONCE(m->silent))
		WRITE_ONCE(m->silent, weft_inode_flush_mtime(wi) == -ETIMEDOUT);
	iput(&wi->vfs);
}

void weft_inode_closed(struct weft_inode *wi)
{
	/* nobody looks at the times of what has no name */
	if (!READ_ONCE(wi->mtime_dirty) || !wi->vfs.i_nlink)
		return;
	/* who is on the way out cannot be killed any more, and so must not wait */
	if (!(current->flags & (PF_EXITING | PF_KTHREAD))) {
		weft_inode_flush_mtime(wi);
		return;
	}
	ihold(&wi->vfs);
	if (!queue_work(home_wq, &wi->mtime_work))
		iput(&wi->vfs); /* it has a reference already */
}

static int weft_getattr(weft_idmap *idmap, const struct path *path,
			struct kstat *stat, u32 mask, unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);
	struct weft_inode *wi = weft_inode_of(inode);
	int err;

	if (!(flags & AT_STATX_DONT_SYNC) && wi->region) {
		err = weft_inode_refresh(wi);
		if (err)
			return err;
	}
	weft_fillattr(idmap, mask, inode, stat);
	stat->blksize = wi->region ? weft_block_size(wi) : PAGE_SIZE;
	return 0;
}

/*
 * What is cut off must read as zeros if the region grows again.  The home
 * forgets whole blocks; the rest of the last one is for us.
 */
static int zero_tail(struct weft_inode *wi, u64 size)
{
	unsigned long end = weft_wait_end();
	u64 stop = min_t(u64, round_up(size, weft_block_size(wi)),
			 i_size_read(&wi->vfs));

	while (size < stop) {
		pgoff_t page = size >> PAGE_SHIFT;
		u32 in_block = weft_page_in_block(wi, page);
		u32 at = offset_in_page(size);
		u32 n = min_t(u64, PAGE_SIZE - at, stop - size);
		struct weft_cline *cl;

		cl = weft_lock_cached(wi, page, WEFT_M);
		if (cl) {
			memzero_page(cl->pages[in_block], at, n);
			weft_cline_touched(cl, WEFT_M);
			unlock_page(cl->pages[in_block]);
			weft_cline_put(cl);
			size += n;
			continue;
		}
		cl = weft_get_page(wi, page, WEFT_M, false, end);
		if (IS_ERR(cl))
			return PTR_ERR(cl) == -ENXIO ? 0 : PTR_ERR(cl);
		weft_put_page(cl);
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
	}
	return 0;
}

static int weft_setattr(weft_idmap *idmap, struct dentry *dentry,
			struct iattr *attr)
{
	struct inode *inode = d_inode(dentry);
	struct weft_inode *wi = weft_inode_of(inode);
	struct weft_call *call;
	int err;

	/* who may, and what is cut off, goes by what other nodes have made of it */
	if (wi->region) {
		err = weft_inode_refresh(wi);
		if (err)
			return err;
	}
	err = setattr_prepare(idmap, dentry, attr);
	if (err)
		return err;
	if (!wi->region) {
		setattr_copy(idmap, inode, attr);
		return 0;
	}
	if (attr->ia_valid & ATTR_SIZE && attr->ia_size < i_size_read(inode)) {
		err = zero_tail(wi, attr->ia_size);
		weft_inode_used(wi);
		if (err)
			return err;
	}
	call = new_call(WEFT_CALL_SETATTR);
	if (!call)
		return -ENOMEM;
	if (attr->ia_valid & ATTR_SIZE) {
		call->valid |= set_size_flags();
		call->size = attr->ia_size;
	}
	if (attr->ia_valid & ATTR_MODE) {
		call->valid |= WEFT_SET_MODE;
		call->mode = attr->ia_mode & 07777;
	}
	if (attr->ia_valid & (ATTR_UID | ATTR_GID)) {
		call->valid |= WEFT_SET_OWNER;
		call->uid = from_kuid(&init_user_ns, attr->ia_valid & ATTR_UID ?
				      attr->ia_uid : inode->i_uid);
		call->gid = from_kgid(&init_user_ns, attr->ia_valid & ATTR_GID ?
				      attr->ia_gid : inode->i_gid);
	}
	if (attr->ia_valid & ATTR_MTIME) {
		call->valid |= WEFT_SET_MTIME;
		call->mtime = timespec64_to_ns(&attr->ia_mtime);
		WRITE_ONCE(wi->mtime_dirty, false);
	}
	err = call->valid ? weft_inode_call(wi, call) : 0;
	kfree(call);
	return err;
}

const struct inode_operations weft_file_inode_operations = {
	.getattr = weft_getattr,
	.setattr = weft_setattr,
};

/* --- life -------------------------------------------------------------------------- */

static int init_region(struct inode *inode, const struct weft_call *attr)
{
	struct weft_inode *wi = weft_inode_of(inode);
	int err;

	if (attr->block > WEFT_FRAGS_MAX * weft_node.fragment)
		return -EFBIG;
	wi->region = attr->region;
	wi->block_shift = (u8)ilog2(attr->block);
	inode->i_flags |= S_NOATIME | S_NOCMTIME;
	inode->i_op = &weft_file_inode_operations;
	inode->i_fop = &weft_file_operations;
	inode->i_mapping->a_ops = &weft_address_space_operations;
	/* we hold on to the pages: neither movable nor reclaimed */
	mapping_set_gfp_mask(inode->i_mapping, GFP_HIGHUSER);
	mapping_set_unevictable(inode->i_mapping);
	weft_inode_update(wi, attr);
	err = xa_err(xa_store(&regions, wi->region, wi, GFP_KERNEL));
	if (!err)
		atomic_inc(&region_count);
	return err;
}

struct inode *weft_inode_get(struct super_block *sb,
			     const struct weft_call *attr)
{
	struct inode *inode;
	int err;

	if (!attr->region || attr->region > WEFT_REGION_MAX)
		return ERR_PTR(-EUCLEAN);
	inode = iget_locked(sb, attr->region);
	if (!inode)
		return ERR_PTR(-ENOMEM);
	err = -EUCLEAN;
	if (!attr_valid(inode, attr))
		goto fail;
	if (!(weft_inode_state(inode) & I_NEW)) {
		weft_inode_update(weft_inode_of(inode), attr);
		return inode;
	}
	err = init_region(inode, attr);
	if (!err) {
		unlock_new_inode(inode);
		return inode;
	}
fail:
	if (weft_inode_state(inode) & I_NEW)
		iget_failed(inode);
	else
		iput(inode);
	return ERR_PTR(err);
}

void weft_inode_drop(struct weft_inode *wi, u64 first)
{
	struct weft_cline *cl;

	while ((cl = weft_cline_next(wi, &first))) {
		weft_cline_forget(cl);
		weft_cline_put(cl);
		first++;
		cond_resched();
	}
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
	weft_homeward_return(wi);
	/* what is left now is lost when the inode goes, unless it has been used since */
	spin_lock(&wi->lock);
	wi->returned = wi->uses == uses;
	spin_unlock(&wi->lock);
	/* if it was the last one: the inode goes, and this work with it */
	iput(&wi->vfs);
}

void weft_inode_used(struct weft_inode *wi)
{
	spin_lock(&wi->lock);
	wi->uses++;
	wi->returned = false;
	spin_unlock(&wi->lock);
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
	if (!wi->region || xa_empty(&wi->lines) || READ_ONCE(wi->returned) ||
	    READ_ONCE(weft_mount_of(inode->i_sb)->leaving))
		return 1;
	queue_work(home_wq, &wi->home_work);
	return 0;
}

void weft_inode_flush_homeward(void)
{
	flush_workqueue(home_wq);
}

void weft_inode_evict(struct inode *inode)
{
	struct weft_inode *wi = weft_inode_of(inode);

	/* it may be this that evicts us; else it finds that the inode goes */
	if (current_work() == &wi->home_work)
		cancel_work(&wi->home_work);
	else
		cancel_work_sync(&wi->home_work);
	if (wi->region) {
		/*
		 * Unlinked or not: another node may have it open.  Before an unmount
		 * there are none left, see weft_inode_unused().
		 */
		if (!READ_ONCE(wi->gone) && !READ_ONCE(wi->returned))
			weft_homeward_return(wi);
		weft_inode_drop(wi, 0);
		weft_slots_stop(&wi->slots);
		weft_klock_leave(wi->region);
		/* the eviction may be taking the last ones apart */
		wait_event(weft_cache.room, xa_empty(&wi->lines));
		if (xa_cmpxchg(&regions, wi->region, wi, NULL, GFP_KERNEL) == wi)
			atomic_dec(&region_count);
		/* LEAVE says it of all regions at once */
		if (wi->open_asked && !weft_mount_of(inode->i_sb)->leaving)
			weft_opened_close(wi);
	}
	truncate_inode_pages_final(&inode->i_data);
	clear_inode(inode);
}

struct inode *weft_inode_alloc(struct super_block *sb)
{
	struct weft_inode *wi = alloc_inode_sb(sb, inode_cache, GFP_KERNEL);

	if (!wi)
		return NULL;
	wi->region = 0;
	wi->block_shift = PAGE_SHIFT;
	xa_init(&wi->lines);
	atomic_set(&wi->nr_lines, 0);
	spin_lock_init(&wi->lock);
	memset(wi->failed, 0, sizeof(wi->failed));
	memset(wi->stream, 0, sizeof(wi->stream));
	wi->stream_age = 0;
	mutex_init(&wi->open_lock);
	wi->opened = false;
	wi->open_asked = false;
	wi->mtime_dirty = false;
	wi->gone = false;
	wi->uses = 0;
	wi->returned = false;
	wi->lost = false;
	atomic_set(&wi->files, 0);
	wi->renew = 0;
	wi->lose = 0;
	INIT_WORK(&wi->home_work, home_work);
	INIT_WORK(&wi->mtime_work, mtime_work);
	weft_slots_init(&wi->slots);
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

int weft_inode_init(void)
{
	/* not SLAB_ACCOUNT: blocks in the cache hold inodes, see charge.h */
	inode_cache = kmem_cache_create("weft_inode", sizeof(struct weft_inode),
					0, SLAB_RECLAIM_ACCOUNT, init_once);
	if (!inode_cache)
		return -ENOMEM;
	/* memory may depend on it */
	home_wq = alloc_workqueue("weft-home", WQ_UNBOUND | WQ_MEM_RECLAIM, AT_A_TIME);
	if (!home_wq) {
		kmem_cache_destroy(inode_cache);
		return -ENOMEM;
	}
	return 0;
}

void weft_inode_exit(void)
{
	destroy_workqueue(home_wq);
	rcu_barrier(); /* inodes that are still to be freed */
	kmem_cache_destroy(inode_cache);
	xa_destroy(&regions);
}
