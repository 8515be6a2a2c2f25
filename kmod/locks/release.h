/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write-back before a lock leaves this node, for regions with durability=release.  For step.c
 * and lockfile.c.  Which blocks were written under the lock only programs know: all that this
 * node has modified in the region goes home.  A block that another node took over was written
 * through before (blocks/step.c).
 */
#ifndef WEFT_RELEASE_H
#define WEFT_RELEASE_H

#include "locks/lockres.h"

struct weft_slots;

/*
 * Is all that was modified under the lock at home?  Asked when no program here holds it to
 * write, before it leaves the node or is shared.  If not, the write-back begins; the lock is
 * looked at again when that is over, or after half of the time-out.
 */
bool weft_release_ready(struct weft_lockres *lr) __must_hold(&lr->lock);

/*
 * Programs of this node may take the lock without the kernel: it is not known to be clean any
 * more.
 */
void weft_release_void(struct weft_lockres *lr) __must_hold(&lr->lock);

/* The last file that used locks of the region is closed: write back without delay. */
void weft_release_left(struct weft_slots *slots);

/* Work of weft_slots.left. */
void weft_release_left_work(struct work_struct *work);

/* At load: 0 or -ENOMEM; at unload. */
int weft_release_setup(void);
void weft_release_cleanup(void);

#endif /* WEFT_RELEASE_H */
