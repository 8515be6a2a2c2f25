// SPDX-License-Identifier: GPL-2.0-only
/* Prometheus' text format, see prometheus.h. */
#include "view/prometheus.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/rack.h"
#include "base/text.h"
#include "kernel/kernel.h"
#include "weft_wire.h"

/*
 * Limits that all histograms have, log2 of ns: a scraper wants the same ones each
 * time, and 1 us to 17 s are all that matter.  A bucket of the kernel's has whole
 * ns below a power of 2, and "le" means "or equal".
 */
#define LE_FIRST	10
#define LE_LAST		34

#define LABELS_MAX	64

#define RACK_MAX	32

/* "rack" as a label, after @before, if one was chosen; else "". */
static const char *rack_label(const char *before, char text[RACK_MAX])
{
	uint32_t rack;

	text[0] = 0;
	if (rack_chosen(&rack))
		snprintf(text, RACK_MAX, "%srack=\"%u\"", before, rack);
	return text;
}

/* A name from elsewhere that is none here; the kernel lets none through. */
static bool is_name(const char *text)
{
	const char *c;

	for (c = text; *c; c++) {
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	}
	return c > text;
}

static void print_counters(const char *prefix, const char *labels, const struct counters *c)
{
	size_t i;

	for (i = 0; i < c->len; i++) {
		const char *name = c->list[i].name;

		if (!is_name(name))
			continue;
		printf("# TYPE %s_%s_total counter\n%s_%s_total%s %" PRIu64 "\n",
		       prefix, name, prefix, name, labels, c->list[i].value);
	}
}

/* All samples of a name stand together, so this goes by names, not by blades. */
static void print_blades(const struct gathered *g)
{
	char rack[RACK_MAX];
	size_t i, k;
	unsigned int b;

	puts("# HELP weft_blade_up Does the memory blade answer?\n"
	     "# TYPE weft_blade_up gauge");
	for (b = 0; b < g->homes_len; b++) {
		if (!(g->drained & UINT32_C(1) << b))
			printf("weft_blade_up{blade=\"%u\",address=\"%s\"%s} %d\n",
			       WEFT_BLADE_MIN + b, text_address(g->homes[b]),
			       rack_label(",", rack), !(g->silent & UINT32_C(1) << b));
	}
	for (i = 0; i < g->of[OF_ALL].len; i++) {
		const char *name = g->of[OF_ALL].list[i].name;
		bool gauge = gather_is_gauge(name);

		if (!is_name(name))
			continue;
		printf("# TYPE weft_blade_%s%s\n", name, gauge ? " gauge" : "_total counter");
		for (b = 0; b < g->homes_len; b++) {
			const struct counters *c = &g->of[OF_BLADE + b];

			for (k = 0; k < c->len; k++) {
				if (!strcmp(c->list[k].name, name))
					break;
			}
			if (k == c->len)
				continue;
			printf("weft_blade_%s%s{blade=\"%u\",address=\"%s\"%s} %" PRIu64 "\n",
			       name, gauge ? "" : "_total", WEFT_BLADE_MIN + b,
			       text_address(g->homes[b]), rack_label(",", rack),
			       c->list[k].value);
		}
	}
}

/* So many ns in seconds, exactly. */
static void print_seconds(uint64_t ns)
{
	printf("%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

static void print_hist(uint32_t id, const struct kernel_hist *kind)
{
	const struct hist_list *h = &kind->times;
	char labels[LABELS_MAX + HIST_NAME_MAX], rack[RACK_MAX];
	uint64_t count = 0;
	size_t at = 0;
	int le;

	if (id)
		snprintf(labels, sizeof(labels), "node=\"%u\",kind=\"%s\"%s", id, kind->name,
			 rack_label(",", rack));
	else
		snprintf(labels, sizeof(labels), "kind=\"%s\"%s", kind->name,
			 rack_label(",", rack));
	for (le = LE_FIRST; le <= LE_LAST; le++) {
		for (; at < h->len && h->bucket[at].below &&
		       h->bucket[at].below <= UINT64_C(1) << le; at++)
			count += h->bucket[at].count;
		printf("weft_latency_seconds_bucket{%s,le=\"", labels);
		print_seconds((UINT64_C(1) << le) - 1);
		printf("\"} %" PRIu64 "\n", count);
	}
	printf("weft_latency_seconds_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", labels, h->count);
	printf("weft_latency_seconds_sum{%s} ", labels);
	print_seconds(h->sum);
	printf("\nweft_latency_seconds_count{%s} %" PRIu64 "\n", labels, h->count);
}

static void print_hists(const struct gathered *g)
{
	size_t i;

	puts("# HELP weft_latency_seconds How long misses, locks and invalidations take at this node.\n"
	     "# TYPE weft_latency_seconds histogram");
	for (i = 0; i < g->hists.len; i++) {
		if (is_name(g->hists.list[i].name))
			print_hist(g->id, &g->hists.list[i]);
	}
}

void prometheus_print(const struct gathered *g)
{
	char labels[LABELS_MAX] = "", of_switch[LABELS_MAX] = "", rack[RACK_MAX];

	if (*rack_label("", rack))
		snprintf(of_switch, sizeof(of_switch), "{%s}", rack);
	/* A node that is down has no number. */
	if (g->id)
		snprintf(labels, sizeof(labels), "{node=\"%u\"%s}", g->id,
			 rack_label(",", rack));
	if (g->node)
		print_counters("weft_node", labels, &g->of[OF_NODE]);
	if (g->latency)
		print_hists(g);
	if (g->memory)
		print_blades(g);
	if (g->sw && !g->no_switch)
		print_counters("weft_switch", of_switch, &g->of[OF_SWITCH]);
}
