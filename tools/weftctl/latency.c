// SPDX-License-Identifier: GPL-2.0-only
/* Histograms, see latency.h. */
#include "latency.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#define BAR_MAX		40	/* characters of the longest bar */

uint64_t latency_quantile(const struct hist *h, unsigned int permille)
{
	/* Not h->count * permille: that might not fit. */
	uint64_t wanted = h->count / 1000 * permille +
			  (h->count % 1000 * permille + 999) / 1000;
	uint64_t seen = 0;
	size_t i;

	if (!h->count)
		return 0;
	for (i = 0; i < h->len; i++) {
		seen += h->bucket[i].count;
		if (seen >= wanted)
			return h->bucket[i].below;
	}
	return 0;
}

/* --- Text ---------------------------------------------------------------- */

/* What the times of a quantile are less than. */
static void print_quantile(const struct hist *h, const char *label,
			   unsigned int permille)
{
	uint64_t ns = latency_quantile(h, permille);
	char text[TEXT_TIME_MAX];

	if (ns)
		printf(", %s < %s", label, text_duration((double)ns, text));
	else
		printf(", %s beyond the last limit", label);
}

static void print_bucket(const struct hist *h, size_t at, uint64_t most)
{
	static const char bar[BAR_MAX + 1] = "########################################";
	const struct bucket *b = &h->bucket[at];
	double length = (double)b->count / (double)most * BAR_MAX;
	char from[TEXT_TIME_MAX], to[TEXT_TIME_MAX] = "";
	uint64_t begin = b->below / 2;

	if (!b->below)
		begin = at ? h->bucket[at - 1].below : 0;
	if (b->below)
		text_duration((double)b->below, to);
	/* What there was of is seen. */
	printf("    %8s .. %-8s %12" PRIu64 " %.*s\n",
	       text_duration((double)begin, from), to, b->count,
	       length < 1 ? 1 : (int)(length + 0.5), bar);
}

static void print_one(const struct hist *h)
{
	char mean[TEXT_TIME_MAX];
	uint64_t most = 0;
	size_t i;

	printf("  %s: %" PRIu64, h->name, h->count);
	if (!h->count) {
		putchar('\n');
		return;
	}
	printf(", mean %s", text_duration((double)h->nsec / (double)h->count, mean));
	print_quantile(h, "half", 500);
	print_quantile(h, "99 %", 990);
	putchar('\n');
	for (i = 0; i < h->len; i++) {
		if (h->bucket[i].count > most)
			most = h->bucket[i].count;
	}
	for (i = 0; i < h->len; i++) {
		if (h->bucket[i].count)
			print_bucket(h, i, most);
	}
}

void latency_print(const struct hists *h)
{
	size_t i;

	for (i = 0; i < h->len; i++)
		print_one(&h->list[i]);
}

/* --- JSON ---------------------------------------------------------------- */

static void json_quantile(struct json *j, const char *key, const struct hist *h,
			  unsigned int permille)
{
	uint64_t ns = latency_quantile(h, permille);

	if (ns)
		json_u64(j, key, ns);
	else
		json_null(j, key);
}

void latency_json(struct json *j, const struct hists *h)
{
	size_t i, b;

	json_object(j, "latency");
	for (i = 0; i < h->len; i++) {
		const struct hist *one = &h->list[i];

		json_object(j, one->name);
		json_u64(j, "count", one->count);
		json_u64(j, "sum_ns", one->nsec);
		json_ratio(j, "mean_ns", one->nsec, one->count);
		json_quantile(j, "p50_below_ns", one, 500);
		json_quantile(j, "p99_below_ns", one, 990);
		json_array(j, "buckets");
		for (b = 0; b < one->len; b++) {
			json_object(j, NULL);
			if (one->bucket[b].below)
				json_u64(j, "below_ns", one->bucket[b].below);
			else
				json_null(j, "below_ns");
			json_u64(j, "count", one->bucket[b].count);
			json_close(j);
		}
		json_close(j);
		json_close(j);
	}
	json_close(j);
}
