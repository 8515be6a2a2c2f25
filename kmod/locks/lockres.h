/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that this node has, asks for, or hands over: struct weft_lockres joins a lock line of the
 * core (core/lock.h) with the word that programs of this node share (uapi/weft.h) and with those
 * that wait in the kernel.  For all of this folder; fs/ and control/ look at locks by it.
 */
#ifndef WEFT_LOCKRES_H
#define WEFT_LOCKRES_H

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

/*
 * The core gets permission from other nodes; the word shares it out here, first come first served:
 *
 * - Bits 0-1 of the word are the permission.  Programs take the lock without the kernel as long
 *   as SLOW is clear.  SLOW is set while a program waits here, while the node has to give the
 *   permission up, and while the holds of a closed file are being settled.  With SLOW set, holds
 *   only become fewer unless the kernel adds to them.
 * - The node gives permission up by weft_lock_revoked() alone, after it has set SLOW and the word
 *   has then said that no program holds the lock.  A program that leaves a lock with SLOW set
 *   calls the kernel, so either it or the kernel sees that the lock is free.
 * - The word need not count readers: with LISTED set, programs list them where only the kernel
 *   looks (slots.h), after it has set SLOW; it clears LISTED when the lists are empty.  Both sides
 *   have a barrier between write and read: the kernel sees the entry, or the reader sees SLOW.
 * - Writers of this node may overtake each other for WEFT_STRICT_NS: the kernel tells the first
 *   one in the queue that the lock was left (TELL), and that one takes it if no other was faster.
 *   A writer that has waited longer gets the lock from the program that leaves it.
 * - When permission comes, the head of the queue takes the lock, as far as the permission
 *   suffices, before another node can take it away again.
 *
 * All locks of a node are in one table by the names of their lines, not by inode: a message for a
 * lock whose inode is gone must find what this node said before.  A lock that no file has open,
 * in state I with nothing outstanding, is freed.  docs/kernel.md: lock order, contexts, lifetimes.
 */

/* A file that takes a lock, or leaves it. */
struct weft_holder {
	u8 perm;	/* WEFT_S or WEFT_M */
	u16 owner;	/* number of the open file (struct weft_lockfile) */
	u32 *readers; /* the file's count of its read holds of the lock, which programs change */
	u64 since;	/* when the thread first asked, ns: its place in the queue */
};

/* How long a thread waits for a lock. */
struct weft_patience {
	bool try;		/* do not wait for other holders */
	bool until;		/* wait until @deadline */
	clockid_t clock;	/* CLOCK_REALTIME or CLOCK_MONOTONIC */
	ktime_t deadline;	/* on that clock */
};

/*
 * A lock.  @lock guards all but what says otherwise, and what the kernel changes in the word and
 * in counts of readers.  Taken with bottom halves off.
 */
struct weft_lockres {
	struct weft_locks *locks; /* the node's locks */
	struct weft_lock core; /* the line's state in the protocol */
	spinlock_t lock;
	refcount_t ref;	/* of the table, an armed timer, the slot, and each thread that uses it */
	bool dead;	/* it is out of the table */
	bool unsettled;	/* what a closed file held is not known yet */
	bool leaving;	/* give the lock back as soon as nothing is outstanding */
	bool stray;	/* made for a message; no program of this node has asked for it */
	bool handing;	/* counted in weft_locks.hand_overs */
	bool timed;	/* @timer is set up */
	bool armed;	/* @timer has a reference */
	bool refused;	/* @due ends a back-off, not a time-out */
	bool advance; /* get the lock to write, so that all other nodes count an event */
	bool uncounted;	/* programs may await events that the word does not count */
	/*
	 * the word says that this node has the lock, and programs have counted on that since the
	 * last event.  @lock to write
	 */
	bool here;
	bool repeated;	/* the request was repeated, so no round trip can be measured (Karn) */
	bool passed;	/* the old holder passes on the guarded blocks */
	bool homing;	/* what was modified under it is being written home (release.h) */
	/*
	 * all of that was at home when @moves was @home_moves, and still is if @home_time has
	 * not changed
	 */
	bool home;
	u8 losses;	/* time-outs in a row */
	u32 hands;	/* how often the node served its own threads since another node asked */
	u32 moves;	/* raised whenever the kernel changes holds in the word */
	u32 wants;	/* how often the node asked for permission.  @lock to write */
	u32 asked_txn;	/* the last request that was counted as sent */
	/* when the node asked for the permission that it waits for, ns.  @lock to write */
	u64 asked;
	u64 heard; /* when another node's wish for the lock was heard, ns; 0: there is none */
	u32 usual_us;	/* smoothed time from asking to permission */
	u64 due;	/* when @timer has to act, ns */
	/*
	 * shared with programs; NULL: no file has the lock open.  @lock, and weft_slots.lock to
	 * write
	 */
	u64 *word;
	u32 slot;	/* its number, while there is a @word.  weft_slots.lock */
	/* where programs may list readers, while there is a @word; NULL: nowhere */
	struct weft_lists *lists;
	/* blocks that it guards, as programs say; NULL: none has said */
	struct weft_guard *guard;
	struct weft_learn *learn; /* guard learning; NULL: nothing was observed */
	u32 binders;	/* files that have said the guard.  weft_slots.lock */
	/* threads in the kernel that wait for it, struct weft_waiter, first come first */
	struct list_head waiters;
	u32 nr_waiters;	/* how many of them */
	wait_queue_head_t awaiting; /* threads that await the next event of the word */
	u32 grants;	/* how often permission came: turns of the guard learning */
	u32 hand_overs;	/* how often this node chose the next holder */
	u32 home_moves;	/* see @home */
	u32 home_time;	/* raised when programs may take the lock without the kernel */
	u32 homing_moves; /* @moves when @homing began */
	u32 homing_time; /* @home_time then */
	struct work_struct homing_work; /* writes it home; has a reference */
	/*
	 * repeats requests and ends back-offs.  An answer does not stop it: it looks at @due
	 * when it fires
	 */
	struct hrtimer timer;
	struct rcu_head rcu; /* for weft_lockres_find() in softirq */
};

enum weft_locks_mode {
	WEFT_LOCKS_OFF,
	WEFT_LOCKS_RUNNING,
	WEFT_LOCKS_STOPPING,
};

/* All locks of a node. */
struct weft_locks {
	struct weft_node *node;
	struct weft_regions *regions; /* of the node */
	struct xarray table; /* struct weft_lockres by the name of its line; looked up under RCU */
	enum weft_locks_mode mode;
	atomic_t alive;		/* locks that are not freed, also those out of the table */
	atomic_t strays;	/* locks that were made for messages alone */
	atomic_t hand_overs;	/* hand-overs that are not acknowledged */
	unsigned long died;	/* jiffies when nodes were last declared dead; 0: never */
	wait_queue_head_t gone;	/* woken for a hand-over less, a lock less, an empty table */
};

/* Parameters of the module, to switch off what is to be measured.  READ_ONCE. */
struct weft_lock_tuning {
	bool fetch;	/* ask for all guarded blocks when the lock has come */
	bool pass;	/* pass them on with the lock, and expect them with it */
	bool learn;	/* do so with learnt blocks, if no program has said a guard */
	bool map;	/* map them for the thread that gets the lock */
	bool keep;	/* keep unheld locks and guarded blocks until another node wants them */
	/* how often the node serves its own threads while another node waits */
	unsigned int local_hands;
};

extern struct weft_lock_tuning weft_lock_tuning;

void weft_lockres_put(struct weft_lockres *lr);

/* Find a lock, or make it.  Process context.  Return: the lock with a reference, or -ENOMEM. */
struct weft_lockres *weft_lockres_get(struct weft_locks *locks, u64 key);

/* Wake those that wait in weft_locks.gone. */
void weft_locks_woken(struct weft_locks *locks);

/*
 * Make a lock that is not in the table yet, with a reference for the table and one for the
 * caller; NULL: no memory.
 */
struct weft_lockres *weft_lockres_alloc(struct weft_locks *locks, u64 key, gfp_t gfp);

/* Free a lock that never was in the table. */
void weft_lockres_discard(struct weft_lockres *lr);

/*
 * Look a lock up, in weft_locks.table or weft_slots.slot.  Any context.  Return: the lock with a
 * reference, or NULL.
 */
struct weft_lockres *weft_lockres_find(struct xarray *locks, unsigned long index);

/*
 * The first lock from *key to @last, with a reference; sets *key to its key.  NULL: there is
 * none.
 */
struct weft_lockres *weft_lockres_next(struct weft_locks *locks, u64 *key, u64 last);

/* A program wants the lock: it is no stray any more. */
void weft_lockres_no_stray(struct weft_lockres *lr) __must_hold(&lr->lock);

/* Take the lock out of the table.  The caller has a reference of its own. */
void weft_lockres_kill(struct weft_lockres *lr) __must_hold(&lr->lock);

/* Begin without locks; end, when all were given back. */
void weft_locks_init(struct weft_locks *locks, struct weft_node *node,
		     struct weft_regions *regions);
void weft_locks_exit(struct weft_locks *locks);

/* At load: 0 or -ENOMEM; at unload. */
int weft_lockres_init(void);
void weft_lockres_exit(void);

#endif /* WEFT_LOCKRES_H */
