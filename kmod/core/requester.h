/* SPDX-License-Identifier: GPL-2.0-only */
/* What this node wants of a line, and the answers to its requests. */
#ifndef WEFT_CORE_REQUESTER_H
#define WEFT_CORE_REQUESTER_H

#include "line.h"

/**
 * weft_line_want() - a program needs permission
 * @perm: WEFT_S or WEFT_M
 *
 * Starts a transaction if one is needed and none is under way; otherwise the
 * caller waits for WEFT_DO_WAKE and calls again.  The host provides the block's
 * memory before.
 */
void weft_line_want(struct weft_line *l, u8 perm, u32 fresh,
		    struct weft_out *out);

/**
 * weft_line_evict() - the host wants the block's memory back
 * @quiet: drop an unmodified copy without telling the directory
 *
 * Return: false if the line is busy (try another one).
 */
bool weft_line_evict(struct weft_line *l, bool quiet, u32 fresh,
		     struct weft_out *out);

/**
 * weft_line_clean() - write a modified block home and keep it
 *
 * Also after an order to give it up has come (INV), and before that is obeyed: then it is home
 * before another node has it.  weft_line_revoked() ends it, whether it is there or not.
 *
 * Return: false if there is nothing to write (not the owner) or the line is
 * busy; WEFT_DO_WAKE follows when a write-back that was started is over.
 */
bool weft_line_clean(struct weft_line *l, u32 fresh, struct weft_out *out);

/**
 * weft_line_expect() - the owner is to pass the line on, nobody need ask for it
 * @perm: WEFT_S or WEFT_M
 * @txn: transaction of this node that the owner will name
 *
 * Nothing is sent.  If a transaction of that name is answered before it is
 * expected, its end cannot be told any more: so a line expects one at most once,
 * and before anybody else hears of the name (that is, before the ACQUIRE of the lock
 * is sent).  The host provides the block's memory before.
 *
 * The expectation ends when the line has come (WEFT_DO_WAKE), or when
 * weft_line_timeout() is called: then the line is asked for as usual, once the node
 * knows what became of data that it retains itself.  How long to wait for that is
 * the host's decision (@expecting).
 *
 * Return: false if the permission is there, or the line busy.
 */
bool weft_line_expect(struct weft_line *l, u8 perm, u32 txn,
		      struct weft_out *out);

/**
 * weft_line_may_land() - may the request that is about to go offer a landing?
 * @msg: what is to be sent
 *
 * If the host opens one it says so with weft_line_landing_open(), before the message goes.
 */
bool weft_line_may_land(const struct weft_line *l, const struct weft_msg *msg);

/* A card may write into the block from now on. */
void weft_line_landing_open(struct weft_line *l);

/* And from here on none may any more. */
void weft_line_landing_closed(struct weft_line *l);

/* --- for the parts of the cache controller --------------------------------- */

/* An answer to a transaction of a node: ours, if it names it. */
void weft_requester_recv(struct weft_line *l, const struct weft_msg *msg,
			 u32 fresh, struct weft_out *out);

/*
 * Someone is refused because of a transaction of ours.  If it is alive it ends
 * by its own time-outs; if it is not, a late copy of its request took the lock.
 */
void weft_requester_chased(struct weft_line *l, const struct weft_msg *msg,
			   struct weft_out *out);

/* PUT: nobody here uses the copy any more. */
void weft_requester_leave(struct weft_line *l, struct weft_out *out);

/* The line is nobody's any more; its data, of version @l->version, goes home. */
void weft_requester_give_back(struct weft_line *l, u32 fresh,
			      struct weft_out *out);

/* Send again what is not answered. */
void weft_requester_timeout(struct weft_line *l, struct weft_out *out);

#endif /* WEFT_CORE_REQUESTER_H */
