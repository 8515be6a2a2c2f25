// SPDX-License-Identifier: GPL-2.0-only
/* Counters for people and as JSON, see report.h. */
#include "view/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "base/text.h"
#include "weft_wire.h"

/* The kinds of misses: counter "miss_" and this. */
static const char * const kinds[][2] = {
	{ "read_unshared",	"read, no other copy" },
	{ "read_shared",	"read, shared" },
	{ "read_modified",	"read, modified elsewhere" },
	{ "write_unshared",	"write, no other copy" },
	{ "write_shared",	"write, shared" },
	{ "write_modified",	"write, modified elsewhere" },
	{ "upgrade",		"write, own copy shared" },
};

#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

static uint64_t misses_of(const struct counters *c, size_t kind)
{
	char name[64];

	snprintf(name, sizeof(name), "miss_%s", kinds[kind][0]);
	return counters_get(c, name);
}

void report_misses(const struct counters *c, struct misses *m)
{
	size_t i;

	m->served = 0;
	for (i = 0; i < KINDS; i++)
		m->served += misses_of(c, i);
	m->round_trips = counters_get(c, "miss_round_trips");
	m->nsec = counters_get(c, "miss_nsec");
	m->by_switch = counters_get(c, "miss_by_switch");
	m->by_home = counters_get(c, "miss_by_home");
	m->by_readers = counters_get(c, "miss_by_readers");
	/* less the messages that have nothing to do with lines */
	m->messages = counters_sum(c, "msg_sent msg_received") -
		      counters_sum(c, "sent_call received_call sent_reply received_reply sent_count received_count sent_count_ack received_count_ack");
}

void report_lookups(const struct counters *c, struct lookups *l)
{
	/* One of these is counted for each request that finds its line. */
	l->hits = counters_sum(c, "read fwd inv grant busy commit query abort");
	l->requests = l->hits + counters_get(c, "miss");
}

static double ratio(uint64_t over, uint64_t under)
{
	return under ? (double)over / (double)under : 0;
}

/* --- Rows ---------------------------------------------------------------- */

/* So many, or so many a second. */
static void row(const char *label, uint64_t value, double seconds)
{
	if (seconds)
		printf("  %-28s %14.1f /s\n", label, (double)value / seconds);
	else
		printf("  %-28s %14" PRIu64 "\n", label, value);
}

/* Of rates only the share is told, and none without a whole. */
static void row_share(const char *label, uint64_t value, uint64_t all, double seconds)
{
	if (!seconds)
		printf("  %-28s %14" PRIu64 "  %5.1f %%\n", label, value, 100 * ratio(value, all));
	else if (all)
		printf("  %-28s %14.1f %%\n", label, 100 * ratio(value, all));
}

/* Messages by type have a table of their own: nodes and blades count them so. */
static const char * const directions[][2] = {
	{ "sent_", "received_" }, { "out_", "in_" },
};

#define DIRECTIONS	(sizeof(directions) / sizeof(directions[0]))

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_message(const struct counter *c)
{
	size_t i;

	for (i = 0; i < DIRECTIONS; i++) {
		if (begins(c->name, directions[i][0]) || begins(c->name, directions[i][1]))
			return true;
	}
	return false;
}

/* The table for counters of one pair of @directions; nothing without them. */
static void print_types(const struct counters *c, const char *out, const char *in)
{
	uint64_t sent, received, all_sent = 0, all_received = 0;
	char name[COUNTER_NAME_MAX + 16];
	bool begun = false;
	size_t i;

	for (i = 0; i < c->len; i++) {
		const char *type = c->list[i].name + strlen(out);

		if (!begins(c->list[i].name, out))
			continue;
		if (!begun)
			printf("\n  %-28s %14s %14s\n", "messages", "sent", "received");
		begun = true;
		snprintf(name, sizeof(name), "%s%s", in, type);
		sent = c->list[i].value;
		received = counters_get(c, name);
		all_sent += sent;
		all_received += received;
		if (sent || received)
			printf("    %-26s %14" PRIu64 " %14" PRIu64 "\n", type, sent, received);
	}
	if (begun)
		printf("    %-26s %14" PRIu64 " %14" PRIu64 "\n", "total", all_sent,
		       all_received);
}

/* Of rates only counters that move. */
static void print_counters(const struct counters *c, double seconds)
{
	size_t i;

	for (i = 0; i < c->len; i++) {
		if (seconds ? c->list[i].value && !gather_is_gauge(c->list[i].name) :
			      !is_message(&c->list[i]))
			row(c->list[i].name, c->list[i].value, seconds);
	}
}

static void print_messages(const struct counters *c)
{
	size_t i;

	for (i = 0; i < DIRECTIONS; i++)
		print_types(c, directions[i][0], directions[i][1]);
}

/* --- Reports ------------------------------------------------------------- */

static void print_title(const char *name, double seconds)
{
	printf("%s", name);
	if (seconds)
		printf(", %.2f s", seconds);
	putchar('\n');
}

static void print_node(uint32_t id, const struct counters *c, double seconds)
{
	struct misses m;
	size_t i;

	report_misses(c, &m);
	print_title(id ? text_format("node %u", id) : "this machine (no node now)", seconds);
	row("misses", m.served, seconds);
	for (i = 0; i < KINDS && !seconds; i++) {
		printf("  ");
		row_share(kinds[i][1], misses_of(c, i), m.served, 0);
	}
	row_share("answered by the switch", m.by_switch, m.served, seconds);
	if (!seconds) {
		row_share("answered by a home", m.by_home, m.served, 0);
		row_share("answered by its readers", m.by_readers, m.served, 0);
	}
	if (m.served)
		printf("  %-28s %14.2f\n", "round trips a miss", ratio(m.round_trips, m.served));
	if (m.served && !seconds)
		printf("  %-28s %14.2f\n", "messages a miss", ratio(m.messages, m.served));
	if (m.served)
		printf("  %-28s %14.1f us\n", "time a miss", ratio(m.nsec, m.served) / 1e3);
	if (!seconds) {
		print_messages(c);
		puts("\n  all counters but these");
	}
	print_counters(c, seconds);
}

static void print_blade(const struct counters *c, double seconds)
{
	print_counters(c, seconds);
	if (!seconds)
		print_messages(c);
}

static void print_memory(const struct gathered *g, double seconds)
{
	unsigned int i;

	for (i = 0; i < g->homes_len; i++) {
		if (i && !seconds)
			putchar('\n');
		print_title(text_format("%s, %s", text_member(WEFT_BLADE_MIN + i),
					text_address(g->homes[i])), seconds);
		if (g->silent & UINT32_C(1) << i)
			puts("  does not answer");
		else
			print_blade(&g->of[OF_BLADE + i], seconds);
	}
	if (g->homes_len > 1 && !seconds) {
		puts(g->silent ? "\nall memory blades that answer" : "\nall memory blades");
		print_blade(&g->of[OF_ALL], 0);
	}
}

static void print_switch(const struct counters *c, double seconds)
{
	struct lookups l;

	report_lookups(c, &l);
	print_title("directory in the switch", seconds);
	row("requests", l.requests, seconds);
	row_share("line installed", l.hits, l.requests, seconds);
	if (!seconds) {
		row_share("sent on to the home", l.requests - l.hits, l.requests, 0);
		puts("\n  all counters");
	}
	print_counters(c, seconds);
}

#define BAR_MAX		40	/* characters of the longest bar */

/* The upper bound of a quantile. */
static void print_quantile(const struct hist_list *h, const char *label, unsigned int permille)
{
	uint64_t ns = hist_list_below(h, permille);

	if (ns)
		printf(", %s < %s", label, text_duration((double)ns));
	else
		printf(", %s beyond the last limit", label);
}

static void print_bucket(const struct hist_list *h, size_t at, uint64_t most)
{
	static const char bar[BAR_MAX + 1] = "########################################";
	const struct hist_bucket *b = &h->bucket[at];
	double length = (double)b->count / (double)most * BAR_MAX;
	uint64_t begin = b->below / 2;

	if (!b->below)
		begin = at ? h->bucket[at - 1].below : 0;
	/* A bucket that is not empty has a bar. */
	printf("    %8s .. %-8s %12" PRIu64 " %.*s\n",
	       text_duration((double)begin),
	       b->below ? text_duration((double)b->below) : "", b->count,
	       length < 1 ? 1 : (int)(length + 0.5), bar);
}

static void print_one(const struct kernel_hist *kind)
{
	const struct hist_list *h = &kind->times;
	uint64_t most = 0;
	size_t i;

	printf("  %s: %" PRIu64, kind->name, h->count);
	if (!h->count) {
		putchar('\n');
		return;
	}
	printf(", mean %s", text_duration((double)h->sum / (double)h->count));
	print_quantile(h, "half", 500);
	print_quantile(h, "99 %", 990);
	putchar('\n');
	for (i = 0; i < h->len; i++) {
		if (h->bucket[i].count > most)
			most = h->bucket[i].count;
	}
	for (i = 0; i < h->len; i++) {
		if (h->bucket[i].count)
			print_bucket(h, i, most);
	}
}

void report_print(const struct gathered *g, double seconds)
{
	size_t i;

	if (g->node)
		print_node(g->id, &g->of[OF_NODE], seconds);
	if (g->node && g->memory && !seconds)
		putchar('\n');
	if (g->memory)
		print_memory(g, seconds);
	if (g->memory && g->sw && !seconds)
		putchar('\n');
	if (g->no_switch && !seconds)
		puts("no directory in the switch answers: the memory blades keep it");
	else if (g->sw && !g->no_switch)
		print_switch(&g->of[OF_SWITCH], seconds);
	if (g->latency && seconds)
		print_title("latency", seconds);
	for (i = 0; i < g->hists.len; i++)
		print_one(&g->hists.list[i]);
}

/* --- JSON ---------------------------------------------------------------- */

static void latency_json(struct json *j, const struct hists *h)
{
	size_t i;

	json_object(j, "latency");
	for (i = 0; i < h->len; i++)
		hist_list_json(j, h->list[i].name, &h->list[i].times);
	json_close(j);
}

static void json_counters(struct json *j, const char *key, const struct counters *c)
{
	size_t i;

	json_object(j, key);
	for (i = 0; i < c->len; i++)
		json_u64(j, c->list[i].name, c->list[i].value);
	json_close(j);
}

static void json_rates(struct json *j, const struct counters *c, double seconds)
{
	bool gauges = false;
	size_t i;

	json_object(j, "rates");
	for (i = 0; i < c->len; i++) {
		if (gather_is_gauge(c->list[i].name))
			gauges = true;
		else
			json_fixed(j, c->list[i].name, (double)c->list[i].value / seconds);
	}
	json_close(j);
	if (!gauges)
		return;
	json_object(j, "values");
	for (i = 0; i < c->len; i++) {
		if (gather_is_gauge(c->list[i].name))
			json_u64(j, c->list[i].name, c->list[i].value);
	}
	json_close(j);
}

static void json_counted(struct json *j, const struct counters *c, double seconds)
{
	if (seconds)
		json_rates(j, c, seconds);
	else
		json_counters(j, "counters", c);
}

static void json_events(struct json *j, const char *key, const char *key_per_s,
			uint64_t count, double seconds)
{
	if (seconds)
		json_fixed(j, key_per_s, (double)count / seconds);
	else
		json_u64(j, key, count);
}

static void json_node(struct json *j, const struct gathered *g, double seconds)
{
	struct misses m;

	report_misses(&g->of[OF_NODE], &m);
	json_object(j, "node");
	json_number(j, "id", g->id, g->id);
	json_object(j, "summary");
	json_events(j, "misses", "misses_per_s", m.served, seconds);
	json_ratio(j, "by_switch", m.by_switch, m.served);
	json_ratio(j, "by_home", m.by_home, m.served);
	json_ratio(j, "by_readers", m.by_readers, m.served);
	json_ratio(j, "round_trips_per_miss", m.round_trips, m.served);
	json_ratio(j, "messages_per_miss", m.messages, m.served);
	json_ratio(j, "ns_per_miss", m.nsec, m.served);
	json_close(j);
	json_counted(j, &g->of[OF_NODE], seconds);
	json_close(j);
}

void report_answers(struct json *j, const struct gathered *g, unsigned int blade)
{
	if (g->drained & UINT32_C(1) << blade)
		json_null(j, "answers");
	else
		json_bool(j, "answers", !(g->silent & UINT32_C(1) << blade));
}

static void json_memory(struct json *j, const struct gathered *g, double seconds)
{
	unsigned int i;

	json_object(j, "memory");
	json_array(j, "blades");
	for (i = 0; i < g->homes_len; i++) {
		json_object(j, NULL);
		json_u64(j, "id", WEFT_BLADE_MIN + i);
		json_string(j, "address", text_address(g->homes[i]));
		report_answers(j, g, i);
		json_counted(j, &g->of[OF_BLADE + i], seconds);
		json_close(j);
	}
	json_close(j);
	if (seconds) {
		json_object(j, "total");
		json_rates(j, &g->of[OF_ALL], seconds);
		json_close(j);
	} else {
		json_counters(j, "total", &g->of[OF_ALL]);
	}
	json_close(j);
}

static void json_switch(struct json *j, const struct gathered *g, double seconds)
{
	struct lookups l;

	if (g->no_switch) {
		json_null(j, "switch");
		return;
	}
	report_lookups(&g->of[OF_SWITCH], &l);
	json_object(j, "switch");
	json_object(j, "summary");
	json_events(j, "requests", "requests_per_s", l.requests, seconds);
	json_ratio(j, "hit_ratio", l.hits, l.requests);
	json_close(j);
	json_counted(j, &g->of[OF_SWITCH], seconds);
	json_close(j);
}

void report_json(const struct gathered *g, double seconds)
{
	struct json j;

	output_json(&j);
	if (seconds)
		json_fixed(&j, "seconds", seconds);
	if (g->node)
		json_node(&j, g, seconds);
	if (g->memory)
		json_memory(&j, g, seconds);
	if (g->sw)
		json_switch(&j, g, seconds);
	if (g->latency)
		latency_json(&j, &g->hists);
	json_end(&j);
}
