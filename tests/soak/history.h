/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The history of a soak: what workers write down as they go, and what was done to the rack
 * meanwhile.  Lines of words; times are nanoseconds of one clock, tags name who wrote.
 *
 * Of workers:
 *	b NODE WORKER KIND T			a process begins
 *	o NODE WORKER KIND SLOT T0 TA TR T1 SEEN PREV MINE FLAGS
 *						asked, had, left, done; what was there, what
 *						that had found, what was written (0: only read);
 *						FLAGS: t told that the owner died, m contents are
 *						of two, i somebody is at work on it, or -
 *	s NODE WORKER SLOT T0 T1 TAG		fsync() of that has returned 0
 *	e NODE WORKER KIND SLOT T0 T1 ERROR WHERE
 *	z NODE WORKER T				it ends well
 *	k NODE WORKER T				it was killed, or gave up after an error
 *
 * Of the script:
 *	D DEATH NODE HOW ISO SURE OUT HEAL BACK	begins to be cut off, is, is taken out, is no more
 *						cut off from here on, is a member again
 *	L DEATH OFFSET BYTES REGION		listed as lost after that
 *	Y DEATH					and that list is whole
 *	F NAME NODE T0 T1 BOUND			a fault of any kind, until all goes on; node 0: none;
 *						meanwhile an operation takes BOUND ms at most
 *	B T0 T1					a blade was away, or the switch forgot all: who had
 *						what is not known any more
 *	M T0 T1					its machine has ended, for all that is seen of it
 *	U T0 T1					a node has let go of a lock without its data home
 *	P T0 T1 MORE				the machine itself stood still: a death under way may
 *						take MORE ms more, as a blade then waits anew
 *	O T					over: who began then only looks
 */
#ifndef WEFT_TESTS_SOAK_HISTORY_H
#define WEFT_TESTS_SOAK_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum soak_kind {
	SOAK_GUARDED,	/* locks of libweft that guard a block each */
	SOAK_MUTEX,	/* robust mutexes by the preload library */
	SOAK_RELEASE,	/* locks of libweft, durability=release */
	SOAK_BIG,	/* the same, write-back, more than the cache has room for */
	SOAK_WORD,	/* words by atomic exchange, eight to a block */
	SOAK_SYNC,	/* records, durability=sync */
	SOAK_KINDS,
};

#define SOAK_BLOCK	4096u
#define SOAK_LOCKS	16u	/* locks to a block */

/**
 * struct soak_about - what a kind is
 * @name:	of it, and of its region
 * @slots:	how many there are
 * @a_block:	slots to a block
 * @locked:	before the blocks stand locks
 */
struct soak_about {
	const char *name;
	uint32_t slots;
	uint32_t a_block;
	bool locked;
};

static const struct soak_about soak_about[SOAK_KINDS] = {
	[SOAK_GUARDED]	= { "soak-guarded", 16, 1, true },
	[SOAK_MUTEX]	= { "soak-mutex", 16, 1, true },
	[SOAK_RELEASE]	= { "soak-release", 16, 1, true },
	[SOAK_BIG]	= { "soak-big", 768, 1, true },
	[SOAK_WORD]	= { "soak-word", 64, 8, false },
	[SOAK_SYNC]	= { "soak-sync", 512, 64, false },
};

/* Where the block of a slot begins in its region. */
static inline size_t soak_offset(enum soak_kind kind, uint32_t slot)
{
	const struct soak_about *a = &soak_about[kind];
	size_t locks = a->locked ? (a->slots + SOAK_LOCKS - 1) / SOAK_LOCKS : 0;

	return (locks + slot / a->a_block) * SOAK_BLOCK;
}

static inline size_t soak_size(enum soak_kind kind)
{
	return soak_offset(kind, soak_about[kind].slots - 1) + SOAK_BLOCK;
}

/* Tags: who wrote, and the how many-th it was of that process. */
static inline uint64_t soak_tag(uint32_t worker, uint32_t seq)
{
	return (uint64_t)worker << 32 | seq;
}

struct soak_op {
	uint32_t node;
	uint32_t worker;
	uint32_t slot;
	uint8_t kind;
	bool told, mixed, inside;
	bool unlogged;		/* made up: nobody lived to write it down */
	uint64_t t0, ta, tr, t1;
	uint64_t seen, prev, mine;
};

struct soak_ack {
	uint32_t node, slot;
	uint64_t t0, t1, tag;
};

struct soak_error {
	uint32_t node, worker, slot;
	uint8_t kind;
	uint64_t t0, t1;
	int error;
	char where[16];
};

struct soak_process {
	uint32_t node, worker;
	uint64_t begun, ended;
	uint64_t last;		/* end of the last operation that it has written down */
	uint32_t seq;		/* and of that which wrote */
	bool well, killed;
};

struct soak_death {
	uint32_t number, node;
	char how[12];
	uint64_t iso, sure, out, heal, back;
	bool listed;
};

struct soak_lost {
	uint32_t death;
	uint64_t offset, bytes;
	uint8_t kind;
};

struct soak_fault {
	char name[16];
	uint32_t node;
	uint64_t t0, t1;
	uint64_t bound;		/* of operations meanwhile, nanoseconds */
	uint64_t longest;	/* that a process elsewhere got nothing done */
};

struct soak_span {
	uint64_t t0, t1;
};

struct soak_still {
	uint64_t t0, t1;
	uint64_t more;		/* of a death's bound, nanoseconds */
};

/* A list that grows. */
#define SOAK_LIST(type)	struct { type *at; size_t n, room; }

struct soak_history {
	SOAK_LIST(struct soak_op) ops;
	SOAK_LIST(struct soak_ack) acks;
	SOAK_LIST(struct soak_error) errors;
	SOAK_LIST(struct soak_process) processes;
	SOAK_LIST(struct soak_death) deaths;
	SOAK_LIST(struct soak_lost) lost;
	SOAK_LIST(struct soak_fault) faults;
	SOAK_LIST(struct soak_span) blades;
	SOAK_LIST(struct soak_span) machines;
	SOAK_LIST(struct soak_span) unsafe;
	SOAK_LIST(struct soak_still) still;
	uint64_t over;
	size_t cut;		/* lines that end in the midst of it: their node died */
};

/**
 * struct soak_verdict - what the checker found
 * @wrong:	how many things
 * @lost:	writes that are lost, and explained by a death
 * @unlogged:	writes that were seen, of somebody who died before writing them down
 * @told:	times that somebody was told of a dead owner
 * @done:	operations by kind
 * @acks:	records that fsync() has made safe
 * @quiet:	do not print what is wrong
 */
struct soak_verdict {
	size_t wrong, lost, unlogged, told;
	size_t done[SOAK_KINDS];
	size_t acks;
	bool quiet;
};

/* read.c: 0, or a line that makes no sense is told of. */
int soak_line(struct soak_history *h, const char *line, bool whole);
int soak_read(struct soak_history *h, const char *path);
void soak_free(struct soak_history *h);
void *soak_more(void *list, size_t n, size_t *room, size_t size);

/* The next of a list, all zero. */
#define soak_add(list) ((list).at = soak_more((list).at, (list).n, &(list).room,	\
					      sizeof(*(list).at)), &(list).at[(list).n++])

/* judge.c; @bound: how long an operation may take while there is no fault, nanoseconds. */
void soak_judge(struct soak_history *h, uint64_t bound, struct soak_verdict *v);
void soak_say(struct soak_verdict *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const struct soak_death *soak_zombie(const struct soak_history *h, const struct soak_op *op);

/* chain.c: operations of one slot, in any order; all are of @h. */
void soak_chain(const struct soak_history *h, struct soak_op *ops, size_t n,
		struct soak_verdict *v);

/* selftest.c */
int soak_selftest(void);

#endif /* WEFT_TESTS_SOAK_HISTORY_H */
