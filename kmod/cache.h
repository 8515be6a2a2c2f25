/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache: blocks of regions that this node has or asks for.
 *
 * A struct weft_cline joins a line of the protocol core (core/line.h) with the
 * page-cache pages of its block.  Lock order, contexts and lifetimes are in
 * docs/kernel.md; the two rules that everything leans on:
 *
 * - The page lock is the fence.  Who has locked a page of the block and then
 *   seen weft_line_perm() >= p under @lock has p until it unlocks the page:
 *   permission is given away by weft_line_revoked() only, under the locks of all
 *   pages of the block and with no mapping left that allows more.
 * - A page is PageUptodate only while the permission is at least S.  It is
 *   cleared under the page lock, before the mappings go, so that
 *   filemap_map_pages() obeys the first rule, too.
 *
 * A block stays with a program for a moment after it got it (@keep), so that
 * the access that asked for it gets done and two writers never starve each
 * other: up to WEFT_GRACE_US from the grant to the program's fault or copy, and
 * hold_us (configuration) from there.
 */
#ifndef WEFT_CACHE_H
#define WEFT_CACHE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "line.h"

struct page;
struct weft_inode;
struct weft_packet;
struct weft_node_status;

#define WEFT_GRACE_US		10000
#define WEFT_PIN_WAIT_US	1000
#define WEFT_PIN_WAITS		1000

/* Blocks that the eviction has on their way home at a time. */
#define WEFT_PUTTING_MAX	64

enum weft_cline_phase {
	WEFT_CLINE_NEW,		/* pages are being made */
	WEFT_CLINE_LIVE,
	WEFT_CLINE_DEAD,	/* being taken apart; still in the inode's table */
	WEFT_CLINE_GONE,	/* no longer there */
};

#define WEFT_HEIRS_MAX	7	/* readers that are lent a block with a lock; others ask */

/**
 * struct weft_heirs - who has a lock next, and with it what it guards
 * @reader: transactions of readers, which expect the block with these names
 * @n: how many
 * @writer: of the writer after them, 0: there is none
 */
struct weft_heirs {
	u32 reader[WEFT_HEIRS_MAX];
	u32 n;
	u32 writer;
};

/**
 * struct weft_bound - what the lock that guards a block wants of it, see bound.h
 * @wish: permission, as soon as the line is idle: it is to be expected with @txn, or
 *	asked for if that is 0.  WEFT_I: nothing
 * @txn: of the lock's request, while the lock is still to come
 * @heirs: the block is to be lent and passed on to these as soon as the line is idle
 * @passing: that is being done
 * @expected: counted in weft_cache.expected: nothing was asked yet
 * @urged: it is not to be waited for any longer
 * @awaited: it was expected, and has not come yet
 * @vain: how often in a row it came otherwise than it was expected
 * @since: when the lock came that it should have come with, ns; 0: it has not
 * @patience: until when it is waited for, ns; 0: for ever, the lock is still to come
 */
struct weft_bound {
	u8 wish;
	bool passing;
	bool expected;
	bool urged;
	bool awaited;
	u8 vain;
	u32 txn;
	struct weft_heirs heirs;
	u64 since;
	u64 patience;
};

/**
 * struct weft_cline - a block in the cache
 * @line: state of the line
 * @lock: @line, the contents of the block while nobody has it mapped, and all
 *	below that says so.  Taken with bottom halves off
 * @phase: enum weft_cline_phase; in any but LIVE the line is as good as unknown.
 *	@lock
 * @pins: threads that are about to use the block; it is not evicted.  @lock
 * @dirty: modified since it was last written home; in state M only.  @lock
 * @used: a program used it since the eviction last looked.  No lock: a hint
 * @free: state I and idle: first choice for the eviction.  @lock
 * @ahead: nobody asked for it yet, it was read ahead.  No lock: a hint
 * @early: the transaction under way began when nobody waited for it.  @lock
 * @waiting: revocation waits for @keep.  @lock
 * @upgrade: the transaction under way began with a read-only copy.  @lock
 * @losses: time-outs of the retransmission timer in a row.  @lock
 * @rounds: requests of the transaction under way so far.  @lock
 * @wakes: raised by each WEFT_DO_WAKE; what waiters look at.  @lock to write
 * @fails: raised by each WEFT_DO_FAIL.  @lock to write
 * @resending: messages that go out now are repetitions.  @lock
 * @asked: when the last request of it went out that was no repetition, ns.  @lock
 * @dunned: when those were first told to give the block back to whom it is lent, ns.
 *	@lock
 * @repeated: when a request last went out as a repetition, ns.  @lock
 * @doubt: how long a request that was repeated took, ns, counted from its first
 *	copy; 0: none did, or it is settled.  If both copies are answered the
 *	repetition was needless, and this is how slow the rack is; if not, one of
 *	them was lost, and it says nothing.  @lock
 * @doubt_txn: its transaction.  @lock
 * @doubt_op: what it was for, enum weft_op.  @lock
 * @began: when the transaction under way began, ns.  @lock
 * @heard: when the revocation under way was asked for, ns.  @lock
 * @keep: not to be revoked before, ns; 0: at any time.  @lock
 * @fresh: a program got it and did not come back for its access yet.  @lock to
 *	write
 * @pin_waits: how often revocation waited for a device.  @lock
 * @retry_armed: @retry has a reference.  @lock
 * @soon_armed: @soon has a reference.  @lock
 * @nowhere: the home said that it has no such line.  @lock to write
 * @putting: counted in weft_cache.putting.  @lock
 * @owed: a device writes into it, and its home is to have it: see renew.c, whose
 *	work alone looks at this
 * @bound: what the lock that guards it wants.  @lock
 * @backoff_at: when to repeat a refused request, ns; 0: none was.  @lock
 * @retry_at: when to send again, jiffies.  @lock
 * @ref: the inode's table has one, so has each armed timer, queued work and
 *	thread that looks
 * @misses: how often the permission came that was asked for.  @lock
 * @wi: the inode; valid until the line left its table
 * @wait: for WEFT_DO_WAKE and for changes of @phase
 * @retry: sends again what is not answered.  Not stopped when the answer comes:
 *	it looks at @retry_at itself
 * @soon: the short waits: back-off after a refusal, @keep, @bound.patience
 * @revoke: takes the block away from the programs
 * @lru: in weft_cache.lru or .free, under weft_cache.lru_lock
 * @rcu: of the lookup in softirq
 * @nr_pages: pages of the block
 * @revocations: how often another node took the block, or the right to write it.
 *	@lock
 * @pages: them, a reference each that is kept as long as the line; constant once
 *	LIVE
 */
struct weft_cline {
	struct weft_line line;
	spinlock_t lock;
	u8 phase;
	bool dirty;
	bool used;
	bool free;
	bool ahead;
	bool early;
	bool waiting;
	bool upgrade;
	bool fresh;
	bool retry_armed;
	bool soon_armed;
	bool nowhere;
	bool resending;
	bool putting;
	bool owed;
	u8 losses;
	u16 pin_waits;
	u32 pins;
	u32 rounds;
	u32 wakes;
	u32 fails;
	u64 began;
	u64 asked;
	u64 dunned;
	u64 repeated;
	u64 doubt;
	u32 doubt_txn;
	u8 doubt_op;
	u64 heard;
	u64 keep;
	struct weft_bound bound;
	u64 backoff_at;
	unsigned long retry_at;
	refcount_t ref;
	u32 misses;
	struct weft_inode *wi;
	wait_queue_head_t wait;
	struct timer_list retry;
	struct hrtimer soon;
	struct work_struct revoke;
	struct list_head lru;
	struct rcu_head rcu;
	u32 nr_pages;
	u32 revocations;
	struct page *pages[];
};

/**
 * struct weft_cache - all blocks of this node
 * @lru_lock: @lru, @free, @lines
 * @lru: blocks in use, the oldest first
 * @free: blocks that hold nothing
 * @lines: how many blocks there are, also those that are in no list
 * @pages: pages that they take, or that are reserved for new ones
 * @max_pages: what they may take
 * @room: for a page less, or a block more that may go
 * @evict: keeps room free
 * @putting: blocks that are being written home
 * @putting_to: the same, for each home: one that is silent keeps its own waiting
 * @expected: pages of blocks that are only expected, with locks
 * @wq: revocation; the other end waits for it
 * @evict_wq: eviction
 */
struct weft_cache {
	spinlock_t lru_lock;
	struct list_head lru;
	struct list_head free;
	unsigned long lines;
	atomic_long_t pages;
	unsigned long max_pages;
	wait_queue_head_t room;
	struct work_struct evict;
	atomic_t putting;
	atomic_t putting_to[WEFT_BLADE_MAX - WEFT_BLADE_MIN + 1];
	atomic_long_t expected;
	struct workqueue_struct *wq;
	struct workqueue_struct *evict_wq;
};

extern struct weft_cache weft_cache;

static inline struct weft_cline *weft_cline_of(struct weft_line *l)
{
	return container_of(l, struct weft_cline, line);
}

void weft_cline_put(struct weft_cline *cl);

/**
 * weft_cline_find() - look a block up
 *
 * Any context.  Return: the line with a reference, LIVE or not, or NULL.
 */
struct weft_cline *weft_cline_find(struct weft_inode *wi, u64 index);

/* The first block at or after *index, with a reference; *index is set to it. */
struct weft_cline *weft_cline_next(struct weft_inode *wi, u64 *index);

/**
 * weft_cline_get() - look a block up, make it if there is none
 * @may_wait: wait for room in the cache if there is none
 * @end: until when, jiffies
 *
 * Process context.  Return: a LIVE line with a reference; -EAGAIN if there is no
 * room and @may_wait is false, or the line is just being made or taken apart;
 * -ENOMEM; -ENOBUFS: everything in the cache is locked in memory; -ETIMEDOUT;
 * -EINTR.
 */
struct weft_cline *weft_cline_get(struct weft_inode *wi, u64 index,
				  bool may_wait, unsigned long end);

/**
 * weft_cline_acquire() - get permission and wait for it
 * @perm: WEFT_S or WEFT_M
 * @end: until when, jiffies
 *
 * On success the line is pinned: weft_cline_unpin() when the use is over.  The
 * permission itself may be gone again: weft_cline_lock_page() tells.
 *
 * Return: 0; -ESTALE: the line is DEAD, look it up again; -EINTR; -ETIMEDOUT;
 * -ENXIO: the region, or this part of it, does not exist.
 */
int weft_cline_acquire(struct weft_cline *cl, u8 perm, unsigned long end);

/* Pin the line and start to get permission; weft_cline_acquire() waits for it. */
void weft_cline_ask(struct weft_cline *cl, u8 perm);

/* Start to get a read-only copy that nobody waits for; the caller sends @queue. */
void weft_cline_prefetch(struct weft_cline *cl, struct sk_buff_head *queue);

void weft_cline_unpin(struct weft_cline *cl);

/**
 * weft_cline_lock_page() - fence off revocation, if the permission is there
 * @page: which of the block's pages
 * @perm: WEFT_S or WEFT_M
 *
 * Return: true with the page locked; false if the permission is not there, or
 * the line is not LIVE.
 */
bool weft_cline_lock_page(struct weft_cline *cl, u32 page, u8 perm);

/* The program has what it asked for: it keeps it for hold_us.  Page locked. */
void weft_cline_touched(struct weft_cline *cl, u8 perm);

/**
 * weft_cline_evict() - start to give a block up
 *
 * Process context, no page locked.  Return: true if it is on its way, or gone.
 */
bool weft_cline_evict(struct weft_cline *cl);

/**
 * weft_cline_clean() - start to write a modified block home
 * @seen: receives what @wakes was, for weft_cline_wait()
 *
 * Process context, no page locked.  Return: 1: started; 0: there is nothing to
 * write; -EAGAIN: the line is busy.  Wait and ask again until 0.
 */
int weft_cline_clean(struct weft_cline *cl, u32 *seen);

/**
 * weft_cline_wait() - wait until something happened to the line
 * @seen: value of @wakes when it was last looked at
 * @end: until when, jiffies; later by the time in which this machine stood still
 *
 * Return: 0, -EINTR, -ETIMEDOUT.
 */
int weft_cline_wait(struct weft_cline *cl, u32 seen, unsigned long *end);

/**
 * weft_cline_kill() - take a block apart that holds nothing
 *
 * Process context, no page locked.  Return: false if it holds something, or
 * somebody is at it.
 */
bool weft_cline_kill(struct weft_cline *cl);

/**
 * weft_cline_forget() - the block is no part of the region any more
 *
 * Takes it away from the programs; every transaction of it ends; the data is
 * dropped.  Process context, no page locked.
 */
void weft_cline_forget(struct weft_cline *cl);

/* A message for a line.  Softirq. */
void weft_cache_recv(const struct weft_packet *packet);

/* Put a new line where the eviction finds it.  It is LIVE now. */
void weft_cache_add(struct weft_cline *cl);

/* Move it to the end of the list that it belongs to; @lock held. */
void weft_cache_move(struct weft_cline *cl);

/* It is gone. */
void weft_cache_del(struct weft_cline *cl);

/**
 * weft_cache_reserve() - room for the pages of a new block
 * @may_wait: evict and wait if there is none
 *
 * Return: 0; -EAGAIN, -ENOBUFS, -ETIMEDOUT, -EINTR.
 */
int weft_cache_reserve(unsigned long pages, bool may_wait, unsigned long end);
void weft_cache_unreserve(unsigned long pages);

/* Somebody waits for room, and this might be some. */
void weft_cache_room(void);

/* A block begins to be written home, and is there.  Under its lock. */
void weft_cache_put_begins(struct weft_cline *cl);
void weft_cache_put_ends(struct weft_cline *cl);

/* The first mount sets the size, the last unmount waits until all is gone. */
int weft_cache_start(unsigned long max_pages);
void weft_cache_stop(void);
void weft_cache_resize(unsigned long max_pages);
void weft_cache_status(struct weft_node_status *status);

int weft_cache_init(void);
void weft_cache_exit(void);

#endif /* WEFT_CACHE_H */
