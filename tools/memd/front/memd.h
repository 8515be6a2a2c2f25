/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory blade: its parts, and the paths of messages through them.
 *
 * A blade has one thread, or several (--threads) with a share of the lines each: share.h
 * says which, and the kernel puts each datagram into the socket of the right one.  What a
 * request for a line changes belongs to the line, or to the thread; what belongs to the
 * blade it only reads.  Whoever changes that stops the others for so long: see turn.h.
 */
#ifndef WEFT_MEMD_H
#define WEFT_MEMD_H

#include "catalog/blades.h"
#include "lines/blocks.h"
#include "front/calls.h"
#include "base/clock.h"
#include "store/frames.h"
#include "catalog/fence.h"
#include "catalog/follow.h"
#include "front/gate.h"
#include "catalog/journal.h"
#include "lines/lines.h"
#include "lines/looks.h"
#include "lines/members.h"
#include "standby/mirror.h"
#include "catalog/move.h"
#include "net/push.h"
#include "lines/quota.h"
#include "lines/region.h"
#include "lines/rehome.h"
#include "lines/renew.h"
#include "base/share.h"
#include "front/stats.h"
#include "lines/sweep.h"
#include "catalog/sync.h"
#include "catalog/takeover.h"
#include "base/timer.h"
#include "base/turn.h"
#include "net/udp.h"

#define FLUSH_MS	2000	/* from the end of a flush to the next, or the next look */
#define FLUSHING_MS	20	/* to see whether it is over */

struct rdma;

/**
 * struct blade - what belongs to the whole blade: changed by who is alone, see turn.h
 * @threads: how many take messages
 * @thread: these
 * @turns: who may do what
 * @moment: of all timers
 * @opt: command line
 * @life: number of this life
 * @ready: knows regions and members
 * @started: millisecond
 * @flush: for the backing file to get to the disk
 * @flushing: @flush looks at it within FLUSHING_MS
 * @rdma: the network card that writes blocks to where nodes want them; NULL: --rdma off
 * @mirror: of a blade with a twin; NULL: it has none
 * @takeover: who is to hear that this machine has taken over
 * @key: of the rack, set by who begins; not set: it has none
 * @clock: of the rack, if there is a key
 */
struct blade {
	u32 threads;
	struct memd *thread[THREADS_MAX];
	struct turns turns;
	struct moment moment;
	struct options opt;
	u32 life;
	bool ready;
	u64 started;
	struct weft_key key;
	struct clock clock;
	struct backing backing;
	struct frames frames;
	struct journal journal;
	struct sync sync;
	struct regions regions;
	struct numbers numbers;
	struct members members;
	struct looks looks;
	struct caller *callers[WEFT_BLADE_MAX + 1];
	struct pushes pushes[WEFT_BLADE_MAX + 1];
	struct follow follow;
	struct renew renew;
	struct fence fence;
	struct sweep sweep;
	struct move move;
	struct timer flush;
	bool flushing;
	struct rdma *rdma;
	struct mirror *mirror;
	struct takeover takeover;
};

/**
 * struct memd - a thread that takes messages, and what only it uses
 * @b: the blade
 * @nth: number of the thread, 0 for the first
 * @turn: its own
 * @seq: last sequence number used
 * @held: what waits for the twin
 * @hint: region that the last message was about
 */
struct memd {
	struct blade *b;
	u32 nth;
	struct turn turn;
	u32 seq;
	struct region_hint hint;
	struct gate gate;
	struct timers timers;
	struct udp udp;
	struct lines lines;
	struct staging staging;
	struct held held;
	struct stats stats;
};

/**
 * memd_init() - set everything up but the socket
 * @key: of the rack; NULL, or one that is not set: it has none
 * @err: receives a sentence
 *
 * Return: 0 or -1.
 */
int memd_init(struct memd *m, const struct options *o, const struct weft_key *key,
	      char *err);

/* The socket is open: begin. */
void memd_start(struct memd *m);

void memd_exit(struct memd *m);

/* A datagram, from an address and a port. */
void memd_receive(struct memd *m, const void *buf, size_t len, u32 from, u16 port);

/* The same for LANDED, by a node's card, which has written the bytes of a block there before. */
void memd_receive_home(struct memd *m, const void *buf, size_t len, u32 from, const u8 *bytes);

/*
 * A datagram whose turn comes soon.  What it will be answered with is called into the
 * processor's cache meanwhile, else each page is waited for: first the description of the
 * block, then its contents.  Nothing is believed or changed.
 *
 * Return: the line, 0 if it asks for no block.
 */
u64 memd_far(struct memd *m, const void *buf, size_t len);
void memd_near(struct memd *m, u64 line);

/*
 * Frames are wanted that rest until the backing file is on the disk: begin, do not wait.
 * The caller is alone afterwards.
 */
void memd_flush_soon(struct memd *m);

/* Send to an address; src and rack are set, unless src is set already. */
void memd_send(struct memd *m, struct weft_msg *msg, u32 addr);

/* The same without a tag: for who has another key, or none. */
void memd_send_plain(struct memd *m, struct weft_msg *msg, u32 addr);

/* Send to a member, if its address is known. */
void memd_send_to(struct memd *m, struct weft_msg *msg, u32 id);

/* The same in two steps: write the payload where this says, then send. */
void *memd_payload(struct memd *m);
void memd_send_payload(struct memd *m, struct weft_msg *msg, u32 addr);

/* The same with its hash, see weft_wire_hash(); @hash 0: not known yet, it is filled in. */
void memd_send_hashed(struct memd *m, struct weft_msg *msg, u32 addr, u64 *hash);

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

/* The thread that has a line. */
static inline struct memd *memd_of(struct memd *m, u64 line)
{
	return m->b->thread[share_of(line, m->b->threads)];
}

static inline bool memd_is_first(const struct memd *m)
{
	return m->b->opt.id == WEFT_BLADE_MIN;
}

/* May nodes have lines?  Not while some may have lines of a former life. */
static inline bool memd_serves(const struct memd *m)
{
	return m->b->ready && !m->b->renew.active;
}

#define count(m, id)	((m)->stats.count[STAT_##id]++)

#endif /* WEFT_MEMD_H */
