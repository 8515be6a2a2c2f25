// SPDX-License-Identifier: GPL-2.0-only
/* Histograms, see latency.h. */
#include "view/latency.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define BAR_MAX		40	/* characters of the longest bar */

/* --- Text ---------------------------------------------------------------- */

/* What the times of a quantile are less than. */
static void print_quantile(const struct hist_list *h, const char *label,
			   unsigned int permille)
{
	uint64_t ns = hist_list_below(h, permille);
	char text[TEXT_TIME_MAX];

	if (ns)
		printf(", %s < %s", label, text_duration((double)ns, text));
	else
		printf(", %s beyond the last limit", label);
}

static void print_bucket(const struct hist_list *h, size_t at, uint64_t most)
{
	static const char bar[BAR_MAX + 1] = "########################################";
	const struct hist_bucket *b = &h->bucket[at];
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

static void print_one(const struct kernel_hist *kind)
{
	const struct hist_list *h = &kind->times;
	char mean[TEXT_TIME_MAX];
	uint64_t most = 0;
	size_t i;

	printf("  %s: %" PRIu64, kind->name, h->count);
	if (!h->count) {
		putchar('\n');
		return;
	}
	printf(", mean %s", text_duration((double)h->sum / (double)h->count, mean));
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

void latency_json(struct json *j, const struct hists *h)
{
	size_t i;

	json_object(j, "latency");
	for (i = 0; i < h->len; i++)
		hist_list_json(j, h->list[i].name, &h->list[i].times);
	json_close(j);
}
