/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A blade other than the first: it joins the first one, which tells it all regions and the
 * members, and then each change.  front/memd.c and front/calls.c hand in what the first one says.
 */
#ifndef WEFT_MEMD_FOLLOW_H
#define WEFT_MEMD_FOLLOW_H

#include "net/reply.h"
#include "base/timer.h"

/*
 * Calls from the first blade carry the life that this blade joined with (field life) and a number
 * that grows (cookie): what is of another life, or older than what came last, changes nothing.
 * MEMBERS with valid 1 ends what a blade is told when it joins: regions that were not named are
 * gone.
 */

/* How we stand with the first blade. */
struct follow {
	bool joined;	/* it has answered our JOIN */
	bool synced;	/* it has told everything */
	u32 txn;	/* of the JOIN or PEERS that is out */
	u32 nonce;	/* its random number, which the answer repeats */
	u64 asked;	/* millisecond when it was sent */
	u32 asked_at;	/* to where: that machine, and no other, may answer */
	u32 stale;	/* how many answers in a row have said that our clock is wrong */
	u64 seq;	/* number of the last call taken */
	u64 heard;	/* millisecond of its last answer */
	u64 told;	/* millisecond when it was last logged that it is silent; 0: never */
	u32 delay;	/* until the JOIN is repeated */
	struct timer timer;	/* for JOIN and heartbeat */
};

void follow_init(struct memd *m);
void follow_start(struct memd *m);

/* A REPLY of the first blade to JOIN or PEERS.  Return: false if it is none. */
bool follow_reply(struct memd *m, const struct weft_msg *msg);

/* If it comes from its standby, which was asked: that has taken over, and it is there now. */
bool follow_moved(struct memd *m, const struct weft_msg *msg, u32 from);

/* Is a message the answer to what we have asked the first blade?  If so, set the clock by it. */
bool follow_is_answer(const struct memd *m, const struct weft_msg *msg, u32 from);
bool follow_clock(struct memd *m, const struct weft_msg *msg, u32 from);

/* Somebody who has the key has another idea of the time: ask the first blade, unless just asked. */
bool follow_wants_time(const struct memd *m);
void follow_ask_time(struct memd *m);

/* An answer without our key: a hint why the first blade does not let us join. */
void follow_wrong_key(struct memd *m, const struct weft_msg *msg, u32 from);

/* REGION, FORGET, MEMBERS. */
enum answer follow_call(struct memd *m, struct request *q);

#endif /* WEFT_MEMD_FOLLOW_H */
