// SPDX-License-Identifier: GPL-2.0-only
/* One block in the cache: its life, and what threads do with it; see cache.h. */
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "bound.h"
#include "charge.h"
#include "compat.h"
#include "drive.h"
#include "inode.h"
#include "node.h"
#include "stats.h"
#include "trace.h"
#include "udp.h"

#define SLICE	HZ	/* of a wait: who is woken so much too late stood still */

static void cline_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct weft_cline, rcu));
}

void weft_cline_put(struct weft_cline *cl)
{
	u32 i;

	if (!refcount_dec_and_test(&cl->ref))
		return;
	/* until here: who has a reference may lock the pages, to find it DEAD */
	for (i = 0; i < cl->nr_pages; i++)
		if (cl->pages[i])
			put_page(cl->pages[i]);
	/* a lookup in softirq may still read @ref */
	call_rcu(&cl->rcu, cline_free);
}

struct weft_cline *weft_cline_find(struct weft_inode *wi, u64 index)
{
	struct weft_cline *cl;

	rcu_read_lock();
	cl = xa_load(&wi->lines, index);
	if (cl && !refcount_inc_not_zero(&cl->ref))
		cl = NULL;
	rcu_read_unlock();
	return cl;
}

struct weft_cline *weft_cline_next(struct weft_inode *wi, u64 *index)
{
	unsigned long at = *index;
	struct weft_cline *cl;

	rcu_read_lock();
	do {
		cl = xa_find(&wi->lines, &at, ULONG_MAX, XA_PRESENT);
	} while (cl && !refcount_inc_not_zero(&cl->ref) && at++ < ULONG_MAX);
	rcu_read_unlock();
	*index = at;
	return cl;
}

/* --- life --------------------------------------------------------------------- */

static void set_phase(struct weft_cline *cl, u8 phase)
{
	spin_lock_bh(&cl->lock);
	cl->phase = phase;
	spin_unlock_bh(&cl->lock);
	wake_up_all(&cl->wait);
}

static struct weft_cline *cline_alloc(struct weft_inode *wi, u64 index)
{
	u32 nr = weft_block_pages(wi);
	struct weft_cline *cl = kzalloc(struct_size(cl, pages, nr), GFP_KERNEL);

	if (!cl)
		return NULL;
	weft_line_init(&cl->line, weft_line_key(wi->region, WEFT_KIND_PAGE, index),
		       weft_node.id);
	spin_lock_init(&cl->lock);
	cl->phase = WEFT_CLINE_NEW;
	refcount_set(&cl->ref, 2); /* the table's and the caller's */
	cl->wi = wi;
	init_waitqueue_head(&cl->wait);
	INIT_LIST_HEAD(&cl->lru);
	cl->nr_pages = nr;
	weft_drive_init(cl);
	return cl;
}

static int make_pages(struct weft_cline *cl, u64 index)
{
	struct address_space *mapping = cl->wi->vfs.i_mapping;
	struct mem_cgroup *old = weft_charge_node();
	int err = 0;
	u32 i;

	for (i = 0; i < cl->nr_pages; i++) {
		struct page *page;

		page = pagecache_get_page(mapping, index * cl->nr_pages + i,
					  FGP_LOCK | FGP_CREAT,
					  mapping_gfp_mask(mapping));
		if (!page) {
			err = -ENOMEM;
			break;
		}
		cl->pages[i] = page; /* with the reference */
		unlock_page(page);
	}
	weft_charge_end(old);
	return err;
}

/* Nobody uses it, nobody comes back to it: phase is DEAD. */
static void take_apart(struct weft_cline *cl)
{
	struct weft_inode *wi = cl->wi;
	u64 index = weft_line_index(cl->line.key);
	loff_t start = (loff_t)index << wi->block_shift;

	truncate_inode_pages_range(wi->vfs.i_mapping, start,
				   start + weft_block_size(wi) - 1);
	atomic_dec(&wi->nr_lines);
	xa_erase(&wi->lines, index);
	/* from here on the inode may go: it waits for this in weft_cache.room */
	weft_cache_del(cl);
	set_phase(cl, WEFT_CLINE_GONE);
	weft_cline_put(cl);
}

static struct weft_cline *cline_create(struct weft_inode *wi, u64 index,
				       bool may_wait, unsigned long end)
{
	struct weft_cline *cl;
	int err;

	err = weft_cache_reserve(weft_block_pages(wi), may_wait, end);
	if (err)
		return ERR_PTR(err);
	cl = cline_alloc(wi, index);
	if (!cl) {
		weft_cache_unreserve(weft_block_pages(wi));
		return ERR_PTR(-ENOMEM);
	}
	err = xa_insert(&wi->lines, index, cl, GFP_KERNEL);
	if (err) {
		kfree(cl);
		weft_cache_unreserve(weft_block_pages(wi));
		/* -EBUSY: another thread was faster */
		return ERR_PTR(err == -EBUSY ? -EAGAIN : err);
	}
	atomic_inc(&wi->nr_lines);
	weft_cache_add(cl);
	err = make_pages(cl, index);
	if (err) {
		set_phase(cl, WEFT_CLINE_DEAD);
		take_apart(cl);
		weft_cline_put(cl);
		return ERR_PTR(err);
	}
	set_phase(cl, WEFT_CLINE_LIVE);
	spin_lock_bh(&cl->lock);
	weft_cache_move(cl);
	spin_unlock_bh(&cl->lock);
	return cl;
}

static long time_left(unsigned long end)
{
	long left = (long)(end - jiffies);

	return max(left, 0L);
}

/* Until a line that is being made or taken apart is one or the other. */
static int wait_phase(struct weft_cline *cl, unsigned long end)
{
	long left;

	left = wait_event_killable_timeout(cl->wait,
		READ_ONCE(cl->phase) == WEFT_CLINE_LIVE ||
		READ_ONCE(cl->phase) == WEFT_CLINE_GONE, time_left(end));
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

struct weft_cline *weft_cline_get(struct weft_inode *wi, u64 index,
				  bool may_wait, unsigned long end)
{
	struct weft_cline *cl;
	int err;

	for (;;) {
		cl = weft_cline_find(wi, index);
		if (!cl) {
			cl = cline_create(wi, index, may_wait, end);
			if (cl == ERR_PTR(-EAGAIN) && may_wait)
				continue;
			return cl;
		}
		if (READ_ONCE(cl->phase) == WEFT_CLINE_LIVE)
			return cl;
		err = may_wait ? wait_phase(cl, end) : -EAGAIN;
		weft_cline_put(cl);
		if (err)
			return ERR_PTR(err);
	}
}

bool weft_cline_kill(struct weft_cline *cl)
{
	bool dead;

	spin_lock_bh(&cl->lock);
	dead = cl->phase == WEFT_CLINE_LIVE && !cl->pins &&
	       cl->line.state == WEFT_I && weft_line_idle(&cl->line);
	if (dead) {
		cl->phase = WEFT_CLINE_DEAD;
		weft_drive_stop(cl);
	}
	spin_unlock_bh(&cl->lock);
	if (dead)
		take_apart(cl);
	return dead;
}

/* --- permission ------------------------------------------------------------------ */

int weft_cline_wait(struct weft_cline *cl, u32 seen, unsigned long *end)
{
	unsigned long began;
	long slice, left, late;

	do {
		began = jiffies;
		slice = min_t(long, time_left(*end), SLICE);
		left = wait_event_killable_timeout(cl->wait,
						   READ_ONCE(cl->wakes) != seen,
						   slice);
		if (left)
			return left < 0 ? -EINTR : 0;
		/* who stood still, as a paused guest does, has not waited */
		late = (long)(jiffies - began) - slice;
		if (late > SLICE)
			*end += late;
	} while (time_left(*end));
	return -ETIMEDOUT;
}

/* Ask for permission, if nothing is under way; @early: before anybody waits. */
static void want(struct weft_cline *cl, u8 perm, bool early,
		 struct sk_buff_head *queue)
{
	struct weft_out out;

	lockdep_assert_held(&cl->lock);
	if (weft_bound_returning(cl))
		return;
	weft_line_want(&cl->line, perm, weft_node_seq(), &out);
	if (out.n) {
		weft_drive_begin(cl);
		cl->early = early;
	}
	weft_drive(cl, &out, NULL, queue);
	/* a program wants it, and the lock that it would come with is not here yet */
	if (cl->line.expecting && !cl->bound.patience)
		weft_bound_urge(cl, queue);
}

int weft_cline_acquire(struct weft_cline *cl, u8 perm, unsigned long end)
{
	struct sk_buff_head queue;
	u32 fails, wakes;
	int err = 0;

	__skb_queue_head_init(&queue);
	spin_lock_bh(&cl->lock);
	fails = cl->fails;
	cl->pins++;
	cl->ahead = false;
	while (!err) {
		if (cl->phase != WEFT_CLINE_LIVE)
			err = -ESTALE;
		else if (weft_line_perm(&cl->line) >= perm)
			break;
		else if (cl->fails != fails)
			err = -ENXIO;
		if (err)
			break;
		wakes = cl->wakes;
		want(cl, perm, false, &queue);
		spin_unlock_bh(&cl->lock);
		weft_udp_send(&queue);
		err = weft_cline_wait(cl, wakes, &end);
		spin_lock_bh(&cl->lock);
	}
	if (err)
		cl->pins--;
	spin_unlock_bh(&cl->lock);
	return err;
}

void weft_cline_ask(struct weft_cline *cl, u8 perm)
{
	struct sk_buff_head queue;

	__skb_queue_head_init(&queue);
	spin_lock_bh(&cl->lock);
	if (!cl->pins++)
		weft_drive_hurry(cl);
	cl->ahead = false;
	if (cl->phase == WEFT_CLINE_LIVE)
		want(cl, perm, false, &queue);
	spin_unlock_bh(&cl->lock);
	weft_udp_send(&queue);
}

void weft_cline_prefetch(struct weft_cline *cl, struct sk_buff_head *queue)
{
	spin_lock_bh(&cl->lock);
	if (cl->phase == WEFT_CLINE_LIVE && cl->line.state == WEFT_I &&
	    weft_line_idle(&cl->line)) {
		cl->ahead = true;
		want(cl, WEFT_S, true, queue);
		weft_stat_inc(WEFT_STAT_READ_AHEAD);
	}
	spin_unlock_bh(&cl->lock);
}

void weft_cline_unpin(struct weft_cline *cl)
{
	bool room;

	spin_lock_bh(&cl->lock);
	room = !--cl->pins;
	spin_unlock_bh(&cl->lock);
	if (room)
		weft_cache_room();
}

bool weft_cline_lock_page(struct weft_cline *cl, u32 page, u8 perm)
{
	bool ok;

	if (READ_ONCE(cl->phase) != WEFT_CLINE_LIVE)
		return false; /* its pages may not be there */
	lock_page(cl->pages[page]);
	spin_lock_bh(&cl->lock);
	ok = cl->phase == WEFT_CLINE_LIVE && weft_line_perm(&cl->line) >= perm;
	if (ok && perm == WEFT_M)
		cl->dirty = true;
	spin_unlock_bh(&cl->lock);
	if (!ok)
		unlock_page(cl->pages[page]);
	return ok;
}

void weft_cline_touched(struct weft_cline *cl, u8 perm)
{
	if (!READ_ONCE(cl->used))
		WRITE_ONCE(cl->used, true);
	if (!READ_ONCE(cl->fresh))
		return;
	spin_lock_bh(&cl->lock);
	/* else the thread that wants to write is still to come back */
	if (perm >= cl->line.state) {
		cl->fresh = false;
		weft_drive_keep(cl, ktime_get_ns() +
				(u64)READ_ONCE(weft_node.hold_us) * NSEC_PER_USEC);
	}
	spin_unlock_bh(&cl->lock);
}

/* --- giving up -------------------------------------------------------------------- */

/* mlock() keeps a block in the cache; others may still take it. */
static bool locked_in_memory(const struct weft_cline *cl)
{
	u32 i;

	for (i = 0; i < cl->nr_pages; i++)
		if (folio_test_mlocked(page_folio(cl->pages[i])))
			return true;
	return false;
}

static bool may_evict(const struct weft_cline *cl)
{
	lockdep_assert_held(&cl->lock);
	return cl->phase == WEFT_CLINE_LIVE && !cl->pins &&
	       !(cl->fresh && cl->keep > ktime_get_ns()) &&
	       !locked_in_memory(cl);
}

bool weft_cline_evict(struct weft_cline *cl)
{
	bool modified, done = false;
	struct sk_buff_head queue;
	struct weft_out out;

	if (READ_ONCE(cl->nowhere)) {
		weft_cline_forget(cl);
		return true;
	}
	__skb_queue_head_init(&queue);
	spin_lock_bh(&cl->lock);
	if (!may_evict(cl))
		goto out;
	modified = cl->line.state == WEFT_M;
	done = weft_line_evict(&cl->line, true, weft_node_seq(), &out);
	if (!done)
		goto out;
	weft_stat_inc(modified ? WEFT_STAT_EVICTED_MODIFIED :
				 WEFT_STAT_EVICTED_CLEAN);
	cl->keep = 0;
	cl->losses = 0;
	weft_cache_put_begins(cl);
	trace_weft_evict(&cl->line);
	weft_drive(cl, &out, NULL, &queue);
out:
	spin_unlock_bh(&cl->lock);
	weft_udp_send(&queue);
	/* it may have been free before, or be it now */
	return weft_cline_kill(cl) || done;
}

/* Is data of this block on its way home? */
static bool writing_home(const struct weft_line *l)
{
	return l->held || l->op == WEFT_OP_CLEAN || l->op == WEFT_OP_PUT ||
	       l->revoking;
}

int weft_cline_clean(struct weft_cline *cl, u32 *seen)
{
	struct sk_buff_head queue;
	struct weft_out out;
	int ret = 0;

	__skb_queue_head_init(&queue);
	if (READ_ONCE(cl->phase) != WEFT_CLINE_LIVE)
		return 0;
	weft_drive_lock_pages(cl);
	spin_lock_bh(&cl->lock);
	*seen = cl->wakes;
	if (cl->phase != WEFT_CLINE_LIVE)
		ret = 0;
	else if (!weft_line_idle(&cl->line))
		ret = cl->dirty || writing_home(&cl->line) ? -EAGAIN : 0;
	else if (cl->line.state == WEFT_M && cl->dirty)
		ret = 1;
	spin_unlock_bh(&cl->lock);
	if (ret <= 0)
		goto out;

	/* later writes fault again, and so make it dirty again */
	weft_drive_protect(cl);
	spin_lock_bh(&cl->lock);
	*seen = cl->wakes;
	if (weft_line_clean(&cl->line, weft_node_seq(), &out)) {
		cl->dirty = false;
		cl->losses = 0;
		weft_drive(cl, &out, NULL, &queue);
	} else {
		ret = -EAGAIN;
	}
	spin_unlock_bh(&cl->lock);
out:
	weft_drive_unlock_pages(cl);
	weft_udp_send(&queue);
	return ret;
}

void weft_cline_forget(struct weft_cline *cl)
{
	struct sk_buff_head queue;
	struct weft_out out;

	__skb_queue_head_init(&queue);
	wait_event(cl->wait, READ_ONCE(cl->phase) == WEFT_CLINE_LIVE ||
			     READ_ONCE(cl->phase) == WEFT_CLINE_GONE);
	if (READ_ONCE(cl->phase) != WEFT_CLINE_LIVE)
		return;
	weft_drive_lock_pages(cl);
	/* before the state goes: from then on others are told that nobody has it here */
	weft_drive_unmap(cl);
	spin_lock_bh(&cl->lock);
	if (cl->phase == WEFT_CLINE_LIVE) {
		weft_line_forget(&cl->line, &out);
		cl->backoff_at = 0;
		cl->waiting = false;
		weft_bound_forget(cl);
		WRITE_ONCE(cl->fails, cl->fails + 1);
		/* what came since they were unmapped may have set it again */
		weft_drive_clear_uptodate(cl);
		weft_drive(cl, &out, NULL, &queue);
	}
	spin_unlock_bh(&cl->lock);
	weft_drive_unlock_pages(cl);
	weft_udp_send(&queue);
	weft_cline_kill(cl);
}
