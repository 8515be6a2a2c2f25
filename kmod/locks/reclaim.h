/* SPDX-License-Identifier: GPL-2.0-only */
/* Locks and holds that are given back: by the dead, by regions that go, at the end. */
#ifndef WEFT_LOCKBACK_H
#define WEFT_LOCKBACK_H

#include "locks/klock.h"

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

/*
 * The inode goes: give the region's locks back.  No file of it is open.  Return: how many are on
 * their way.
 */
u64 weft_klock_leave(struct weft_locks *locks, u32 region);

/*
 * Nobody has locks of the region open any more: if this node has very many, they are
 * given back, else kept for the next program.  Process context.
 */
void weft_klock_trim(struct weft_locks *locks, u32 region);
/* Locks from offset @from on are no part of the region any more. */
void weft_klock_forget(struct weft_locks *locks, u32 region, u64 from);

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
 * @region: 0: all regions
 * @key: where to go on, 0 at first
 * @late: other nodes may get those, too, that programs hold
 * @held: receives the next lock that programs hold
 *
 * Whatever this node knows of the locks before it is forgotten; of @held itself all
 * but that it is held, and by a writer its term.  Process context.
 *
 * Return: false at the end.
 */
bool weft_klock_renew(struct weft_locks *locks, u8 blade, u32 region, u64 *key, bool late,
		      struct weft_held_lock *held);

/* Nodes have died, of which no message is taken any more: see weft_lock_gone(). */
void weft_klock_gone(struct weft_locks *locks, u32 dead);

/*
 * Whatever was asked for and not answered is asked for again, now.  @region: of this one; 0: of
 * all.
 */
void weft_klock_again(struct weft_locks *locks, u32 region);

/* While a file system is mounted.  At the end all locks are given back. */
void weft_locks_start(struct weft_locks *locks);
void weft_locks_stop(struct weft_locks *locks);

#endif /* WEFT_LOCKBACK_H */
