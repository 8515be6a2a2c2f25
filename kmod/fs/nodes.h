/* SPDX-License-Identifier: GPL-2.0-only */
/* For which nodes a region is: what programs ask for and set, and what this node gives up. */
#ifndef WEFT_FS_NODES_H
#define WEFT_FS_NODES_H

#include <linux/fs.h>

struct weft_call;
struct weft_rack;

/* WEFT_IOC_NODES_GET, WEFT_IOC_NODES_SET.  -ENOTTY: it is another one. */
long weft_nodes_ioctl(struct file *file, unsigned int cmd, void __user *user);

/**
 * weft_nodes_changed() - the catalog says for which nodes a region is from now on
 *
 * If this one is not among them all of the region goes home: not at once, the blade asks again.
 * Sleeps, for seconds at most.
 *
 * Return: 0: this node has nothing of it, or may have it; -EBUSY: a program has it open; -EAGAIN.
 */
int weft_nodes_changed(struct weft_rack *rack, const struct weft_call *attr);

#endif /* WEFT_FS_NODES_H */
