/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which thread took which lock from the kernel, and which blocks it misses while it holds that:
 * input of the guard learning.  A lock that comes from another node is taken with the kernel, so
 * it is seen.  For lockfile.c, bind.c and fs/fault.c.
 */
#ifndef WEFT_OBSERVE_H
#define WEFT_OBSERVE_H

#include "locks/slots.h"

struct weft_guard;

/* This thread has got the lock of the slot from the kernel.  Any context, no lock needed. */
void weft_observe_taken(struct weft_slots *slots, u32 slot);

void weft_observe_missed(struct weft_slots *slots, u64 block);

/* This thread has missed the block.  Process context, no spinlock held. */
static inline void weft_observe_miss(struct weft_slots *slots, u64 block)
{
	if (weft_slots_used(slots))
		weft_observe_missed(slots, block);
}

/* A program says which lock guards these blocks: locks that have learnt them forget them. */
void weft_observe_said(struct weft_slots *slots, const struct weft_guard *guard);

#endif /* WEFT_OBSERVE_H */
