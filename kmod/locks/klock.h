/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that this node has, asks for, or hands over.
 *
 * A struct weft_klock joins a lock line of the protocol core (core/lock.h) with
 * the word that the programs of this node share (uapi/weft.h), and with those
 * that wait in the kernel.  The core gets permission from other nodes; the word
 * shares it out here, first come first served:
 *
 * - Bits 0-1 of the word are the permission.  Programs take the lock without us
 *   as long as SLOW is clear.  It is set while anybody waits here, while the
 *   node has to give the permission up, and while the holds of a dead file are
 *   being settled.  From then on holds only become less unless we add to them.
 * - Permission is given up by weft_lock_revoked() only, when SLOW was set and the
 *   word then said that nobody holds the lock.  Who leaves a lock with SLOW set
 *   tells us, so either it or we see that nobody holds it.
 * - Readers need not be in the word: if it says LISTED, programs list them where the
 *   kernel alone can look (slots.h).  It looks after it has set SLOW, and takes
 *   LISTED away when it finds nobody.  Both sides have a barrier between what they
 *   write and what they read: we see the entry, or the reader sees SLOW.
 * - Writers of this node may overtake each other for WEFT_STRICT_NS: the first one in
 *   the queue is told that the lock was left (TELL), and takes it if nobody was
 *   faster.  Who has waited longer gets it from who leaves it.
 * - When permission comes, those at the head of the queue that it suffices for
 *   have the lock before it can be taken away again.
 *
 * All locks are in one table by the names of their lines, not by inode: what
 * comes for a lock whose inode is gone must find what this node said before.  A
 * lock that nobody has open, in state I with nothing outstanding, is freed.
 *
 * Lock order, contexts and lifetimes are in docs/kernel.md.
 */
#ifndef WEFT_KLOCK_H
#define WEFT_KLOCK_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "core/lock.h"

struct weft_guard;
struct weft_learn;
struct weft_lists;
struct weft_locks;
struct weft_node;
struct weft_regions;

/**
 * struct weft_holder - who takes a lock, or leaves it
 * @perm: WEFT_S or WEFT_M
 * @owner: number of the open file
 * @readers: how often the file holds this lock to read; shared with programs
 * @since: when it first asked, ns: its place among those who wait
 */
struct weft_holder {
	u8 perm;
	u16 owner;
	u32 *readers;
	u64 since;
};

/**
 * struct weft_patience - how long somebody waits for a lock
 * @try: not for others that have it
 * @until: until @deadline
 * @clock: CLOCK_REALTIME or CLOCK_MONOTONIC
 * @deadline: on that clock
 */
struct weft_patience {
	bool try;
	bool until;
	clockid_t clock;
	ktime_t deadline;
};

/**
 * struct weft_klock - one lock
 * @locks: that it is in
 * @core: state of the line.  @lock
 * @lock: all below that says so, and all that the kernel changes in the word and
 *	in counts of readers.  Taken with bottom halves off
 * @ref: the table has one, so has an armed timer, the slot, and who looks
 * @dead: out of the table
 * @unsettled: what a dead file held is not known yet.  @lock
 * @leaving: give it back as soon as nothing is outstanding.  @lock
 * @stray: made for a message, nobody here ever asked for it.  @lock
 * @handing: counted in the hand-overs under way.  @lock
 * @timed: @timer is set up.  @lock
 * @armed: @timer has a reference.  @lock
 * @refused: @due is a back-off.  @lock
 * @advance: wanted to write, so that all other nodes lose it: an event.  @lock
 * @uncounted: there may be programs that await events and are not counted in the word one by one.
 *	@lock
 * @here: the word has said that this node has it, and no event was told since.  @lock to
 *	write
 * @passed: what it guards is on its way with it, as who had it says.  @lock
 * @repeated: the request was repeated: which copy is answered is not known.  @lock
 * @homing: what was modified under it is on its way home (release.h).  @lock
 * @home: it was there when @moves was @home_moves, if @home_time is the same.  @lock
 * @home_moves: see @home.  @lock
 * @home_time: another one each time that programs may take it without us.  @lock
 * @homing_moves: @moves when @homing began.  @lock
 * @homing_time: @home_time then.  @lock
 * @homing_work: sees to it, and has a reference
 * @losses: time-outs in a row.  @lock
 * @hands: how often the node served its own since it has to give the lock up.
 *	@lock
 * @moves: raised by each change of the word's holds by the kernel.  @lock
 * @wants: how often permission was asked for.  @lock to write
 * @asked_txn: the last request that was counted.  @lock
 * @asked: when the permission under way was asked for, ns.  @lock to write
 * @heard: when the node heard that it has to give the lock up, ns; 0: it need
 *	not.  @lock
 * @usual_us: how long it took lately until permission came.  @lock
 * @due: when @timer has something to do, ns.  @lock
 * @word: NULL: nobody has the lock open.  @lock, and weft_slots.lock to
 *	write
 * @slot: its number, while there is a @word.  weft_slots.lock
 * @lists: where readers of it may be listed, while there is a @word; NULL: nowhere.
 *	@lock
 * @guard: what it guards, NULL: nothing that we know of.  @lock
 * @learn: what it seems to guard, if nobody has said; NULL: nothing was seen.  @lock
 * @binders: files that have said so.  weft_slots.lock
 * @waiters: struct weft_waiter, first come first.  @lock
 * @nr_waiters: how many.  @lock
 * @awaiting: threads that await the next event of the word
 * @grants: how often permission came.  @lock
 * @hand_overs: how often this node chose the next holder.  @lock
 * @timer: repetition and back-off.  Not stopped when the answer comes: it looks
 *	at @due itself
 * @rcu: of the lookup in softirq
 */
struct weft_klock {
	struct weft_locks *locks;
	struct weft_lock core;
	spinlock_t lock;
	refcount_t ref;
	bool dead;
	bool unsettled;
	bool leaving;
	bool stray;
	bool handing;
	bool timed;
	bool armed;
	bool refused;
	bool advance;
	bool uncounted;
	bool here;
	bool repeated;
	bool passed;
	bool homing;
	bool home;
	u8 losses;
	u32 hands;
	u32 moves;
	u32 wants;
	u32 asked_txn;
	u64 asked;
	u64 heard;
	u32 usual_us;
	u64 due;
	u64 *word;
	u32 slot;
	struct weft_lists *lists;
	struct weft_guard *guard;
	struct weft_learn *learn;
	u32 binders;
	struct list_head waiters;
	u32 nr_waiters;
	wait_queue_head_t awaiting;
	u32 grants;
	u32 hand_overs;
	u32 home_moves;
	u32 home_time;
	u32 homing_moves;
	u32 homing_time;
	struct work_struct homing_work;
	struct hrtimer timer;
	struct rcu_head rcu;
};

enum weft_klocks_mode {
	WEFT_KLOCKS_OFF,
	WEFT_KLOCKS_RUNNING,
	WEFT_KLOCKS_STOPPING,
};

/**
 * struct weft_locks - all locks of a node
 * @node: which
 * @regions: that it knows
 * @table: by the name of the line; looked up under RCU
 * @mode: enum weft_klocks_mode
 * @alive: structures, also those out of the table
 * @strays: locks that only messages told us of
 * @hand_overs: under way
 * @died: jiffies when nodes were last said to be dead, 0: never
 * @gone: for a hand-over less, a structure less, an empty table
 */
struct weft_locks {
	struct weft_node *node;
	struct weft_regions *regions;
	struct xarray table;
	enum weft_klocks_mode mode;
	atomic_t alive;
	atomic_t strays;
	atomic_t hand_overs;
	unsigned long died;
	wait_queue_head_t gone;
};

/**
 * struct weft_lock_tuning - parameters of the module
 * @fetch: what a lock guards is asked for when it has come
 * @pass: ... and passed on with it, and expected with it
 * @learn: so is what it guards as far as was seen, if nobody has said what it guards
 * @map: ... and mapped for who gets the lock
 * @keep: locks that nobody holds, and what they guard, stay until somebody else wants
 *	them
 * @local_hands: so often this node serves its own while another one waits.
 *
 *
 * To switch off what is to be measured.  READ_ONCE.
 */
struct weft_lock_tuning {
	bool fetch;
	bool pass;
	bool learn;
	bool map;
	bool keep;
	unsigned int local_hands;
};

extern struct weft_lock_tuning weft_lock_tuning;

void weft_klock_put(struct weft_klock *kl);

/**
 * weft_klock_get() - find a lock, or make it
 *
 * Process context.  Return: the lock with a reference; -ENOMEM.
 */
struct weft_klock *weft_klock_get(struct weft_locks *locks, u64 key);

/* Something that is waited for in weft_locks.gone may have happened. */
void weft_locks_woken(struct weft_locks *locks);

/* With a reference for the table and one for the caller; NULL: no memory. */
struct weft_klock *weft_klock_alloc(struct weft_locks *locks, u64 key, gfp_t gfp);

/* It never was in the table. */
void weft_klock_discard(struct weft_klock *kl);

/* Any context.  Return: the lock with a reference, or NULL. */
struct weft_klock *weft_klock_find(struct weft_locks *locks, u64 key);

/* The first one from *key to @last, with a reference; *key is set to it. */
struct weft_klock *weft_klock_next(struct weft_locks *locks, u64 *key, u64 last);

/* It is not only a message any more that wants it. */
void weft_klock_no_stray(struct weft_klock *kl) __must_hold(&kl->lock);

/* Out of the table.  The caller has a reference. */
void weft_klock_kill(struct weft_klock *kl) __must_hold(&kl->lock);

/* No locks yet, of @node; and all of them given back. */
void weft_locks_init(struct weft_locks *locks, struct weft_node *node,
		     struct weft_regions *regions);
void weft_locks_exit(struct weft_locks *locks);

/* When the module is loaded: 0 or -ENOMEM; and when it goes. */
int weft_klock_init(void);
void weft_klock_exit(void);

#endif /* WEFT_KLOCK_H */
