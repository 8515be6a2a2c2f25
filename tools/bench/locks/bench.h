/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * weft-lockbench: measurements of locks, one file a measurement, one JSON line a
 * result.
 */
#ifndef WEFT_TOOLS_BENCH_LOCKS_BENCH_H
#define WEFT_TOOLS_BENCH_LOCKS_BENCH_H

#include "lock.h"
#include "tools/common/hist.h"

#define BENCH_KINDS	8
#define BENCH_SHARES	8
#define BENCH_PROCS	8
#define BENCH_PAGES	64

/**
 * struct lockbench - options
 * @dir: shared directory; each measurement makes a file in it
 * @name: goes into the names of those files, so that none is used twice
 * @label: goes into the results
 * @kinds: to be measured, one after the other
 * @kinds_len: how many
 * @readers: percent of the acquisitions that only read
 * @readers_len: how many
 * @procs: on each node
 * @pages: that the lock guards
 * @seconds: of each measurement, if @count is 0
 * @count: acquisitions of each process
 * @think_us: between leaving the lock and asking for it again
 * @idle: so many nodes, from the first, have the lock open before all others, and do not
 *	take it (counter)
 * @hold_us: a hand-over's holder stays for that long
 * @settle_ms: without any traffic, before and after what is counted
 * @count_messages: what the kernel counts, too
 * @service: where the lock service is
 * @peer: where weft-lockbench pong runs
 * @port: of serve, pong
 */
struct lockbench {
	const char *dir;
	const char *name;
	const char *label;
	const struct lock_kind *kinds[BENCH_KINDS];
	unsigned int kinds_len;
	unsigned int readers[BENCH_SHARES];
	unsigned int readers_len;
	unsigned int procs;
	unsigned int pages;
	double seconds;
	uint64_t count;
	unsigned int think_us;
	unsigned int idle;
	unsigned int hold_us;
	unsigned int settle_ms;
	bool count_messages;
	struct sockaddr_in service;
	struct sockaddr_in peer;
	uint16_t port;
};

/* run.c: many at one lock; counter.c; handover.c; latency.c: one alone; ping.c;
 * dlm_space.c: no measurement, but makes ready for them */
int bench_run(const struct lockbench *b);
int bench_counter(const struct lockbench *b);
int bench_handover(const struct lockbench *b);
int bench_latency(const struct lockbench *b);
int bench_ping(const struct lockbench *b);
int bench_pong(const struct lockbench *b);
int bench_dlm(const struct lockbench *b);

/* --- tally.c -------------------------------------------------------------- */

#define TALLY_MAX	512

/**
 * struct tally - counters
 * @len: how many, 0: they were not read
 * @list: name, value; those of memory blades begin with "home_"
 */
struct tally {
	uint64_t len;
	struct counted {
		char name[40];
		uint64_t value;
	} list[TALLY_MAX];
};

/* kernel.c */
void tally_read(struct tally *c);

void tally_one(struct tally *c, const char *prefix, const char *name, uint64_t value);
/* What has grown since; counters that have not are left out. */
void tally_since(struct tally *c, const struct tally *before);
void tally_add(struct tally *sum, const struct tally *c);
uint64_t tally_get(const struct tally *c, const char *name);
/* Misses that were served, of all kinds. */
uint64_t tally_misses(const struct tally *c);
/* Packets of this machine that are on its networks, either way: "packets_". */
void tally_packets(struct tally *c);
/* Messages, each once: of a type, what one end has sent the other has received. */
uint64_t tally_messages(const struct tally *c);

#endif /* WEFT_TOOLS_BENCH_LOCKS_BENCH_H */
