// SPDX-License-Identifier: GPL-2.0-only
/* Histograms of times, see hist.h. */
#include "tools/common/hist.h"

void hist_join(struct hist *to, const struct hist *from)
{
	unsigned int i;

	to->count += from->count;
	to->sum += from->sum;
	if (from->max > to->max)
		to->max = from->max;
	for (i = 0; i < HIST_PARTS; i++)
		to->part[i] += from->part[i];
}

/* How many times are not above a quantile, at least one if there are any. */
static uint64_t rank_of(uint64_t count, unsigned int permille)
{
	/* Not count * permille: that might not fit. */
	uint64_t rank = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;

	return rank ? rank : count > 0;
}

double hist_quantile(const struct hist *h, unsigned int permille)
{
	uint64_t wanted = rank_of(h->count, permille), seen = 0;
	unsigned int i;
	double middle;

	if (!h->count)
		return 0;
	for (i = 0; i < HIST_PARTS - 1; i++) {
		seen += h->part[i];
		if (seen >= wanted)
			break;
	}
	if (i == HIST_PARTS - 1)
		return (double)h->max;
	middle = (double)(hist_part_from(i) + hist_part_from(i + 1) - 1) / 2;
	return middle < (double)h->max ? middle : (double)h->max;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}

void hist_tell(const struct hist *h, struct hist_list *list)
{
	struct hist_bucket *b = NULL;
	unsigned int i;

	*list = (struct hist_list){ .count = h->count, .sum = h->sum };
	for (i = 0; i < HIST_PARTS; i++) {
		uint64_t end = weft_hist_below(weft_hist_bucket(hist_part_from(i)));

		if (!h->part[i])
			continue;
		if (!b || b->below != end) {
			b = &list->bucket[list->len++];
			b->below = end;
		}
		b->count += h->part[i];
	}
}

uint64_t hist_list_below(const struct hist_list *list, unsigned int permille)
{
	uint64_t wanted = rank_of(list->count, permille), seen = 0;
	size_t i;

	for (i = 0; i < list->len && list->count; i++) {
		seen += list->bucket[i].count;
		if (seen >= wanted)
			return list->bucket[i].below;
	}
	return 0;
}

/* 0 stands for none. */
static void json_end_of(struct json *j, const char *key, uint64_t ns)
{
	if (ns)
		json_u64(j, key, ns);
	else
		json_null(j, key);
}

void hist_list_json(struct json *j, const char *key, const struct hist_list *list)
{
	size_t i;

	json_object(j, key);
	json_u64(j, "count", list->count);
	json_u64(j, "sum_ns", list->sum);
	json_ratio(j, "mean_ns", list->sum, list->count);
	json_end_of(j, "p50_below_ns", hist_list_below(list, 500));
	json_end_of(j, "p99_below_ns", hist_list_below(list, 990));
	json_array(j, "buckets");
	for (i = 0; i < list->len; i++) {
		json_object(j, NULL);
		json_end_of(j, "below_ns", list->bucket[i].below);
		json_u64(j, "count", list->bucket[i].count);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

void hist_json(struct json *j, const char *key, const struct hist *h)
{
	struct hist_list list;

	hist_tell(h, &list);
	hist_list_json(j, key, &list);
}
