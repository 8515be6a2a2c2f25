/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time after the beginning of a life of the directory in which nobody is served, as it is not
 * known yet who has what; who is waited for, and what has come.  recovery.c asks the nodes, and
 * ends it.
 */
#ifndef WEFT_MEMD_GRACE_H
#define WEFT_MEMD_GRACE_H

#include "base/blade.h"
#include "base/timer.h"
#include "wire.h"

struct recovery_ops;

/**
 * struct grace - who still has lines of a former life
 * @life: number of the directory's life; 0: there was no former one
 * @active: nobody is served yet
 * @asking: nodes have been asked: the switch has our mark, see looks_mark()
 * @waiting: nodes that everybody waits for
 * @done: nodes that have given all back, in this life
 * @late: nodes that have not answered in time
 * @crashed: nodes that have not heard yet that our machine has ended, with what was not on
 *	the disk
 * @txn: by node: of the RENEW that is out
 * @since: millisecond in which this life began
 * @began: the same of when nodes were asked
 * @moved: by node: millisecond of its last progress
 * @worked: by node: how much it has said that it has done
 * @stored: by node: blocks that it gave back
 * @refused: millisecond when a block last could not be kept; 0: never
 * @looked: millisecond when it was last looked at that
 * @stood: milliseconds in which none could be kept
 * @told: millisecond when it was last logged who is waited for
 * @delay: until it is repeated
 * @timer: for that
 * @unsure: lines of a region were reset here, and its nodes have not been asked who has them
 * @begin: set by recovery.c: a new life begins
 * @ops: what layers above do, see recovery.h
 */
struct grace {
	u32 life;
	bool active;
	bool asking;
	u32 waiting;
	u32 done;
	u32 late;
	u32 crashed;
	u32 txn[WEFT_NODE_MAX + 1];
	u64 since;
	u64 began;
	u64 moved[WEFT_NODE_MAX + 1];
	u64 worked[WEFT_NODE_MAX + 1];
	u64 stored[WEFT_NODE_MAX + 1];
	u64 refused;
	u64 looked;
	u64 stood;
	u64 told;
	u32 delay;
	struct timer timer;
	bool unsure;
	void (*begin)(struct memd *m, const char *why);
	const struct recovery_ops *ops;
};

/* A new life begins; @why is half a sentence. */
void grace_begin(struct memd *m, const char *why);

/* A node has moved on in giving back. */
void grace_moved(struct memd *m, u32 id);

/* A node gave back a block that is newer than what was here. */
void grace_stored(struct memd *m, u32 id);

/* One could not be kept, though nothing was wrong with it. */
void grace_refused(struct memd *m, u32 id);

/* Nodes that take part in the directory here. */
u32 grace_nodes(const struct memd *m);

/* May nodes have lines?  Not while some may have lines of a former life. */
static inline bool grace_is_over(const struct memd *m)
{
	return m->b->ready && !m->b->grace->active;
}

#endif /* WEFT_MEMD_GRACE_H */
