/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs: what the card does by a connection, and has not done yet.  Each takes a number of
 * requests, of which a connection and a card have room for so many (weft_link_ready()).
 */
#ifndef WEFT_RDMA_JOB_H
#define WEFT_RDMA_JOB_H

#include "rdma/card.h"

/**
 * struct weft_job - something that the card does by a connection
 * @list: in @link->jobs
 * @link: by which
 * @work: requests that are not done
 * @since: jiffies
 * @drop: nothing will come of it any more, as the queue is gone; it is in no list.  The mender
 */
struct weft_job {
	struct list_head list;
	struct weft_link *link;
	u32 work;
	unsigned long since;
	void (*drop)(struct weft_job *job);
};

/* The card was asked for it; it is done, or will not be.  With the lock. */
void weft_job_begin(struct weft_job *job);
void weft_job_end(struct weft_job *job);

/* Does the card take longer than WEFT_STUCK_MS for one of them?  With the lock. */
bool weft_jobs_stuck(struct weft_link *link);

/* What the card was not given in full, as its queue was broken.  The queue is gone.  The mender. */
void weft_jobs_drop(struct weft_link *link);

#endif /* WEFT_RDMA_JOB_H */
