/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading ahead.  The directory's registers are some megabytes, read at random, and
 * a message would wait for memory longer than for everything else.  But the pipeline
 * takes up to 16 packets before it works on the first of them: time enough to have
 * the cells of their lines in the cache by then.
 *
 * This is a hint: what is read ahead in vain, or not, changes nothing but the time.
 */
#ifndef WEFT_SWITCHD_AHEAD_H
#define WEFT_SWITCHD_AHEAD_H

#include <stdint.h>

#define AHEAD_MAX	8

/**
 * struct ahead - what to read
 * @cells: register arrays of which a message needs the cell of its line's slot
 * @n: how many; 0: nothing is read ahead
 */
struct ahead {
	const uint64_t *cells[AHEAD_MAX];
	unsigned int n;
};

/**
 * ahead_frame() - the pipeline has taken a frame
 * @ahead: what to read if it is a message for the directory
 * @frame: its first bytes, FRAME_PARSED at least
 */
void ahead_frame(const struct ahead *ahead, const uint8_t *frame);

#endif /* WEFT_SWITCHD_AHEAD_H */
