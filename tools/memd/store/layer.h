/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layer as a whole: where contents are kept, in memory or in a file.  front/memd.c makes and
 * frees it.  Every now and then the file goes to the disk, and the frames that rested for that are
 * free again.
 */
#ifndef WEFT_MEMD_STORE_LAYER_H
#define WEFT_MEMD_STORE_LAYER_H

#include "base/timer.h"

#define STORE_FLUSH_MS	2000	/* from the end of a flush to the next, or the next look */

/* When the file goes to the disk. */
struct settle {
	struct timer timer;	/* next look */
	bool soon;		/* that is within a few milliseconds */
};

/* Make it, without a file.  Return: 0 or -1 without memory. */
int store_make(struct memd *m);

/* Open the file, if there is to be one.  Return: 0, or -1 with a sentence. */
int store_open(struct memd *m, char *err);

/*
 * Frames are wanted that rest until the file is on the disk: begin, do not wait.  The caller is
 * alone afterwards.
 */
void store_flush_soon(struct memd *m);

/* The end, also of one that was not opened, or could not be. */
void store_free(struct memd *m);

#endif /* WEFT_MEMD_STORE_LAYER_H */
