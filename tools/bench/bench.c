// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-bench: measurements of shared memory, run on one node or on several.  See
 * the usage; each measurement is described where it is.
 */
#include <getopt.h>

#include "tools/common/number.h"
#include "tools/demo/node.h"
#include "bench.h"

static const char usage[] =
"usage: weft-bench COMMAND [OPTIONS]\n"
"One JSON line a result, the median of the repeats.\n"
"  fill      write a pattern to --file, --size bytes, with --threads; run it on\n"
"            another node than what reads it\n"
"  scan      read cached --file and a copy of it, --reference (made when missing)\n"
"  seqread   read uncached --file in order, each repeat another part of it\n"
"  randread  read --count uncached pages of --file with each thread, each page once\n"
"  pingpong  two nodes write to the same page in turns, --count times each\n"
"  counter   each thread on each node adds --count times to one counter\n"
"  contend   each node adds to one counter for --count milliseconds\n"
"  stream    several at once go through a --file of --size each, read it, or modify it\n"
"            and --write it home: rate, least share, longest gap\n"
"  tsv       turn JSON lines on standard input into a table\n"
"  hist      turn histograms in JSON lines on standard input into tables\n"
"Options:\n"
"  --file F --reference F --size BYTES (of the file to use)\n"
"  --offset BYTES   where to begin (seqread)\n"
"  --repeats N (default 5)  --count N (default 1000)  --threads T[,T...] (default 1)\n"
"  --read           read() instead of loads from a mapping (scan, seqread)\n"
"  --write          write home (stream)\n"
"  --label TEXT     of the results (stream)\n"
"  --target X       what the result should reach; goes into the result\n"
"  --dir DIR        shared directory of those on several nodes (default /weft);\n"
"                   the file DIR/bench-COMMAND must not exist before\n"
"  --node K --nodes N --timeout S    pingpong, counter, contend, stream\n";

static const struct {
	const char *name;
	int (*run)(const struct bench *b);
} commands[] = {
	{ "fill", bench_fill },
	{ "scan", bench_scan },
	{ "seqread", bench_seqread },
	{ "randread", bench_randread },
	{ "pingpong", bench_pingpong },
	{ "counter", bench_counter },
	{ "contend", bench_contend },
	{ "stream", bench_stream },
};

enum {
	O_FILE = 256, O_REFERENCE, O_SIZE, O_REPEATS, O_COUNT, O_THREADS, O_READ,
	O_OFFSET, O_TARGET, O_DIR, O_WRITE, O_LABEL, O_HELP,
};

static const struct option options[] = {
	{ "file", required_argument, NULL, O_FILE },
	{ "reference", required_argument, NULL, O_REFERENCE },
	{ "size", required_argument, NULL, O_SIZE },
	{ "offset", required_argument, NULL, O_OFFSET },
	{ "repeats", required_argument, NULL, O_REPEATS },
	{ "count", required_argument, NULL, O_COUNT },
	{ "threads", required_argument, NULL, O_THREADS },
	{ "read", no_argument, NULL, O_READ },
	{ "target", required_argument, NULL, O_TARGET },
	{ "dir", required_argument, NULL, O_DIR },
	{ "write", no_argument, NULL, O_WRITE },
	{ "label", required_argument, NULL, O_LABEL },
	NODE_OPTIONS,
	{ "help", no_argument, NULL, O_HELP },
	{ }
};

static void parse_threads(struct bench *b, char *list)
{
	b->widths = node_numbers_of("--threads", list, 1, BENCH_THREADS, b->threads,
				    BENCH_WIDTHS);
	if (!b->widths)
		node_die("--threads: give numbers, as 1,2,4");
}

static int parse(struct bench *b, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (node_option(c))
			continue;
		switch (c) {
		case O_FILE: b->file = optarg; break;
		case O_REFERENCE: b->reference = optarg; break;
		case O_SIZE: b->size = node_number_of("--size", optarg, NODE_PAGE, 1ull << 44); break;
		case O_OFFSET: b->offset = node_number_of("--offset", optarg, 0, 1ull << 44); break;
		case O_REPEATS: b->repeats = node_number_of("--repeats", optarg, 1, BENCH_REPEATS); break;
		case O_COUNT: b->count = node_number_of("--count", optarg, 1, 1u << 30); break;
		case O_THREADS: parse_threads(b, optarg); break;
		case O_READ: b->read = true; break;
		case O_TARGET:
			if (number_real(optarg, -1e15, 1e15, &b->target))
				node_die("--target %s: give a number", optarg);
			break;
		case O_DIR: b->dir = optarg; break;
		case O_WRITE: b->write = true; break;
		case O_LABEL: b->label = optarg; break;
		case O_HELP: fputs(usage, stdout); exit(0);
		default: return -1;
		}
	}
	return optind < argc ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct bench b = { .dir = "/weft", .label = "incast", .count = 1000, .repeats = 5,
			   .threads = { 1 }, .widths = 1 };
	unsigned int i;

	node_begin("weft-bench");
	if (argc == 2 && !strcmp(argv[1], "tsv"))
		return result_tsv();
	if (argc == 2 && !strcmp(argv[1], "hist"))
		return hist_tables();
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		if (parse(&b, argc - 1, argv + 1))
			break;
		node_check();
		return commands[i].run(&b);
	}
	fputs(usage, stderr);
	return 2;
}
