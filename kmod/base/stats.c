// SPDX-License-Identifier: GPL-2.0-only
/* Counters of this node, see stats.h. */
#include <linux/build_bug.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "base/stats.h"
#include "core/wire.h"

static_assert(WEFT_STATS_TYPES == WEFT_MSG_REPLY + 1,
	      "a counter for each type of message");

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
