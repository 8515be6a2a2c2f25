// SPDX-License-Identifier: GPL-2.0-only
/* weftctl dir: the directory, in the switch and at the memory blades. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/output.h"
#include "base/text.h"
#include "command/commands.h"
#include "kernel/blades.h"
#include "kernel/kernel.h"
#include "tools/common/json.h"
#include "view/gather.h"
#include "view/report.h"
#include "weft_wire.h"

/* Rows that report_lookups() or the blades fill in, not counters of the switch. */
#define ENTRIES		"entries"
#define FREE		"free"
#define REQUESTS	"requests"
#define ANSWERED	"answered"

/* A line of the table, and a member of the objects in JSON. */
static const struct row {
	const char *key;	/* in JSON */
	const char *label;	/* in text */
	/* counters of the switch that it is the sum of, NULL: it does not count that */
	const char *sw;
	const char *blade;	/* of a blade, likewise */
} rows[] = {
	/* how many entries the switch has, the blades know */
	{ "entries", "entries", ENTRIES, "lines_at_home" },
	{ "free", "entries free", FREE, NULL },
	{ "moving", "entries moving", NULL, "lines_moving" },
	/* the switch takes those for lines that it has out of the way */
	{ "requests", "requests", REQUESTS,
	  "in_gets in_getm in_put in_commit in_query in_abort in_acquire in_hand in_pass" },
	{ "answered", "answered here", ANSWERED, NULL },
	/* the switch: multicasts to a copyset; a blade: messages */
	{ "invalidations", "invalidations", "inv", "out_inv" },
	{ "busy", "refused: line busy", "busy", "refused_busy" },
	{ "moving_refused", "refused: line moving", NULL, "refused_moving" },
	{ "strangers", "refused: not a member", "stranger", "strangers" },
	{ "moved_in", "lines moved in", "add", "lines_removed" },
	{ "in_refused", "ADD refused", "add_refused", NULL },
	{ "in_full", "not moved in: no room", NULL, "adds_refused" },
	{ "in_again", "moved in: second try", NULL, "adds_again" },
	{ "moved_out", "lines moved out", "drop", "lines_added" },
	{ "lost", "lines lost in a switch", NULL, "lines_lost" },
	{ "lock_waits", "queued for a lock", "enqueue", "out_enqueue" },
	{ "hand_overs", "hand-overs of locks", "handed", "out_handed" },
};

#define ROWS	(sizeof(rows) / sizeof(rows[0]))
#define SWITCH	(-1)	/* in the place of a blade, from 0 */

/* Blades are asked one after the other: what moves may be counted twice. */
static uint64_t of_switch(const struct gathered *g, const char *names)
{
	uint64_t entries = counters_get(&g->of[OF_ALL], "lines_in_switch");
	struct lookups l;

	report_lookups(&g->of[OF_SWITCH], &l);
	if (!strcmp(names, ENTRIES))
		return entries;
	if (!strcmp(names, FREE))
		return entries < WEFT_SWITCH_SLOTS ? WEFT_SWITCH_SLOTS - entries : 0;
	if (!strcmp(names, REQUESTS))
		return l.requests;
	return strcmp(names, ANSWERED) ? counters_sum(&g->of[OF_SWITCH], names) : l.hits;
}

static bool is_counted(const struct row *r, int blade)
{
	return blade == SWITCH ? r->sw : r->blade;
}

/* How many entries a switch has, and has not, only all blades together know. */
static bool is_known(const struct gathered *g, const struct row *r, int blade)
{
	if (blade != SWITCH)
		return !(g->silent & UINT32_C(1) << blade);
	return !g->silent || (strcmp(r->sw, ENTRIES) && strcmp(r->sw, FREE));
}

static uint64_t value(const struct gathered *g, const struct row *r, int blade)
{
	return blade == SWITCH ? of_switch(g, r->sw) : counters_sum(&g->of[OF_BLADE + blade], r->blade);
}

/* --- Printing ----------------------------------------------------------------- */

static void json_part(struct json *j, const struct gathered *g, int blade)
{
	const struct row *r;

	for (r = rows; r < rows + ROWS; r++) {
		if (is_counted(r, blade))
			json_number(j, r->key, is_known(g, r, blade), value(g, r, blade));
	}
}

static void print_json(const struct gathered *g)
{
	struct json j;
	int i;

	output_json(&j);
	if (g->no_switch) {
		json_null(&j, "switch");
	} else {
		json_object(&j, "switch");
		json_part(&j, g, SWITCH);
		json_close(&j);
	}
	json_array(&j, "blades");
	for (i = 0; i < (int)g->homes_len; i++) {
		json_object(&j, NULL);
		json_u64(&j, "id", WEFT_BLADE_MIN + (uint32_t)i);
		json_string(&j, "address", text_address(g->homes[i]));
		report_answers(&j, g, (unsigned int)i);
		if (!(g->silent & UINT32_C(1) << i))
			json_part(&j, g, i);
		json_close(&j);
	}
	json_end(&j);
}

static void print_text(const struct gathered *g)
{
	const int first = g->no_switch ? 0 : SWITCH, end = (int)g->homes_len;
	const struct row *r;
	char title[32];
	int i;

	printf("%-24s", "DIRECTORY");
	for (i = first; i < end; i++) {
		snprintf(title, sizeof(title), "BLADE %d", i + 1);
		printf(" %14s", i == SWITCH ? "SWITCH" : title);
	}
	putchar('\n');
	for (r = rows; r < rows + ROWS; r++) {
		if (g->no_switch && !r->blade)
			continue;
		printf("%-24s", r->label);
		for (i = first; i < end; i++) {
			if (is_counted(r, i) && is_known(g, r, i))
				printf(" %14" PRIu64, value(g, r, i));
			else
				printf(" %14s", "-");
		}
		putchar('\n');
	}
	if (g->no_switch)
		puts("no directory in the switch answers: the memory blades keep it");
}

/* --- The command ---------------------------------------------------------------- */

static int dir(const struct reading *r)
{
	static const char * const actions[] = { "show", NULL };
	struct gathered g = { .memory = true, .sw = true };
	int rc;

	if (argument_action(r, actions) < 0)
		return EXIT_USAGE;
	rc = command_begin(r);
	if (!rc)
		rc = gather(&g);
	if (!rc) {
		if (output.json)
			print_json(&g);
		else
			print_text(&g);
		rc = blades_silent(g.silent, g.homes);
	}
	gather_free(&g);
	return rc;
}

const struct command command_dir = {
	.name = "dir",
	.plural = "dirs",
	.run = dir,
	.summary = "the directory, in the switch and at the memory blades",
	.help = " [show] [-j] [-p]\n\n"
		"Entries used and free, requests and how many were answered, invalidations\n"
		"(the switch: multicasts, blades: messages), requests that were refused, lines\n"
		"that moved between the blades and the switch, locks that were waited for and\n"
		"handed over; since the switch or the blade started.\n",
};
