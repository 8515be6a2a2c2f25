/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Questions of a blade to the witness: one at a time, over a connection that is made again when it
 * breaks.  The witness does not read what is left in an old one, so that no question is carried
 * out after a later one was answered.  Times are those of boot_ms().
 */
#ifndef WEFT_MEMD_ASK_H
#define WEFT_MEMD_ASK_H

#include "standby/register.h"
#include "standby/stream.h"
#include "tools/common/clock.h"

/*
 * Bodies of STREAM_ASK and STREAM_ANSWER: operations are enum register_op, flag 1 is complete,
 * silence is that of the owner in milliseconds, the stamp that of the question.
 */
enum { Q_OP = 0, Q_VIEW = 4, Q_LEASE = 8, Q_STAMP = 12, Q_LEN = 20 };
enum {
	A_ERR = 0, A_OP = 2, A_FLAGS = 3, A_VIEW = 4, A_OWNER = 8, A_LEASE = 12, A_SILENT = 16,
	A_STAMP = 20, A_LEN = 28,
};

/* An answer of the witness. */
struct told {
	u16 err;	/* 0 or errno of what was asked */
	u8 op;		/* that it was */
	u32 view;	/* of the register; 0: nobody has claimed it */
	u32 owner;	/* who serves */
	bool complete;	/* the other one has everything */
	u32 silent;	/* milliseconds since it was heard */
	u64 asked;	/* millisecond when the question was sent */
};

/* The connection to the witness. */
struct ask {
	struct stream s;
	u32 from;		/* own address */
	u32 to;			/* the witness's; 0: there is none */
	u16 port;		/* of it */
	struct hello hello;	/* who we are */
	u8 op;			/* what is asked; 0: nothing */
	u64 sent;		/* millisecond of that, or of the last attempt to connect */
	u64 tried;		/* millisecond of that */
};

void ask_init(struct ask *a, const struct options *o, const struct weft_key *key, u8 role);
void ask_close(struct ask *a);

/* Connects, if need be; call it often.  Return: whether a question can be asked now. */
bool ask_ready(struct ask *a);

/* Ask; ask_ready() has said so. */
void ask_send(struct ask *a, u8 op, u32 view, u32 lease);

/* Return: true: an answer has come. */
bool ask_answer(struct ask *a, struct told *t);

#endif /* WEFT_MEMD_ASK_H */
