// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zipfian numbers, after Gray et al., Quickly Generating Billion-Record Synthetic
 * Databases (SIGMOD 1994), as YCSB does it.
 */
#include <math.h>

#include "zipf.h"

void zipf_init(struct zipf *z)
{
	double zeta2 = 1 + pow(0.5, ZIPF_THETA);

	z->alpha = 1 / (1 - ZIPF_THETA);
	z->second = 1 + pow(0.5, ZIPF_THETA);
	z->eta = (1 - pow(2.0 / ZIPF_ITEMS, 1 - ZIPF_THETA)) / (1 - zeta2 / ZIPF_ZETA);
}

uint64_t zipf_rank(const struct zipf *z, double u)
{
	double uz = u * ZIPF_ZETA;

	if (uz < 1)
		return 0;
	if (uz < z->second)
		return 1;
	return (uint64_t)(ZIPF_ITEMS * pow(z->eta * u - z->eta + 1, z->alpha));
}

uint64_t zipf_scatter(uint64_t n)
{
	uint64_t h = 0xcbf29ce484222325ull;
	int i;

	for (i = 0; i < 8; i++, n >>= 8)
		h = (h ^ (n & 0xff)) * 1099511628211ull;
	/* YCSB takes the absolute value of what is a signed number there. */
	return h >> 63 ? -h : h;
}
