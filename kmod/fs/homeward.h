/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When nobody uses a region here any more its blocks go home, as long as their homes
 * take them back: one that has taken none for the time-out is not waited for, by any
 * of the regions that an unmount gives back.
 */
#ifndef WEFT_HOMEWARD_H
#define WEFT_HOMEWARD_H

struct weft_inode;

/**
 * weft_homeward_return() - all blocks of a region go home
 *
 * Called as its inode goes.  Process context; takes the time-out at most if the homes
 * do not answer.  What is left of modified blocks is lost, counted and told.
 */
void weft_homeward_return(struct weft_inode *wi);

#endif /* WEFT_HOMEWARD_H */
