/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of times, of the node and of programs, in one layout.
 *
 * It is the one in which the kernel module counts (uapi/weft_hist.h).  A program that measures cuts each bucket into 32 parts of equal length: what it
 * says of its times is right within 3 %.  Parts put together are the kernel's buckets again, so
 * that both can be shown beside each other.
 */
#ifndef WEFT_TOOLS_COMMON_HIST_H
#define WEFT_TOOLS_COMMON_HIST_H

#include <stddef.h>
#include <stdint.h>

#include "tools/common/json.h"
#include "weft_hist.h"

#define HIST_CUT	5	/* into 2^5 parts; the last bucket is not cut */
#define HIST_PARTS	(((WEFT_HIST_BUCKETS - HIST_CUT - 1) << HIST_CUT) + 1)

/**
 * struct hist - times that a program measures; zeros at first
 * @count: how many there are
 * @sum: of all, ns
 * @max: the longest, exactly
 * @part: how many are in each part
 */
struct hist {
	uint64_t count;
	uint64_t sum;
	uint64_t max;
	uint64_t part[HIST_PARTS];
};

/**
 * struct hist_bucket - times of about the same length
 * @below: what they are less than, ns, a power of 2; 0: no limit
 * @count: how many
 */
struct hist_bucket {
	uint64_t below;
	uint64_t count;
};

/* More than there are, for a module that has other ones. */
#define HIST_LIST_MAX	65

/**
 * struct hist_list - times as they are told: by the module, to plots
 * @count: how many there are
 * @sum: of all, ns
 * @len: number of buckets
 * @bucket: those that are not empty, the shortest times first
 */
struct hist_list {
	uint64_t count;
	uint64_t sum;
	size_t len;
	struct hist_bucket bucket[HIST_LIST_MAX];
};

/* The part that a time is in, and the shortest time of a part. */
static inline unsigned int hist_part(uint64_t ns)
{
	unsigned int shift;

	if (ns < 2u << HIST_CUT)
		return (unsigned int)ns;
	if (ns >> (WEFT_HIST_BUCKETS - 2))
		return HIST_PARTS - 1;
	shift = 63 - (unsigned int)__builtin_clzll(ns) - HIST_CUT;
	return (shift << HIST_CUT) + (unsigned int)(ns >> shift);
}

static inline uint64_t hist_part_from(unsigned int part)
{
	unsigned int shift;

	if (part < 2u << HIST_CUT)
		return part;
	shift = (part >> HIST_CUT) - 1;
	return (uint64_t)(part - (shift << HIST_CUT)) << shift;
}

static inline void hist_add(struct hist *h, uint64_t ns)
{
	h->part[hist_part(ns)]++;
	h->count++;
	h->sum += ns;
	if (ns > h->max)
		h->max = ns;
}

void hist_join(struct hist *to, const struct hist *from);

/* ns that @permille of the times do not exceed, the middle of a part; 0: there are none. */
double hist_quantile(const struct hist *h, unsigned int permille);

/* Mean, ns; 0 if there are none. */
double hist_mean(const struct hist *h);

/* The same times as the module would tell them. */
void hist_tell(const struct hist *h, struct hist_list *list);

/* ns that @permille of the times are less than: a bucket's end; 0: none, or it has no end. */
uint64_t hist_list_below(const struct hist_list *list, unsigned int permille);

/*
 * The one form in which histograms are written for programs:
 *
 *	{ "count": n, "sum_ns": n, "mean_ns": x, "p50_below_ns": n, "p99_below_ns": n,
 *	  "buckets": [ { "below_ns": n, "count": n }, ... ] }
 *
 * null stands where there is no number: the mean of none, a quantile or a bucket without an end.
 */
void hist_list_json(struct json *j, const char *key, const struct hist_list *list);

/* hist_tell() and hist_list_json() */
void hist_json(struct json *j, const char *key, const struct hist *h);

#endif /* WEFT_TOOLS_COMMON_HIST_H */
