/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The blade and its threads, as all layers see them.  Each layer makes, and frees, its own part of
 * both (FOLDER/layer.c): here they are names only.  A request for a line changes what belongs to
 * the line, or to the thread; what belongs to the blade it only reads.
 */
#ifndef WEFT_MEMD_BLADE_H
#define WEFT_MEMD_BLADE_H

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/count.h"
#include "base/options.h"
#include "base/share.h"
#include "base/timer.h"
#include "base/turn.h"

/*
 * A blade has one thread, or several (--threads) with a share of the lines each: share.h says
 * which, and the kernel puts each datagram into the socket of the right one.  Whoever changes what
 * belongs to the blade stops the other threads for so long: see turn.h.
 */

#define BLADE_FOR_EVER	(~0ull)

/* A layer makes a part of the blade, or of a thread: all zeros.  False without memory. */
#define blade_make(part)	(((part) = calloc(1, sizeof(*(part)))) != NULL)

/*
 * What belongs to the whole blade: changed by who is alone, see turn.h.
 *
 * The rest is the layers' own, in their order.
 */
struct blade {
	u32 threads;		/* how many take messages */
	struct memd *thread[THREADS_MAX];
	struct turns turns;	/* who may do what */
	struct moment moment;	/* of all timers */
	struct options opt;	/* command line */
	u32 life;		/* number of this life */
	bool ready;		/* knows regions and members */
	u64 started;		/* millisecond */
	/*
	 * As boot_ms(): then it is suspended, its other machine may serve; messages are sent no
	 * later, whoever sends them; BLADE_FOR_EVER: nobody else may
	 */
	atomic_ullong until;
	struct weft_key key;	/* of the rack, set by who begins; not set: it has none */
	struct clock clock;	/* of the rack, if there is a key */

	struct backing *backing;
	struct frames *frames;
	struct settle *settle;

	struct mirror *mirror;

	struct members *members;
	struct pushes *pushes;
	struct caller **callers;

	struct rdma *rdma;

	struct regions *regions;
	struct numbers *numbers;
	struct p4 *p4;
	struct looks *looks;
	struct grace *grace;
	struct line_ops *line_ops;
	struct sweep *sweep;

	struct journal *journal;
	struct commit *sync;
	struct follow *follow;
	struct fence *fence;
	struct move *move;
	struct takeover *takeover;
};

/*
 * A thread that takes messages, and what only it uses.
 *
 * The rest is the layers' own.
 */
struct memd {
	struct blade *b;
	u32 nth;		/* number of the thread, 0 for the first */
	struct turn turn;	/* its own */
	struct timers timers;	/* likewise */
	struct stats stats;	/* what it has counted */
	u32 seq;		/* last sequence number used */

	struct udp *udp;
	struct held *held;

	struct region_hint *hint;
	struct lines *lines;
	struct staging *staging;

	struct gate *gate;
};

/* A sequence number that was not used before. */
static inline u32 memd_seq(struct memd *m)
{
	m->seq += m->b->threads;
	return m->seq;
}

/* The rack's time. */
static inline struct weft_stamp memd_time(const struct memd *m)
{
	return clock_read(&m->b->clock, m->timers.now);
}

/* May nothing be taken or sent now? */
static inline bool memd_suspended(const struct memd *m)
{
	u64 until = atomic_load(&m->b->until);

	return until != BLADE_FOR_EVER && boot_ms() >= until;
}

/* A message is refused, as its sender has not the rack's key or not that member's address. */
static inline void memd_refused(struct memd *m)
{
	m->stats.refused = m->timers.now ? m->timers.now : 1;
}

/* The thread that has a line. */
static inline struct memd *memd_of(struct memd *m, u64 line)
{
	return m->b->thread[share_of(line, m->b->threads)];
}

static inline bool memd_is_first(const struct memd *m)
{
	return m->b->opt.id == WEFT_BLADE_MIN;
}

#endif /* WEFT_MEMD_BLADE_H */
