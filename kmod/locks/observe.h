/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel sees of programs that have locks: which thread got one from it, and what
 * that thread misses as long as it has it.  Locks that are taken and left without the kernel
 * are not seen, but a lock that comes from another node is taken with it.
 */
#ifndef WEFT_OBSERVE_H
#define WEFT_OBSERVE_H

#include "locks/slots.h"

struct weft_guard;

/* This thread has got the lock of the slot from the kernel.  Any number may do so at once. */
void weft_observe_taken(struct weft_slots *slots, u32 slot);

void weft_observe_missed(struct weft_slots *slots, u64 block);

/* This thread has missed the block.  Process context, no spinlock held. */
static inline void weft_observe_miss(struct weft_slots *slots, u64 block)
{
	if (weft_slots_used(slots))
		weft_observe_missed(slots, block);
}

/* A program says what guards these blocks: what was learnt of them makes way. */
void weft_observe_said(struct weft_slots *slots, const struct weft_guard *guard);

#endif /* WEFT_OBSERVE_H */
