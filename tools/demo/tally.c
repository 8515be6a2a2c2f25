// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-tally: workers on several nodes count, each in a counter of its own.
 *
 *	weft-tally FILE WORKER [--stride BYTES] [--seconds S]
 *
 * The counter of worker W (0..1023) stands at byte W * BYTES of the file.  Nobody else
 * touches it, so that nothing needs to be agreed on and nothing ought to be
 * waited for.  The default, 64, is a cache line of one machine.  Nodes share by
 * blocks: with counters nearer to each other than that, each write of one worker takes
 * the block from the others.  docs/false-sharing.md finds that, and mends it.
 *
 * Prints at the end how far it came.
 */
#include <getopt.h>
#include <inttypes.h>

#include "node.h"

#define WORKERS		1024
#define STRIDE_MAX	(1u << 21)
#define LOOK_EVERY	256	/* counts between two looks at the clock */

static void usage(FILE *out)
{
	fputs("usage: weft-tally FILE WORKER [--stride BYTES] [--seconds S]\n\n"
	      "  WORKER         number of this worker, 0 to 1023, each another one\n"
	      "  --stride BYTES from one worker's counter to the next one's, 8 to 2M (64)\n"
	      "  --seconds S    how long to count (10)\n", out);
}

int main(int argc, char **argv)
{
	_Atomic uint64_t *counter;
	static const struct option options[] = {
		{ "stride", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	uint64_t stride = 64, seconds = 10, worker, end, start, counts = 0;
	unsigned int i;
	char *map;
	int letter;

	node_begin("weft-tally");
	while ((letter = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (letter) {
		case 's':
			stride = node_number_of("--stride", optarg, 8, STRIDE_MAX);
			break;
		case 't':
			seconds = node_number_of("--seconds", optarg, 1, 86400);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 1;
		}
	}
	if (argc - optind != 2 || stride % 8) {
		usage(stderr);
		return 1;
	}
	worker = node_number_of("WORKER", argv[optind + 1], 0, WORKERS - 1);
	map = node_map(argv[optind], WORKERS * stride, NULL);
	counter = (_Atomic uint64_t *)(map + worker * stride);

	start = now_ns();
	end = start + seconds * 1000000000ull;
	do {
		for (i = 0; i < LOOK_EVERY; i++)
			atomic_store_explicit(counter,
				atomic_load_explicit(counter, memory_order_relaxed) + 1,
				memory_order_relaxed);
		counts += LOOK_EVERY;
	} while (now_ns() < end);
	printf("worker %" PRIu64 ": %" PRIu64 " counts, %.0f a second\n", worker, counts,
	       (double)counts * 1e9 / (double)(now_ns() - start));
	return 0;
}
