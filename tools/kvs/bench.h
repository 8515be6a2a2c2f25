/* SPDX-License-Identifier: GPL-2.0-only */
/* Load and benchmark; their options, as the command line has them. */
#ifndef WEFT_KVS_BENCH_H
#define WEFT_KVS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct bench - what to do
 * @file:	the store
 * @workload:	a, b or c
 * @records:	to load
 * @value_size:	of each
 * @threads:	of each process
 * @processes:	on this node
 * @seconds:	to run, at most
 * @warm:	seconds before these that do not count
 * @operations:	of each thread, 0: as many as the time allows
 * @seed:	of random numbers
 * @sample:	one operation out of so many is timed
 * @kill_ms:	how often one of the processes is killed and another one takes its
 *		place; 0: never
 * @meet:	file in which nodes that run this at once wait for each other, NULL:
 *		there is one node
 * @json:	print that
 */
struct bench {
	const char *file;
	char workload;
	uint64_t records;
	uint64_t value_size;
	unsigned int threads;
	unsigned int processes;
	unsigned int seconds;
	unsigned int warm;
	uint64_t operations;
	uint64_t seed;
	unsigned int sample;
	unsigned int kill_ms;
	const char *meet;
	bool json;
};

/* Exit statuses. */
int bench_load(const struct bench *b);
int bench_run(const struct bench *b);

/* client.c: threads of one process; bench.c starts and watches them. */
struct shared;
void client_run(const struct bench *b, struct shared *s, unsigned int number);

#endif /* WEFT_KVS_BENCH_H */
