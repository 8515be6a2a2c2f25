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
 *   kernel alone can look (lockholds.c).  It looks after it has set SLOW, and takes
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

#include "lock.h"

struct task_struct;
struct weft_guard;
struct weft_lists;

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
 * @core: state of the line.  @lock
 * @lock: all below that says so, and all that the kernel changes in the word and
 *	in counts of readers.  Taken with bottom halves off
 * @ref: the table has one, so has an armed timer, the slot, and who looks
 * @dead: out of the table
 * @unsettled: what a dead file held is not known yet.  @lock
 * @leaving: give it back as soon as nothing is outstanding.  @lock
 * @stray: made for a message, nobody here ever asked for it.  @lock
 * @handing: counted in the hand-overs under way.  @lock
 * @armed: @timer has a reference.  @lock
 * @refused: @due is a back-off.  @lock
 * @passed: what it guards is on its way with it, as who had it says.  @lock
 * @repeated: the request was repeated: which copy is answered is not known.  @lock
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
 * @binders: files that have said so.  weft_slots.lock
 * @waiters: struct weft_waiter, first come first.  @lock
 * @nr_waiters: how many.  @lock
 * @grants: how often permission came.  @lock
 * @hand_overs: how often this node chose the next holder.  @lock
 * @timer: repetition and back-off.  Not stopped when the answer comes: it looks
 *	at @due itself
 * @rcu: of the lookup in softirq
 */
struct weft_klock {
	struct weft_lock core;
	spinlock_t lock;
	refcount_t ref;
	bool dead;
	bool unsettled;
	bool leaving;
	bool stray;
	bool handing;
	bool armed;
	bool refused;
	bool repeated;
	bool passed;
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
	u32 binders;
	struct list_head waiters;
	u32 nr_waiters;
	u32 grants;
	u32 hand_overs;
	struct hrtimer timer;
	struct rcu_head rcu;
};

/* --- the word, lockword.c ----------------------------------------------------- */

/* Who waits to write longer than this is not overtaken any more. */
#define WEFT_STRICT_NS	NSEC_PER_MSEC

/*
 * Nobody stands in the way of this hold, for all that the word and the lists say.  It
 * may set SLOW, until weft_word_mirror() is called.
 */
bool weft_word_fits(struct weft_klock *kl, u8 perm) __must_hold(&kl->lock);

/* Put the hold in, if nobody stands in the way; the same.  Permission is not looked at. */
bool weft_word_take(struct weft_klock *kl, const struct weft_holder *h)
	__must_hold(&kl->lock);

/* Take the hold away.  Return: false if it is not there. */
bool weft_word_leave(struct weft_klock *kl, const struct weft_holder *h)
	__must_hold(&kl->lock);

/**
 * weft_word_give_back() - take away what a file held that is gone
 * @owner: its number
 * @readers: what it held to read
 *
 * Return: how many holds there were.
 */
u32 weft_word_give_back(struct weft_klock *kl, u16 owner, u32 readers)
	__must_hold(&kl->lock);

/**
 * weft_word_mirror() - put permission and what programs have to do into the word
 * @bits: WEFT_WORD_SLOW, WEFT_WORD_TELL or 0
 *
 * Return: whether somebody holds the lock, said by the word together with @bits, and by
 * the lists if that is SLOW.
 */
bool weft_word_mirror(struct weft_klock *kl, u64 bits) __must_hold(&kl->lock);

/**
 * weft_word_settle() - this many read-lock it, and no others
 * @word: what it was when they were counted
 * @less: receives how many that is less than before
 *
 * Return: false if it has changed since.
 */
bool weft_word_settle(struct weft_klock *kl, u64 word, u64 readers, u32 *less)
	__must_hold(&kl->lock);

/**
 * weft_holds_listed() - how many read-lock a slot and are in lists
 *
 * It is preceded by a full barrier, the partner of those of who lists it.
 */
u32 weft_holds_listed(const struct weft_lists *lists, u32 slot);

/* --- locks; which file does what is in klock_parts.h ------------------------------- */

void weft_klock_put(struct weft_klock *kl);

/**
 * weft_klock_get() - find a lock, or make it
 *
 * Process context.  Return: the lock with a reference; -ENOMEM.
 */
struct weft_klock *weft_klock_get(u64 key);

/**
 * weft_klock_attach() - a program opens the lock
 * @word: shared with programs, all zeros
 * @slot: its number
 * @lists: where its readers may be
 *
 * Takes a reference that weft_klock_detach() gives back.
 *
 * Return: false: the lock is dead, get it anew.
 */
bool weft_klock_attach(struct weft_klock *kl, u64 *word, u32 slot,
		       struct weft_lists *lists);

/* Nobody has it open any more, nobody holds it, and nobody waits. */
void weft_klock_detach(struct weft_klock *kl);

/**
 * weft_klock_acquire() - get a lock and wait for it
 *
 * Return: 0; -EBUSY, -ETIMEDOUT, -ERESTARTSYS; -EIO: the rack does not answer, or
 * has no such lock any more; -ENOLCK: the region has as many locks as it may.
 */
int weft_klock_acquire(struct weft_klock *kl, const struct weft_holder *h,
		       const struct weft_patience *patience);

/* Return: 0; -EPERM: it is not held. */
int weft_klock_release(struct weft_klock *kl, const struct weft_holder *h);

/**
 * weft_klock_bind() - the lock guards these blocks from now on
 * @guard: or NULL; the caller's reference becomes the lock's
 *
 * Return: the one that it replaces, with its reference, or NULL.
 */
struct weft_guard *weft_klock_bind(struct weft_klock *kl,
				   struct weft_guard *guard);

/* A program has left the lock: who is next? */
void weft_klock_kick(struct weft_klock *kl);

/* The lock needs to hear of the end of a file that does not read-lock it. */
bool weft_klock_concerns(const struct weft_klock *kl, u16 owner);

/**
 * weft_klock_bury() - give back what a file held that is gone
 * @owner: its number
 * @readers: what it held to read
 * @listed: what it held besides, in lists: it is out of them
 * @pending: programs were changing it: @readers is not to be trusted
 */
void weft_klock_bury(struct weft_klock *kl, u16 owner, u32 readers, u32 listed,
		     bool pending);

/**
 * struct weft_settling - a lock of which it is not known what a dead file held
 * @kl: which
 * @slot: its number
 * @moves: see struct weft_klock, when it was looked at
 * @word: then, too
 * @readers: what has been counted since
 * @changing: a program is just changing that: it can not be said yet
 */
struct weft_settling {
	struct weft_klock *kl;
	u32 slot;
	u32 moves;
	u64 word;
	u64 readers;
	bool changing;
};

/**
 * weft_klock_look() - first step to settle a lock: its word, before anything is counted
 *
 * Programs change the word, then what counts it, and only then say that nothing is
 * changing any more: look in the opposite order, with smp_rmb() between.
 */
void weft_klock_look(struct weft_settling *s);

/* The last one: nothing is changing.  Return: false: try again later. */
bool weft_klock_settle(const struct weft_settling *s);

/* A message for a lock.  Softirq. */
void weft_klock_recv(const struct weft_msg *msg);

/* The inode goes: give the region's locks back.  No file of it is open. */
void weft_klock_leave(u32 region);

/*
 * Nobody has locks of the region open any more: if this node has very many, they are
 * given back, else kept for the next program.  Process context.
 */
void weft_klock_trim(u32 region);
/* Locks from offset @from on are no part of the region any more. */
void weft_klock_forget(u32 region, u64 from);

/**
 * struct weft_held_lock - a lock that programs of this node hold
 * @key: its line
 * @epoch: no term after this one is known here
 * @state: WEFT_S or WEFT_M
 */
struct weft_held_lock {
	u64 key;
	u32 epoch;
	u8 state;
};

/**
 * weft_klock_renew() - the directory of a blade has forgotten all locks
 * @blade: 0: all blades
 * @key: where to go on, 0 at first
 * @late: other nodes may get those, too, that programs hold
 * @held: receives the next lock that programs hold
 *
 * Whatever this node knows of the locks before it is forgotten; of @held itself all
 * but that it is held, and by a writer its term.  Process context.
 *
 * Return: false at the end.
 */
bool weft_klock_renew(u8 blade, u64 *key, bool late,
		      struct weft_held_lock *held);

/* While a file system is mounted.  At the end all locks are given back. */
void weft_klock_start(void);
void weft_klock_stop(void);

/* When the module is loaded: 0 or -ENOMEM; and when it goes, all locks given back. */
int weft_klock_init(void);
void weft_klock_exit(void);

#endif /* WEFT_KLOCK_H */
