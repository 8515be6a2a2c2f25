// SPDX-License-Identifier: GPL-2.0-only
/* weftctl stats: counters of this node, the memory blades, the switch. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "fail.h"
#include "json.h"
#include "kernel.h"
#include "report.h"
#include "weft_wire.h"
#include "weftctl.h"

/**
 * struct gathered - all that the command shows
 * @node: is shown
 * @memory: is shown
 * @sw: is shown
 * @id: of the node, 0 if it is down
 * @homes_len: how many memory blades
 * @homes: their addresses
 * @of_node: counters
 * @of_blade: counters of each
 * @of_all: their sums
 * @of_switch: counters
 * @no_switch: there is none with a directory
 */
struct gathered {
	bool node;
	bool memory;
	bool sw;
	uint32_t id;
	unsigned int homes_len;
	struct in_addr homes[WEFT_HOMES_MAX];
	struct counters of_node;
	struct counters of_blade[WEFT_HOMES_MAX];
	struct counters of_all;
	struct counters of_switch;
	bool no_switch;
};

/* --- Gathering ----------------------------------------------------------- */

static int add_to(struct counters *sum, const struct counters *c)
{
	struct counter *list;
	size_t i, k;

	for (i = 0; i < c->len; i++) {
		for (k = 0; k < sum->len; k++) {
			if (!strcmp(sum->list[k].name, c->list[i].name))
				break;
		}
		if (k < sum->len) {
			sum->list[k].value += c->list[i].value;
			continue;
		}
		list = reallocarray(sum->list, sum->len + 1, sizeof(*list));
		if (!list)
			return fail("no memory");
		sum->list = list;
		sum->list[sum->len++] = c->list[i];
	}
	return 0;
}

static int gather_blades(struct gathered *g)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < g->homes_len && !rc; i++) {
		rc = kernel_blade_stats(WEFT_BLADE_MIN + i, g->homes[i],
					&g->of_blade[i]);
		if (!rc)
			rc = add_to(&g->of_all, &g->of_blade[i]);
	}
	return rc;
}

/* @state is that of the node; counters of its own it has in any. */
static int gather(struct gathered *g, enum kernel_state state)
{
	struct config c = { 0 };
	int rc = 0;

	if (state == KERNEL_UP || g->memory || g->sw)
		rc = kernel_config_get(&c);
	g->id = c.id;
	g->homes_len = c.homes_len;
	memcpy(g->homes, c.homes, sizeof(g->homes));
	if (!rc && g->node)
		rc = kernel_stats(&g->of_node);
	if (!rc && g->memory)
		rc = gather_blades(g);
	if (!rc && g->sw)
		rc = kernel_switch_stats(&g->of_switch,
					 g->memory ? &g->no_switch : NULL);
	return rc;
}

static void release(struct gathered *g)
{
	unsigned int i;

	counters_free(&g->of_node);
	for (i = 0; i < WEFT_HOMES_MAX; i++)
		counters_free(&g->of_blade[i]);
	counters_free(&g->of_all);
	counters_free(&g->of_switch);
}

/* --- JSON ---------------------------------------------------------------- */

static void json_counters(struct json *j, const char *key, const struct counters *c)
{
	size_t i;

	json_object(j, key);
	for (i = 0; i < c->len; i++)
		json_u64(j, c->list[i].name, c->list[i].value);
	json_close(j);
}

static void json_node(struct json *j, const struct gathered *g)
{
	struct misses m;

	report_misses(&g->of_node, &m);
	json_object(j, "node");
	if (g->id)
		json_u64(j, "id", g->id);
	else
		json_null(j, "id");
	json_object(j, "summary");
	json_u64(j, "misses", m.served);
	json_ratio(j, "by_switch", m.by_switch, m.served);
	json_ratio(j, "by_home", m.by_home, m.served);
	json_ratio(j, "round_trips_per_miss", m.round_trips, m.served);
	json_ratio(j, "messages_per_miss", m.messages, m.served);
	json_ratio(j, "ns_per_miss", m.nsec, m.served);
	json_close(j);
	json_counters(j, "counters", &g->of_node);
	json_close(j);
}

static void json_memory(struct json *j, const struct gathered *g)
{
	char text[INET_ADDRSTRLEN];
	unsigned int i;

	json_object(j, "memory");
	json_array(j, "blades");
	for (i = 0; i < g->homes_len; i++) {
		json_object(j, NULL);
		json_u64(j, "id", WEFT_BLADE_MIN + i);
		json_string(j, "address", inet_ntop(AF_INET, &g->homes[i], text,
						    sizeof(text)));
		json_counters(j, "counters", &g->of_blade[i]);
		json_close(j);
	}
	json_close(j);
	json_counters(j, "total", &g->of_all);
	json_close(j);
}

static void json_switch(struct json *j, const struct gathered *g)
{
	struct lookups l;

	if (g->no_switch) {
		json_null(j, "switch");
		return;
	}
	report_lookups(&g->of_switch, &l);
	json_object(j, "switch");
	json_object(j, "summary");
	json_u64(j, "requests", l.requests);
	json_ratio(j, "hit_ratio", l.hits, l.requests);
	json_close(j);
	json_counters(j, "counters", &g->of_switch);
	json_close(j);
}

static void print_json(const struct gathered *g)
{
	struct json j;

	json_begin(&j, stdout, output.pretty);
	if (g->node)
		json_node(&j, g);
	if (g->memory)
		json_memory(&j, g);
	if (g->sw)
		json_switch(&j, g);
	json_end(&j);
}

/* --- Text ---------------------------------------------------------------- */

static void print_memory(const struct gathered *g)
{
	char text[INET_ADDRSTRLEN];
	unsigned int i;

	for (i = 0; i < g->homes_len; i++) {
		printf("%smemory blade %u, %s\n", i ? "\n" : "", WEFT_BLADE_MIN + i,
		       inet_ntop(AF_INET, &g->homes[i], text, sizeof(text)));
		report_memory(&g->of_blade[i]);
	}
	if (g->homes_len > 1) {
		puts("\nall memory blades");
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
}

/* --- The command --------------------------------------------------------- */

static int read_what(const struct reading *r, struct gathered *g)
{
	const char *what = r->argv[optind];

	if (!what) {
		g->node = g->memory = g->sw = true;
		return 0;
	}
	if (!strcmp(what, "node"))
		g->node = true;
	else if (!strcmp(what, "memory"))
		g->memory = true;
	else if (!strcmp(what, "switch"))
		g->sw = true;
	else
		return misuse("stats", "there are counters of 'node', 'memory', 'switch', not of '%s'",
			      what);
	optind++;
	return argument_none(r);
}

static int stats(int argc, char **argv)
{
	static const struct option options[] = {
		ARGUMENT_HELP, ARGUMENT_JSON, ARGUMENT_PRETTY, { 0 }
	};
	const struct reading r = { &command_stats, argc, argv, options };
	struct gathered g = { 0 };
	enum kernel_state state;
	int letter, rc;

	letter = argument_next(&r);
	if (letter != -1)
		return argument_stop(&r, letter);
	rc = read_what(&r, &g);
	if (!rc)
		rc = kernel_open(false);
	if (!rc)
		rc = kernel_state(&state);
	if (!rc)
		rc = gather(&g, state);
	if (!rc && output.json)
		print_json(&g);
	else if (!rc)
		print_text(&g);
	release(&g);
	return rc;
}

const struct command command_stats = {
	.name = "stats",
	.run = stats,
	.summary = "counters of this node, the memory blades, the switch",
	.help = " [node|memory|switch] [-j] [-p]\n\n"
		"  node    misses, messages, blocks moved, since the module was loaded\n"
		"  memory  of each memory blade, and of all together, since it started\n"
		"  switch  of the directory in the switch; 32 bits wide\n\n"
		"All of them unless told.\n",
};
