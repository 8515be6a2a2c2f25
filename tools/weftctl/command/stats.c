// SPDX-License-Identifier: GPL-2.0-only
/* weftctl stats: counters and histograms of this node, counters of the others. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/output.h"
#include "command/commands.h"
#include "kernel/blades.h"
#include "kernel/kernel.h"
#include "tools/common/clock.h"
#include "view/gather.h"
#include "view/prometheus.h"
#include "view/report.h"

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
		if (!first && !output.json)
			putchar('\n');
		if (output.json)
			report_json(&shown, seconds);
		else
			report_print(&shown, seconds);
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
		/* A scraper of all nodes asks one of them for blades and switch. */
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
		report_json(&g, 0);
	else if (!rc)
		report_print(&g, 0);
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
