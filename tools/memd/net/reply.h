/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of others, and the replies to them, which are kept for those who ask again.  front/calls.c
 * begins a call; whoever serves it finishes it.
 */
#ifndef WEFT_MEMD_REPLY_H
#define WEFT_MEMD_REPLY_H

#include "base/callno.h"
#include "call.h"

struct memd;

#define CALLS_KEPT	256	/* replies a member */

/* A call of a member, and the reply to be. */
struct request {
	u8 src;			/* member that calls */
	u32 from;		/* its address */
	u32 txn;		/* of the call */
	u32 nonce;		/* of the message */
	bool member;		/* it comes from a member's address */
	struct weft_call call;
	struct weft_call reply;	/* to be filled in; begins as a copy of op */
};

/* The verdict of a handler. */
enum answer {
	ANSWER,		/* send q->reply */
	ANSWER_LATER,	/* it is deferred, see deferred.h */
	ANSWER_NOT,	/* cannot be done yet: the caller will ask again */
};

/* The reply to a call that had an effect. */
struct kept_reply {
	u32 txn;	/* of the call, 0 for none */
	u32 hash;	/* of the call */
	bool pending;	/* the call is deferred, and not answered yet */
	u32 len;	/* bytes of @payload */
	u8 *payload;
};

/* A member that calls. */
struct caller {
	u32 next;			/* place in @kept */
	struct callno numbers;		/* of its calls */
	struct kept_reply kept[CALLS_KEPT];
};

/* A handler refuses a call. */
static inline enum answer reply_refuse(struct request *q, u16 err)
{
	q->reply.err = err;
	return ANSWER;
}

/* Reply to a call, deferred or not; the reply is kept if the call has an effect. */
void reply_finish(struct memd *m, struct request *q);

/* The same of a call that is not one of those that are kept. */
void reply_once(struct memd *m, struct request *q);

/* Send a reply that was kept once more. */
void reply_again(struct memd *m, const struct request *q, const struct kept_reply *k);

/* Would the repetition of such a call not give the same reply? */
bool reply_is_kept(u16 op);

/* The one that is kept, or whose call is deferred; NULL: none. */
struct kept_reply *reply_find(struct memd *m, u8 src, u32 txn);

/* A place for the reply, in that of the oldest.  NULL: all have calls that wait. */
struct kept_reply *reply_keep(struct memd *m, u8 src, u32 txn, u32 hash);

/* A member has called by that number. */
void reply_note(struct memd *m, u8 id, u32 txn);

/*
 * Is it a call whose reply would have been kept, if it were not so old that it may have been
 * carried out before: somebody has recorded and repeated it, or it was slow, and its
 * sender hears that it has to ask anew.  Only calls to the catalog; what the first blade
 * tells the others has numbers of its own.
 */
bool reply_is_old(struct memd *m, const struct request *q);

/* Forget the replies to a member. */
void reply_forget(struct memd *m, u8 id);

/* A member begins a new life with a call of that number: all calls before it are old. */
void reply_begin(struct memd *m, u8 id, u32 txn);

#endif /* WEFT_MEMD_REPLY_H */
