/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies (WEFT_POLICY_* of uapi/weft.h), access list and homes of a region.  fs/file passes
 * ioctls here; fs/inode and fs/callback pass on what the catalog says.  An older answer must not
 * replace a newer one.
 */
#ifndef WEFT_FS_POLICY_H
#define WEFT_FS_POLICY_H

#include <linux/fs.h>

#include "core/call.h"

struct weft_inode;
struct weft_node;
struct weft_rack;
struct weft_region;

/*
 * WEFT_IOC_POLICY_GET and _SET, WEFT_IOC_NODES_GET and _SET, WEFT_IOC_LOST_ACCEPT.
 * Return: -ENOTTY for all other commands.
 */
long weft_policy_ioctl(struct file *file, unsigned int cmd, void __user *user);

/*
 * Set policy and access list as the catalog says, if @attr is of a later change than those known.
 */
void weft_policy_take(struct weft_inode *wi, const struct weft_call *attr);

/*
 * Homes of a region.  The catalog says them with the attributes, and by MOVE when they change.
 * Answers overtake each other, so each has the number of the region's last change of policy, which
 * a change of homes raises as well.  An inode that was made of an answer from before the last MOVE
 * has the right homes before a program uses it: the OPEN was sent, and answered, after that MOVE.
 */

/* Set the homes of a new inode, whatever change @attr is of.  Process context.  0 or -ENOMEM. */
int weft_homes_first(struct weft_node *node, struct weft_region *r,
		     const struct weft_call *attr);

/*
 * Set them if @attr is of a later change.  Without memory the next answer does.  Process context.
 */
void weft_homes_take(struct weft_node *node, struct weft_region *r, const struct weft_call *attr);

/**
 * weft_homes_move() - MOVE: send everything of a region to its new homes from now on
 * @move: region, homes, policy
 *
 * Also without an inode that can be grabbed: one that is being freed may have blocks, and locks
 * outlive inodes.  Process context.  Return: 0 or -ENOMEM.
 */
int weft_homes_move(struct weft_rack *rack, const struct weft_call *move);

/* Forget the homes of regions without inode and locks here, if there are many. */
void weft_homes_trim(struct weft_rack *rack);

#endif /* WEFT_FS_POLICY_H */
