/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies of a region, WEFT_POLICY_* of uapi/weft.h: what programs ask for and set. */
#ifndef WEFT_FS_POLICY_H
#define WEFT_FS_POLICY_H

#include <linux/fs.h>

#include "core/call.h"

struct weft_inode;
struct weft_node;
struct weft_rack;
struct weft_region;

/*
 * WEFT_IOC_POLICY_GET and _SET; WEFT_IOC_NODES_GET and _SET: for which nodes it is;
 * WEFT_IOC_LOST_ACCEPT: blocks that are lost as a node has died.  -ENOTTY: it is another one.
 */
long weft_policy_ioctl(struct file *file, unsigned int cmd, void __user *user);

/*
 * What the catalog says, unless something newer is known: calls and their answers overtake
 * each other.
 */
void weft_policy_take(struct weft_inode *wi, const struct weft_call *attr);

/*
 * Which blades are the homes of a region: the catalog says it with its attributes, and when
 * that changes.
 *
 * What says it goes by the number of the last change of the region's policy, which each change
 * of its homes raises, too: answers overtake each other.  Before a program uses a region there is
 * an answer to OPEN that was asked for when its inode was there, so it is of no earlier change
 * than the last MOVE that came before the inode.
 */

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

#endif /* WEFT_FS_POLICY_H */
