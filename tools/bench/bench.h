/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * weft-bench: measurements, one file a group, one JSON line a result.
 */
#ifndef WEFT_TOOLS_BENCH_H
#define WEFT_TOOLS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_REPEATS	100
#define BENCH_WIDTHS	8
#define BENCH_THREADS	64

/**
 * struct bench - options
 * @file:	what is measured
 * @reference:	what it is compared with
 * @dir:	shared directory of measurements with several nodes
 * @label:	of the results
 * @size:	bytes
 * @offset:	where to begin, bytes
 * @count:	operations of a thread and repeat
 * @repeats:	measurements, of which the median counts
 * @threads:	thread counts to measure with
 * @widths:	number of those
 * @target:	what the result should reach, 0 if nothing is asked
 * @read:	read() instead of loads from a mapping
 * @write:	write home instead of reading
 */
struct bench {
	const char *file;
	const char *reference;
	const char *dir;
	const char *label;
	uint64_t size;
	uint64_t offset;
	uint64_t count;
	unsigned int repeats;
	unsigned int threads[BENCH_WIDTHS];
	unsigned int widths;
	double target;
	bool read;
	bool write;
};

/* result.c */
void result_print(const struct bench *b, const char *bench, const char *label,
		  const char *unit, double *samples, unsigned int count);
int result_tsv(void);
int hist_tables(void);

/* pattern.c: contents that tell where they belong */
int bench_fill(const struct bench *b);
uint64_t pattern_word(uint64_t index);
void pattern_check(const char *file, uint64_t index, uint64_t word);
uint64_t pattern_sum(const uint64_t *words, uint64_t count);

/* read.c */
int bench_scan(const struct bench *b);
int bench_seqread(const struct bench *b);
int bench_randread(const struct bench *b);

/* share.c */
int bench_pingpong(const struct bench *b);
int bench_counter(const struct bench *b);
int bench_contend(const struct bench *b);

/* stream.c */
int bench_stream(const struct bench *b);

#endif /* WEFT_TOOLS_BENCH_H */
