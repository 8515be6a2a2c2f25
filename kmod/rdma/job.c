// SPDX-License-Identifier: GPL-2.0-only
/* Jobs of connections, see job.h. */
#include "rdma/job.h"

void weft_job_begin(struct weft_job *job)
{
	lockdep_assert_held(&job->link->card->lock);
	job->since = jiffies;
	list_add_tail(&job->list, &job->link->jobs);
	job->link->busy += job->work;
	job->link->card->busy += job->work;
}

void weft_job_end(struct weft_job *job)
{
	lockdep_assert_held(&job->link->card->lock);
	list_del(&job->list);
	job->link->busy -= job->work;
	job->link->card->busy -= job->work;
}

bool weft_jobs_stuck(struct weft_link *link)
{
	const struct weft_job *job;

	lockdep_assert_held(&link->card->lock);
	/* the oldest is the first */
	job = list_first_entry_or_null(&link->jobs, struct weft_job, list);
	return job && time_after(jiffies, job->since + msecs_to_jiffies(WEFT_STUCK_MS));
}

void weft_jobs_drop(struct weft_link *link)
{
	struct weft_card *card = link->card;
	struct weft_job *job;

	for (;;) {
		spin_lock_bh(&card->lock);
		job = list_first_entry_or_null(&link->jobs, struct weft_job, list);
		if (job)
			weft_job_end(job);
		spin_unlock_bh(&card->lock);
		if (!job)
			return;
		job->drop(job);
	}
}
