/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that come in: who may call, which calls are repetitions, who answers them.  front/memd.c
 * hands in what the gate has let through, the gate what is refused and answered.
 */
#ifndef WEFT_MEMD_CALLS_H
#define WEFT_MEMD_CALLS_H

#include "types.h"

struct memd;
struct weft_msg;

/* A CALL. */
void calls_receive(struct memd *m, const struct weft_msg *msg, u32 from);

/* A CALL that is older or younger than it may be: its sender hears so (WEFT_CALL_WRONG_TIME). */
void calls_stale(struct memd *m, const struct weft_msg *msg, u32 from);

/*
 * A CALL to a blade that has yet to hear the rack's time from the first one, and cannot
 * know whether it is a repetition.  Statistics change nothing and are told, so that
 * people see what the blade waits for.
 *
 * Return: true if it was answered.
 */
bool calls_without_time(struct memd *m, const struct weft_msg *msg, u32 from);

/*
 * A CALL with another key than ours, or none, where one of both has one.  Who wants to
 * join hears why it cannot; that answer has no tag.
 */
void calls_wrong_key(struct memd *m, const struct weft_msg *msg, u16 err, u32 from);

#endif /* WEFT_MEMD_CALLS_H */
