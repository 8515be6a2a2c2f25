/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of times: 32 classes for each power of two, so that a percentile is
 * right within 3 %.
 */
#ifndef WEFT_KVS_HIST_H
#define WEFT_KVS_HIST_H

#include <stdint.h>

#define HIST_FINE	5
#define HIST_CLASSES	((64 - HIST_FINE + 1) << HIST_FINE)

struct hist {
	uint64_t count;
	uint64_t max;
	uint64_t classes[HIST_CLASSES];
};

static inline unsigned int hist_class(uint64_t value)
{
	unsigned int shift;

	if (value < 2u << HIST_FINE)
		return (unsigned int)value;
	shift = 63 - (unsigned int)__builtin_clzll(value) - HIST_FINE;
	return (shift << HIST_FINE) + (unsigned int)(value >> shift);
}

/* The middle of a class. */
static inline double hist_value(unsigned int class)
{
	unsigned int shift;

	if (class < 2u << HIST_FINE)
		return class;
	shift = (class >> HIST_FINE) - 1;
	return (double)((uint64_t)(class - (shift << HIST_FINE)) << shift) +
	       (double)((1ull << shift) - 1) / 2;
}

static inline void hist_add(struct hist *h, uint64_t value)
{
	h->classes[hist_class(value)]++;
	h->count++;
	if (value > h->max)
		h->max = value;
}

static inline void hist_join(struct hist *to, const struct hist *from)
{
	unsigned int i;

	for (i = 0; i < HIST_CLASSES; i++)
		to->classes[i] += from->classes[i];
	to->count += from->count;
	if (from->max > to->max)
		to->max = from->max;
}

/* What @part of all, 0 to 1, are not above; 0 if there are none. */
static inline double hist_percentile(const struct hist *h, double part)
{
	uint64_t wanted = (uint64_t)(part * (double)h->count), sum = 0;
	unsigned int i;

	for (i = 0; i < HIST_CLASSES; i++) {
		sum += h->classes[i];
		if (sum && sum > wanted)
			return hist_value(i);
	}
	return (double)h->max;
}

#endif /* WEFT_KVS_HIST_H */
