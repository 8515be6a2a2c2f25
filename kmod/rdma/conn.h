/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections: one for each member that a block goes to or is asked of, made when that is so for
 * the first time.  For main.c, write.c, read.c and inbox.c.  All but weft_conn_event() and
 * weft_conn_moved() with card->lock or by the mender.
 */
#ifndef WEFT_RDMA_CONN_H
#define WEFT_RDMA_CONN_H

#include "rdma/card.h"

/*
 *	NONE -> ADDRESS -> ROUTE -> CALLING -> UP -> BROKEN -> NONE	this node connects
 *	NONE -> ACCEPTED -> UP -> BROKEN -> NONE			the peer connects
 *
 * Nodes and blades listen at their addresses, on the port of the rack.  The node that has a block
 * for another member, or asks a blade for one, connects; of two nodes that do so at the same time
 * the one with the lower number goes on.  Each end says who it is (core/hello.h).
 *
 * Any failure ends in BROKEN.  The mender takes the steps; events are only noted.  After a failure
 * the pause until the next attempt doubles, until a block has gone by the connection.  The next
 * attempt comes when there is a block to send, or at once if the member did not answer.
 */

/* Work requests on a connection that the card has not completed. */
struct weft_wqe {
	struct list_head list;	/* in @conn->wqes */
	struct weft_conn *conn;	/* the connection */
	u32 work; /* how many: connection and card have room for so many (weft_conn_ready()) */
	unsigned long since;	/* when they were posted, jiffies */
	/* frees it, when the queue is gone and it is in no list.  The mender */
	void (*drop)(struct weft_wqe *wqe);
};

/* The work requests were posted; they have completed, or never will.  With the lock. */
void weft_wqe_begin(struct weft_wqe *wqe);
void weft_wqe_end(struct weft_wqe *wqe);

void weft_conn_init(struct weft_card *card);

/* Handles events of the connection manager, of listener and connections; @id->context: a card. */
int weft_conn_event(struct rdma_cm_id *id, struct rdma_cm_event *event);

/* Take the next step of each connection, and answer connection requests.  The mender. */
void weft_conn_mend(struct weft_card *card);

/* End all connections.  The mender. */
void weft_conn_end_all(struct weft_card *card);

/* When the mender is to look again, jiffies from now.  With the lock. */
unsigned long weft_conn_next(const struct weft_card *card);

/* Use the connection no more, for the reason @why, a sentence.  With the lock. */
void weft_conn_break(struct weft_conn *conn, const char *why);

/* Break the connection if its member has another address now.  Any context. */
void weft_conn_moved(struct weft_conn *conn);

/* Why data does not go by the connection, a sentence; NULL: it is up.  With the lock. */
const char *weft_conn_why(const struct weft_conn *conn);

/*
 * Can a block go by the connection?  @work: work requests that the block takes.  If there is no
 * connection, the mender is asked for one.  With the lock.
 */
bool weft_conn_ready(struct weft_conn *conn, u32 work);

#endif /* WEFT_RDMA_CONN_H */
