/* SPDX-License-Identifier: GPL-2.0-only */
/* Files: open, read, write, fsync, mmap. */
#ifndef WEFT_FILE_H
#define WEFT_FILE_H

#include <linux/fs.h>

extern const struct file_operations weft_file_operations;
extern const struct address_space_operations weft_address_space_operations;

#endif /* WEFT_FILE_H */
