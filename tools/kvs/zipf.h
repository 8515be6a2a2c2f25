/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which record next: as the ScrambledZipfianGenerator of YCSB.
 *
 * A rank out of 10^10 is drawn from a zipfian distribution, then hashed to one of
 * the records: which are popular does not depend on how many there are, and they
 * are not neighbours.
 */
#ifndef WEFT_KVS_ZIPF_H
#define WEFT_KVS_ZIPF_H

#include <stdint.h>

#define ZIPF_ITEMS	10000000000ull
#define ZIPF_THETA	0.99

/* Sum of 1 / i^0.99 for i up to ZIPF_ITEMS, as it stands in YCSB. */
#define ZIPF_ZETA	26.46902820178302

/**
 * struct zipf - constants of the distribution
 */
struct zipf {
	double alpha;
	double eta;
	double second;
};

void zipf_init(struct zipf *z);

/* The rank for a random number @u, 0 <= @u < 1. */
uint64_t zipf_rank(const struct zipf *z, double u);

/* FNV-1a of the 8 bytes of a number, without its sign. */
uint64_t zipf_scatter(uint64_t n);

#endif /* WEFT_KVS_ZIPF_H */
