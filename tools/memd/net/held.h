/* SPDX-License-Identifier: GPL-2.0-only */
/* What waits for the standby: for mirror.c, which wakes those that do. */
#ifndef WEFT_MEMD_HELD_H
#define WEFT_MEMD_HELD_H

struct memd;

/* A thread's.  Return: 0 or -1. */
int held_init(struct memd *m);
void held_exit(struct memd *m);

/* By any thread: that one is to look, if anything of it waits. */
void held_wake(struct memd *m);

#endif /* WEFT_MEMD_HELD_H */
