// SPDX-License-Identifier: GPL-2.0-only
/* weftctl top: the blocks and locks that nodes take from each other, live. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/live.h"
#include "base/output.h"
#include "base/text.h"
#include "command/commands.h"
#include "kernel/kernel.h"
#include "kernel/regions.h"
#include "tools/common/clock.h"
#include "tools/common/json.h"
#include "view/gather.h"
#include "view/hot.h"
#include "view/report.h"
#include "view/trace.h"
#include "weft_wire.h"

#define INTERVAL_MS_MIN	100
#define INTERVAL_MS_MAX	86400000
#define INTERVAL_MS	2000
#define ROWS		10	/* of each list, unless told */

/* All at one time. */
struct look {
	uint64_t at;	/* ns of CLOCK_MONOTONIC */
	struct gathered rates;	/* counters */
	struct hot hot;	/* blocks and locks */
};

/* All that the command knows. */
struct top {
	enum hot_by by;	/* what comes first */
	struct look before;	/* the last look */
	size_t blocks;	/* in the cache now */
	size_t locks;	/* that the node has now */
};

static struct top top;
static uint32_t interval_ms = INTERVAL_MS, count, rows;
static bool all, batch;

static void look_free(struct look *l)
{
	gather_free(&l->rates);
	hot_free(&l->hot);
}

static void look_at(struct look *l)
{
	*l = (struct look){
		.rates = { .node = true, .memory = all, .sw = all },
	};
}

static int look(struct look *l)
{
	int rc;

	look_at(l);
	rc = hot_read(&l->hot);
	if (!rc)
		rc = gather(&l->rates);
	l->at = now_ns();
	return rc;
}

/* --- Text ------------------------------------------------------------------ */

/* Rates of a node, per second, and how much it has. */
struct node {
	uint32_t id;
	double misses;
	double revocations;
	double hand_overs;
	double messages;
	double ns_per_miss;
	double by_switch;
	uint64_t blocks;
	uint64_t locks;
};

#define NODE(member, of_kind, of_key)	COLUMN(struct node, member, of_kind, .key = of_key)

static const struct column node_columns[] = {
	NODE(id, U32, "id"), NODE(misses, FIXED, "misses_per_s"),
	NODE(revocations, FIXED, "revocations_per_s"), NODE(hand_overs, FIXED, "hand_overs_per_s"),
	NODE(messages, FIXED, "messages_per_s"), NODE(ns_per_miss, FIXED, "ns_per_miss"),
	NODE(by_switch, FIXED, "by_switch"), NODE(blocks, U64, "blocks"), NODE(locks, U64, "locks"),
	COLUMN_END
};

static struct node node_now(const struct top *t, const struct look *shown, double seconds)
{
	const struct counters *c = &shown->rates.of[OF_NODE];
	struct misses m;

	report_misses(c, &m);
	return (struct node){
		.id = shown->rates.id,
		.misses = m.served / seconds,
		.messages = counters_sum(c, "msg_sent msg_received") / seconds,
		.revocations = counters_sum(c, "invalidated downgraded") / seconds,
		.hand_overs = counters_get(c, "lock_handed") / seconds,
		.ns_per_miss = m.served ? (double)m.nsec / (double)m.served : 0,
		.by_switch = m.served ? (double)m.by_switch / (double)m.served : 0,
		.blocks = t->blocks, .locks = t->locks,
	};
}

/* Messages of all types, of a blade. */
static uint64_t sum_of(const struct counters *c, const char *prefix)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < c->len; i++) {
		if (!strncmp(c->list[i].name, prefix, strlen(prefix)))
			sum += c->list[i].value;
	}
	return sum;
}

static void text_rack(FILE *out, const struct gathered *g, double seconds)
{
	const char *name;
	struct lookups l;
	unsigned int i;

	for (i = 0; i < g->homes_len; i++) {
		name = text_member(WEFT_BLADE_MIN + i);
		if (g->silent & UINT32_C(1) << i)
			fprintf(out, "%s does not answer\n", name);
		else
			fprintf(out, "%s: %.1f messages/s received, %.1f sent\n", name,
				(double)sum_of(&g->of[OF_BLADE + i], "in_") / seconds,
				(double)sum_of(&g->of[OF_BLADE + i], "out_") / seconds);
	}
	if (g->no_switch) {
		fputs("no directory in the switch: the memory blades keep it\n", out);
		return;
	}
	report_lookups(&g->of[OF_SWITCH], &l);
	fprintf(out, "directory in the switch: %.1f requests/s, %.1f %% answered by it\n",
		(double)l.requests / seconds,
		l.requests ? 100 * (double)l.hits / (double)l.requests : 0);
}

static void text_head(FILE *out, const struct top *t, const struct look *shown, double seconds)
{
	const struct node r = node_now(t, shown, seconds);

	fprintf(out, "node %u, %.8s, %.2f s: %.1f misses/s, %.1f revocations/s, %.1f lock hand-overs/s\n",
		r.id, text_clock(text_now()), seconds, r.misses,
		r.revocations, r.hand_overs);
	fprintf(out, "%s a miss, %.1f %% answered by the switch, %.1f messages/s; %" PRIu64 " blocks, %" PRIu64 " locks here\n",
		text_duration(r.ns_per_miss), 100 * r.by_switch, r.messages,
		r.blocks, r.locks);
	if (all)
		text_rack(out, &shown->rates, seconds);
}

/* A block or a lock as it is shown. */
struct place {
	struct hot_row row;
	const char *name;	/* of its region, "": it has none */
	uint64_t offset;	/* in the region, of its first byte */
	double came;	/* per second */
	double went;
	const char *place;	/* "REGION:OFFSET" */
};

#define PLACE(member, of_kind, of_key, of_title, ...)	\
	COLUMN(struct place, member, of_kind, .key = of_key, .title = of_title, __VA_ARGS__)
#define WHERE	PLACE(row.region, U32, "region", NULL), \
		PLACE(name, TEXT, "name", NULL, .optional = true), \
		PLACE(offset, U64, "offset", NULL)
#define WAITS	PLACE(row.state, U32, "state", "STATE", .width = -8, .word = word_state), \
		PLACE(row.waiters, U32, "waiters", "WAITERS", .width = 7)

static const struct column block_columns[] = {
	WHERE, PLACE(came, FIXED, "misses_per_s", "MISSES/s", .width = 10),
	PLACE(went, FIXED, "revocations_per_s", "REVOKED/s", .width = 10), WAITS,
	PLACE(place, TEXT, NULL, " BLOCK"), COLUMN_END
};

static const struct column lock_rates[] = {
	WHERE, PLACE(came, FIXED, "grants_per_s", "GRANTS/s", .width = 10),
	PLACE(went, FIXED, "hand_overs_per_s", "HANDED/s", .width = 10), WAITS,
	PLACE(row.queue, U32, "queue", "QUEUE", .width = 5),
	PLACE(place, TEXT, NULL, " LOCK"), COLUMN_END
};

static void make_place(struct place *p, const struct hot_row *row, const struct regions *known,
		       double seconds)
{
	const struct region *r = regions_by_id(known, row->region);

	*p = (struct place){
		.row = *row, .name = r ? r->name : "", .came = row->came / seconds,
		.went = row->went / seconds,
		.offset = trace_offset(known, row->region, row->index, row->lock),
		.place = text_safe(trace_place(known, row->region, row->index, row->lock)),
	};
}

static void text_list(FILE *out, const struct column *columns, const struct hot_list *hot,
		      size_t n, const struct regions *known, double seconds)
{
	struct place p;
	size_t i;

	fputc('\n', out);
	columns_head(columns, out);
	for (i = 0; i < hot->len && i < n; i++) {
		make_place(&p, &hot->list[i], known, seconds);
		columns_text(columns, &p, out);
	}
	if (i < hot->len)
		fprintf(out, "%10s and %zu more\n", "", hot->len - i);
}

static void json_list(struct json *j, const char *key, const struct column *columns,
		      const struct hot_list *hot, size_t n, const struct regions *known,
		      double seconds)
{
	struct place p;
	size_t i;

	json_array(j, key);
	for (i = 0; i < hot->len && i < n; i++) {
		make_place(&p, &hot->list[i], known, seconds);
		json_object(j, NULL);
		columns_json(columns, &p, j);
		json_close(j);
	}
	json_close(j);
}

/* Half of what is left of a terminal is for each list. */
static size_t rows_now(void)
{
	unsigned int lines, columns;

	if (rows)
		return rows;
	if (batch)
		return ROWS;
	screen_size(&lines, &columns);
	return lines > 14 ? (lines - 8) / 2 : 3;
}

static int print_text(const struct top *t, const struct look *shown,
		      const struct regions *known, double seconds)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return fail("no memory");
	text_head(out, t, shown, seconds);
	text_list(out, block_columns, &shown->hot.blocks, rows_now(), known, seconds);
	if (!shown->hot.blocks.len)
		fprintf(out, "%10s none was missed or taken away\n", "");
	if (shown->hot.locks.len)
		text_list(out, lock_rates, &shown->hot.locks, rows_now(), known, seconds);
	if (!batch)
		fputs("\nq: end; m, r, b: by misses, revocations, both\n", out);
	if (fclose(out)) {
		free(text);
		return fail("no memory");
	}
	if (batch)
		printf("%s\n", text);
	else
		screen_draw(text);
	free(text);
	return 0;
}

/* --- JSON ------------------------------------------------------------------ */

static void json_head(struct json *j, const struct top *t, const struct look *shown,
		      double seconds)
{
	const struct node r = node_now(t, shown, seconds);

	json_u64(j, "time_us", text_now());
	json_fixed(j, "seconds", seconds);
	json_object(j, "node");
	columns_json(node_columns, &r, j);
	json_close(j);
}

static void json_rack(struct json *j, const struct gathered *g, double seconds)
{
	struct lookups l;
	unsigned int i;

	json_array(j, "blades");
	for (i = 0; i < g->homes_len; i++) {
		json_object(j, NULL);
		json_u64(j, "id", WEFT_BLADE_MIN + i);
		report_answers(j, g, i);
		json_fixed(j, "received_per_s",
			   (double)sum_of(&g->of[OF_BLADE + i], "in_") / seconds);
		json_fixed(j, "sent_per_s", (double)sum_of(&g->of[OF_BLADE + i], "out_") / seconds);
		json_close(j);
	}
	json_close(j);
	if (g->no_switch) {
		json_null(j, "switch");
		return;
	}
	report_lookups(&g->of[OF_SWITCH], &l);
	json_object(j, "switch");
	json_fixed(j, "requests_per_s", (double)l.requests / seconds);
	json_ratio(j, "hit_ratio", l.hits, l.requests);
	json_close(j);
}

static void print_json(const struct top *t, const struct look *shown,
		       const struct regions *known, double seconds)
{
	struct json j;

	output_json(&j);
	json_head(&j, t, shown, seconds);
	if (all)
		json_rack(&j, &shown->rates, seconds);
	json_list(&j, "blocks", block_columns, &shown->hot.blocks, rows_now(), known, seconds);
	json_list(&j, "locks", lock_rates, &shown->hot.locks, rows_now(), known, seconds);
	json_end(&j);
}

/* --- Looking again and again ------------------------------------------------ */

static int show(const struct top *t, const struct look *shown, double seconds)
{
	struct regions known;
	int rc = regions_read(&known);

	if (rc)
		return rc;
	if (output.json)
		print_json(t, shown, &known, seconds);
	else
		rc = print_text(t, shown, &known, seconds);
	regions_free(&known);
	if (!rc && fflush(stdout))
		rc = fail("cannot write the output: %s", strerror(errno));
	return rc;
}

/* One interval that ends now; @t->before becomes its end. */
static int interval(struct top *t)
{
	struct look now, shown;
	double seconds;
	int rc;

	rc = look(&now);
	look_at(&shown);
	if (!rc)
		rc = gather_copy(&shown.rates, &now.rates);
	if (!rc)
		rc = hot_since(&shown.hot, &now.hot, &t->before.hot, t->by);
	if (!rc) {
		seconds = (double)(now.at - t->before.at) / 1e9;
		t->blocks = now.hot.blocks.len;
		t->locks = now.hot.locks.len;
		gather_subtract(&shown.rates, &t->before.rates);
		rc = show(t, &shown, seconds);
	}
	look_free(&shown);
	look_free(&t->before);
	t->before = now;
	return rc;
}

/* Return: whether it is to end. */
static bool take_keys(struct top *t)
{
	char key;

	while ((key = screen_key())) {
		if (key == 'q')
			return true;
		if (key == 'm')
			t->by = HOT_BY_MISSES;
		else if (key == 'r')
			t->by = HOT_BY_REVOCATIONS;
		else if (key == 'b')
			t->by = HOT_BY_BOTH;
	}
	return false;
}

/* Until the interval is over.  Return: whether it is to end. */
static bool pause_for(struct top *t)
{
	uint64_t end = t->before.at + (uint64_t)interval_ms * 1000000, now;

	while (!stop_asked() && (now = now_ns()) < end) {
		stop_wait(batch ? -1 : STDIN_FILENO, (int64_t)((end - now + 999999) / 1000000));
		if (!batch && take_keys(t))
			return true;
	}
	return stop_asked();
}

static int run(struct top *t)
{
	uint32_t n;
	int rc;

	stop_prepare();
	rc = look(&t->before);
	if (!rc && !batch)
		screen_begin();
	for (n = 0; !rc && (n < count || !count); n++) {
		if (pause_for(t))
			break;
		rc = interval(t);
	}
	screen_end();
	look_free(&t->before);
	return rc;
}

/* --- The command -------------------------------------------------------------- */

static int take_order(const struct reading *r, const char *name, char *text)
{
	static const char * const names[] = { "both", "misses", "revocations" };
	int at = argument_word(r->command, "order", text, names, 3);

	(void)name;
	if (at < 0)
		return EXIT_USAGE;
	top.by = (enum hot_by)at;
	return 0;
}

static const struct argument options[] = {
	{ "all", 'a', .flag = &all }, { "batch", 'b', .flag = &batch },
	{ "delay", 'd', .ms = &interval_ms, .min = INTERVAL_MS_MIN, .max = INTERVAL_MS_MAX },
	{ "count", 'n', .u32 = &count, .min = 1, .max = UINT32_MAX },
	{ "order", 'o', .take = take_order },
	{ "rows", 'r', .u32 = &rows, .min = 1, .max = 1000000 }, { 0 }
};

static int run_top(const struct reading *r)
{
	int rc = argument_none(r);

	if (rc)
		return rc;
	batch |= output.json || !isatty(STDOUT_FILENO);
	rc = kernel_open(false);
	return rc ? rc : run(&top);
}

const struct command command_top = {
	.name = "top",
	.options = options,
	.run = run_top,
	.summary = "hot blocks and locks of this node, live",
	.help = " [-a] [-b] [-d SECONDS] [-n COUNT] [-o ORDER] [-r ROWS] [-j] [-p]\n\n"
		"  -a, --all            rates of the memory blades and the switch, too\n"
		"  -b, --batch          page after page, also on a terminal\n"
		"  -d, --delay SECONDS  between two looks, 0.1 to 86400 (2)\n"
		"  -n, --count COUNT    so many intervals, then end\n"
		"  -o, --order ORDER    of blocks: both, misses, revocations (both)\n"
		"  -r, --rows ROWS      of each list (10; on a terminal what fits)\n\n"
		"Blocks that were missed, or that other nodes took, since the last look, the\n"
		"hottest first, as REGION:OFFSET; locks that came, went on or are waited for.\n"
		"Keys: q ends; m, r, b choose the order.\n",
};
