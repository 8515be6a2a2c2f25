// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contents that tell where they belong, so that what is fast but wrong is not
 * measured as fast.
 */
#include <pthread.h>

#include "tools/demo/node.h"
#include "bench.h"

/**
 * pattern_word() - what belongs at a place
 * @index:	number of the 8-byte word in its file
 */
uint64_t pattern_word(uint64_t index)
{
	return (index + 1) * 0x9e3779b97f4a7c15ull;
}

/**
 * pattern_check() - end the program if the contents are wrong
 * @file:	name of the file
 * @index:	number of the word
 * @word:	what was read
 */
void pattern_check(const char *file, uint64_t index, uint64_t word)
{
	if (word != pattern_word(index))
		node_die("%s: wrong contents at byte %llu: 0x%llx instead of 0x%llx; was it made by weft-bench fill?",
			 file, (unsigned long long)index * 8,
			 (unsigned long long)word,
			 (unsigned long long)pattern_word(index));
}

/**
 * pattern_sum() - read words, all of them
 * @words:	start
 * @count:	number
 *
 * Four sums at once: what is measured shall be memory, not additions.
 */
uint64_t pattern_sum(const uint64_t *words, uint64_t count)
{
	uint64_t a = 0, b = 0, c = 0, d = 0, i;

	for (i = 0; i + 4 <= count; i += 4) {
		a += words[i];
		b += words[i + 1];
		c += words[i + 2];
		d += words[i + 3];
	}
	for (; i < count; i++)
		a += words[i];
	return a + b + c + d;
}

/* A part of a file, filled by a thread of its own. */
struct filler {
	pthread_t thread;
	uint64_t *words;
	uint64_t from;
	uint64_t to;
};

static void *fill_part(void *arg)
{
	struct filler *f = arg;
	uint64_t i;

	for (i = f->from; i < f->to; i++)
		f->words[i] = pattern_word(i);
	return NULL;
}

/**
 * bench_fill() - make a file with the pattern
 * @b:		the options: file, size, threads
 *
 * Each page is a miss that its thread waits for: many threads wait together.
 */
int bench_fill(const struct bench *b)
{
	uint64_t size = b->size / NODE_PAGE * NODE_PAGE, pages = size / NODE_PAGE, real;
	unsigned int threads = b->threads[0], i;
	struct filler fillers[BENCH_THREADS];
	uint64_t *words;
	int err;

	if (!b->file || !size)
		node_die("fill: give --file and --size");
	words = node_map(b->file, size, &real);
	for (i = 0; i < threads; i++) {
		fillers[i] = (struct filler){
			.words = words,
			.from = pages * i / threads * (NODE_PAGE / 8),
			.to = pages * (i + 1) / threads * (NODE_PAGE / 8),
		};
		err = pthread_create(&fillers[i].thread, NULL, fill_part, &fillers[i]);
		if (err)
			node_die("cannot start a thread: %s", strerror(err));
	}
	for (i = 0; i < threads; i++)
		pthread_join(fillers[i].thread, NULL);
	munmap(words, real);
	return 0;
}
