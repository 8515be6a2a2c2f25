/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where processes map a region.  What comes with a lock is mapped there, by the thread that
 * gets the lock, before it leaves the kernel: else its first access would be a page fault,
 * and its first one to write another.  docs/kernel.md, "Mapped without a fault".
 */
#ifndef WEFT_MAPPED_H
#define WEFT_MAPPED_H

#include <linux/hash.h>
#include <linux/sched.h>

#include "locks/slots.h"

struct vm_area_struct;
struct weft_klock;

#define WEFT_MAPPED_MAX		16	/* pages, for one acquisition */

/* The entry of weft_slots.mappers for this thread. */
static inline u32 weft_mapper(void)
{
	return hash_32((u32)current->pid, WEFT_MAPPERS_SHIFT);
}

/* Is this thread mapping what came with a lock?  Then its fault must not wait. */
static inline bool weft_mapped_is_mapping(const struct weft_slots *slots)
{
	return weft_slots_used(slots) && READ_ONCE(slots->mappers[weft_mapper()]) == current->pid;
}

void weft_mapped_note_place(struct weft_slots *slots, const struct vm_area_struct *vma);

/* This process has faulted at @vma: mmap_lock or the mapping's own lock is held. */
static inline void weft_mapped_note(struct weft_slots *slots, const struct vm_area_struct *vma)
{
	if (weft_slots_used(slots))
		weft_mapped_note_place(slots, vma);
}

/**
 * weft_mapped_map() - map what has come with a lock that this thread has got
 * @perm: that it has the lock with: WEFT_S or WEFT_M
 *
 * Waits for what is on its way with the lock as long as that is expected to take, and for
 * nothing else of the network.  Process context, no lock held.  What cannot be mapped is left
 * to page faults.
 */
void weft_mapped_map(struct weft_slots *slots, struct weft_klock *kl, u8 perm);

#endif /* WEFT_MAPPED_H */
