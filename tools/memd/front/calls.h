/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that come in: who may call, which calls are repetitions, replies.
 */
#ifndef WEFT_MEMD_CALLS_H
#define WEFT_MEMD_CALLS_H

#include "call.h"
#include "base/callno.h"

struct memd;

#define CALLS_KEPT	256	/* replies a member */

/**
 * struct request - a call
 * @src: member that calls
 * @from: its address
 * @txn: of the call
 * @nonce: of the message
 * @member: it comes from a member's address
 * @call: the call
 * @reply: to be filled in; begins as a copy of op
 */
struct request {
	u8 src;
	u32 from;
	u32 txn;
	u32 nonce;
	bool member;
	struct weft_call call;
	struct weft_call reply;
};

/* What a handler says. */
enum answer {
	ANSWER,		/* send q->reply */
	ANSWER_LATER,	/* a job does */
	ANSWER_NOT,	/* cannot be done yet: the caller will ask again */
};

/**
 * struct kept_reply - the reply to a call that had an effect
 * @txn: of the call, 0 for none
 * @hash: of the call
 * @pending: a job is under way
 * @len: bytes of @payload
 * @payload: the reply
 */
struct kept_reply {
	u32 txn;
	u32 hash;
	bool pending;
	u32 len;
	u8 *payload;
};

/**
 * struct caller - a member that calls
 * @next: place in @kept
 * @numbers: of its calls
 * @kept: replies
 */
struct caller {
	u32 next;
	struct callno numbers;
	struct kept_reply kept[CALLS_KEPT];
};

/* A CALL. */
void calls_receive(struct memd *m, const struct weft_msg *msg, u32 from);

/* Reply to a call that a job was made of. */
void calls_finish(struct memd *m, struct request *q);

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

/* Forget the replies to a member. */
void calls_forget(struct memd *m, u8 id);

/* A member begins a new life with a call of that number: all calls before it are old. */
void calls_begin(struct memd *m, u8 id, u32 txn);

#endif /* WEFT_MEMD_CALLS_H */
