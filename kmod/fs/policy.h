/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies of a region, WEFT_POLICY_* of uapi/weft.h: what programs ask for and set. */
#ifndef WEFT_FS_POLICY_H
#define WEFT_FS_POLICY_H

#include <linux/fs.h>

struct weft_call;
struct weft_inode;

/* WEFT_IOC_POLICY_GET, WEFT_IOC_POLICY_SET.  -ENOTTY: it is another one. */
long weft_policy_ioctl(struct file *file, unsigned int cmd, void __user *user);

/* May who calls decide for all nodes what becomes of the region?  0, -EPERM, or as stat(). */
int weft_policy_allowed(struct file *file);

/*
 * What the catalog says, unless something newer is known: calls and their answers overtake
 * each other.
 */
void weft_policy_take(struct weft_inode *wi, const struct weft_call *attr);

#endif /* WEFT_FS_POLICY_H */
