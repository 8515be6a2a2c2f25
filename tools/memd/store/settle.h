/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every now and then the backing file goes to the disk, and the frames that rested for that are
 * free again.  lines/blocks.c asks for that when it finds no free frame.
 */
#ifndef WEFT_MEMD_SETTLE_H
#define WEFT_MEMD_SETTLE_H

#include "base/timer.h"

#define SETTLE_FLUSH_MS	2000	/* from the end of a flush to the next, or the next look */

/* Of the blade. */
struct settle {
	struct timer timer;	/* next look */
	bool soon;		/* that is within a few milliseconds */
};

void settle_init(struct memd *m);

/* There is a file: begin. */
void settle_start(struct memd *m);

/*
 * Frames are wanted that rest until the backing file is on the disk: begin, do not wait.
 * The caller is alone afterwards.
 */
void settle_soon(struct memd *m);

#endif /* WEFT_MEMD_SETTLE_H */
