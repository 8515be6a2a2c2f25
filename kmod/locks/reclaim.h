/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks and holds that are given back: of closed files (holds.c), of regions that go, blades
 * that begin anew and dead nodes (fs/), and at the end.
 */
#ifndef WEFT_LOCKBACK_H
#define WEFT_LOCKBACK_H

#include "locks/lockres.h"

/*
 * Whether the lock must be told of the end of a file that does not read-lock it.
 * weft_slots.lock.
 */
bool weft_lockres_concerns(const struct weft_lockres *lr, u16 owner);

/**
 * weft_lockres_bury() - give back what a closed file held
 * @owner: its number
 * @readers: its read holds, by its counts
 * @listed: its read holds in lists, which are cleared already
 * @pending: a program was changing its counts: @readers is not to be trusted
 */
void weft_lockres_bury(struct weft_lockres *lr, u16 owner, u32 readers, u32 listed, bool pending);

/* A lock that is settled: what a closed file held of it is found out. */
struct weft_settling {
	struct weft_lockres *lr;
	u32 slot;
	u32 moves;	/* weft_lockres.moves at weft_lockres_look() */
	u64 word;	/* the word at weft_lockres_look() */
	u64 readers;	/* read holds that were counted since */
	bool changing;	/* a program is changing its holds: not now */
};

/*
 * First step of settling: read the word before holds are counted.  Programs change the word,
 * then the counts, and then clear the entry that says "changing".  The kernel reads in the
 * opposite order, with smp_rmb() between.
 */
void weft_lockres_look(struct weft_settling *s);

/*
 * Last step of settling: correct the word.  Return: false: something has moved, try again later.
 */
bool weft_lockres_settle(const struct weft_settling *s);

/*
 * The inode goes: give the region's locks back.  No file of it is open.  Process context.
 * Return: how many have not gone yet.
 */
u64 weft_lockres_leave(struct weft_locks *locks, u32 region);

/*
 * No file has locks of the region open: if the node keeps very many locks, give the region's
 * back, else keep them for the next program.  Process context.
 */
void weft_lockres_trim(struct weft_locks *locks, u32 region);
/*
 * The region has shrunk: forget its locks from offset @from on; threads that wait for one get
 * -EIO.
 */
void weft_lockres_forget(struct weft_locks *locks, u32 region, u64 from);

/* A lock that programs of this node hold. */
struct weft_held_lock {
	u64 key;	/* its line */
	u32 epoch;	/* no term after this one is known here */
	u8 state;	/* WEFT_S or WEFT_M */
};

/**
 * weft_lockres_renew() - tell a directory that has forgotten all locks which ones programs hold
 * @blade: whose directory; 0: of all blades
 * @region: of one region; 0: of all
 * @key: where to go on, 0 at first
 * @late: too late: other nodes may get locks that programs of this node hold
 * @held: receives the next lock that programs hold
 *
 * Forgets what the node knew of all locks before it, and of @held all but the hold, and a
 * writer's term.  Process context.
 *
 * Return: false at the end.
 */
bool weft_lockres_renew(struct weft_locks *locks, u8 blade, u32 region, u64 *key, bool late,
			struct weft_held_lock *held);

/*
 * Nodes have died, and messages from them are not taken any more: weft_lock_gone() for each
 * lock.
 */
void weft_lockres_gone(struct weft_locks *locks, u32 dead);

/* Repeat unanswered requests now.  @region: for locks of one region; 0: for all. */
void weft_lockres_again(struct weft_locks *locks, u32 region);

/* While a file system is mounted.  weft_locks_stop() gives all locks back. */
void weft_locks_start(struct weft_locks *locks);
void weft_locks_stop(struct weft_locks *locks);

#endif /* WEFT_LOCKBACK_H */
