// SPDX-License-Identifier: GPL-2.0-only
/* Histograms of this node, see hist.h. */
#include <linux/errno.h>
#include <linux/string.h>

#include "base/hist.h"

struct weft_hists __percpu *weft_hists;

int weft_hist_init(void)
{
	weft_hists = alloc_percpu(struct weft_hists);
	return weft_hists ? 0 : -ENOMEM;
}

void weft_hist_exit(void)
{
	free_percpu(weft_hists);
}

void weft_hist_get(struct weft_hist_data *data)
{
	unsigned int i, b;
	int cpu;

	memset(data, 0, sizeof(*data) * WEFT_HIST_COUNT);
	for_each_possible_cpu(cpu) {
		const struct weft_hists *h = per_cpu_ptr(weft_hists, cpu);

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
