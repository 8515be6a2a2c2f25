/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Map what comes with a lock before the thread that gets the lock leaves the kernel: else its
 * first access would be a page fault, and its first write another.  For fs/fault.c and
 * lockfile.c. README.md, "What a lock guards".
 */
#ifndef WEFT_MAPPED_H
#define WEFT_MAPPED_H

#include <linux/hash.h>
#include <linux/sched.h>

#include "locks/slots.h"

struct vm_area_struct;
struct weft_lockres;

#define WEFT_MAPPED_MAX		16	/* pages that one acquisition maps, at most */

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

/*
 * Note that this process maps the region at @vma.  mmap_lock or the mapping's own lock is held.
 */
static inline void weft_mapped_note(struct weft_slots *slots, const struct vm_area_struct *vma)
{
	if (weft_slots_used(slots))
		weft_mapped_note_place(slots, vma);
}

/**
 * weft_mapped_map() - map what has come with a lock that this thread has taken
 * @perm: permission of the lock: WEFT_S or WEFT_M
 *
 * Process context, no lock held.  Waits for blocks that come with the lock, as long as that is
 * expected to take.  Pages that cannot be mapped are left to page faults.
 */
void weft_mapped_map(struct weft_slots *slots, struct weft_lockres *lr, u8 perm);

#endif /* WEFT_MAPPED_H */
