// SPDX-License-Identifier: GPL-2.0-only
/* weftctl stats: counters and histograms of this node, counters of the others. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/output.h"
#include "base/text.h"
#include "command/commands.h"
#include "kernel/blades.h"
#include "kernel/kernel.h"
#include "view/gather.h"
#include "view/prometheus.h"
#include "view/rates.h"
#include "view/report.h"
#include "weft_wire.h"

/* --- Text ---------------------------------------------------------------- */

static void print_memory(const struct gathered *g)
{
	char name[TEXT_MEMBER_MAX], text[INET_ADDRSTRLEN];
	unsigned int i;

	for (i = 0; i < g->homes_len; i++) {
		printf("%s%s, %s\n", i ? "\n" : "", text_member(WEFT_BLADE_MIN + i, name),
		       inet_ntop(AF_INET, &g->homes[i], text, sizeof(text)));
		if (g->silent & UINT32_C(1) << i)
			puts("  does not answer");
		else
			report_memory(&g->of_blade[i]);
	}
	if (g->homes_len > 1) {
		puts(g->silent ? "\nall memory blades that answer" : "\nall memory blades");
		report_memory(&g->of_all);
	}
}

static void print_text(const struct gathered *g)
{
	if (g->node)
		report_node(g->id, &g->of_node);
	if (g->node && g->memory)
		putchar('\n');
	if (g->memory)
		print_memory(g);
	if (g->memory && g->sw)
		putchar('\n');
	if (g->no_switch)
		puts("no directory in the switch answers: the memory blades keep it");
	else if (g->sw)
		report_switch(&g->of_switch);
	if (g->latency)
		latency_print(&g->hists);
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
		return rates_run(&g, interval_ms, count);
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
