/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requester's side: what this node wants of a line, and the answers to its transaction.  Hosts
 * call it for programs, evictions and locks; controller.c hands in messages.  gather.h has the
 * miss itself.
 */
#ifndef WEFT_CORE_REQUESTER_H
#define WEFT_CORE_REQUESTER_H

#include "line.h"

/**
 * weft_line_want() - a program needs permission
 * @perm: WEFT_S or WEFT_M
 *
 * Starts a transaction if one is needed and the line is idle; otherwise the caller waits for
 * WEFT_DO_WAKE and calls again.  The host has made the block's memory.
 */
void weft_line_want(struct weft_line *l, u8 perm, u32 fresh, struct weft_out *out);

/**
 * weft_line_evict() - the host wants the block's memory back
 * @quiet: drop an unmodified copy without telling the directory
 *
 * Return: false if the line is busy (try another one).
 */
bool weft_line_evict(struct weft_line *l, bool quiet, u32 fresh, struct weft_out *out);

/**
 * weft_line_clean() - write a modified block home and stay the owner
 *
 * Also between an INV and the giving up, to write the block through before its ownership moves.
 * weft_line_revoked() ends it, whether the block is home or not.  WEFT_DO_WAKE follows its end.
 *
 * Return: false if this node is not the owner, or the line is busy.
 */
bool weft_line_clean(struct weft_line *l, u32 fresh, struct weft_out *out);

/**
 * weft_line_expect() - the owner is to pass the line on; ask for nothing
 * @perm: WEFT_S or WEFT_M
 * @txn: transaction of this node that the owner will name
 *
 * Sends nothing.  A transaction that is answered before it is expected cannot be ended any more,
 * so a line expects one once, before any other node hears of @txn: before ACQUIRE of the lock is
 * sent.  The host has made the block's memory.
 *
 * The expectation ends when the line has come (WEFT_DO_WAKE), or with weft_line_timeout(), which
 * asks for the line as usual after it has settled retained data.  The host decides how long to
 * wait (@expecting).
 *
 * Return: false if the permission is here, or the line is busy.
 */
bool weft_line_expect(struct weft_line *l, u8 perm, u32 txn, struct weft_out *out);

/*
 * May the request @msg, which is about to go, offer a landing?  A host that opens one calls
 * weft_line_landing_open() before the message goes.
 */
bool weft_line_may_land(const struct weft_line *l, const struct weft_msg *msg);

/* A card may write into the block from now on. */
void weft_line_landing_open(struct weft_line *l);

/* No card may write into it any more. */
void weft_line_landing_closed(struct weft_line *l);

/* --- for the parts of the cache controller --------------------------------- */

/* An answer, which counts if it names the transaction of this node. */
void weft_requester_recv(struct weft_line *l, const struct weft_msg *msg,
			 u32 fresh, struct weft_out *out);

/*
 * CHASE: another node is refused because of a transaction of this one.  A live one ends by its own
 * time-outs; for a dead one a late copy of its request holds the entry's lock: end it.
 */
void weft_requester_chased(struct weft_line *l, const struct weft_msg *msg,
			   struct weft_out *out);

/* PUT: no program uses the copy any more. */
void weft_requester_leave(struct weft_line *l, struct weft_out *out);

/*
 * weft_line_return(): write the data, version @l->version, home, call in what is lent, and repeat
 * the COMMIT that made this node the owner.  @was: the line before
 */
void weft_requester_give_back(struct weft_line *l, const struct weft_line *was, u32 fresh,
			      struct weft_out *out);

/* CLEAN: end it if all of that is done. */
void weft_requester_given_back(struct weft_line *l, struct weft_out *out);

/* Send again what is not answered. */
void weft_requester_timeout(struct weft_line *l, struct weft_out *out);

#endif /* WEFT_CORE_REQUESTER_H */
