// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults of the wire: each happens as often as told, does what it says and no
 * more, is counted, and is the same for the same seed.
 */
#include <stdlib.h>

#include "frames.h"
#include "fault.h"

#define N	200000u
#define LEN	64

/* What came out. */
static uint32_t *out_tag;
static unsigned int n_out, n_damaged, n_badly_damaged;
static uint64_t out_hash;

static void take(void *arg, struct rte_mbuf *m)
{
	uint8_t expected[LEN];
	unsigned int differ = 0, i;
	const uint8_t *f = frame_data(m);
	uint32_t tag;

	(void)arg;
	/* The number of the frame is in its source address, which stays whole. */
	memcpy(&tag, f + 6, 4);
	make_frame(expected, 1, 2, LEN, tag);
	memcpy(expected + 6, &tag, 4);
	for (i = 0; i < LEN; i++) {
		differ += f[i] != expected[i];
		out_hash = (out_hash ^ f[i]) * 0x100000001b3ull;
	}
	if (differ)
		n_damaged++;
	if (differ > 1 || memcmp(f, expected, FRAME_MIN))
		n_badly_damaged++;
	if (n_out < 3 * N)
		out_tag[n_out] = tag;
	n_out++;
	frame_free(m);
}

static void reset_output(void)
{
	n_out = n_damaged = n_badly_damaged = 0;
	out_hash = 0xcbf29ce484222325ull;
}

static void put(struct fault *f, uint32_t tag, uint64_t now)
{
	struct rte_mbuf *m;
	uint8_t bytes[LEN];

	make_frame(bytes, 1, 2, LEN, tag);
	memcpy(bytes + 6, &tag, 4);
	m = frame_from(bytes, LEN);
	CHECK(m, "no buffer for frame %u", tag);
	if (m)
		fault_frame(f, m, now);
}

/* Sends N frames, one a microsecond, and waits for the last. */
static struct fault_counters run(struct fault_config config, unsigned int port,
				 uint64_t seed)
{
	static struct fault f;
	struct fault_counters n;
	uint64_t now = 0;
	unsigned int i;

	reset_output();
	fault_init(&f, port, seed, take, NULL);
	f.config = config;
	for (i = 0; i < N; i++) {
		now += 1000;
		fault_poll(&f, now);
		put(&f, i, now);
	}
	for (i = 0; i < 100000 && fault_due(&f) != UINT64_MAX; i++) {
		now = fault_due(&f);
		fault_poll(&f, now);
	}
	CHECK(fault_due(&f) == UINT64_MAX, "frames are left over");
	n = f.n;
	CHECK(n_out + n.lost + n.overflow == N + n.duplicated,
	      "%u out, %u in", n_out, N);
	fault_free(&f);
	return n;
}

/* Five standard deviations. */
static bool near(uint64_t count, double p, double n)
{
	double off = (double)count - p * n;

	return off * off <= 25 * n * p * (1 - p) + 1e-9;
}

static void test_rates(void)
{
	static const double rates[] = { 0, 0.001, 0.05, 0.2, 0.5, 1 };
	struct fault_counters n;
	unsigned int i, j, inversions;

	for (i = 0; i < RTE_DIM(rates); i++) {
		double p = rates[i];

		n = run((struct fault_config){ .loss = p }, 0, 1);
		CHECK(near(n.lost, p, N) && n_out == N - n.lost,
		      "loss %g: %u of %u came", p, n_out, N);

		n = run((struct fault_config){ .dup = p }, 0, 1);
		CHECK(near(n.duplicated, p, N) && n_out == N + n.duplicated,
		      "dup %g: %u of %u came", p, n_out, N);
		for (j = 1, inversions = 0; j < n_out; j++)
			inversions += out_tag[j] == out_tag[j - 1];
		CHECK(inversions == n.duplicated, "dup %g: %u are twice", p, inversions);

		n = run((struct fault_config){ .corrupt = p }, 0, 1);
		CHECK(near(n.damaged, p, N) && n_damaged == n.damaged,
		      "corrupt %g: %u of %u damaged", p, n_damaged, N);
		CHECK(!n_badly_damaged, "corrupt %g: %u differ in more than one byte, or in the header",
		      p, n_badly_damaged);

		n = run((struct fault_config){ .reorder = p }, 0, 1);
		/* With too many held back at once, frames go on at once. */
		if (p < 0.3)
			CHECK(near(n.held, p, N), "reorder %g: %lu of %u held", p,
			      (unsigned long)n.held, N);
		CHECK(n_out == N, "reorder %g: %u came", p, n_out);
		for (j = 1, inversions = 0; j < n_out; j++)
			inversions += out_tag[j] < out_tag[j - 1];
		/* Frames held one behind the other make one step back. */
		CHECK(inversions <= n.reordered && (p == 0) == (inversions == 0) &&
		      n.reordered <= n.held,
		      "reorder %g: %u steps back, %lu counted", p, inversions,
		      (unsigned long)n.reordered);
		if (p > 0 && p < 0.1)
			CHECK(inversions > n.reordered * 9 / 10 && n.reordered == n.held,
			      "reorder %g: %u steps back, %lu counted", p, inversions,
			      (unsigned long)n.reordered);
	}
}

static void test_delay(void)
{
	static struct fault f;
	uint64_t now;
	unsigned int i, early = 0;

	reset_output();
	fault_init(&f, 0, 1, take, NULL);
	f.config.delay_ns = 50000;
	for (i = 0; i < 1000; i++) {
		now = 1000000 + i * 100;
		put(&f, i, now);
		fault_poll(&f, now);
	}
	/* The first one is due 50 us after it came: after 500 others. */
	CHECK(n_out == 500, "%u came", n_out);
	CHECK(fault_due(&f) == 1000000 + 500 * 100 + 50000, "due at %lu",
	      (unsigned long)fault_due(&f));
	/* A shorter delay does not make later frames overtake. */
	f.config.delay_ns = 10;
	put(&f, 1000, 1100000);
	f.config.delay_ns = 0;
	put(&f, 1001, 1100000);
	fault_poll(&f, 1149899);
	CHECK(n_out == 999, "%u came", n_out);
	fault_poll(&f, 1149900);
	CHECK(n_out == 1002, "%u came", n_out);
	for (i = 0; i < n_out; i++)
		early += out_tag[i] != i;
	CHECK(!early, "%u are out of order", early);
	CHECK(fault_due(&f) == UINT64_MAX && !fault_active(&f), "something is left");

	/* More than fit: counted, not kept. */
	f.config.delay_ns = 1000000000;
	for (i = 0; i < FAULT_DELAY_MAX + 100; i++)
		put(&f, i, 0);
	CHECK(f.n.overflow == 100, "%lu too many", (unsigned long)f.n.overflow);
	fault_free(&f);
}

/* Without later frames, a held one goes on after a while. */
static void test_hold_time(void)
{
	static struct fault f;

	reset_output();
	fault_init(&f, 0, 1, take, NULL);
	f.config.reorder = 1;
	put(&f, 0, 1000);
	fault_poll(&f, 1000 + FAULT_HOLD_NS - 1);
	CHECK(n_out == 0, "it came at once");
	fault_poll(&f, 1000 + FAULT_HOLD_NS);
	CHECK(n_out == 1 && f.n.reordered == 0, "%u came", n_out);
	fault_free(&f);
}

static void take_same(void *arg, struct rte_mbuf *m)
{
	CHECK(!memcmp(frame_data(m), arg, LEN), "it was damaged");
	n_out++;
	frame_free(m);
}

/* What has no check sum of its own is never damaged, nor does it count as such. */
static void test_arp(void)
{
	static struct fault f;
	static uint8_t bytes[LEN];
	unsigned int i;

	reset_output();
	make_frame(bytes, 1, 2, LEN, 0);
	bytes[FRAME_TYPE] = 0x08;
	bytes[FRAME_TYPE + 1] = 0x06;
	fault_init(&f, 0, 1, take_same, bytes);
	f.config.corrupt = 1;
	for (i = 0; i < 100; i++) {
		struct rte_mbuf *m = frame_from(bytes, LEN);

		CHECK(m, "no buffer for frame %u", i);
		if (m)
			fault_frame(&f, m, 0);
	}
	CHECK(n_out == 100 && !f.n.damaged, "%u came, %lu damaged", n_out,
	      (unsigned long)f.n.damaged);
	fault_free(&f);
}

static void test_seeds(void)
{
	const struct fault_config all = {
		.loss = 0.1, .dup = 0.1, .reorder = 0.1, .corrupt = 0.1,
	};
	const struct fault_config damage = { .corrupt = 0.1 };
	const struct fault_config both = { .corrupt = 0.1, .reorder = 0.3 };
	struct fault_counters n, m;
	uint64_t first;

	n = run(all, 3, 42);
	first = out_hash;
	m = run(all, 3, 42);
	CHECK(out_hash == first && !memcmp(&n, &m, sizeof(n)),
	      "the same seed gives something else");
	run(all, 3, 43);
	CHECK(out_hash != first, "another seed gives the same");
	run(all, 4, 42);
	CHECK(out_hash != first, "another port gives the same");
	/* One fault does not change what another one does. */
	n = run(damage, 0, 7);
	m = run(both, 0, 7);
	CHECK(n.damaged == m.damaged, "%lu and %lu damaged",
	      (unsigned long)n.damaged, (unsigned long)m.damaged);
}

int main(void)
{
	char err[ERR_MAX];
	unsigned int free_before;

	out_tag = calloc(3 * N, sizeof(*out_tag));
	if (!out_tag || frame_init(0, 0, err)) {
		printf("not ok: %s\n", err);
		return 1;
	}
	free_before = frame_pool_free();
	test_rates();
	test_arp();
	test_delay();
	test_hold_time();
	test_seeds();
	CHECK(frame_pool_free() == free_before, "%u frames leaked",
	      free_before - frame_pool_free());
	free(out_tag);
	return check_result();
}
