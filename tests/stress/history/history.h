/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The history of a stress run: what weft-stress writes down and weft-check
 * judges.
 *
 * The data of a run are pages; a page is 64 lines of 64 bytes, and the number of
 * a line says what it is used for (history_kind()).  Memory is seen as lanes of
 * 1, 2, 4 or 8 bytes.  Every write to a lane brings a value that nobody else
 * ever writes there: the n-th write of thread t to a lane is n * threads + t.
 * Lanes start as 0, which nobody writes.  So whoever reads a value knows which
 * write it came from, and that is what makes histories decidable.
 *
 *	kind	lanes	   accesses
 *	PLAIN	1,2,4,8	   load, store, xchg, cmpxchg of one lane
 *	COUNTER	1,2,4,8	   load and fetch-and-add(1) of one lane
 *	WIDE	1,2	   store, xchg of the whole 8 bytes, all lanes alike; loads
 *			   of any aligned part.  Two different lanes in one load:
 *			   torn
 *	SPLIT	2	   all accesses in all sizes, 2, 4 and 8 bytes: every lane
 *			   has its own writes, larger accesses meet several lanes
 */
#ifndef WEFT_TESTS_STRESS_HISTORY_H
#define WEFT_TESTS_STRESS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_PAGE	4096u
#define HISTORY_LINE	64u
#define HISTORY_THREADS	64u

enum history_kind { KIND_PLAIN, KIND_COUNTER, KIND_WIDE, KIND_SPLIT };

enum history_op { OP_READ, OP_WRITE, OP_XCHG, OP_CAS, OP_ADD, OP_COUNT };

/**
 * struct history_record - one access, in the order of the thread's program
 * @seen:	what the access read, if it reads
 * @wrote:	what it wrote, or would have (a cmpxchg that failed)
 * @expect:	cmpxchg: the value that it asked for
 * @offset:	of the first byte, from the start of the data
 * @op:		&enum history_op
 * @size:	bytes: 1, 2, 4, 8
 * @unused:	0
 */
struct history_record {
	uint64_t seen;
	uint64_t wrote;
	uint64_t expect;
	uint32_t offset;
	uint8_t op;
	uint8_t size;
	uint16_t unused;
};

#define HISTORY_MAGIC	0x31747369684657ull
#define HISTORY_LOG	1	/* the accesses of a thread */
#define HISTORY_IMAGE	2	/* the data as a node saw them in the end */

/**
 * struct history_head - start of each file; the same sum must be at its end
 * @magic:	HISTORY_MAGIC
 * @type:	HISTORY_LOG or HISTORY_IMAGE
 * @node:	1..nodes
 * @nodes:	of the run
 * @thread:	0..threads-1, node by node
 * @threads:	of all nodes together
 * @pages:	of data
 * @run:	the same in all files of a run
 * @count:	records of a log, bytes of an image
 */
struct history_head {
	uint64_t magic;
	uint32_t type;
	uint32_t node;
	uint32_t nodes;
	uint32_t thread;
	uint32_t threads;
	uint32_t pages;
	uint64_t run;
	uint64_t count;
};

/**
 * struct history - all files of a run, read
 * @log:	of each thread; the records of thread t are @log[t][0..@count[t]-1]
 * @node_of:	the node of each thread
 * @image:	final contents as each node saw them, by node - 1
 */
struct history {
	uint32_t nodes;
	uint32_t threads;
	uint32_t pages;
	uint64_t run;
	struct history_record *log[HISTORY_THREADS];
	uint64_t count[HISTORY_THREADS];
	uint32_t node_of[HISTORY_THREADS];
	uint8_t *image[HISTORY_THREADS];
};

/* What a line is used for, from the offset of any byte in it. */
static inline enum history_kind history_kind(uint32_t offset)
{
	static const uint8_t kinds[8] = {
		KIND_PLAIN, KIND_PLAIN, KIND_PLAIN, KIND_PLAIN,
		KIND_COUNTER, KIND_WIDE, KIND_WIDE, KIND_SPLIT,
	};

	return kinds[offset / HISTORY_LINE % 8];
}

/* Bytes of a lane, from the offset of any byte in it. */
static inline uint32_t history_lane(uint32_t offset)
{
	uint32_t line = offset / HISTORY_LINE;

	switch (line % 8) {
	case 0: case 1: case 2: case 3:
		return 8 >> line % 8;
	case 4:
		return 8 >> line / 8 % 4;
	case 6:
		return 1;
	default:
		return 2;
	}
}

/* How often a thread may write to a lane so that all values stay different. */
static inline uint64_t history_writes_max(uint32_t lane, uint32_t threads)
{
	uint64_t values = lane >= 4 ? UINT32_MAX : (1ull << 8 * lane) - 1;

	return values / threads - 1;
}

/* Does the access write (given that it is well-formed)? */
static inline bool history_writes(const struct history_record *r)
{
	return r->op == OP_WRITE || r->op == OP_XCHG || r->op == OP_ADD ||
		(r->op == OP_CAS && r->seen == r->expect);
}

static inline bool history_reads(const struct history_record *r)
{
	return r->op != OP_WRITE;
}

static inline bool history_locked(const struct history_record *r)
{
	return r->op == OP_XCHG || r->op == OP_ADD || r->op == OP_CAS;
}

/* file.c */
int history_write(const char *path, const struct history_head *head,
		  const void *data, size_t len);
const char *history_read(struct history *h, int files, char **paths);
void history_free(struct history *h);

/**
 * struct verdict - what the checker found
 * @ok:		nothing wrong
 * @text:	the first thing that is wrong, in full sentences
 * @operations:	accesses judged
 * @locations:	lanes (or wide words) that were accessed
 * @foreign_reads: reads of a value that another node wrote
 * @foreign_rmw: atomic operations that took over from another node
 * @edges:	of the order over all locations
 */
struct verdict {
	bool ok;
	char text[4096];
	uint64_t operations;
	uint64_t locations;
	uint64_t foreign_reads;
	uint64_t foreign_rmw;
	uint64_t edges;
};

/* verdict.c */
void history_judge(const struct history *h, struct verdict *v);

/* selftest.c */
int history_selftest(void);

#endif /* WEFT_TESTS_STRESS_HISTORY_H */
