/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * File operations of regions: open, read, write, mmap, ioctl.  The VFS calls them.
 * Reads and writes go through the same permissions as mappings.
 */
#ifndef WEFT_FILE_H
#define WEFT_FILE_H

#include <linux/fs.h>

struct file;
struct file_lock;

extern const struct file_operations weft_file_operations;
extern const struct address_space_operations weft_address_space_operations;

/**
 * weft_reclock() - .flock and .lock of regions and of the directory: refuse locks
 *
 * flock() and fcntl() locks would hold on this node only, if the kernel granted them: two nodes
 * could lock a file at once, and destroy what the lock guards.
 *
 * Return: -ENOLCK, for F_GETLK too; 0 for unlocking, as nobody holds a lock.
 */
int weft_reclock(struct file *file, int cmd, struct file_lock *fl);

#endif /* WEFT_FILE_H */
