/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes of files: the catalog's, asked for each time that a program looks at them. */
#ifndef WEFT_ATTR_H
#define WEFT_ATTR_H

#include <linux/fs.h>

extern const struct inode_operations weft_file_inode_operations;

#endif /* WEFT_ATTR_H */
