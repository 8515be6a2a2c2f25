/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A deferred call: its answer waits for others.  It ends when nothing holds it any more; each
 * holder is sure to let go, after some seconds at worst.
 */
#ifndef WEFT_MEMD_DEFERRED_H
#define WEFT_MEMD_DEFERRED_H

#include <sys/queue.h>

#include "net/reply.h"

struct region;

/* A call that is not answered yet. */
struct deferred {
	/* In the list of those that wait for the switch to know the members */
	SLIST_ENTRY(deferred) next;
	/* In that of those that wait for the disk to have what the journal notes */
	SLIST_ENTRY(deferred) next_noted;
	/* In that of those that wait for the standby to have it */
	SLIST_ENTRY(deferred) next_held;
	u64 position;			/* how much it has to have, see mirror_position() */
	struct request q;		/* the call, and the reply to be */
	u32 held;			/* by how many */
	u16 err;			/* first error that a holder found */
	bool unnoted;	/* what it has changed is not certain to be on the disk: that failed */
	/* Called at the end; sends the reply, or holds it again for another @finish */
	void (*finish)(struct memd *m, struct deferred *dc);
	struct region *region;		/* that it works on */
	u64 size;			/* that the region had before */
};

SLIST_HEAD(deferred_list, deferred);

/**
 * deferred_new() - a call is deferred, and held once
 * @finish: what to do at the end
 *
 * Return: NULL without memory.
 */
struct deferred *deferred_new(const struct request *q,
			      void (*finish)(struct memd *m, struct deferred *dc));

/* A @finish: the reply goes as it is, with the first error that a holder found. */
void deferred_answer(struct memd *m, struct deferred *dc);

void deferred_hold(struct deferred *dc);

/* Let go; the last one ends the call.  @dc may be NULL. */
void deferred_release(struct memd *m, struct deferred *dc, u16 err);

#endif /* WEFT_MEMD_DEFERRED_H */
