/* SPDX-License-Identifier: GPL-2.0-only */
/* A memory blade whose twin has taken over: it is at another address now. */
#ifndef WEFT_MOVED_H
#define WEFT_MOVED_H

#include <linux/types.h>

struct weft_call;
struct weft_member;
struct weft_msg;

/**
 * weft_moved_recv() - a blade says where it is
 * @msg: its CALL
 * @call: TWIN; overwritten by the reply
 *
 * It is answered if the blade is there as far as this node knows afterwards.  At once, whatever
 * else blades have asked for: that may wait for the one that is dead.  Softirq.
 */
void weft_moved_recv(struct weft_member *m, const struct weft_msg *msg, struct weft_call *call);

/* These have moved, bit 0 for the first one, and everybody is to know.  Any context. */
void weft_moved_tell(struct weft_member *m, u32 blades);

#endif /* WEFT_MOVED_H */
