// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-diff: is the directory in P4 the directory of the core?
 *
 * Sends random frames to the P4 program, on the pipeline that weft-switchd runs,
 * and to weft_switch_handle(); compares every frame that comes out and every
 * register.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "compare.h"
#include "tools/common/number.h"

static const char usage[] =
"Usage: weft-diff [OPTION]...\n"
"Compare the P4 program with the core, on random frames.\n"
"\n"
"  -n, --frames N       number of frames (1000000)\n"
"  -s, --seed N         which frames (1)\n"
"      --spec FILE      the program (p4/generated/weft_pna.spec)\n"
"      --compiled FILE  the same as machine code, made by tools/switchd/compile\n"
"      --mutate N|all   make an error in the core: a difference must be found\n"
"      --mutations      list these errors\n"
"      --bench          measure the messages per second instead\n"
"  -j, --json           of --bench, as JSON\n"
"      --messages N     of --bench: only send N messages, for those who count\n"
"\n"
"Exit status: 0 no difference, 1 a difference or too few frames, 2 trouble.\n";

enum { OPT_SPEC = 256, OPT_COMPILED, OPT_MUTATE, OPT_MUTATIONS, OPT_BENCH, OPT_MESSAGES };

static const struct option options[] = {
	{ "frames", required_argument, NULL, 'n' },
	{ "seed", required_argument, NULL, 's' },
	{ "spec", required_argument, NULL, OPT_SPEC },
	{ "compiled", required_argument, NULL, OPT_COMPILED },
	{ "mutate", required_argument, NULL, OPT_MUTATE },
	{ "mutations", no_argument, NULL, OPT_MUTATIONS },
	{ "bench", no_argument, NULL, OPT_BENCH },
	{ "messages", required_argument, NULL, OPT_MESSAGES },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static u64 number(const char *option, const char *text, u64 min, u64 max)
{
	uint64_t value;

	if (number_u64(text, min, max, &value)) {
		fprintf(stderr, "weft-diff: %s wants a number from %" PRIu64 " to %" PRIu64
			", not '%s'\n", option, min, max, text);
		exit(2);
	}
	return value;
}

static int list_mutations(void)
{
	int i;

	for (i = MUTATE_NONE + 1; i < N_MUTATIONS; i++)
		printf("%d %s\n", i, mutation_texts[i]);
	return 0;
}

int main(int argc, char **argv)
{
	struct comparison c = {
		.spec = "p4/generated/weft_pna.spec", .frames = 1000000, .seed = 1,
	};
	bool measure = false, json = false, all = false;
	u64 messages = 0;
	char err[ERR_MAX];
	int option, code;

	while ((option = getopt_long(argc, argv, "n:s:jh", options, NULL)) >= 0) {
		switch (option) {
		case 'n':
			c.frames = number("--frames", optarg, 1, 1ull << 40);
			break;
		case 's':
			c.seed = number("--seed", optarg, 0, UINT64_MAX);
			break;
		case 'j':
			json = true;
			break;
		case OPT_SPEC:
			c.spec = optarg;
			break;
		case OPT_COMPILED:
			c.compiled = optarg;
			break;
		case OPT_MUTATE:
			if (!strcmp(optarg, "all")) {
				all = true;
				break;
			}
			c.mutation = (enum mutation)number("--mutate", optarg, 1,
							   N_MUTATIONS - 1);
			break;
		case OPT_MUTATIONS:
			return list_mutations();
		case OPT_BENCH:
			measure = true;
			break;
		case OPT_MESSAGES:
			messages = number("--messages", optarg, 1, 1ull << 40);
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "weft-diff: unexpected argument '%s'\n", argv[optind]);
		return 2;
	}
	if (frame_init(0, 0, err)) {
		fprintf(stderr, "weft-diff: %s\n", err);
		return 2;
	}
	if (measure)
		code = bench(c.spec, c.compiled, messages, json);
	else
		code = (int)(all ? compare_mutations(&c) : compare(&c));
	frame_exit();
	return code == COMPARE_TOO_FEW ? 1 : code;
}
