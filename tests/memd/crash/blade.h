/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The blade: the real one, in this process, and the messages that come to it.  What it answers is
 * looked up where it keeps that for those who ask again.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_BLADE_H
#define WEFT_TESTS_MEMD_CRASH_BLADE_H

#include "call.h"
#include "tools/memd/base/blade.h"

#define BLADE_ADDR	0x0A570065u	/* of the first one */

extern struct memd blade;
extern u32 blade_number;	/* which it is, from 0; then it is the last one, too */
extern bool blade_starting;

/* One that uses the file at @path: the blade, or one that is only tried. */
void blade_start(struct memd *b, const char *path);

/* Its process ends: nothing more is written. */
void blade_kill(struct memd *b);

/* A millisecond passes. */
void blade_tick(void);

/* What becomes of a call: the blade does not know it, or has no answer yet. */
enum outcome { UNKNOWN, WAITING, ANSWERED };

/* The number of the next call of member @id. */
u32 blade_next_call(u32 id);

/* A call comes, or the answer to one, from the member at @addr. */
void blade_receive(u8 type, u32 id, u32 addr, u32 txn, const struct weft_call *c);

/* What has become of a call; @reply: if it is answered. */
enum outcome blade_outcome(u32 id, u32 txn, struct weft_call *reply);

#endif /* WEFT_TESTS_MEMD_CRASH_BLADE_H */
