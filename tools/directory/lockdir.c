// SPDX-License-Identifier: GPL-2.0-only
/* The directory engine for lock lines, see lockdir.h. */
#include "lockdir.h"

static enum weft_dir_dest nack(struct weft_msg *msg, u16 why)
{
	msg->type = WEFT_MSG_NACK;
	msg->flags = 0;
	msg->info = why;
	return WEFT_TO_SENDER;
}

/* Who asks, which is not who sends if the message was relayed. */
static u32 requester(const struct weft_msg *msg)
{
	return weft_node_bit(weft_txn_member(msg->txn));
}

static enum weft_dir_dest acquire(struct weft_dir_entry *e, u32 members,
				  struct weft_msg *msg, u32 *targets)
{
	bool excl = msg->flags & WEFT_F_EXCL;
	bool frozen = e->grant & WEFT_EPOCH_FROZEN;
	bool queue = e->lock;
	u32 r = requester(msg);

	if (excl && !queue && !frozen) {
		e->lock = r;
		e->grant += WEFT_EPOCH_STEP;
	}
	msg->holder = e->lock;
	msg->grant = e->grant;
	msg->copyset = e->copyset & members & ~r;
	if (!excl && !queue && !frozen)
		e->copyset |= r;

	if (frozen)
		return nack(msg, WEFT_WHY_MOVING);
	if (excl ? msg->holder != r : queue) {
		msg->type = WEFT_MSG_ENQUEUE;
		*targets = msg->holder;
		return WEFT_TO_NODES;
	}
	msg->status = excl ? WEFT_M : WEFT_S;
	if (excl && msg->copyset) {
		msg->type = WEFT_MSG_INV;
		*targets = msg->copyset;
	} else {
		msg->type = WEFT_MSG_GRANT;
		*targets = r;
	}
	return WEFT_TO_NODES;
}

/*
 * The holder passes the lock on to @holder as soon as the readers in @copyset
 * have given it up; or to these readers only, and the queue ends.  A repetition
 * repeats the answer as long as nothing has happened since.
 */
static enum weft_dir_dest hand(struct weft_dir_entry *e, u32 members,
			       struct weft_msg *msg, u32 *targets)
{
	u32 old = weft_node_bit(msg->src);
	u32 epoch = msg->grant, next = epoch + WEFT_EPOCH_STEP;
	u32 holder = msg->holder, readers = msg->copyset;
	bool now, again;

	if ((holder | readers) & ~members) {
		msg->copyset = members;
		return nack(msg, WEFT_WHY_NOT_MEMBER);
	}
	if (e->grant & WEFT_EPOCH_FROZEN)
		return nack(msg, WEFT_WHY_MOVING);
	now = e->grant == epoch && e->lock == old;
	again = e->grant == next && e->lock == holder;
	if (now) {
		e->grant = next;
		e->lock = holder;
		e->copyset = readers;
	}
	msg->grant = next;
	if (!now && !again) {
		msg->type = WEFT_MSG_HAND_ACK;
		return WEFT_TO_SENDER;
	}
	msg->type = WEFT_MSG_HANDED;
	*targets = holder | readers | (holder ? 0 : old);
	return WEFT_TO_NODES;
}

enum weft_dir_dest weft_lockdir_handle(struct weft_dir_entry *e, u32 members,
				       struct weft_msg *msg, u32 *targets)
{
	*targets = 0;
	/* others are asked for only by who passes their request on */
	if (weft_txn_member(msg->txn) != msg->src &&
	    !(msg->type == WEFT_MSG_ACQUIRE && msg->flags & WEFT_F_RELAY))
		return WEFT_TO_NOBODY;
	if (!(requester(msg) & members) && weft_txn_member(msg->txn) != msg->src)
		return WEFT_TO_NOBODY;
	if (!(weft_node_bit(msg->src) & members))
		return nack(msg, WEFT_WHY_NOT_MEMBER);
	switch (msg->type) {
	case WEFT_MSG_ACQUIRE:
		return acquire(e, members, msg, targets);
	case WEFT_MSG_HAND:
		return hand(e, members, msg, targets);
	case WEFT_MSG_QUERY:
		if (e->grant & WEFT_EPOCH_FROZEN)
			return nack(msg, WEFT_WHY_MOVING);
		msg->flags = 0;
		msg->holder = e->lock;
		msg->grant = e->grant;
		msg->copyset = e->copyset & members;
		msg->type = WEFT_MSG_INFO;
		return WEFT_TO_SENDER;
	default:
		return WEFT_TO_NOBODY;
	}
}
