// SPDX-License-Identifier: GPL-2.0-only
/* Look-up of inodes, attributes and times of a region; see inode.h. */
#include <linux/capability.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "base/compat.h"
#include "fs/inode.h"
#include "fs/mount.h"
#include "fs/policy.h"
#include "fs/rack.h"
#include "net/rpc.h"
#include "weft.h"

struct weft_inode *weft_inode_grab(struct weft_rack *rack, u32 region)
{
	struct weft_inode *wi = NULL;
	struct weft_region *r;

	rcu_read_lock();
	r = weft_region_find(&rack->cache.regions, region);
	if (r && igrab(&weft_inode_of_region(r)->vfs))
		wi = weft_inode_of_region(r);
	rcu_read_unlock();
	return wi;
}

struct weft_inode *weft_inode_grab_next(struct weft_rack *rack, u32 only, u32 *region)
{
	struct weft_region *r;
	u32 at = *region;

	if (only) {
		*region = only;
		return at ? NULL : weft_inode_grab(rack, only);
	}
	rcu_read_lock();
	do {
		at++;
		r = at <= WEFT_REGION_MAX ?
		    weft_region_next(&rack->cache.regions, &at) : NULL;
	} while (r && !igrab(&weft_inode_of_region(r)->vfs));
	rcu_read_unlock();
	*region = r ? at : 0;
	return r ? weft_inode_of_region(r) : NULL;
}

/* --- attributes -------------------------------------------------------------------- */

void weft_inode_update(struct weft_inode *wi, const struct weft_call *attr)
{
	struct inode *inode = &wi->vfs;

	inode->i_mode = S_IFREG | (attr->mode & 07777);
	inode->i_uid = make_kuid(&init_user_ns, attr->uid);
	inode->i_gid = make_kgid(&init_user_ns, attr->gid);
	spin_lock(&wi->lock);
	if (!wi->mtime_dirty)
		weft_set_times(inode, ns_to_timespec64((s64)attr->mtime));
	i_size_write(inode, (loff_t)attr->size);
	inode->i_blocks = (attr->size + 511) >> 9;
	spin_unlock(&wi->lock);
	weft_homes_take(&wi->rack->node, &wi->region, attr);
	weft_policy_take(wi, attr);
}

int weft_inode_call(struct weft_inode *wi, struct weft_call *call)
{
	int err;

	call->region = wi->region.id;
	err = weft_rpc_catalog(&wi->rack->node, call);
	if (err == -ENOENT) {
		/* it was unlinked, and the first blade knows no node that has it open */
		WRITE_ONCE(wi->gone, true);
		return -ESTALE;
	}
	if (err)
		return err;
	if (call->region != wi->region.id)
		return -EUCLEAN;
	weft_inode_update(wi, call);
	return 0;
}

struct weft_call *weft_inode_new_call(u16 op)
{
	struct weft_call *call = kzalloc(sizeof(*call), GFP_KERNEL);

	if (call)
		call->op = op;
	return call;
}

int weft_inode_ask_size(struct weft_inode *wi, u64 *size)
{
	struct weft_call *call = weft_inode_new_call(WEFT_CALL_GETATTR);
	int err;

	if (!call)
		return -ENOMEM;
	err = weft_inode_call(wi, call);
	*size = call->size;
	kfree(call);
	return err;
}

int weft_inode_refresh(struct weft_inode *wi)
{
	u64 size;

	return weft_inode_ask_size(wi, &size);
}

bool weft_inode_unlimited(void)
{
	/* without the capability the quota holds: nothing for the audit log */
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
}

u32 weft_inode_size_flags(void)
{
	return WEFT_SET_SIZE | (weft_inode_unlimited() ? WEFT_SET_UNLIMITED : 0);
}

/* SETATTR of the attributes that @valid names. */
static int set_attr(struct weft_inode *wi, u32 valid, u64 size, u64 mtime)
{
	struct weft_call *call = weft_inode_new_call(WEFT_CALL_SETATTR);
	int err;

	if (!call)
		return -ENOMEM;
	call->valid = valid;
	call->size = size;
	call->mtime = mtime;
	err = weft_inode_call(wi, call);
	kfree(call);
	return err;
}

int weft_inode_grow(struct weft_inode *wi, u64 size)
{
	return set_attr(wi, weft_inode_size_flags() | WEFT_SET_GROW, size, 0);
}

static void set_mtime(struct weft_inode *wi, struct timespec64 t, bool dirty)
{
	spin_lock(&wi->lock);
	weft_set_times(&wi->vfs, t);
	wi->mtime_dirty = dirty;
	spin_unlock(&wi->lock);
}

void weft_inode_written(struct weft_inode *wi)
{
	struct timespec64 now;

	ktime_get_coarse_real_ts64(&now);
	set_mtime(wi, now, true);
}

static u64 mtime_ns(const struct weft_inode *wi)
{
	struct timespec64 t = weft_mtime(&wi->vfs);

	return timespec64_to_ns(&t);
}

void weft_inode_set_mtime(struct weft_inode *wi, u64 ns)
{
	set_mtime(wi, ns_to_timespec64((s64)ns), false);
}

/*
 * The time stays dirty until the catalog has answered: a concurrent fsync() sends it too, and does
 * not return before the catalog has it; and attributes of other answers do not set it back.
 */
int weft_inode_flush_mtime(struct weft_inode *wi)
{
	bool dirty;
	u64 mtime;
	int err;

	spin_lock(&wi->lock);
	dirty = wi->mtime_dirty;
	mtime = mtime_ns(wi);
	spin_unlock(&wi->lock);
	if (!dirty)
		return 0;
	err = set_attr(wi, WEFT_SET_MTIME, 0, mtime);
	if (err)
		return err;
	/* a write since then has set another time, which stays dirty */
	spin_lock(&wi->lock);
	if (mtime_ns(wi) == mtime)
		wi->mtime_dirty = false;
	spin_unlock(&wi->lock);
	return 0;
}

/*
 * An unmount waits for all of these works, one time-out at most: once one of them has had no
 * answer, the later ones do not ask (weft_mount.silent).
 */
void weft_inode_mtime_work(struct work_struct *work)
{
	struct weft_inode *wi = container_of(work, struct weft_inode, mtime_work);
	struct weft_mount *m = weft_mount_of(wi->vfs.i_sb);

	if (!READ_ONCE(m->leaving) || !READ_ONCE(m->silent))
		WRITE_ONCE(m->silent, weft_inode_flush_mtime(wi) == -ETIMEDOUT);
	iput(&wi->vfs);
}

void weft_inode_closed(struct weft_inode *wi)
{
	/* stat() cannot reach a region without a name */
	if (!READ_ONCE(wi->mtime_dirty) || !wi->vfs.i_nlink)
		return;
	/* an exiting thread cannot be killed, so it must not wait for the network */
	if (current->flags & (PF_EXITING | PF_KTHREAD))
		weft_inode_tell_mtime(wi);
	else
		weft_inode_flush_mtime(wi);
}

void weft_inode_tell_mtime(struct weft_inode *wi)
{
	if (!READ_ONCE(wi->mtime_dirty) || !wi->vfs.i_nlink)
		return;
	ihold(&wi->vfs);
	if (!queue_work(wi->rack->home_wq, &wi->mtime_work))
		iput(&wi->vfs); /* the queued work owns one already */
}

void weft_inode_used(struct weft_inode *wi)
{
	spin_lock(&wi->lock);
	wi->uses++;
	wi->returned = false;
	spin_unlock(&wi->lock);
}
