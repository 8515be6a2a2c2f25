// SPDX-License-Identifier: GPL-2.0-only
/* weftctl stats: counters and histograms of this node, counters of the others. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/output.h"
#include "base/text.h"
#include "command/commands.h"
#include "kernel/blades.h"
#include "kernel/kernel.h"
#include "tools/common/clock.h"
#include "view/gather.h"
#include "view/prometheus.h"
#include "view/report.h"
#include "weft_wire.h"

/* --- Text ---------------------------------------------------------------- */

static void print_memory(const struct gathered *g)
{
	unsigned int i;

	for (i = 0; i < g->homes_len; i++) {
		printf("%s%s, %s\n", i ? "\n" : "", text_member(WEFT_BLADE_MIN + i),
		       text_address(g->homes[i]));
		if (g->silent & UINT32_C(1) << i)
			puts("  does not answer");
		else
			report_memory(&g->of[OF_BLADE + i]);
	}
	if (g->homes_len > 1) {
		puts(g->silent ? "\nall memory blades that answer" : "\nall memory blades");
		report_memory(&g->of[OF_ALL]);
	}
}

static void print_text(const struct gathered *g)
{
	if (g->node)
		report_node(g->id, &g->of[OF_NODE]);
	if (g->node && g->memory)
		putchar('\n');
	if (g->memory)
		print_memory(g);
	if (g->memory && g->sw)
		putchar('\n');
	if (g->no_switch)
		puts("no directory in the switch answers: the memory blades keep it");
	else if (g->sw)
		report_switch(&g->of[OF_SWITCH]);
	if (g->latency)
		latency_print(&g->hists);
}

/* --- Text of rates -------------------------------------------------------- */

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

static void print_node_rates(const struct gathered *g, double seconds)
{
	struct misses m;

	report_misses(&g->of[OF_NODE], &m);
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
	print_moved(&g->of[OF_NODE], seconds);
}

static void print_memory_rates(const struct gathered *g, double seconds)
{
	unsigned int i;

	for (i = 0; i < g->homes_len; i++) {
		printf("%s, %s, %.2f s\n", text_member(WEFT_BLADE_MIN + i),
		       text_address(g->homes[i]), seconds);
		if (g->silent & UINT32_C(1) << i)
			puts("  does not answer");
		else
			print_moved(&g->of[OF_BLADE + i], seconds);
	}
}

static void print_switch_rates(const struct gathered *g, double seconds)
{
	struct lookups l;

	if (g->no_switch)
		return;
	report_lookups(&g->of[OF_SWITCH], &l);
	printf("directory in the switch, %.2f s\n  %-28s %14.1f /s\n", seconds,
	       "requests", (double)l.requests / seconds);
	if (l.requests)
		printf("  %-28s %14.1f %%\n", "line installed", 100 * per(l.hits, l.requests));
	print_moved(&g->of[OF_SWITCH], seconds);
}

static void print_rates(const struct gathered *g, double seconds, bool first)
{
	if (!first)
		putchar('\n');
	if (g->node)
		print_node_rates(g, seconds);
	if (g->memory)
		print_memory_rates(g, seconds);
	if (g->sw)
		print_switch_rates(g, seconds);
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

		gather_subtract(&shown, before);
		if (output.json)
			stats_json(&shown, seconds);
		else
			print_rates(&shown, seconds, first);
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

static int run_rates(const struct gathered *what, uint32_t interval_ms, uint32_t count)
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

/* --- The command --------------------------------------------------------- */

#define INTERVAL_MS_MIN	100
#define INTERVAL_MS_MAX	86400000

static bool for_prometheus;
static uint32_t interval_ms, count;

static const struct argument options[] = {
	{ "prometheus", .flag = &for_prometheus },
	{ "interval", .ms = &interval_ms, .min = INTERVAL_MS_MIN, .max = INTERVAL_MS_MAX },
	{ "count", .u32 = &count, .min = 1, .max = UINT32_MAX }, { 0 }
};

static int read_what(const struct reading *r, struct gathered *g)
{
	const char *what = argument_operand(r);

	if (count && !interval_ms)
		return misuse("stats", "--count is of no use without --interval");
	if (for_prometheus && (output.json || interval_ms))
		return misuse("stats", "--prometheus is a format of its own: leave out %s",
			      output.json ? "--json" : "--interval");

	if (!what) {
		g->node = true;
		/* Who scrapes all nodes asks one of them for the rest. */
		g->latency = for_prometheus;
		g->memory = g->sw = !for_prometheus;
		return 0;
	}
	if (!strcmp(what, "node") || !strcmp(what, "nodes"))
		g->node = true;
	else if (!strcmp(what, "memory") || !strcmp(what, "blade") || !strcmp(what, "blades"))
		g->memory = true;
	else if (!strcmp(what, "switch") || !strcmp(what, "switches"))
		g->sw = true;
	else if (!strcmp(what, "latency") || !strcmp(what, "latencies"))
		g->latency = true;
	else
		return misuse("stats", "there are 'node', 'memory', 'switch', 'latency', not '%s'",
			      what);
	return argument_none(r);
}

static int stats(const struct reading *r)
{
	struct gathered g = { 0 };
	int rc = read_what(r, &g);

	if (!rc)
		rc = kernel_open(false);
	if (!rc && interval_ms)
		return run_rates(&g, interval_ms, count);
	if (!rc)
		rc = gather(&g);
	if (!rc && for_prometheus)
		prometheus_print(&g);
	else if (!rc && output.json)
		stats_json(&g, 0);
	else if (!rc)
		print_text(&g);
	/* A scraper has weft_blade_up. */
	if (!rc && !for_prometheus)
		rc = blades_silent(g.silent, g.homes);
	gather_free(&g);
	return rc;
}

const struct command command_stats = {
	.name = "stats",
	.options = options,
	.run = stats,
	.summary = "counters of this node, the memory blades, the switch",
	.help = " [node|memory|switch|latency] [-j] [-p] [--prometheus]\n"
		"                     [--interval SECONDS [--count N]]\n\n"
		"  node     misses, messages, blocks moved, since the module was loaded\n"
		"  memory   of each memory blade, and of all together, since it started\n"
		"  switch   of the directory in the switch; 32 bits wide\n"
		"  latency  how long misses, locks, invalidations take at this node\n\n"
		"All counters unless told.\n\n"
		"  --prometheus        for a scraper; node and latency unless told\n"
		"  --interval SECONDS  what happens a second, again and again; of latency the\n"
		"                      times of each interval; 0.1 to 86400\n"
		"  --count N           so many intervals\n",
};
