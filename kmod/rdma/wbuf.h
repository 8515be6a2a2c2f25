/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write-back buffers that a blade has for blocks of this node that go home (core/landing.h):
 *
 *	free    ours: a block may be written there
 *	taken   our card writes there; then LANDED goes, or the buffer is free again
 *	theirs  LANDED has gone: free when the blade says so, by a message without bytes that
 *		has the buffer's number (immediate data)
 *
 * All of it with the card's lock.  With the connection the write-back buffers end.
 */
#ifndef WEFT_RDMA_WBUF_H
#define WEFT_RDMA_WBUF_H

#include "rdma/card.h"

/* The connection is UP: what the blade has said of its write-back buffers; a node has none. */
void weft_wbufs_begin(struct weft_conn *conn, const struct weft_hello *hello);

/* The connection is not there any more. */
void weft_wbufs_end(struct weft_conn *conn);

/**
 * weft_wbuf_take() - a buffer for a block that goes home
 * @wb: the message that would carry it
 *
 * What went that way lately, and was not heard of, goes by another one: so a block does not
 * depend on cards that fail.  Return: its number; -1: none.
 */
int weft_wbuf_take(struct weft_conn *conn, const struct weft_msg *wb);

/* LANDED goes: it is the blade's now. */
void weft_wbuf_give(struct weft_conn *conn, int room);

/* LANDED does not go: it is free again. */
void weft_wbuf_free(struct weft_conn *conn, int room);

/* The blade says that it is.  Return: false: that cannot be. */
bool weft_wbuf_told(struct weft_conn *conn, u32 room);

/* Where it is, for the card. */
struct weft_landing weft_wbuf_landing(const struct weft_conn *conn, int room);

#endif /* WEFT_RDMA_WBUF_H */
