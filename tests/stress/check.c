// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-check: judges what weft-stress wrote down.  Exit status 0: the history
 * is right; 1: it is wrong, and the first thing that is wrong was printed; 2: it
 * cannot be judged (files missing, cut, damaged, too few accesses asked for).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/history.h"
#include "tools/common/number.h"

static const char usage[] =
"usage: weft-check [--min-ops N] [--min-foreign N] FILE...\n"
"       weft-check --selftest\n"
"Judges the logs and images that weft-stress wrote on all nodes.\n"
"  --min-ops N      refuse a run of fewer accesses\n"
"  --min-foreign N  refuse a run where fewer reads saw another node's write\n"
"  --selftest       prove that the checker finds what it has to find\n";

int main(int argc, char **argv)
{
	static struct history h;
	static struct verdict v;
	uint64_t min_ops = 1, min_foreign = 0;
	const char *wrong;
	int i;

	for (i = 1; i < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--selftest") && argc == 2)
			return history_selftest();
		if (!strcmp(argv[i], "--help")) {
			fputs(usage, stdout);
			return 0;
		}
		if (i + 1 < argc && !strcmp(argv[i], "--min-ops") &&
		    !number_decimal(argv[i + 1], 0, UINT64_MAX, &min_ops))
			i++;
		else if (i + 1 < argc && !strcmp(argv[i], "--min-foreign") &&
			 !number_decimal(argv[i + 1], 0, UINT64_MAX, &min_foreign))
			i++;
		else
			break;
	}
	if (i >= argc || !strncmp(argv[i], "--", 2)) {
		fputs(usage, stderr);
		return 2;
	}
	wrong = history_read(&h, argc - i, argv + i);
	if (wrong) {
		fprintf(stderr, "weft-check: %s\n", wrong);
		return 2;
	}
	history_judge(&h, &v);
	history_free(&h);
	if (!v.ok) {
		printf("WRONG: %s", v.text);
		return 1;
	}
	printf("right: %llu accesses to %llu locations; %llu reads saw another node's write, %llu atomic operations took over from another node; %llu edges of order\n",
	       (unsigned long long)v.operations, (unsigned long long)v.locations,
	       (unsigned long long)v.foreign_reads,
	       (unsigned long long)v.foreign_rmw, (unsigned long long)v.edges);
	if (v.operations < min_ops || v.foreign_reads < min_foreign) {
		fprintf(stderr, "weft-check: right, but not enough: %llu accesses of %llu, %llu foreign reads of %llu\n",
			(unsigned long long)v.operations, (unsigned long long)min_ops,
			(unsigned long long)v.foreign_reads,
			(unsigned long long)min_foreign);
		return 2;
	}
	return 0;
}
