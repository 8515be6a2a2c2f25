/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write-back buffers that a blade has for blocks of this node (core/landing.h).  With the card's
 * lock; they end with the connection.
 */
#ifndef WEFT_RDMA_WBUF_H
#define WEFT_RDMA_WBUF_H

#include "rdma/card.h"

/*
 *	free    this node may write a block there
 *	taken   this node's card writes there; then LANDED is sent, or the buffer is free again
 *	theirs  LANDED was sent: free when the blade says so, by a message without bytes that
 *		has the buffer's number (immediate data)
 */

/* The connection is UP: take over what the blade has said of its buffers; a node has none. */
void weft_wbufs_begin(struct weft_conn *conn, const struct weft_hello *hello);

/* The connection has ended. */
void weft_wbufs_end(struct weft_conn *conn);

/**
 * weft_wbuf_take() - take a free buffer for a block that goes home
 * @wb: the message that would carry the block
 *
 * A block whose write-back is repeated gets none, and goes by UDP: so it does not depend on
 * cards that fail.  Return: its number; -1: none.
 */
int weft_wbuf_take(struct weft_conn *conn, const struct weft_msg *wb);

/* LANDED has been posted: the buffer is the blade's. */
void weft_wbuf_give(struct weft_conn *conn, int room);

/* LANDED is not sent: the buffer is free again. */
void weft_wbuf_free(struct weft_conn *conn, int room);

/* The blade says that a buffer is free.  Return: false: that cannot be. */
bool weft_wbuf_told(struct weft_conn *conn, u32 room);

/* Key and address of a buffer. */
struct weft_landing weft_wbuf_landing(const struct weft_conn *conn, int room);

#endif /* WEFT_RDMA_WBUF_H */
