// SPDX-License-Identifier: GPL-2.0-only
/* Gathering of statistics, see gather.h. */
#include "view/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kernel/blades.h"
#include "weft_wire.h"

#define LISTS	(OF_BLADE + WEFT_HOMES_MAX)

static int add_to(struct counters *sum, const struct counters *c)
{
	size_t i, k;

	for (i = 0; i < c->len; i++) {
		for (k = 0; k < sum->len; k++) {
			if (!strcmp(sum->list[k].name, c->list[i].name))
				break;
		}
		if (k < sum->len)
			sum->list[k].value += c->list[i].value;
		else if (counters_add(&c->list[i], sum))
			return fail("no memory");
	}
	return 0;
}

static int gather_blades(struct gathered *g)
{
	unsigned int i;
	bool silent;
	int rc = 0;

	for (i = 0; i < g->homes_len && !rc; i++) {
		/* One that was silent just now would be waited for once more. */
		if ((g->drained | g->silent) & UINT32_C(1) << i)
			continue;
		rc = kernel_blade_stats(WEFT_BLADE_MIN + i, g->homes[i], &g->of[OF_BLADE + i],
					&silent);
		g->silent |= (uint32_t)silent << i;
		if (!rc)
			rc = add_to(&g->of[OF_ALL], &g->of[OF_BLADE + i]);
	}
	return rc;
}

int gather(struct gathered *g)
{
	struct config c = { 0 };
	enum kernel_state state;
	int rc;

	rc = kernel_state(&state);
	/* Counters of its own the node has in any state. */
	if (!rc && (state == KERNEL_UP || g->memory || g->sw))
		rc = g->memory ? blades_config(&c, &g->silent) : kernel_config_get(&c);
	g->id = c.id;
	g->homes_len = c.homes_len;
	g->drained = c.drained;
	memcpy(g->homes, c.homes, sizeof(g->homes));
	if (!rc && g->node)
		rc = kernel_stats(&g->of[OF_NODE]);
	if (!rc && g->latency)
		rc = kernel_hists(&g->hists);
	if (!rc && g->memory)
		rc = gather_blades(g);
	if (!rc && g->sw)
		rc = kernel_switch_stats(&g->of[OF_SWITCH], g->memory ? &g->no_switch : NULL);
	return rc;
}

/* Return: the same in memory of malloc(), NULL if there is none. */
static void *copy(const void *list, size_t len, size_t size)
{
	void *new = calloc(len + 1, size);

	return new && len ? memcpy(new, list, len * size) : new;
}

int gather_copy(struct gathered *to, const struct gathered *from)
{
	bool good;
	size_t i;

	*to = *from;
	to->hists.list = copy(from->hists.list, from->hists.len, sizeof(*from->hists.list));
	good = to->hists.list;
	for (i = 0; i < LISTS; i++) {
		to->of[i].list = copy(from->of[i].list, from->of[i].len, sizeof(*from->of[i].list));
		good &= to->of[i].list != NULL;
	}
	return good ? 0 : fail("no memory");
}

void gather_free(struct gathered *g)
{
	size_t i;

	hists_free(&g->hists);
	for (i = 0; i < LISTS; i++)
		counters_free(&g->of[i]);
}

/* --- Differences --------------------------------------------------------- */

bool gather_is_gauge(const char *name)
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

/* The counter @name, first looked for at @at: lists come in one order. */
static struct counter *find(const struct counters *c, const char *name, size_t at)
{
	size_t i;

	if (at < c->len && !strcmp(c->list[at].name, name))
		return &c->list[at];
	for (i = 0; i < c->len; i++) {
		if (!strcmp(c->list[i].name, name))
			return &c->list[i];
	}
	return NULL;
}

/*
 * @now becomes what was counted since @before; what there is of something stays.
 * A counter that is less than before began anew: its owner was started again.
 * Those of the switch have 32 bits and wrap.
 */
static void subtract(struct counters *now, const struct counters *before, bool wraps)
{
	size_t i;

	for (i = 0; i < now->len; i++) {
		struct counter *c = &now->list[i];
		const struct counter *b = find(before, c->name, i);

		if (!b || gather_is_gauge(c->name))
			continue;
		if (c->value >= b->value)
			c->value -= b->value;
		else if (wraps)
			c->value = (uint32_t)(c->value - b->value);
	}
}

static uint64_t bucket_before(const struct hist_list *before, uint64_t below)
{
	size_t i;

	for (i = 0; i < before->len; i++) {
		if (before->bucket[i].below == below)
			return before->bucket[i].count;
	}
	return 0;
}

static void subtract_hists(struct hists *now, const struct hists *before)
{
	size_t i, b;

	for (i = 0; i < now->len && i < before->len; i++) {
		struct hist_list *h = &now->list[i].times;
		const struct hist_list *o = &before->list[i].times;

		if (strcmp(now->list[i].name, before->list[i].name) || h->count < o->count)
			continue;
		h->sum -= o->sum;
		h->count -= o->count;
		for (b = 0; b < h->len; b++)
			h->bucket[b].count -= bucket_before(o, h->bucket[b].below);
	}
}

/* The sums anew: a blade that began anew, or was silent, has not counted for them. */
static void sum_again(struct gathered *g)
{
	struct counter *sum, *c;
	unsigned int i;
	size_t k;

	for (k = 0; k < g->of[OF_ALL].len; k++) {
		sum = &g->of[OF_ALL].list[k];
		sum->value = 0;
		for (i = 0; i < g->homes_len; i++) {
			c = find(&g->of[OF_BLADE + i], sum->name, k);
			sum->value += c ? c->value : 0;
		}
	}
}

void gather_subtract(struct gathered *now, const struct gathered *before)
{
	unsigned int i;

	subtract(&now->of[OF_NODE], &before->of[OF_NODE], false);
	subtract_hists(&now->hists, &before->hists);
	/* A blade that is new, or was silent, has no rates yet. */
	for (i = 0; i < now->homes_len; i++) {
		if (i >= before->homes_len || before->silent & UINT32_C(1) << i)
			counters_free(&now->of[OF_BLADE + i]);
		else
			subtract(&now->of[OF_BLADE + i], &before->of[OF_BLADE + i], false);
	}
	sum_again(now);
	if (before->no_switch)
		counters_free(&now->of[OF_SWITCH]);
	subtract(&now->of[OF_SWITCH], &before->of[OF_SWITCH], true);
}
