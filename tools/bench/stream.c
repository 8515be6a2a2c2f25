// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several streams at once, each through a file of its own: how fast all of them are
 * together, what the slowest has of an equal share, and how long one stood still.
 */

#include "tools/demo/node.h"
#include "bench.h"

#define PIECE		(64u << 10)	/* a look at the clock after each */
#define PIECES_MAX	16384

/**
 * struct streams - what the streams tell each other; zeros at first, good for one run
 * @meeting: where they begin, and end
 * @ns: how long each of them took
 * @done: pieces that each had when the first one was through
 * @gap: the longest time that each took for a piece, ns
 */
struct streams {
	struct meeting meeting;
	struct {
		_Atomic uint64_t ns;
		_Atomic uint64_t done;
		_Atomic uint64_t gap;
		char unused[NODE_PAGE - 3 * sizeof(uint64_t)];
	} of[NODE_MAX];
};

/* When each piece was through, ns since the beginning; and the words of all. */
static uint64_t through[PIECES_MAX], sum;

static void read_piece(const struct bench *b, int fd, uint64_t at)
{
	static uint64_t buffer[PIECE / 8];
	ssize_t got = pread(fd, buffer, PIECE, at);

	if (got != PIECE)
		node_die("stream: cannot read %s: %s", b->file,
			 got < 0 ? strerror(errno) : "it ends early");
	sum += pattern_sum(buffer, PIECE / 8);
}

static void write_piece(const struct bench *b, uint64_t *words, uint64_t at)
{
	if (msync((char *)words + at, PIECE, MS_SYNC))
		node_die("stream: cannot write %s home: %s", b->file, strerror(errno));
}

/* Make the whole file this node's to write. */
static void modify(uint64_t *words, uint64_t size)
{
	uint64_t i;

	for (i = 0; i < size / 8; i++)
		words[i] = pattern_word(i);
}

static void check(const struct bench *b, uint64_t size)
{
	uint64_t wanted = 0, i;

	for (i = 0; i < size / 8; i++)
		wanted += pattern_word(i);
	if (sum != wanted)
		node_die("%s: wrong contents; was it made by weft-bench fill?", b->file);
}

static void tell(const struct bench *b, struct streams *s, uint64_t pieces)
{
	double rate = 0, share, gap = 0, all = 0, least = -1;
	char label[128];
	unsigned int k;

	for (k = 0; k < node.count; k++) {
		double done = atomic_load(&s->of[k].done), ns = atomic_load(&s->of[k].gap);

		all += done;
		if (least < 0 || done < least)
			least = done;
		if (ns > gap)
			gap = ns;
		if (atomic_load(&s->of[k].ns) > rate)
			rate = atomic_load(&s->of[k].ns);
	}
	rate = 1e3 * pieces * PIECE * node.count / rate;
	share = least * node.count / all;
	gap /= 1e6;
	snprintf(label, sizeof(label), "%s streams=%u all", b->label, node.count);
	result_print(b, "stream", label, "MB/s", &rate, 1);
	snprintf(label, sizeof(label), "%s streams=%u least share", b->label, node.count);
	result_print(b, "stream", label, "ratio", &share, 1);
	snprintf(label, sizeof(label), "%s streams=%u longest gap", b->label, node.count);
	result_print(b, "stream", label, "ms", &gap, 1);
}

/**
 * bench_stream() - one of several streams that begin together
 * @b:		the options
 *
 * Reads an uncached file in order, made by weft-bench fill; or, with --write, modifies it,
 * and writes it home when all have done so.
 */
int bench_stream(const struct bench *b)
{
	uint64_t size, at, start, now, last = 0, gap = 0, first = ~0ull, done = 0, i;
	static char path[4096];
	uint64_t *words = NULL;
	struct streams *s;
	unsigned int k;
	int fd;

	size = b->size / PIECE * PIECE;
	if (!b->file || !size || size / PIECE > PIECES_MAX)
		node_die("stream: give --file and --size, %u KiB to %u MiB", PIECE >> 10,
			 PIECES_MAX / (1048576 / PIECE));
	snprintf(path, sizeof(path), "%s/bench-stream", b->dir);
	s = node_map(path, sizeof(*s), NULL);
	node_join(&s->meeting, path);
	/* who is through does not disturb the others */
	node.pause_us = 20000;
	fd = node_open(b->file, b->write ? size : 0, NULL);
	if (b->write) {
		words = node_map(b->file, size, NULL);
		modify(words, size);
	}
	node_meet();
	start = now_ns();
	for (at = 0; at < size; at += PIECE, last = now) {
		if (b->write)
			write_piece(b, words, at);
		else
			read_piece(b, fd, at);
		now = now_ns() - start;
		through[at / PIECE] = now;
		if (now - last > gap)
			gap = now - last;
	}
	if (!b->write)
		check(b, size);
	atomic_store(&s->of[node.number - 1].ns, last);
	atomic_store(&s->of[node.number - 1].gap, gap);
	node_meet();
	for (k = 0; k < node.count; k++) {
		uint64_t ns = atomic_load(&s->of[k].ns);

		if (ns < first)
			first = ns;
	}
	for (i = 0; i < size / PIECE && through[i] <= first; i++)
		done++;
	atomic_store(&s->of[node.number - 1].done, done);
	node_meet();
	if (node.number == 1)
		tell(b, s, size / PIECE);
	return 0;
}
