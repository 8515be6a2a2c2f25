/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine that the blade runs on: its disk, the mark of which boot this is, and its end.
 * That may be at any moment: what is left is chosen then, and whatever the blade does after
 * that, until it is killed, is lost with it.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_MACHINE_H
#define WEFT_TESTS_MEMD_CRASH_MACHINE_H

#include "disk.h"

extern struct disk *machine_disk;	/* that of the blade */
extern u32 machine_disk_speed;	/* in so many of 1000 milliseconds it does something */
extern bool machine_ends;	/* what it leaves is chosen */

/* Make its disks, and the file that has the mark. */
void machine_set_up(void);

/* A new one, whose disk is empty and remembers; nothing does any more. */
void machine_begin(void);
void machine_finish(void);

/* It is booted again. */
void machine_boot(void);

/* Blades see the mark of its next boot, or again that of this one. */
void machine_show_next_boot(bool next);

/* What was begun in threads is done, or not yet. */
void machine_disk_works(void);

/* It ends now: its next boot finds @left, of which what is promised now has to hold. */
void machine_choose_end(const struct disk *left);

/* What was chosen before is nothing to anybody. */
void machine_forget_end(void);

/* The blade has been killed: the machine is booted again, with what was chosen. */
void machine_end(void);

#endif /* WEFT_TESTS_MEMD_CRASH_MACHINE_H */
