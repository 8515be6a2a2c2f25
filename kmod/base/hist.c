// SPDX-License-Identifier: GPL-2.0-only
/* Histograms of this node, see hist.h. */
#include <linux/errno.h>
#include <linux/string.h>

#include "base/hist.h"

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
