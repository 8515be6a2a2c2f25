/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which blades are the homes of a region: the catalog says it with its attributes, and when
 * that changes.
 *
 * What says it goes by the number of the last change of the region's policy, which each change
 * of its homes raises, too: answers overtake each other.  Before a program uses a region there is
 * an answer to OPEN that was asked for when its inode was there, so it is of no earlier change
 * than the last MOVE that came before the inode.
 */
#ifndef WEFT_HOMES_H
#define WEFT_HOMES_H

#include "core/call.h"

struct weft_node;
struct weft_rack;
struct weft_region;

/* Of an inode that begins, whatever number they have.  Process context.  Return: 0 or -ENOMEM. */
int weft_homes_first(struct weft_node *node, struct weft_region *r,
		     const struct weft_call *attr);

/* ... or if that is of a later change.  If there is no memory: the next time.  Process context. */
void weft_homes_take(struct weft_node *node, struct weft_region *r, const struct weft_call *attr);

/**
 * weft_homes_move() - MOVE: from now on what is sent goes to these homes
 * @move: region, homes, policy
 *
 * Whether there is an inode or not: one that goes may have blocks, and locks stay longer.  No
 * reference to one is taken.  Process context.  Return: 0 or -ENOMEM.
 */
int weft_homes_move(struct weft_rack *rack, const struct weft_call *move);

/* Forget the homes of regions that are not known here any more, if there are many. */
void weft_homes_trim(struct weft_rack *rack);

#endif /* WEFT_HOMES_H */
