/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file system type "weft": options, mount and unmount.  control/main registers it.  A rack
 * has one superblock, however often it is mounted: it joins the rack, starts cache and locks, and
 * stops them in the opposite order.
 */
#ifndef WEFT_SUPER_H
#define WEFT_SUPER_H

/* Module init and exit.  Return: 0 or a negative errno. */
int weft_super_init(void);
void weft_super_exit(void);

#endif /* WEFT_SUPER_H */
