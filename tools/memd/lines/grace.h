/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time after the beginning of a life of the directory in which nobody is served, as it is not
 * known yet who has what; who is waited for, and what has come.  recovery.c asks the nodes, and
 * ends it.
 */
#ifndef WEFT_MEMD_GRACE_H
#define WEFT_MEMD_GRACE_H

#include "net/members.h"

struct recovery_ops;

/* The nodes that may have lines of a former life. */
struct grace {
	u32 life;		/* number of the directory's life; 0: there was no former one */
	bool active;			/* nobody is served yet */
	bool asking;	/* nodes have been asked: the switch has our mark, see looks_mark() */
	u32 waiting;			/* nodes that everybody waits for */
	u32 done;			/* nodes that have given all back, in this life */
	u32 late;			/* nodes that have not answered in time */
	/*
	 * Nodes that have not heard yet that our machine has ended, with what was not on the
	 * disk
	 */
	u32 crashed;
	u32 txn[WEFT_NODE_MAX + 1];	/* by node: of the RENEW that is out */
	u64 since;			/* millisecond in which this life began */
	u64 began;			/* the same of when nodes were asked */
	u64 moved[WEFT_NODE_MAX + 1];	/* by node: millisecond of its last progress */
	u64 worked[WEFT_NODE_MAX + 1];	/* by node: how much it has said that it has done */
	u64 stored[WEFT_NODE_MAX + 1];	/* by node: blocks that it gave back */
	u64 refused;		/* millisecond when a block last could not be kept; 0: never */
	u64 looked;			/* millisecond when it was last looked at that */
	u64 stood;			/* milliseconds in which none could be kept */
	u64 told;			/* millisecond when it was last logged who is waited for */
	u32 delay;			/* until it is repeated */
	struct timer timer;		/* for that */
	/* Lines of a region were reset here, and its nodes have not been asked who has them */
	bool unsure;
	void (*begin)(struct memd *m, const char *why);	/* set by recovery.c: a new life begins */
	const struct recovery_ops *ops;	/* what layers above do, see recovery.h */
};

/* A new life begins; @why is half a sentence. */
static inline void grace_begin(struct memd *m, const char *why)
{
	m->b->grace->begin(m, why);
}

/* A node has moved on in giving back. */
static inline void grace_moved(struct memd *m, u32 id)
{
	if (m->b->grace->waiting & weft_node_bit(id))
		m->b->grace->moved[id] = m->timers.now;
}

/* A node gave back a block that is newer than what was here. */
static inline void grace_stored(struct memd *m, u32 id)
{
	/* else nobody asks for it, and several threads would write it */
	if (!m->b->grace->active)
		return;
	grace_moved(m, id);
	m->b->grace->stored[id]++;
}

/* One could not be kept, though nothing was wrong with it. */
static inline void grace_refused(struct memd *m, u32 id)
{
	if (!m->b->grace->active)
		return;
	grace_moved(m, id);
	m->b->grace->refused = m->timers.now;
}

/* Nodes that take part in the directory here. */
static inline u32 grace_nodes(const struct memd *m)
{
	return m->b->members->mask & ~m->b->grace->late;
}

/* May nodes have lines?  Not while some may have lines of a former life. */
static inline bool grace_is_over(const struct memd *m)
{
	return m->b->ready && !m->b->grace->active;
}

#endif /* WEFT_MEMD_GRACE_H */
