/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * After a node died: all lines of this blade are looked at, and what the dead node had to do with
 * them is over (tools/directory/home.h, weft_home_gone()).  The catalog begins it.
 */
#ifndef WEFT_MEMD_SWEEP_H
#define WEFT_MEMD_SWEEP_H

#include "net/reply.h"
#include "base/timer.h"
#include "types.h"

/*
 * A lock that the dead node had is free; a block that only it had modified is lost: it is what it
 * last was here, which is noted.  Lines in the switch come home for that, so many at a time, and
 * go back when they are asked for.  Requests are served meanwhile.
 */

/* One that is under way. */
struct sweep {
	bool active;	/* it is */
	bool again;	/* another node has died since it began */
	u32 region;	/* that is looked at, or the last one before */
	u64 run;	/* next run of blocks to look at */
	u32 bucket;	/* next bucket of locks */
	u32 asked;	/* lines on their way home */
	u32 late;	/* of these, so many are not waited for any more */
	u64 lost;	/* blocks that were found lost */
	u64 freed;	/* locks that were */
	u64 began;	/* millisecond */
	u64 give_up;	/* millisecond after which lines on their way are not waited for */
	struct timer timer;	/* next step */
};

void sweep_init(struct memd *m);

/* Nodes have died, and are no members any more. */
void sweep_begin(struct memd *m);

bool sweep_is_active(const struct memd *m);

/* LOST: which blocks are; to be marked no more, if that is asked for. */
enum answer sweep_call(struct memd *m, struct request *q);

#endif /* WEFT_MEMD_SWEEP_H */
