/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Images: what may be left on the disk if the machine ends now.  Each has other ones of the writes
 * that are not certain; a blade starts from it and has what was promised (compare.h).  One of them
 * may be chosen for the machine to end with.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_IMAGE_H
#define WEFT_TESTS_MEMD_CRASH_IMAGE_H

#include "types.h"

/**
 * struct image_counts - what was looked at
 * @images: blades that were started from them
 * @full_sets: how often from all sets of writes
 * @synced: how many @images after a SYNC in that life of the blade
 * @ends_synced: ends that were chosen after one
 */
extern struct image_counts {
	u64 images, full_sets;
	u64 synced, ends_synced;
} image_counts;

extern bool image_may_end;	/* the machine may end with one of those that are looked at */

/* Make what an image is put on. */
void image_set_up(void);

/* So many sets of writes may be looked at where all are, for a disk. */
void image_begin(u32 sets);

/* What if the machine ended now?  Look at so many images, and at all of them if they are few. */
void image_look(u32 times);

/* Somebody waits for a disk (disk_waited): look, if it is the blade. */
void image_disk_waited(void);

/* The machine ends with what is certain, and nothing else. */
void image_end_certain(void);

#endif /* WEFT_TESTS_MEMD_CRASH_IMAGE_H */
