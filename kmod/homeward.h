/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When nobody uses a region here any more its blocks go home, as long as their homes
 * take them back: one that has taken none for the time-out is not waited for, by any
 * of the regions that an unmount gives back.
 */
#ifndef WEFT_HOMEWARD_H
#define WEFT_HOMEWARD_H

#include <linux/types.h>

#include "node.h"

struct weft_cline;
struct weft_inode;

/**
 * struct weft_homeward - waiting for homes to take blocks back
 * @waiting: bits of homes that are waited for, the first blade's is 0
 * @taken: how many blocks each had taken when that was last looked at
 * @since: when that was another number, jiffies
 * @pins_end: until when devices that write into blocks are waited for, jiffies; 0: none
 *	was met yet
 */
struct weft_homeward {
	u32 waiting;
	u64 taken[WEFT_BLADES];
	unsigned long since[WEFT_BLADES];
	unsigned long pins_end;
};

/**
 * weft_homeward_return() - all blocks of a region go home
 *
 * Called as its inode goes.  Process context; takes the time-out at most if the homes
 * do not answer.  What is left of modified blocks is lost, counted and told.
 */
void weft_homeward_return(struct weft_inode *wi);

/* The home of this block took it back.  Any context. */
void weft_homeward_taken(const struct weft_cline *cl);

/* How many blocks all homes have taken back so far.  Any context. */
u64 weft_homeward_count(void);

/* ... this one. */
u64 weft_homeward_count_of(u8 blade);

#endif /* WEFT_HOMEWARD_H */
