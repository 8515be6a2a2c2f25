/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one outstanding transaction of a line (struct weft_line: @op, @txn): how it begins
 * and ends, and what the directory is told of it.
 */
#ifndef WEFT_CORE_TRANSACTION_H
#define WEFT_CORE_TRANSACTION_H

#include "line.h"

/* A transaction of kind @op, and what it will have heard: nothing yet. */
void weft_transaction_begin(struct weft_line *l, u8 op, u32 fresh);

/* Ask the directory for what a miss wants. */
void weft_transaction_request(struct weft_line *l, struct weft_out *out);

/* All is here: tell the directory what its entry is from now on. */
void weft_transaction_commit(struct weft_line *l, u32 status, u32 copyset,
			     struct weft_out *out);

/* Nothing is outstanding any more. */
void weft_transaction_finish(struct weft_line *l, struct weft_out *out);

/* Tell it once more. */
void weft_transaction_send_commit(struct weft_line *l, struct weft_out *out);

/* Tell the directory that no node waits for a transaction that it granted. */
void weft_transaction_abort(struct weft_line *l, u32 txn, u32 grant,
			    struct weft_out *out);

/**
 * weft_line_unexpect() - the line is not wanted any more
 *
 * Return: false if it is not only expected: (part of) it has come, or it was asked
 * for.
 */
bool weft_line_unexpect(struct weft_line *l, struct weft_out *out);

/*
 * The transaction @msg->holder is in our way, for the @n th time.  If it is a
 * dead one of ours end it; else ask its member now and then whether it is alive, or
 * at once if @n is 0.
 */
void weft_transaction_chase(struct weft_line *l, const struct weft_msg *msg, u8 n,
			    struct weft_out *out);

/* Take back what we retain: a transaction of ours, so that nobody else has it. */
void weft_transaction_take(struct weft_line *l, u32 fresh, struct weft_out *out);

#endif /* WEFT_CORE_TRANSACTION_H */
