// SPDX-License-Identifier: GPL-2.0-only
/* The first blade knows which regions this node uses, see opened.h. */
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "fs/inode.h"
#include "fs/opened.h"
#include "fs/rack.h"
#include "net/rpc.h"

#define CLOSE_TIMEOUT_MS	5000
#define AGAIN_TIMEOUT_MS	5000
#define AT_A_TIME		16	/* CLOSE calls */

static struct workqueue_struct *close_wq;
static bool leaving;	/* LEAVE comes next, and says it of all */

/**
 * struct weft_close - a CLOSE that the blade has not answered yet
 * @work: sends it
 * @list: in closing; at most one of a region, as weft_opened_open() waits for it
 * @region: that it is of
 * @call: it, and its answer
 */
struct weft_close {
	struct work_struct work;
	struct list_head list;
	u32 region;
	struct weft_call call;
};

static LIST_HEAD(closing);
static DEFINE_SPINLOCK(closing_lock); /* closing */
static DECLARE_WAIT_QUEUE_HEAD(closed);

static void close_end(struct weft_close *c)
{
	spin_lock(&closing_lock);
	list_del(&c->list);
	spin_unlock(&closing_lock);
	wake_up_all(&closed);
	kfree(c);
}

static void close_work(struct work_struct *work)
{
	struct weft_close *c = container_of(work, struct weft_close, work);

	/* without an answer: the blade learns it when this node leaves */
	if (!READ_ONCE(leaving))
		weft_rpc_call(&weft_rack.node, WEFT_BLADE_MIN, &c->call, CLOSE_TIMEOUT_MS);
	close_end(c);
}

/* Not here and now: inodes go while the kernel is short of memory, too. */
void weft_opened_close(struct weft_inode *wi)
{
	struct weft_close *c = kzalloc(sizeof(*c), GFP_NOFS);

	if (!c)
		return;
	c->region = wi->region.id;
	c->call.op = WEFT_CALL_CLOSE;
	c->call.region = wi->region.id;
	INIT_WORK(&c->work, close_work);
	spin_lock(&closing_lock);
	list_add(&c->list, &closing);
	spin_unlock(&closing_lock);
	queue_work(close_wq, &c->work);
}

static bool is_closing(u32 region)
{
	struct weft_close *c;
	bool found = false;

	spin_lock(&closing_lock);
	list_for_each_entry(c, &closing, list)
		found |= c->region == region;
	spin_unlock(&closing_lock);
	return found;
}

void weft_opened_flush(void)
{
	WRITE_ONCE(leaving, true);
	flush_workqueue(close_wq);
	WRITE_ONCE(leaving, false);
}

static struct weft_call *new_open(void)
{
	struct weft_call *call = kzalloc(sizeof(*call), GFP_KERNEL);

	if (call)
		call->op = WEFT_CALL_OPEN;
	return call;
}

/* Tell the catalog, unless it knows already.  Under open_lock. */
static int open_now(struct weft_inode *wi, struct weft_call *call)
{
	int err;

	if (wi->opened)
		return 0;
	/* a CLOSE of an earlier inode of this region must not come after this */
	err = wait_event_killable(closed, !is_closing(wi->region.id));
	if (err)
		return -EINTR;
	/* what is not answered in time may have been carried out all the same */
	WRITE_ONCE(wi->open_asked, true);
	err = weft_inode_call(wi, call);
	if (!err)
		WRITE_ONCE(wi->opened, true);
	return err;
}

int weft_opened_open(struct weft_inode *wi)
{
	struct weft_call *call;
	int err;

	if (READ_ONCE(wi->opened))
		return 0;
	call = new_open();
	if (!call)
		return -ENOMEM;
	err = mutex_lock_killable(&wi->open_lock);
	if (!err) {
		err = open_now(wi, call);
		mutex_unlock(&wi->open_lock);
	}
	kfree(call);
	return err;
}

int weft_opened_again(struct weft_inode *wi)
{
	struct weft_call *call;
	int err = 0;

	mutex_lock(&wi->open_lock);
	call = wi->opened ? new_open() : NULL;
	if (call) {
		call->region = wi->region.id;
		err = weft_rpc_call(&weft_rack.node, WEFT_BLADE_MIN, call, AGAIN_TIMEOUT_MS);
		kfree(call);
	}
	mutex_unlock(&wi->open_lock);
	/* refused: it stays open here; others may unlink it */
	return err == -EINTR || err == -ETIMEDOUT ? err : 0;
}

int weft_opened_init(void)
{
	/* each waits for an answer; one without does not keep the others from theirs */
	close_wq = alloc_workqueue("weft-close", WQ_UNBOUND, AT_A_TIME);
	return close_wq ? 0 : -ENOMEM;
}

void weft_opened_exit(void)
{
	destroy_workqueue(close_wq);
}
