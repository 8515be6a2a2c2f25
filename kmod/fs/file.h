/* SPDX-License-Identifier: GPL-2.0-only */
/* Files: open, read, write, fsync, mmap. */
#ifndef WEFT_FILE_H
#define WEFT_FILE_H

#include <linux/fs.h>

struct file;
struct file_lock;

extern const struct file_operations weft_file_operations;
extern const struct address_space_operations weft_address_space_operations;

/*
 * Locks that programs know from other file systems: flock(), fcntl() with its records,
 * those of open file descriptions among them.
 *
 * Without these operations the kernel grants such locks itself, for this node alone:
 * two nodes have a file locked at once, and what they guard by that is destroyed.  So
 * they are refused, until there are locks of that kind that all nodes know of.
 */

/**
 * weft_reclock() - file operations .flock and .lock, of regions and of the directory
 *
 * Return: -ENOLCK, also to who only asks whether somebody has a lock (F_GETLK); 0 to
 * who gives up a lock, as nobody has one.
 */
int weft_reclock(struct file *file, int cmd, struct file_lock *fl);

#endif /* WEFT_FILE_H */
