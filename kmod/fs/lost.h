/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks of a region that are lost as a node has died: what programs say of them. */
#ifndef WEFT_LOST_H
#define WEFT_LOST_H

#include <linux/fs.h>

/* WEFT_IOC_LOST_ACCEPT.  -ENOTTY: it is another one. */
long weft_lost_ioctl(struct file *file, unsigned int cmd, void __user *user);

#endif /* WEFT_LOST_H */
