// SPDX-License-Identifier: GPL-2.0-only
/* OPEN and CLOSE, see openstate.h. */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "base/compat.h"
#include "fs/inode.h"
#include "fs/openstate.h"
#include "fs/rack.h"
#include "locks/reclaim.h"
#include "net/rpc.h"

#define CLOSE_TIMEOUT_MS	5000
#define AGAIN_TIMEOUT_MS	5000
#define GIVE_UP_TIMEOUT_MS	2000	/* short: the blade that has just called answers */
#define AT_A_TIME		16	/* CLOSE calls in flight */

/**
 * struct weft_openstate - CLOSE calls of a rack
 * @wq: sends them
 * @leaving: LEAVE comes next: send no CLOSE any more
 * @lock: @closing
 * @closing: struct weft_close, not answered yet
 * @closed: woken when one leaves @closing
 */
struct weft_openstate {
	struct workqueue_struct *wq;
	bool leaving;
	spinlock_t lock;
	struct list_head closing;
	wait_queue_head_t closed;
};

/**
 * struct weft_close - a CLOSE that the blade has not answered yet
 * @work: sends it
 * @rack: whose
 * @list: in weft_openstate.closing; at most one of a region, as weft_openstate_open() waits for it
 * @region: constant, while the answer overwrites @call
 * @call: the CLOSE, then its answer
 */
struct weft_close {
	struct work_struct work;
	struct weft_rack *rack;
	struct list_head list;
	u32 region;
	struct weft_call call;
};

static void close_end(struct weft_close *c)
{
	struct weft_openstate *opened = c->rack->opened;

	spin_lock(&opened->lock);
	list_del(&c->list);
	spin_unlock(&opened->lock);
	wake_up_all(&opened->closed);
	kfree(c);
}

static void close_work(struct work_struct *work)
{
	struct weft_close *c = container_of(work, struct weft_close, work);

	/* if this has no answer, the blade closes the region when this node leaves */
	if (!READ_ONCE(c->rack->opened->leaving))
		weft_rpc_call(&c->rack->node, WEFT_BLADE_MIN, &c->call, CLOSE_TIMEOUT_MS);
	close_end(c);
}

/* By a work item: reclaim, which must not wait for the network, evicts inodes as well. */
void weft_openstate_close(struct weft_inode *wi)
{
	struct weft_openstate *opened = wi->rack->opened;
	struct weft_close *c = kzalloc(sizeof(*c), GFP_NOFS);

	if (!c)
		return;
	c->rack = wi->rack;
	c->region = wi->region.id;
	c->call.op = WEFT_CALL_CLOSE;
	c->call.region = wi->region.id;
	INIT_WORK(&c->work, close_work);
	spin_lock(&opened->lock);
	list_add(&c->list, &opened->closing);
	spin_unlock(&opened->lock);
	queue_work(opened->wq, &c->work);
}

static bool is_closing(struct weft_openstate *opened, u32 region)
{
	struct weft_close *c;
	bool found = false;

	spin_lock(&opened->lock);
	list_for_each_entry(c, &opened->closing, list)
		found |= c->region == region;
	spin_unlock(&opened->lock);
	return found;
}

void weft_openstate_flush(struct weft_openstate *opened)
{
	WRITE_ONCE(opened->leaving, true);
	flush_workqueue(opened->wq);
	WRITE_ONCE(opened->leaving, false);
}

/* --- OPEN ---------------------------------------------------------------------------------- */

/*
 * The right by which the VFS grants, or would grant, this open().  The node has to say it: the
 * catalog does not know the groups of a user.
 */
static struct weft_pass pass_of(struct weft_inode *wi, struct file *file, bool checked,
				bool created)
{
	weft_idmap *idmap = weft_file_idmap(file);
	struct inode *inode = &wi->vfs;
	struct weft_pass p = {
		.want = (file->f_mode & FMODE_READ ? 4 : 0) | (file->f_mode & FMODE_WRITE ? 2 : 0),
		.uid = from_kuid(&init_user_ns, mapped_fsuid(idmap, &init_user_ns)),
		.owner = from_kuid(&init_user_ns, inode->i_uid),
		.group = from_kgid(&init_user_ns, inode->i_gid),
		.mode = READ_ONCE(inode->i_mode) & 07777,
	};
	u32 bits = p.mode;

	/* execve() needs x, not r */
	if (file->f_flags & __FMODE_EXEC)
		p.want = (p.want & ~4) | 1;
	if (created) {
		p.how = WEFT_OPEN_NEW;
		return p;
	}
	if (vfsuid_eq_kuid(i_uid_into_vfsuid(idmap, inode), current_fsuid())) {
		p.how = WEFT_OPEN_OWNER;
		bits = p.mode >> 6;
	} else if (vfsgid_in_group_p(i_gid_into_vfsgid(idmap, inode))) {
		p.how = WEFT_OPEN_GROUP;
		bits = p.mode >> 3;
	} else {
		p.how = WEFT_OPEN_OTHER;
	}
	if (p.want & ~bits)
		p.how = checked ? WEFT_OPEN_CAPABLE : WEFT_OPEN_KEEP;
	return p;
}

static bool same_pass(struct weft_inode *wi, const struct weft_pass *p)
{
	bool same;

	spin_lock(&wi->lock);
	same = p->how == WEFT_OPEN_KEEP ||
	       (wi->pass.how == p->how && wi->pass.want == p->want && wi->pass.uid == p->uid &&
		wi->pass.owner == p->owner && wi->pass.group == p->group &&
		wi->pass.mode == p->mode);
	spin_unlock(&wi->lock);
	return same;
}

static struct weft_call *new_open(const struct weft_pass *p)
{
	struct weft_call *call = weft_inode_new_call(WEFT_CALL_OPEN);

	if (!call)
		return NULL;
	call->valid = p->how;
	call->mode = p->want;
	call->uid = p->uid;
	call->gid = p->group;
	return call;
}

static void tell_refused(const struct weft_inode *wi, const struct weft_call *call)
{
	u8 id = wi->rack->node.id;

	if (!call->nodes || call->nodes & weft_node_bit(id))
		return;
	pr_warn_ratelimited("weft: region %u is not for node %u, its open() fails with EACCES: its owner may let it in by 'weftctl region set NAME nodes=' on another node\n",
			    wi->region.id, id);
}

/* Send OPEN, unless another thread has done so meanwhile.  Under open_lock. */
static int open_now(struct weft_inode *wi, struct weft_call *call, const struct weft_pass *p)
{
	struct weft_openstate *opened = wi->rack->opened;
	int err;

	if (wi->opened && same_pass(wi, p))
		return 0;
	/* a CLOSE of an earlier inode of this region must not arrive after this OPEN */
	err = wait_event_killable(opened->closed, !is_closing(opened, wi->region.id));
	if (err)
		return -EINTR;
	/* the blade may carry out an OPEN whose answer is late, so a CLOSE is due from here on */
	WRITE_ONCE(wi->open_asked, true);
	err = weft_inode_call(wi, call);
	if (err) {
		if (err == -EACCES)
			tell_refused(wi, call);
		return err;
	}
	spin_lock(&wi->lock);
	wi->pass = *p;
	spin_unlock(&wi->lock);
	WRITE_ONCE(wi->opened, true);
	return 0;
}

int weft_openstate_open(struct weft_inode *wi, struct file *file, bool checked, bool created)
{
	struct weft_pass p = { .how = WEFT_OPEN_KEEP };
	struct weft_call *call;
	int err;

	if (file)
		p = pass_of(wi, file, checked, created);
	/* after the caller has raised weft_inode.files; pairs with give_up_now() */
	smp_mb();
	if (READ_ONCE(wi->opened) && same_pass(wi, &p))
		return 0;
	call = new_open(&p);
	if (!call)
		return -ENOMEM;
	err = mutex_lock_killable(&wi->open_lock);
	if (!err) {
		err = open_now(wi, call, &p);
		mutex_unlock(&wi->open_lock);
	}
	kfree(call);
	return err;
}

/* --- a region that this node may not use any more ------------------------------------------ */

static int close_now(struct weft_rack *rack, u32 region)
{
	struct weft_call *call = weft_inode_new_call(WEFT_CALL_CLOSE);
	int err;

	if (!call)
		return -EAGAIN;
	call->region = region;
	err = weft_rpc_call(&rack->node, WEFT_BLADE_MIN, call, GIVE_UP_TIMEOUT_MS);
	kfree(call);
	return err ? -EAGAIN : 0;
}

/* Under open_lock, for which a concurrent open() waits. */
static int give_up_now(struct weft_inode *wi)
{
	bool was = wi->opened;
	int err = 0;

	WRITE_ONCE(wi->opened, false);
	/*
	 * Pairs with weft_openstate_open(): either this sees @files raised, or the open() sees
	 * @opened cleared and waits for open_lock.
	 */
	smp_mb();
	if (atomic_read(&wi->files))
		err = -EBUSY;
	else if (!xa_empty(&wi->region.blocks) ||
		 weft_lockres_leave(&wi->rack->locks, wi->region.id))
		err = -EAGAIN;
	if (err) {
		WRITE_ONCE(wi->opened, was);
		return err;
	}
	err = close_now(wi->rack, wi->region.id);
	if (!err)
		WRITE_ONCE(wi->open_asked, false);
	return err;
}

/* CLOSE a region that has no inode here.  Return: 0, or -EAGAIN as give_up(). */
static int disown(struct weft_rack *rack, u32 region)
{
	bool known;

	/* an inode that is being freed sends its CLOSE when its blocks are home */
	rcu_read_lock();
	known = weft_region_find(&rack->cache.regions, region);
	rcu_read_unlock();
	if (known || is_closing(rack->opened, region))
		return -EAGAIN;
	return close_now(rack, region);
}

/* --- again ------------------------------------------------------------------------- */

int weft_openstate_again(struct weft_inode *wi)
{
	const struct weft_pass p = { .how = WEFT_OPEN_KEEP };
	struct weft_call *call;
	int err = 0;

	mutex_lock(&wi->open_lock);
	call = wi->opened ? new_open(&p) : NULL;
	if (call) {
		call->region = wi->region.id;
		err = weft_rpc_call(&wi->rack->node, WEFT_BLADE_MIN, call, AGAIN_TIMEOUT_MS);
		kfree(call);
	}
	mutex_unlock(&wi->open_lock);
	/* the catalog has lost the region: end the waits for its locks, which nobody hands over */
	if (err == -ESTALE)
		weft_lockres_forget(&wi->rack->locks, wi->region.id, 0);
	/* if refused, the region stays open here, but the blade does not keep it for this node */
	return err == -EINTR || err == -ETIMEDOUT ? err : 0;
}

struct weft_openstate *weft_openstate_new(void)
{
	struct weft_openstate *opened = kzalloc(sizeof(*opened), GFP_KERNEL);

	if (!opened)
		return NULL;
	spin_lock_init(&opened->lock);
	INIT_LIST_HEAD(&opened->closing);
	init_waitqueue_head(&opened->closed);
	/* several in flight: a CLOSE without an answer must not hold up the others */
	opened->wq = alloc_workqueue("weft-close", WQ_UNBOUND, AT_A_TIME);
	if (opened->wq)
		return opened;
	kfree(opened);
	return NULL;
}

void weft_openstate_free(struct weft_openstate *opened)
{
	if (!opened)
		return;
	destroy_workqueue(opened->wq);
	kfree(opened);
}

/*
 * CLOSE the region if no program has it open and all its blocks and locks are home.  Sleeps, for
 * seconds at most.  Return: 0; -EBUSY: a program has it open; -EAGAIN: blocks, locks or an OPEN
 * are still in flight.
 */
static int give_up(struct weft_inode *wi)
{
	int err;

	if (atomic_read(&wi->files))
		return -EBUSY;
	if (!xa_empty(&wi->region.blocks)) {
		queue_work(wi->rack->home_wq, &wi->home_work);
		return -EAGAIN;
	}
	/* an OPEN is in flight; the blade repeats its call */
	if (!mutex_trylock(&wi->open_lock))
		return -EAGAIN;
	err = give_up_now(wi);
	mutex_unlock(&wi->open_lock);
	return err;
}

int weft_openstate_nodes(struct weft_rack *rack, const struct weft_call *attr)
{
	struct weft_inode *wi;
	int err;

	if (!attr->nodes || attr->nodes & weft_node_bit(rack->node.id))
		return 0;
	wi = weft_inode_grab(rack, attr->region);
	if (!wi)
		return disown(rack, attr->region);
	err = give_up(wi);
	iput(&wi->vfs);
	return err;
}
