// SPDX-License-Identifier: GPL-2.0-only
/* weftctl dir: the directory, in the switch and at the memory blades. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/output.h"
#include "command/commands.h"
#include "kernel/blades.h"
#include "kernel/kernel.h"
#include "tools/common/json.h"
#include "view/gather.h"
#include "view/report.h"
#include "weft_wire.h"

/**
 * struct part - the directory in the switch, or at one memory blade
 * @entries: lines that it has
 * @free: lines that it could have besides; of a blade it has no limit
 * @moving: lines on their way from here to the other one, or back
 * @requests: for lines
 * @answered: requests that it answered; the others went on to the home
 * @invalidations: the switch: multicasts to a copyset; a blade: messages
 * @busy: requests refused because of another transaction
 * @moving_refused: ... because the line was on its way
 * @strangers: ... because the node is no member
 * @moved_in: lines that came from the other
 * @in_refused: that did not, for lack of room
 * @moved_out: lines that went to the other
 * @lost: lines that were in a switch which has lost them
 * @lock_waits: nodes told to wait in a lock's queue
 * @hand_overs: of locks
 */
struct part {
	uint64_t entries;
	uint64_t free;
	uint64_t moving;
	uint64_t requests;
	uint64_t answered;
	uint64_t invalidations;
	uint64_t busy;
	uint64_t moving_refused;
	uint64_t strangers;
	uint64_t moved_in;
	uint64_t in_refused;
	uint64_t moved_out;
	uint64_t lost;
	uint64_t lock_waits;
	uint64_t hand_overs;
};

/* What is known of which: the switch counts some things, blades others. */
enum { OF_SWITCH = 1, OF_BLADE = 2 };

static const struct {
	const char *key;
	const char *label;
	size_t offset;
	int of;
} rows[] = {
#define ROW(name, label, of) { #name, label, offsetof(struct part, name), of }
	ROW(entries, "entries", OF_SWITCH | OF_BLADE),
	ROW(free, "entries free", OF_SWITCH),
	ROW(moving, "entries moving", OF_BLADE),
	ROW(requests, "requests", OF_SWITCH | OF_BLADE),
	ROW(answered, "answered here", OF_SWITCH),
	ROW(invalidations, "invalidations", OF_SWITCH | OF_BLADE),
	ROW(busy, "refused: line busy", OF_SWITCH | OF_BLADE),
	ROW(moving_refused, "refused: line moving", OF_BLADE),
	ROW(strangers, "refused: not a member", OF_SWITCH | OF_BLADE),
	ROW(moved_in, "lines moved in", OF_SWITCH | OF_BLADE),
	ROW(in_refused, "not moved in: no room", OF_SWITCH),
	ROW(moved_out, "lines moved out", OF_SWITCH | OF_BLADE),
	ROW(lost, "lines lost in a switch", OF_BLADE),
	ROW(lock_waits, "queued for a lock", OF_SWITCH | OF_BLADE),
	ROW(hand_overs, "hand-overs of locks", OF_SWITCH | OF_BLADE),
#undef ROW
};

#define ROWS	(sizeof(rows) / sizeof(rows[0]))

static uint64_t value(const struct part *p, size_t row)
{
	uint64_t v;

	memcpy(&v, (const char *)p + rows[row].offset, sizeof(v));
	return v;
}

/* --- What the counters say -------------------------------------------------- */

static void read_blade(struct part *p, const struct counters *c)
{
	/* The switch takes those for lines that it has out of the way. */
	static const char * const requests[] = {
		"in_gets", "in_getm", "in_put", "in_commit", "in_query", "in_abort",
		"in_acquire", "in_hand", "in_pass",
	};
	size_t i;

	*p = (struct part){
		.entries = counters_get(c, "lines_at_home"),
		.moving = counters_get(c, "lines_moving"),
		.invalidations = counters_get(c, "out_inv"),
		.busy = counters_get(c, "refused_busy"),
		.moving_refused = counters_get(c, "refused_moving"),
		.strangers = counters_get(c, "strangers"),
		.moved_in = counters_get(c, "lines_removed"),
		.moved_out = counters_get(c, "lines_added"),
		.lost = counters_get(c, "lines_lost"),
		.lock_waits = counters_get(c, "out_enqueue"),
		.hand_overs = counters_get(c, "out_handed"),
	};
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		p->requests += counters_get(c, requests[i]);
}

/* @blades: how many entries the switch has, the blades know. */
static void read_switch(struct part *p, const struct counters *c,
			const struct counters *blades)
{
	struct lookups l;

	report_lookups(c, &l);
	*p = (struct part){
		.entries = counters_get(blades, "lines_in_switch"),
		.requests = l.requests,
		.answered = l.hits,
		.invalidations = counters_get(c, "inv"),
		.busy = counters_get(c, "busy"),
		.strangers = counters_get(c, "stranger"),
		.moved_in = counters_get(c, "add"),
		.in_refused = counters_get(c, "add_refused"),
		.moved_out = counters_get(c, "drop"),
		.lock_waits = counters_get(c, "enqueue"),
		.hand_overs = counters_get(c, "handed"),
	};
	/* Blades are asked one after the other: what moves may be counted twice. */
	p->free = p->entries < WEFT_SWITCH_SLOTS ? WEFT_SWITCH_SLOTS - p->entries : 0;
}

/* --- Printing ----------------------------------------------------------------- */

/* How many entries a switch has, and has not, only all blades together know. */
static bool is_known(const struct gathered *g, size_t row, int of)
{
	return of == OF_BLADE || !g->silent ||
	       (rows[row].offset != offsetof(struct part, entries) &&
		rows[row].offset != offsetof(struct part, free));
}

static void json_part(struct json *j, const struct gathered *g, const struct part *p, int of)
{
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (!(rows[i].of & of))
			continue;
		if (is_known(g, i, of))
			json_u64(j, rows[i].key, value(p, i));
		else
			json_null(j, rows[i].key);
	}
}

static void print_json(const struct gathered *g, const struct part *sw,
		       const struct part *blades)
{
	char text[INET_ADDRSTRLEN];
	struct json j;
	unsigned int i;

	json_begin(&j, stdout, output.pretty);
	if (g->no_switch) {
		json_null(&j, "switch");
	} else {
		json_object(&j, "switch");
		json_part(&j, g, sw, OF_SWITCH);
		json_close(&j);
	}
	json_array(&j, "blades");
	for (i = 0; i < g->homes_len; i++) {
		json_object(&j, NULL);
		json_u64(&j, "id", WEFT_BLADE_MIN + i);
		json_string(&j, "address", inet_ntop(AF_INET, &g->homes[i], text,
						     sizeof(text)));
		json_answers(&j, g, i);
		if (!(g->silent & UINT32_C(1) << i))
			json_part(&j, g, &blades[i], OF_BLADE);
		json_close(&j);
	}
	json_close(&j);
	json_end(&j);
}

static void print_cell(const struct part *p, size_t row, bool known)
{
	if (known)
		printf(" %14" PRIu64, value(p, row));
	else
		printf(" %14s", "-");
}

static void print_text(const struct gathered *g, const struct part *sw,
		       const struct part *blades)
{
	char title[32];
	unsigned int b;
	size_t i;

	printf("%-24s", "DIRECTORY");
	if (!g->no_switch)
		printf(" %14s", "SWITCH");
	for (b = 0; b < g->homes_len; b++) {
		snprintf(title, sizeof(title), "BLADE %u", b + 1);
		printf(" %14s", title);
	}
	putchar('\n');
	for (i = 0; i < ROWS; i++) {
		if (g->no_switch && rows[i].of == OF_SWITCH)
			continue;
		printf("%-24s", rows[i].label);
		if (!g->no_switch)
			print_cell(sw, i, rows[i].of & OF_SWITCH && is_known(g, i, OF_SWITCH));
		for (b = 0; b < g->homes_len; b++)
			print_cell(&blades[b], i, rows[i].of & OF_BLADE &&
				   !(g->silent & UINT32_C(1) << b));
		putchar('\n');
	}
	if (g->no_switch)
		puts("no directory in the switch answers: the memory blades keep it");
}

static void print(const struct gathered *g)
{
	struct part sw = { 0 }, blades[WEFT_HOMES_MAX];
	unsigned int i;

	for (i = 0; i < g->homes_len; i++)
		read_blade(&blades[i], &g->of_blade[i]);
	if (!g->no_switch)
		read_switch(&sw, &g->of_switch, &g->of_all);
	if (output.json)
		print_json(g, &sw, blades);
	else
		print_text(g, &sw, blades);
}

/* --- The command ---------------------------------------------------------------- */

static int dir(const struct reading *r)
{
	static const char * const actions[] = { "show", NULL };
	struct gathered g = { .memory = true, .sw = true };
	int rc;

	if (argument_action(r, actions) < 0)
		return EXIT_USAGE;
	rc = argument_none(r);
	if (!rc)
		rc = kernel_open(false);
	if (!rc)
		rc = gather(&g);
	if (!rc) {
		print(&g);
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
