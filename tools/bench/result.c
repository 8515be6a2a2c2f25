// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results: printed as one JSON line each, and turned into the table that the
 * plot is made from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "tools/common/json.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/**
 * result_print() - print the median of some measurements
 * @b:		the options
 * @bench:	name of the measurement
 * @label:	which of its variants
 * @unit:	of the values; "ratio" for those
 * @samples:	the values, sorted by this
 * @count:	their number
 */
void result_print(const struct bench *b, const char *bench, const char *label,
		  const char *unit, double *samples, unsigned int count)
{
	struct json j;
	double median;

	qsort(samples, count, sizeof(*samples), compare);
	median = (samples[(count - 1) / 2] + samples[count / 2]) / 2;
	json_begin(&j, stdout, false);
	json_string(&j, "bench", bench);
	json_string(&j, "label", label);
	json_real(&j, "value", median);
	json_real(&j, "min", samples[0]);
	json_real(&j, "max", samples[count - 1]);
	json_string(&j, "unit", unit);
	json_u64(&j, "repeats", count);
	if (b->target > 0)
		json_real(&j, "target", b->target);
	json_end(&j);
	fflush(stdout);
}

/* The value of a key in a line that result_print() could have printed. */
static const char *value_of(const char *line, const char *key, char *value, size_t room)
{
	const char *at = json_find(line, key);
	size_t len;

	if (!at)
		return NULL;
	if (*at == '"')
		len = strcspn(++at, "\"");
	else
		len = strcspn(at, ",}");
	if (!len || len >= room)
		return NULL;
	memcpy(value, at, len);
	value[len] = '\0';
	return value;
}

/**
 * result_tsv() - read results from standard input, print a table
 *
 * Lines that are no results are copied to standard error.
 */
int result_tsv(void)
{
	static const char *const keys[] = {
		"bench", "label", "value", "min", "max", "unit", "target",
	};
	const unsigned int count = sizeof(keys) / sizeof(*keys);
	char line[4096], values[7][256];
	unsigned int i, results = 0;

	printf("bench\tlabel\tvalue\tmin\tmax\tunit\ttarget\n");
	while (fgets(line, sizeof(line), stdin)) {
		for (i = 0; i < count; i++)
			if (!value_of(line, keys[i], values[i], sizeof(values[i]))) {
				if (i < 3)
					break;
				/* A value alone has no spread. */
				strcpy(values[i], i < 5 ? values[2] : "-");
			}
		if (i < 3) {
			fputs(line, stderr);
			continue;
		}
		results++;
		for (i = 0; i < count; i++)
			printf("%s%c", values[i], i + 1 < count ? '\t' : '\n');
	}
	if (!results)
		fprintf(stderr, "weft-bench: no results on standard input\n");
	return !results;
}
