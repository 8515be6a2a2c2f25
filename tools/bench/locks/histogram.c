// SPDX-License-Identifier: GPL-2.0-only
/* Histograms of times: steps that grow with the time. */
#include "bench.h"

/* Below HISTOGRAM_STEPS each value has a cell; above, each power of two has as many. */
static unsigned int cell_of(uint64_t ns)
{
	unsigned int power, cell;

	if (ns < HISTOGRAM_STEPS)
		return (unsigned int)ns;
	power = 63 - __builtin_clzll(ns);
	cell = (power - 3) * HISTOGRAM_STEPS + (ns >> (power - 4)) % HISTOGRAM_STEPS;
	return cell < HISTOGRAM_CELLS ? cell : HISTOGRAM_CELLS - 1;
}

/* The middle of what falls into a cell. */
static double middle_of(unsigned int cell)
{
	unsigned int power = cell / HISTOGRAM_STEPS + 3;

	if (cell < HISTOGRAM_STEPS)
		return cell;
	return (HISTOGRAM_STEPS + cell % HISTOGRAM_STEPS + 0.5) *
	       (double)(1ull << (power - 4));
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	h->count++;
	h->sum += ns;
	if (ns > h->max)
		h->max = ns;
	h->cell[cell_of(ns)]++;
}

void histogram_merge(struct histogram *h, const struct histogram *from)
{
	unsigned int i;

	h->count += from->count;
	h->sum += from->sum;
	if (from->max > h->max)
		h->max = from->max;
	for (i = 0; i < HISTOGRAM_CELLS; i++)
		h->cell[i] += from->cell[i];
}

double histogram_us(const struct histogram *h, double part)
{
	uint64_t seen = 0;
	double ns = 0;
	unsigned int i;

	if (!h->count)
		return 0;
	for (i = 0; i < HISTOGRAM_CELLS; i++) {
		seen += h->cell[i];
		if (seen && (double)seen >= part * (double)h->count)
			break;
	}
	ns = middle_of(i);
	return (ns < (double)h->max ? ns : (double)h->max) / 1e3;
}

void histogram_print(const struct histogram *h, const char *name)
{
	printf(",\"%s_p50_us\":%.4g,\"%s_p99_us\":%.4g,\"%s_max_us\":%.6g,\"%s_mean_us\":%.4g",
	       name, histogram_us(h, 0.5), name, histogram_us(h, 0.99), name,
	       (double)h->max / 1e3, name,
	       h->count ? (double)h->sum / (double)h->count / 1e3 : 0);
}
