/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that the blade itself makes, for the catalog: to other blades (what changed), to nodes
 * (give up copies).  One at a time to each member, repeated until it is answered, given up after
 * some seconds.  front/memd.c hands in the replies.
 */
#ifndef WEFT_MEMD_PUSH_H
#define WEFT_MEMD_PUSH_H

#include <sys/queue.h>

#include "base/timer.h"
#include "wire.h"

struct deferred;
struct weft_call;

/* Calls to one member. */
struct pushes {
	STAILQ_HEAD(push_queue, push) queue;	/* the first one is out */
	u64 seq;		/* of the last one queued; the receiver ignores what is older */
	struct timer timer;		/* for repeating */
};

void push_init(struct memd *m);

/**
 * push_call() - queue a call
 * @to: member
 * @call: the call; life and cookie are set for blades
 * @nonce: version of the members, with WEFT_CALL_MEMBERS
 * @dc: held until the answer, or NULL
 */
void push_call(struct memd *m, u8 to, struct weft_call *call, u32 nonce,
	       struct deferred *dc);

/* A REPLY. */
void push_reply(struct memd *m, const struct weft_msg *msg);

/* Drop all calls to @to; their deferred calls get @err. */
void push_drop(struct memd *m, u8 to, u16 err);

#endif /* WEFT_MEMD_PUSH_H */
