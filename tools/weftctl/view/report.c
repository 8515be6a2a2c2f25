// SPDX-License-Identifier: GPL-2.0-only
/* Counters as text, see report.h. */
#include "view/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
	/* Messages that have nothing to do with lines. */
	static const char * const others[] = {
		"sent_call", "received_call", "sent_reply", "received_reply",
		"sent_count", "received_count", "sent_count_ack",
		"received_count_ack",
	};
	size_t i;

	m->served = 0;
	for (i = 0; i < KINDS; i++)
		m->served += misses_of(c, i);
	m->round_trips = counters_get(c, "miss_round_trips");
	m->nsec = counters_get(c, "miss_nsec");
	m->by_switch = counters_get(c, "miss_by_switch");
	m->by_home = counters_get(c, "miss_by_home");
	m->messages = counters_get(c, "msg_sent") + counters_get(c, "msg_received");
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		m->messages -= counters_get(c, others[i]);
}

void report_lookups(const struct counters *c, struct lookups *l)
{
	/* One of these is counted for each request that finds its line. */
	static const char * const hits[] = {
		"read", "fwd", "inv", "grant", "busy", "commit", "query", "abort",
	};
	size_t i;

	l->hits = 0;
	for (i = 0; i < sizeof(hits) / sizeof(hits[0]); i++)
		l->hits += counters_get(c, hits[i]);
	l->requests = l->hits + counters_get(c, "miss");
}

bool report_is_gauge(const char *name)
{
	static const char * const gauges[] = {
		"nodes", "switch", "regions", "memory_bytes", "reserved_bytes",
		"used_bytes", "lines_at_home", "lines_in_switch", "lines_moving", "locks",
		"locks_max", "region_numbers_left", "blades", "ready", "file_refuses",
		"file_failed", "refused_ago_s",
	};
	size_t i;

	for (i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
		if (!strcmp(name, gauges[i]))
			return true;
	}
	return false;
}

static double ratio(uint64_t over, uint64_t under)
{
	return under ? (double)over / (double)under : 0;
}

/* --- Rows ---------------------------------------------------------------- */

static void row(const char *label, uint64_t value)
{
	printf("  %-28s %14" PRIu64 "\n", label, value);
}

static void row_share(const char *label, uint64_t value, uint64_t all)
{
	printf("  %-28s %14" PRIu64 "  %5.1f %%\n", label, value,
	       100 * ratio(value, all));
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
		if (begins(c->name, directions[i][0]) ||
		    begins(c->name, directions[i][1]))
			return true;
	}
	return false;
}

/* The table for counters of one pair of @directions; nothing without them. */
static void report_types(const struct counters *c, const char *out, const char *in)
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
			printf("    %-26s %14" PRIu64 " %14" PRIu64 "\n", type, sent,
			       received);
	}
	if (begun)
		printf("    %-26s %14" PRIu64 " %14" PRIu64 "\n", "total", all_sent,
		       all_received);
}

static void report_messages(const struct counters *c)
{
	size_t i;

	for (i = 0; i < DIRECTIONS; i++)
		report_types(c, directions[i][0], directions[i][1]);
}

/* --- Reports ------------------------------------------------------------- */

/* All counters but those of messages. */
static void report_table(const struct counters *c)
{
	size_t i;

	for (i = 0; i < c->len; i++) {
		if (!is_message(&c->list[i]))
			row(c->list[i].name, c->list[i].value);
	}
}

void report_node(uint32_t id, const struct counters *c)
{
	struct misses m;
	size_t i;

	report_misses(c, &m);
	if (id)
		printf("node %u\n", id);
	else
		puts("this machine (no node now)");
	row("misses", m.served);
	for (i = 0; i < KINDS; i++) {
		printf("  ");
		row_share(kinds[i][1], misses_of(c, i), m.served);
	}
	row_share("answered by the switch", m.by_switch, m.served);
	row_share("answered by a home", m.by_home, m.served);
	if (m.served) {
		printf("  %-28s %14.2f\n", "round trips a miss",
		       ratio(m.round_trips, m.served));
		printf("  %-28s %14.2f\n", "messages a miss",
		       ratio(m.messages, m.served));
		printf("  %-28s %14.1f us\n", "time a miss",
		       ratio(m.nsec, m.served) / 1e3);
	}
	report_messages(c);
	puts("\n  all counters but these");
	report_table(c);
}

void report_memory(const struct counters *c)
{
	report_table(c);
	report_messages(c);
}

void report_switch(const struct counters *c)
{
	struct lookups l;

	report_lookups(c, &l);
	puts("directory in the switch");
	row("requests", l.requests);
	row_share("line installed", l.hits, l.requests);
	row_share("sent on to the home", l.requests - l.hits, l.requests);
	puts("\n  all counters");
	report_table(c);
}
