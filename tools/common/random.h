/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers for tests, measurements and faults: with the same seed, the same ones on
 * every machine.  Who knows one can tell all that follow: nothing for keys and nonces.
 *
 * The generator is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
 * Generators, 2014).  Its state is one word, any value is a good one to begin with, and all
 * bits of what it gives are equally good.  One state is for one thread.
 */
#ifndef WEFT_TOOLS_COMMON_RANDOM_H
#define WEFT_TOOLS_COMMON_RANDOM_H

#include <stdint.h>

/* From one state to the next. */
#define RANDOM_STEP	0x9e3779b97f4a7c15ull

/* Spreads every bit of @x over the result; 0 becomes 0. */
static inline uint64_t random_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static inline uint64_t random_u64(uint64_t *state)
{
	return random_mix(*state += RANDOM_STEP);
}

static inline uint32_t random_u32(uint64_t *state)
{
	return (uint32_t)random_u64(state);
}

/* From 0 to @n - 1, equally likely but for @n / 2^64; 0 if @n is 0. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)((__uint128_t)random_u64(state) * n >> 64);
}

/* From 0 to just below 1, a multiple of 2^-53. */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_u64(state) >> 11) * 0x1p-53;
}

/*
 * A state to begin with, another one for each @stream of a @seed, never 0.  As it depends on
 * all bits of both, it also does to tell whether two have been told the same.
 */
static inline uint64_t random_stream(uint64_t seed, uint64_t stream)
{
	return random_mix(seed * RANDOM_STEP + stream + 1) | 1;
}

#endif /* WEFT_TOOLS_COMMON_RANDOM_H */
