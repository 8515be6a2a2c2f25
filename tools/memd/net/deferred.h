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

/**
 * struct deferred - a call under way
 * @next: in the list of those that wait for the switch to know the members
 * @next_noted: in that of those that wait for the disk to have what the journal notes
 * @next_held: in that of those that wait for the standby to have it
 * @position: how much it has to have, see mirror_position()
 * @q: the call, and the reply to be
 * @held: by how many
 * @err: first error that a holder found
 * @unnoted: what it has changed is not certain to be on the disk: that failed
 * @finish: called at the end; sends the reply, or holds it again for another @finish
 * @region: that it works on
 * @size: that the region had before
 */
struct deferred {
	SLIST_ENTRY(deferred) next;
	SLIST_ENTRY(deferred) next_noted;
	SLIST_ENTRY(deferred) next_held;
	u64 position;
	struct request q;
	u32 held;
	u16 err;
	bool unnoted;
	void (*finish)(struct memd *m, struct deferred *dc);
	struct region *region;
	u64 size;
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
