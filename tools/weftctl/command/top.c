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

/**
 * struct look - all at one time
 * @at: ns of CLOCK_MONOTONIC
 * @rates: counters
 * @hot: blocks and locks
 */
struct look {
	uint64_t at;
	struct gathered rates;
	struct hot hot;
};

/**
 * struct top - the command
 * @by: what comes first
 * @before: the last look
 * @blocks: in the cache now
 * @locks: that the node has now
 */
struct top {
	enum hot_by by;
	struct look before;
	size_t blocks;
	size_t locks;
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

/* What a node does, in numbers a second. */
struct node_rates {
	double misses;
	double revocations;
	double messages;
	double hand_overs;
	double ns_per_miss;
	double by_switch;
};

static void node_rates(const struct counters *c, double seconds, struct node_rates *r)
{
	struct misses m;

	report_misses(c, &m);
	r->misses = (double)m.served / seconds;
	r->messages = (double)(counters_get(c, "msg_sent") +
			       counters_get(c, "msg_received")) / seconds;
	r->revocations = (double)(counters_get(c, "invalidated") +
				  counters_get(c, "downgraded")) / seconds;
	r->hand_overs = (double)counters_get(c, "lock_handed") / seconds;
	r->ns_per_miss = m.served ? (double)m.nsec / (double)m.served : 0;
	r->by_switch = m.served ? (double)m.by_switch / (double)m.served : 0;
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
	char name[TEXT_MEMBER_MAX];
	struct lookups l;
	unsigned int i;

	for (i = 0; i < g->homes_len; i++) {
		text_member(WEFT_BLADE_MIN + i, name);
		if (g->silent & UINT32_C(1) << i)
			fprintf(out, "%s does not answer\n", name);
		else
			fprintf(out, "%s: %.1f messages/s received, %.1f sent\n", name,
				(double)sum_of(&g->of_blade[i], "in_") / seconds,
				(double)sum_of(&g->of_blade[i], "out_") / seconds);
	}
	if (g->no_switch) {
		fputs("no directory in the switch: the memory blades keep it\n", out);
		return;
	}
	report_lookups(&g->of_switch, &l);
	fprintf(out, "directory in the switch: %.1f requests/s, %.1f %% answered by it\n",
		(double)l.requests / seconds,
		l.requests ? 100 * (double)l.hits / (double)l.requests : 0);
}

static void text_head(FILE *out, const struct top *t, const struct look *shown,
		      double seconds)
{
	char clock[TEXT_TIME_MAX], took[TEXT_TIME_MAX];
	struct node_rates r;

	node_rates(&shown->rates.of_node, seconds, &r);
	fprintf(out, "node %u, %.8s, %.2f s: %.1f misses/s, %.1f revocations/s, %.1f lock hand-overs/s\n",
		shown->rates.id, text_clock(text_now(), clock), seconds, r.misses,
		r.revocations, r.hand_overs);
	fprintf(out, "%s a miss, %.1f %% answered by the switch, %.1f messages/s; %zu blocks, %zu locks here\n",
		text_duration(r.ns_per_miss, took), 100 * r.by_switch, r.messages,
		t->blocks, t->locks);
	if (all)
		text_rack(out, &shown->rates, seconds);
}

static void text_blocks(FILE *out, const struct hot_lines *hot, size_t n,
			const struct regions *known, double seconds)
{
	char place[TRACE_PLACE_MAX], safe[TEXT_SAFE_MAX];
	size_t i;

	fprintf(out, "\n%10s %10s %-8s %7s  %s\n", "MISSES/s", "REVOKED/s", "STATE",
		"WAITERS", "BLOCK");
	for (i = 0; i < hot->len && i < n; i++) {
		const struct line *l = &hot->list[i];

		trace_place(place, known, l->region, l->index, false);
		fprintf(out, "%10.1f %10.1f %-8s %7" PRIu32 "  %s\n",
			(double)l->misses / seconds, (double)l->revocations / seconds,
			word_state(l->state), l->waiters,
			text_safe(place, safe, sizeof(safe)));
	}
	if (i < hot->len)
		fprintf(out, "%10s and %zu more\n", "", hot->len - i);
	if (!hot->len)
		fprintf(out, "%10s none was missed or taken away\n", "");
}

static void text_locks(FILE *out, const struct hot_locks *hot, size_t n,
		       const struct regions *known, double seconds)
{
	char place[TRACE_PLACE_MAX], safe[TEXT_SAFE_MAX];
	size_t i;

	if (!hot->len)
		return;
	fprintf(out, "\n%10s %10s %-8s %7s %5s  %s\n", "GRANTS/s", "HANDED/s", "STATE",
		"WAITERS", "QUEUE", "LOCK");
	for (i = 0; i < hot->len && i < n; i++) {
		const struct lock_info *l = &hot->list[i];

		trace_place(place, known, l->region, l->offset, true);
		fprintf(out, "%10.1f %10.1f %-8s %7" PRIu32 " %5" PRIu32 "  %s\n",
			(double)l->grants / seconds, (double)l->hand_overs / seconds,
			word_state(l->state), l->waiters, l->queue,
			text_safe(place, safe, sizeof(safe)));
	}
	if (i < hot->len)
		fprintf(out, "%10s and %zu more\n", "", hot->len - i);
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
	text_blocks(out, &shown->hot.lines, rows_now(), known, seconds);
	text_locks(out, &shown->hot.locks, rows_now(), known, seconds);
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

static void json_place(struct json *j, const struct regions *known, uint32_t region,
		       uint64_t index, bool lock)
{
	const struct region *r = regions_by_id(known, region);

	json_u64(j, "region", region);
	json_text(j, "name", r ? r->name : "");
	json_u64(j, "offset", trace_offset(known, region, index, lock));
}

static void json_head(struct json *j, const struct top *t, const struct look *shown,
		      double seconds)
{
	struct node_rates r;

	node_rates(&shown->rates.of_node, seconds, &r);
	json_u64(j, "time_us", text_now());
	json_fixed(j, "seconds", seconds);
	json_object(j, "node");
	json_u64(j, "id", shown->rates.id);
	json_fixed(j, "misses_per_s", r.misses);
	json_fixed(j, "revocations_per_s", r.revocations);
	json_fixed(j, "hand_overs_per_s", r.hand_overs);
	json_fixed(j, "messages_per_s", r.messages);
	json_fixed(j, "ns_per_miss", r.ns_per_miss);
	json_fixed(j, "by_switch", r.by_switch);
	json_u64(j, "blocks", t->blocks);
	json_u64(j, "locks", t->locks);
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
		json_answers(j, g, i);
		json_fixed(j, "received_per_s",
			   (double)sum_of(&g->of_blade[i], "in_") / seconds);
		json_fixed(j, "sent_per_s",
			   (double)sum_of(&g->of_blade[i], "out_") / seconds);
		json_close(j);
	}
	json_close(j);
	if (g->no_switch) {
		json_null(j, "switch");
		return;
	}
	report_lookups(&g->of_switch, &l);
	json_object(j, "switch");
	json_fixed(j, "requests_per_s", (double)l.requests / seconds);
	json_ratio(j, "hit_ratio", l.hits, l.requests);
	json_close(j);
}

static void print_json(const struct top *t, const struct look *shown,
		       const struct regions *known, double seconds)
{
	size_t i, n = rows_now();
	struct json j;

	json_begin(&j, stdout, output.pretty);
	json_head(&j, t, shown, seconds);
	if (all)
		json_rack(&j, &shown->rates, seconds);
	json_array(&j, "blocks");
	for (i = 0; i < shown->hot.lines.len && i < n; i++) {
		const struct line *l = &shown->hot.lines.list[i];

		json_object(&j, NULL);
		json_place(&j, known, l->region, l->index, false);
		json_fixed(&j, "misses_per_s", (double)l->misses / seconds);
		json_fixed(&j, "revocations_per_s", (double)l->revocations / seconds);
		json_string(&j, "state", word_state(l->state));
		json_u64(&j, "waiters", l->waiters);
		json_close(&j);
	}
	json_close(&j);
	json_array(&j, "locks");
	for (i = 0; i < shown->hot.locks.len && i < n; i++) {
		const struct lock_info *l = &shown->hot.locks.list[i];

		json_object(&j, NULL);
		json_place(&j, known, l->region, l->offset, true);
		json_fixed(&j, "grants_per_s", (double)l->grants / seconds);
		json_fixed(&j, "hand_overs_per_s", (double)l->hand_overs / seconds);
		json_string(&j, "state", word_state(l->state));
		json_u64(&j, "waiters", l->waiters);
		json_u64(&j, "queue", l->queue);
		json_close(&j);
	}
	json_close(&j);
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
		rc = hot_copy(&shown.hot, &now.hot);
	if (!rc) {
		seconds = (double)(now.at - t->before.at) / 1e9;
		t->blocks = now.hot.lines.len;
		t->locks = now.hot.locks.len;
		gather_subtract(&shown.rates, &t->before.rates);
		hot_since(&shown.hot, &t->before.hot, t->by);
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
