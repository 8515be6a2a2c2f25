/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Before a lock leaves this node what was modified under it goes home, if the region's policy
 * is durability=release.
 *
 * Which blocks that are only the programs know: it is all that this node has modified in the
 * region since it was last home.  What another node has taken over meanwhile was home before
 * that (blocks/step.c).
 */
#ifndef WEFT_RELEASE_H
#define WEFT_RELEASE_H

#include "locks/klock.h"

struct weft_slots;

/*
 * No program here has the lock to write, and it is to leave the node, or to be shared with
 * others: is all home that was modified under it?  If not it begins to go, and the lock is
 * looked at again when it is there, or when half of the time-out is over.
 */
bool weft_release_ready(struct weft_klock *kl) __must_hold(&kl->lock);

/* The lock stays with programs of this node, which may take it without us. */
void weft_release_void(struct weft_klock *kl) __must_hold(&kl->lock);

/* The last file that used locks of the region is closed: they are left for good. */
void weft_release_left(struct weft_slots *slots);

/* The work of weft_slots.left. */
void weft_release_left_work(struct work_struct *work);

/* When the module is loaded: 0 or -ENOMEM; and when it goes. */
int weft_release_setup(void);
void weft_release_cleanup(void);

#endif /* WEFT_RELEASE_H */
