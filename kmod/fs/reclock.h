/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that programs know from other file systems: flock(), fcntl() with its records,
 * those of open file descriptions among them.
 *
 * Without these operations the kernel grants such locks itself, for this node alone:
 * two nodes have a file locked at once, and what they guard by that is destroyed.  So
 * they are refused, until there are locks of that kind that all nodes know of.
 */
#ifndef WEFT_RECLOCK_H
#define WEFT_RECLOCK_H

struct file;
struct file_lock;

/**
 * weft_reclock() - file operations .flock and .lock, of regions and of the directory
 *
 * Return: -ENOLCK, also to who only asks whether somebody has a lock (F_GETLK); 0 to
 * who gives up a lock, as nobody has one.
 */
int weft_reclock(struct file *file, int cmd, struct file_lock *fl);

#endif /* WEFT_RECLOCK_H */
