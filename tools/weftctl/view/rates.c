// SPDX-License-Identifier: GPL-2.0-only
/* Statistics of an interval, see rates.h. */
#include "view/rates.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/output.h"
#include "base/text.h"
#include "kernel/blades.h"
#include "tools/common/clock.h"
#include "view/report.h"
#include "weft_wire.h"

/* --- Differences --------------------------------------------------------- */

/* The counter @name, first looked for at @at: lists come in one order. */
static struct counter *find(const struct counters *c, const char *name, size_t at)
{
	size_t i;

	if (at < c->len && !strcmp(c->list[at].name, name))
		return &c->list[at];
	for (i = 0; i < c->len; i++) {
		if (!strcmp(c->list[i].name, name))
			return &c->list[i];
	}
	return NULL;
}

/*
 * @now becomes what was counted since @before; what there is of something stays.
 * A counter that is less than before began anew: its owner was started again.
 * Those of the switch have 32 bits and wrap.
 */
static void subtract(struct counters *now, const struct counters *before, bool wraps)
{
	size_t i;

	for (i = 0; i < now->len; i++) {
		struct counter *c = &now->list[i];
		const struct counter *b = find(before, c->name, i);

		if (!b || report_is_gauge(c->name))
			continue;
		if (c->value >= b->value)
			c->value -= b->value;
		else if (wraps)
			c->value = (uint32_t)(c->value - b->value);
	}
}

static uint64_t bucket_before(const struct hist_list *before, uint64_t below)
{
	size_t i;

	for (i = 0; i < before->len; i++) {
		if (before->bucket[i].below == below)
			return before->bucket[i].count;
	}
	return 0;
}

static void subtract_hists(struct hists *now, const struct hists *before)
{
	size_t i, b;

	for (i = 0; i < now->len && i < before->len; i++) {
		struct hist_list *h = &now->list[i].times;
		const struct hist_list *o = &before->list[i].times;

		if (strcmp(now->list[i].name, before->list[i].name) || h->count < o->count)
			continue;
		h->sum -= o->sum;
		h->count -= o->count;
		for (b = 0; b < h->len; b++)
			h->bucket[b].count -= bucket_before(o, h->bucket[b].below);
	}
}

/* The sums anew: a blade that began anew, or was silent, has not counted for them. */
static void sum_again(struct gathered *g)
{
	struct counter *sum, *c;
	unsigned int i;
	size_t k;

	for (k = 0; k < g->of_all.len; k++) {
		sum = &g->of_all.list[k];
		sum->value = 0;
		for (i = 0; i < g->homes_len; i++) {
			c = find(&g->of_blade[i], sum->name, k);
			sum->value += c ? c->value : 0;
		}
	}
}

void rates_subtract(struct gathered *now, const struct gathered *before)
{
	unsigned int i;

	subtract(&now->of_node, &before->of_node, false);
	subtract_hists(&now->hists, &before->hists);
	/* Who was not there before has no rates yet. */
	for (i = 0; i < now->homes_len; i++) {
		if (i >= before->homes_len || before->silent & UINT32_C(1) << i)
			counters_free(&now->of_blade[i]);
		else
			subtract(&now->of_blade[i], &before->of_blade[i], false);
	}
	sum_again(now);
	if (before->no_switch)
		counters_free(&now->of_switch);
	subtract(&now->of_switch, &before->of_switch, true);
}

/* --- Text ---------------------------------------------------------------- */

/* Counters that stand still are left out. */
static void print_moved(const struct counters *c, double seconds)
{
	size_t i;

	for (i = 0; i < c->len; i++) {
		if (c->list[i].value && !report_is_gauge(c->list[i].name))
			printf("  %-28s %14.1f /s\n", c->list[i].name,
			       (double)c->list[i].value / seconds);
	}
}

static double per(uint64_t over, uint64_t under)
{
	return (double)over / (double)under;
}

static void print_node(const struct gathered *g, double seconds)
{
	struct misses m;

	report_misses(&g->of_node, &m);
	if (g->id)
		printf("node %u, %.2f s\n", g->id, seconds);
	else
		printf("this machine (no node now), %.2f s\n", seconds);
	printf("  %-28s %14.1f /s\n", "misses", (double)m.served / seconds);
	if (m.served)
		printf("  %-28s %14.1f %%\n  %-28s %14.2f\n  %-28s %14.1f us\n",
		       "answered by the switch", 100 * per(m.by_switch, m.served),
		       "round trips a miss", per(m.round_trips, m.served),
		       "time a miss", per(m.nsec, m.served) / 1e3);
	print_moved(&g->of_node, seconds);
}

static void print_memory(const struct gathered *g, double seconds)
{
	char name[TEXT_MEMBER_MAX], text[INET_ADDRSTRLEN];
	unsigned int i;

	for (i = 0; i < g->homes_len; i++) {
		printf("%s, %s, %.2f s\n", text_member(WEFT_BLADE_MIN + i, name),
		       inet_ntop(AF_INET, &g->homes[i], text, sizeof(text)), seconds);
		if (g->silent & UINT32_C(1) << i)
			puts("  does not answer");
		else
			print_moved(&g->of_blade[i], seconds);
	}
}

static void print_switch(const struct gathered *g, double seconds)
{
	struct lookups l;

	if (g->no_switch)
		return;
	report_lookups(&g->of_switch, &l);
	printf("directory in the switch, %.2f s\n  %-28s %14.1f /s\n", seconds,
	       "requests", (double)l.requests / seconds);
	if (l.requests)
		printf("  %-28s %14.1f %%\n", "line installed",
		       100 * per(l.hits, l.requests));
	print_moved(&g->of_switch, seconds);
}

static void print_text(const struct gathered *g, double seconds, bool first)
{
	if (!first)
		putchar('\n');
	if (g->node)
		print_node(g, seconds);
	if (g->memory)
		print_memory(g, seconds);
	if (g->sw)
		print_switch(g, seconds);
	if (g->latency) {
		printf("latency, %.2f s\n", seconds);
		latency_print(&g->hists);
	}
}

/* --- Looking again and again ---------------------------------------------- */

/* An empty one that asks for the same. */
static struct gathered same(const struct gathered *what)
{
	return (struct gathered){
		.node = what->node, .memory = what->memory, .sw = what->sw,
		.latency = what->latency,
	};
}

/* One interval; @before becomes the end of it, at @at. */
static int look(struct gathered *before, uint64_t *at, bool first)
{
	struct gathered now = same(before), shown = same(before);
	uint64_t then;
	int rc;

	rc = gather(&now);
	then = now_ns();
	if (!rc)
		rc = gather_copy(&shown, &now);
	if (!rc) {
		double seconds = (double)(then - *at) / 1e9;

		rates_subtract(&shown, before);
		if (output.json)
			stats_json(&shown, seconds);
		else
			print_text(&shown, seconds, first);
		/* A full disk, or nobody reads any more. */
		if (fflush(stdout))
			rc = fail("cannot write the output: %s", strerror(errno));
	}
	gather_free(&shown);
	gather_free(before);
	*before = now;
	*at = then;
	return rc;
}

int rates_run(const struct gathered *what, uint32_t interval_ms, uint32_t count)
{
	uint64_t interval = (uint64_t)interval_ms * 1000000, at;
	struct gathered before = same(what);
	uint32_t n;
	int rc;

	rc = gather(&before);
	at = now_ns();
	for (n = 0; !rc && (n < count || !count); n++) {
		/* None is shorter than was asked for; rates are of what it was. */
		pause_until_ns(at + interval);
		rc = look(&before, &at, !n);
	}
	if (!rc)
		rc = blades_silent(before.silent, before.homes);
	gather_free(&before);
	return rc;
}
