/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The gate: it lets a message through that comes from the rack's port, is whole, has the tag of
 * the rack's key if there is one, and is not old by the rack's clock.  front/memd.c asks it first.
 * The handler of a message looks who has sent it (members_sender()).
 */
#ifndef WEFT_MEMD_GATE_H
#define WEFT_MEMD_GATE_H

#include "wire.h"

#define GATE_SAID	8	/* machines that a sentence is remembered of */
#define GATE_ANSWERS	64	/* in a second, to calls that are not heard; of a thread */

struct memd;

/* Whom people were told of. */
struct gate {
	/* Address and, in milliseconds, when */
	struct {
		u32 addr;
		u64 when;
	} said[GATE_SAID];
	u32 next;	/* place in @said */
	u64 second;	/* of which @answered says how many answers there were */
	u32 answered;
};

/**
 * gate_take() - unpack and check a datagram
 * @msg: filled in
 * @from: address
 * @port: from which it came
 *
 * What is refused is counted; what has to be answered all the same, is, up to GATE_ANSWERS in a
 * second.  As long as it is not certain that it is heard it stops no other thread: anybody can
 * send it.  Then the thread is alone, if it is about the blade.
 *
 * Return: true if it is to be handled.
 */
bool gate_take(struct memd *m, struct weft_msg *msg, const void *buf, size_t len,
	       u32 from, u16 port);

#endif /* WEFT_MEMD_GATE_H */
