// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histograms out of JSON, in the form of tools/common/hist.h: as weftctl -j stats latency tells
 * those of a node, weft-kvs -j and weft-lockbench theirs.  They become a table for hist.gp.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "tools/common/json.h"

#define NAME_MAX_LEN	200

/* How a histogram begins behind its name. */
static const char begin[] = "\":{\"count\":";

/* A string or a number that stands at @at, without quotes. */
static void take_value(const char *at, char *value, size_t room)
{
	size_t len;

	*value = '\0';
	if (!at)
		return;
	if (*at == '"')
		at++;
	len = strcspn(at, "\",}");
	snprintf(value, room, "%.*s ", (int)(len < room ? len : room - 1), at);
}

/* What tells it from those of other lines: the lock, the node, its own name. */
static void print_name(const char *line, const char *name, size_t len)
{
	const char *lock = json_find(line, "locks");
	char which[NAME_MAX_LEN], node[32];

	take_value(lock ? lock : json_find(line, "lock"), which, sizeof(which));
	take_value(json_find(line, "node"), node, sizeof(node));
	printf("%s%s%s%.*s\tcount\tshare\n", which, *node ? "node " : "", node, (int)len, name);
}

/* The buckets of the histogram at @at; where they end, NULL if they are cut. */
static const char *print_buckets(const char *at)
{
	const char *end = strchr(at, ']'), *bucket = json_find(at, "buckets");
	double all, below, count, sum = 0;

	if (!end || !bucket || bucket > end || !json_find_real(at, "count", &all))
		return NULL;
	while ((bucket = strchr(bucket, '{')) && bucket < end) {
		bool ends = json_find_real(bucket, "below_ns", &below);

		if (!json_find_real(bucket, "count", &count))
			return NULL;
		sum += count;
		bucket = strchr(bucket, '}');
		if (!bucket)
			return NULL;
		/* One without an end is left out of the table, but not of the shares. */
		if (ends)
			printf("%.0f\t%.0f\t%.6g\n", below, count, sum / all);
	}
	return end;
}

/**
 * hist_tables() - read JSON from standard input, a document a line, print tables
 *
 * One for each histogram that has counted something: its name, then for each bucket what its
 * times are less than (ns), how many there are, and what part of all are not longer.  Two
 * empty lines stand between tables, as gnuplot wants it.
 */
int hist_tables(void)
{
	unsigned int tables = 0;
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		const char *at = line, *name;

		while (at && (at = strstr(at, begin))) {
			for (name = at; name > line && name[-1] != '"'; name--)
				;
			if (strtod(at + sizeof(begin) - 1, NULL) > 0) {
				fputs(tables++ ? "\n\n" : "", stdout);
				print_name(line, name, (size_t)(at - name));
				at = print_buckets(at + 2);
			} else {
				at++;
			}
		}
	}
	free(line);
	if (!tables)
		fprintf(stderr, "weft-bench: no histograms on standard input\n");
	return !tables;
}
