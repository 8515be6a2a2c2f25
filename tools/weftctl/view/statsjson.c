// SPDX-License-Identifier: GPL-2.0-only
/* What was gathered as JSON, see statsjson.h. */
#include "view/statsjson.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/output.h"
#include "view/latency.h"
#include "view/report.h"
#include "weft_wire.h"

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
		if (report_is_gauge(c->list[i].name))
			gauges = true;
		else
			json_fixed(j, c->list[i].name,
				   (double)c->list[i].value / seconds);
	}
	json_close(j);
	if (!gauges)
		return;
	json_object(j, "values");
	for (i = 0; i < c->len; i++) {
		if (report_is_gauge(c->list[i].name))
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

	report_misses(&g->of_node, &m);
	json_object(j, "node");
	json_number(j, "id", g->id, g->id);
	json_object(j, "summary");
	json_events(j, "misses", "misses_per_s", m.served, seconds);
	json_ratio(j, "by_switch", m.by_switch, m.served);
	json_ratio(j, "by_home", m.by_home, m.served);
	json_ratio(j, "round_trips_per_miss", m.round_trips, m.served);
	json_ratio(j, "messages_per_miss", m.messages, m.served);
	json_ratio(j, "ns_per_miss", m.nsec, m.served);
	json_close(j);
	json_counted(j, &g->of_node, seconds);
	json_close(j);
}

void json_answers(struct json *j, const struct gathered *g, unsigned int blade)
{
	if (g->drained & UINT32_C(1) << blade)
		json_null(j, "answers");
	else
		json_bool(j, "answers", !(g->silent & UINT32_C(1) << blade));
}

static void json_memory(struct json *j, const struct gathered *g, double seconds)
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
		json_answers(j, g, i);
		json_counted(j, &g->of_blade[i], seconds);
		json_close(j);
	}
	json_close(j);
	if (seconds) {
		json_object(j, "total");
		json_rates(j, &g->of_all, seconds);
		json_close(j);
	} else {
		json_counters(j, "total", &g->of_all);
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
	report_lookups(&g->of_switch, &l);
	json_object(j, "switch");
	json_object(j, "summary");
	json_events(j, "requests", "requests_per_s", l.requests, seconds);
	json_ratio(j, "hit_ratio", l.hits, l.requests);
	json_close(j);
	json_counted(j, &g->of_switch, seconds);
	json_close(j);
}

void stats_json(const struct gathered *g, double seconds)
{
	struct json j;

	json_begin(&j, stdout, output.pretty);
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
