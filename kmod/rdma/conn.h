/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections: one for each other member that there is something for, made when that is so
 * first.  Nodes listen at their addresses, as blades do, on the port of the rack; who has a
 * block for another, or asks a blade for one, connects.  If two nodes want that of each other
 * at the same time the one with the lower number does.  Each end says who it is (core/hello.h).
 *
 *	NONE -> ADDRESS -> ROUTE -> CALLING -> UP -> BROKEN -> NONE	we connect
 *	NONE -> ACCEPTED -> UP -> BROKEN -> NONE			the other one does
 *
 * Whatever fails ends in BROKEN.  The mender takes the steps, events are only noted.  After a
 * failure it is not tried again for a time that doubles, until something has gone by it; then
 * it is when there is something to send, or at once if the member did not answer.
 */
#ifndef WEFT_RDMA_CONN_H
#define WEFT_RDMA_CONN_H

#include "rdma/card.h"

/*
 * Work requests: what the card does by a connection, and has not done yet.  Each takes a number of
 * requests, of which a connection and a card have room for so many (weft_conn_ready()).
 */

/**
 * struct weft_wqe - something that the card does by a connection
 * @list: in @conn->wqes
 * @conn: by which
 * @work: requests that are not done
 * @since: jiffies
 * @drop: nothing will come of it any more, as the queue is gone; it is in no list.  The mender
 */
struct weft_wqe {
	struct list_head list;
	struct weft_conn *conn;
	u32 work;
	unsigned long since;
	void (*drop)(struct weft_wqe *wqe);
};

/* The card was asked for it; it is done, or will not be.  With the lock. */
void weft_wqe_begin(struct weft_wqe *wqe);
void weft_wqe_end(struct weft_wqe *wqe);

void weft_conn_init(struct weft_card *card);

/* Of the connection manager, for the listener and all that comes of it; its context is a card. */
int weft_conn_event(struct rdma_cm_id *id, struct rdma_cm_event *event);

/* What was wanted, has failed, has been asked for.  The mender. */
void weft_conn_mend(struct weft_card *card);

/* All of them end.  The mender. */
void weft_conn_end_all(struct weft_card *card);

/* When the mender is to look again, jiffies from now.  With the lock. */
unsigned long weft_conn_next(const struct weft_card *card);

/* It is not to be used any more, for a reason that is a sentence.  With the lock. */
void weft_conn_break(struct weft_conn *conn, const char *why);

/* Its member may have another address: then it comes to an end.  Any context. */
void weft_conn_moved(struct weft_conn *conn);

/* NULL: it is up; else why data does not go by it.  With the lock. */
const char *weft_conn_why(const struct weft_conn *conn);

/**
 * weft_conn_ready() - can a block go by it?
 * @work: requests that it takes
 *
 * If there is none it is wanted.  With the lock.
 */
bool weft_conn_ready(struct weft_conn *conn, u32 work);

#endif /* WEFT_RDMA_CONN_H */
