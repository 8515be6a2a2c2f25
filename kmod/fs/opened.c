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

/**
 * struct weft_opened - CLOSE calls of a rack
 * @wq: sends them
 * @leaving: LEAVE comes next, and says it of all
 * @lock: @closing
 * @closing: struct weft_close, not answered yet
 * @closed: for one less
 */
struct weft_opened {
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
 * @list: in weft_opened.closing; at most one of a region, as weft_opened_open() waits for it
 * @region: that it is of
 * @call: it, and its answer
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
	struct weft_opened *opened = c->rack->opened;

	spin_lock(&opened->lock);
	list_del(&c->list);
	spin_unlock(&opened->lock);
	wake_up_all(&opened->closed);
	kfree(c);
}

static void close_work(struct work_struct *work)
{
	struct weft_close *c = container_of(work, struct weft_close, work);

	/* without an answer: the blade learns it when this node leaves */
	if (!READ_ONCE(c->rack->opened->leaving))
		weft_rpc_call(&c->rack->node, WEFT_BLADE_MIN, &c->call, CLOSE_TIMEOUT_MS);
	close_end(c);
}

/* Not here and now: inodes go while the kernel is short of memory, too. */
void weft_opened_close(struct weft_inode *wi)
{
	struct weft_opened *opened = wi->rack->opened;
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

static bool is_closing(struct weft_opened *opened, u32 region)
{
	struct weft_close *c;
	bool found = false;

	spin_lock(&opened->lock);
	list_for_each_entry(c, &opened->closing, list)
		found |= c->region == region;
	spin_unlock(&opened->lock);
	return found;
}

void weft_opened_flush(struct weft_opened *opened)
{
	WRITE_ONCE(opened->leaving, true);
	flush_workqueue(opened->wq);
	WRITE_ONCE(opened->leaving, false);
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
	struct weft_opened *opened = wi->rack->opened;
	int err;

	if (wi->opened)
		return 0;
	/* a CLOSE of an earlier inode of this region must not come after this */
	err = wait_event_killable(opened->closed, !is_closing(opened, wi->region.id));
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
		err = weft_rpc_call(&wi->rack->node, WEFT_BLADE_MIN, call, AGAIN_TIMEOUT_MS);
		kfree(call);
	}
	mutex_unlock(&wi->open_lock);
	/* refused: it stays open here; others may unlink it */
	return err == -EINTR || err == -ETIMEDOUT ? err : 0;
}

struct weft_opened *weft_opened_new(void)
{
	struct weft_opened *opened = kzalloc(sizeof(*opened), GFP_KERNEL);

	if (!opened)
		return NULL;
	spin_lock_init(&opened->lock);
	INIT_LIST_HEAD(&opened->closing);
	init_waitqueue_head(&opened->closed);
	/* each waits for an answer; one without does not keep the others from theirs */
	opened->wq = alloc_workqueue("weft-close", WQ_UNBOUND, AT_A_TIME);
	if (opened->wq)
		return opened;
	kfree(opened);
	return NULL;
}

void weft_opened_free(struct weft_opened *opened)
{
	if (!opened)
		return;
	destroy_workqueue(opened->wq);
	kfree(opened);
}
