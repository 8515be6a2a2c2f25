/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a lock guards, though no program has said so: blocks that are missed each time that
 * the lock has come from another node, by the program that has it (locks/observe.h).  They come
 * with the lock from then on, as those that programs name (guard.h), until that is of no use
 * any more.  docs/kernel.md, "What locks guard, learnt".
 */
#ifndef WEFT_LEARN_H
#define WEFT_LEARN_H

#include <linux/types.h>

#include "locks/klock.h"

struct weft_outbox;
struct weft_region;
struct weft_successors;

#define WEFT_LEARN_BLOCKS	8	/* of a lock */

/**
 * struct weft_learnt - a block that a lock may guard
 * @block: its index
 * @turn: of the lock at this node (weft_klock.grants), when it was missed or of use last
 * @streak: in so many turns in a row it was missed
 * @need: so many it takes to be learnt
 * @credit: so many turns more may be of no use, then it is forgotten; 0: it is not learnt
 * @saved: how often it was of use since it was learnt, up to what can be counted
 */
struct weft_learnt {
	u64 block;
	u32 turn;
	u8 streak;
	u8 need;
	u8 credit;
	u8 saved;
};

/**
 * struct weft_learn - what is known of a lock
 * @region: of its blocks
 * @lock: its number for them, see guarded.h
 * @n: of @learnt
 * @learnt: first those that were seen first
 *
 * All under weft_klock.lock.
 */
struct weft_learn {
	struct weft_region *region;
	u32 lock;
	u32 n;
	struct weft_learnt learnt[WEFT_LEARN_BLOCKS];
};

/**
 * weft_learn_missed() - the program that has the lock has missed a block
 * @same: it was not missed otherwise since it was missed with this lock
 */
void weft_learn_missed(struct weft_klock *kl, u64 block, bool same, struct weft_outbox *outbox)
	__must_hold(&kl->lock);

/* Another lock guards the block, as a program says. */
void weft_learn_give_way(struct weft_klock *kl, u64 block, struct weft_outbox *outbox)
	__must_hold(&kl->lock);

/* Nothing is known of it any more. */
void weft_learn_forget(struct weft_klock *kl, struct weft_outbox *outbox)
	__must_hold(&kl->lock);

/* List the blocks that were learnt; there is a @kl->learn.  Return: how many. */
u32 weft_learn_list(const struct weft_klock *kl, u64 block[WEFT_LEARN_BLOCKS])
	__must_hold(&kl->lock);

/* What becomes of the lock: as in guard.h. */
void weft_learn_expect(struct weft_klock *kl, u8 perm, u32 txn, struct weft_outbox *outbox)
	__must_hold(&kl->lock);
void weft_learn_come(struct weft_klock *kl, bool passed, struct weft_outbox *outbox)
	__must_hold(&kl->lock);
void weft_learn_drop(struct weft_klock *kl, struct weft_outbox *outbox)
	__must_hold(&kl->lock);
void weft_learn_pass(struct weft_klock *kl, const struct weft_successors *successors,
		     struct weft_outbox *outbox) __must_hold(&kl->lock);

/*
 * The lock is given up: what came with it has been of use, or not.  @writer: who gets it
 * from readers, 0: nobody is known.
 */
void weft_learn_leave(struct weft_klock *kl, u32 writer, struct weft_outbox *outbox)
	__must_hold(&kl->lock);

#endif /* WEFT_LEARN_H */
