// SPDX-License-Identifier: GPL-2.0-only
/* Sums and names of counters and histograms, see stats.h. */
#include <linux/build_bug.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "base/stats.h"
#include "core/wire.h"

/* --- histograms ---------------------------------------------------------------------------- */

int weft_counters_init(struct weft_counters *c)
{
	c->stats = alloc_percpu(struct weft_stats);
	c->hists = alloc_percpu(struct weft_hists);
	if (c->stats && c->hists)
		return 0;
	weft_counters_exit(c);
	return -ENOMEM;
}

void weft_counters_exit(struct weft_counters *c)
{
	free_percpu(c->stats);
	free_percpu(c->hists);
	c->stats = NULL;
	c->hists = NULL;
}

void weft_hist_get(const struct weft_counters *c, struct weft_hist_data *data)
{
	unsigned int i, b;
	int cpu;

	memset(data, 0, sizeof(*data) * WEFT_HIST_COUNT);
	for_each_possible_cpu(cpu) {
		const struct weft_hists *h = per_cpu_ptr(c->hists, cpu);

		for (i = 0; i < WEFT_HIST_COUNT; i++) {
			data[i].nsec += READ_ONCE(h->hist[i].nsec);
			for (b = 0; b < WEFT_HIST_BUCKETS; b++)
				data[i].bucket[b] += READ_ONCE(h->hist[i].bucket[b]);
		}
	}
}

const char *weft_hist_name(enum weft_hist hist)
{
	static const char * const names[] = {
#define X(id, name) [WEFT_HIST_##id] = name,
		WEFT_HISTS(X)
#undef X
	};

	return names[hist];
}

/* --- counters ------------------------------------------------------------------------------ */

static_assert(WEFT_STATS_TYPES == WEFT_MSG_REPLY + 1, "a counter for each type of message");

void weft_stats_get(const struct weft_counters *c, u64 *value)
{
	unsigned int i;
	int cpu;

	memset(value, 0, sizeof(u64) * WEFT_STAT_COUNT);
	for_each_possible_cpu(cpu)
		for (i = 0; i < WEFT_STAT_COUNT; i++)
			value[i] += READ_ONCE(per_cpu_ptr(c->stats, cpu)->value[i]);
}

u64 weft_stat_get(const struct weft_counters *c, unsigned int stat)
{
	u64 value = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		value += READ_ONCE(per_cpu_ptr(c->stats, cpu)->value[stat]);
	return value;
}

const char *weft_stat_name(unsigned int stat, char *buf, size_t size)
{
	static const char * const names[] = {
#define X(id, name) [WEFT_STAT_##id] = name,
		WEFT_STATS(X)
#undef X
	};
	const char *type, *verb = "sent";
	char *c;

	if (stat < ARRAY_SIZE(names))
		return names[stat];
	if (stat >= WEFT_STAT_COUNT)
		return NULL;
	stat -= WEFT_STAT_SENT_TYPE;
	if (stat >= WEFT_STATS_TYPES) {
		stat -= WEFT_STATS_TYPES;
		verb = "received";
	}
	type = weft_msg_name((u8)stat);
	if (*type == '?')
		return NULL;
	snprintf(buf, size, "%s_%s", verb, type);
	for (c = buf; *c; c++)
		*c = tolower(*c);
	return buf;
}
