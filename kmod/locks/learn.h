/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guard learning: blocks that are missed each time the lock has come from another node, by the
 * program that has it (observe.h), come with the lock from then on, as those that programs name
 * (guard.h), until that is of no use.  For the files of this folder.  README.md, "What
 * a lock guards".
 */
#ifndef WEFT_LEARN_H
#define WEFT_LEARN_H

#include <linux/types.h>

#include "locks/lockres.h"

struct weft_outbox;
struct weft_region;
struct weft_successors;

#define WEFT_LEARN_BLOCKS	8	/* of one lock */

/* A block that a lock may guard. */
struct weft_learnt {
	u64 block;	/* its index */
	u32 turn;	/* weft_lockres.grants when the block was last missed or of use */
	u8 streak;	/* turns in a row in which it was missed */
	u8 need;	/* @streak at which it is learnt */
	u8 credit;	/* turns of no use until it is forgotten; 0: it is not learnt */
	u8 saved;	/* how often it was of use since it was learnt; does not overflow */
};

/* What is known of a lock.  All under weft_lockres.lock. */
struct weft_learn {
	struct weft_region *region;	/* of the blocks */
	u32 lock;			/* number of the lock for blocks/guarded.h */
	u32 n;				/* of @learnt */
	struct weft_learnt learnt[WEFT_LEARN_BLOCKS]; /* entries, the oldest first */
};

/**
 * weft_learn_missed() - the program that has the lock has missed a block
 * @same: no program has missed it without this lock since
 */
void weft_learn_missed(struct weft_lockres *lr, u64 block, bool same, struct weft_outbox *outbox)
	__must_hold(&lr->lock);

/* A program has said that another lock guards the block. */
void weft_learn_give_way(struct weft_lockres *lr, u64 block, struct weft_outbox *outbox)
	__must_hold(&lr->lock);

/* Forget all that was learnt. */
void weft_learn_forget(struct weft_lockres *lr, struct weft_outbox *outbox)
	__must_hold(&lr->lock);

/* List the blocks that were learnt; there is a @lr->learn.  Return: how many. */
u32 weft_learn_list(const struct weft_lockres *lr, u64 block[WEFT_LEARN_BLOCKS])
	__must_hold(&lr->lock);

/* The events of a lock, as in guard.h. */
void weft_learn_expect(struct weft_lockres *lr, u8 perm, u32 txn, struct weft_outbox *outbox)
	__must_hold(&lr->lock);
void weft_learn_come(struct weft_lockres *lr, bool passed, struct weft_outbox *outbox)
	__must_hold(&lr->lock);
void weft_learn_drop(struct weft_lockres *lr, struct weft_outbox *outbox)
	__must_hold(&lr->lock);
/* Would weft_learn_pass() pass a block on to @writer alone, a transaction? */
bool weft_learn_goes(const struct weft_lockres *lr, u32 writer) __must_hold(&lr->lock);
void weft_learn_pass(struct weft_lockres *lr, const struct weft_successors *successors,
		     struct weft_outbox *outbox) __must_hold(&lr->lock);

/*
 * The lock is given up: judge whether what came with it was of use.  @writer: transaction of the
 * writer that gets the lock from readers; 0: not known.
 */
void weft_learn_leave(struct weft_lockres *lr, u32 writer, struct weft_outbox *outbox)
	__must_hold(&lr->lock);

#endif /* WEFT_LEARN_H */
