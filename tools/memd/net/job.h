/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job: a call whose answer waits for others.  It ends when nothing holds it
 * any more; each holder is sure to let go, after some seconds at worst.
 */
#ifndef WEFT_MEMD_JOB_H
#define WEFT_MEMD_JOB_H

#include "net/reply.h"

struct region;

/**
 * struct job - a call under way
 * @next: in the list of those that wait for the switch to know the members
 * @next_noted: in that of those that wait for the disk to have what the journal notes
 * @next_held: in that of those that wait for the twin to have it
 * @position: how much it has to have, see mirror_position()
 * @q: the call, and the reply to be
 * @held: by how many
 * @err: first error that a holder found
 * @unnoted: what it has changed is not certain to be on the disk: that failed
 * @finish: called at the end; sends the reply, or holds it again for another @finish
 * @region: that it works on
 * @size: that the region had before
 */
struct job {
	struct job *next;
	struct job *next_noted;
	struct job *next_held;
	u64 position;
	struct request q;
	u32 held;
	u16 err;
	bool unnoted;
	void (*finish)(struct memd *m, struct job *job);
	struct region *region;
	u64 size;
};

/**
 * job_new() - make a job of a call, held once
 * @finish: what to do at the end
 *
 * Return: NULL without memory.
 */
struct job *job_new(const struct request *q,
		    void (*finish)(struct memd *m, struct job *job));

void job_hold(struct job *job);

/* Let go; the last one ends the job.  @job may be NULL. */
void job_release(struct memd *m, struct job *job, u16 err);

#endif /* WEFT_MEMD_JOB_H */
