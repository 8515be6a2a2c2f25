/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shared file of a measurement: where the nodes meet, what they found, and for
 * each lock that is measured fresh memory.
 */
#ifndef WEFT_TOOLS_BENCH_LOCKS_ARENA_H
#define WEFT_TOOLS_BENCH_LOCKS_ARENA_H

#include "bench.h"

/**
 * struct found - what one node found
 * @lock: times until the lock was there
 * @data: times until the data was, too
 * @reads: acquisitions to read
 * @writes: acquisitions to write
 * @written: all of the life of the lock, with those before the measurement
 * @ns: how long it took
 * @datagrams: to and from the lock service
 * @late_ns: by how much it began too late
 * @grown: counters
 * @held: of hand-overs: how long the lock was held, nanoseconds; by what the data
 *	said then, 0: another held it
 * @touched: how long the data took before that
 */
#define ARENA_HELD	2048

struct found {
	struct hist lock;
	struct hist data;
	uint64_t reads;
	uint64_t writes;
	uint64_t written;
	uint64_t ns;
	uint64_t datagrams;
	uint64_t late_ns;
	struct tally grown;
	uint64_t held[ARENA_HELD];
	uint64_t touched[ARENA_HELD];
} __attribute__((aligned(4096)));

struct arena {
	struct meeting meeting;
	union lock_line session;
	struct found found[NODE_MAX];
	char memory[] __attribute__((aligned(4096)));
};

/* The file, opened by all nodes; @size: of the memory for locks and data. */
struct arena *arena_open(const struct lockbench *b, const char *what, size_t size);

/* The @index-th lock of the arena, with the data that it guards. */
void arena_lock(const struct lockbench *b, struct arena *a, const struct lock_kind *kind,
		unsigned int index, struct lock *l, struct lock_place *p);

/* Bytes for @locks locks. */
size_t arena_size(const struct lockbench *b, unsigned int locks);

/*
 * Touch all that the lock guards, to read or to write it, and end the program if
 * somebody else was there meanwhile.
 */
void arena_touch(const struct lock *l);

/* What the data says of how often it was written. */
uint64_t arena_written(const struct lock *l);


/* The counters of @found, of @n acquisitions. */
void tally_json(struct json *j, const struct found *f, uint64_t n);

/* Times: "NAME_p50_us" and so on, and the histogram as "NAME". */
void times_json(struct json *j, const char *name, const struct hist *h);

/* A line of results begins; json_end() ends it. */
void result_begin(struct json *j, const struct lockbench *b, const char *bench,
		  const char *lock);

#endif /* WEFT_TOOLS_BENCH_LOCKS_ARENA_H */
