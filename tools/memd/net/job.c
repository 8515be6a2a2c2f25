// SPDX-License-Identifier: GPL-2.0-only
/* Jobs, see job.h. */
#include "net/job.h"

#include <stdlib.h>

#include "net/reply.h"

struct job *job_new(const struct request *q,
		    void (*finish)(struct memd *m, struct job *job))
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->q = *q;
	job->held = 1;
	job->finish = finish;
	return job;
}

void job_hold(struct job *job)
{
	if (job)
		job->held++;
}

void job_release(struct memd *m, struct job *job, u16 err)
{
	if (!job)
		return;
	if (err && !job->err)
		job->err = err;
	if (--job->held)
		return;
	job->finish(m, job);
	if (!job->held)
		free(job);
}
