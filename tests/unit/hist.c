// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unit tests of tools/common/hist.c: the layout, which is that of the kernel module, what is
 * said of times, and the form in which they are told.
 */
#include "tools/common/hist.h"

#include <string.h>

#include "tests/common/check.h"

/* What weft_hist.h says: the number of the highest bit, from 1, and all that is longer in one. */
static unsigned int kernel_bucket(uint64_t ns)
{
	unsigned int bucket = 0;

	while (ns >> bucket && bucket < WEFT_HIST_BUCKETS - 1)
		bucket++;
	return bucket;
}

static void buckets(void)
{
	unsigned int bit;

	for (bit = 0; bit < 64; bit++) {
		CHECK_EQ(weft_hist_bucket(1ull << bit), kernel_bucket(1ull << bit));
		CHECK_EQ(weft_hist_bucket((1ull << bit) - 1), kernel_bucket((1ull << bit) - 1));
	}
	CHECK_EQ(weft_hist_bucket(UINT64_MAX), WEFT_HIST_BUCKETS - 1);
	CHECK_EQ(weft_hist_below(weft_hist_bucket(1023)), 1024);
	CHECK_EQ(weft_hist_below(weft_hist_bucket(1024)), 2048);
	CHECK_EQ(weft_hist_below(WEFT_HIST_BUCKETS - 1), 0);
}

static void layout(void)
{
	unsigned int part, last = 0;
	uint64_t ns;

	CHECK_EQ(hist_part(0), 0);
	CHECK_EQ(hist_part(UINT64_MAX), HIST_PARTS - 1);
	CHECK_EQ(hist_part_from(HIST_PARTS - 1), 1ull << (WEFT_HIST_BUCKETS - 2));
	for (part = 0; part < HIST_PARTS; part++) {
		ns = hist_part_from(part);
		CHECK_EQ(hist_part(ns), part);
		if (part)
			CHECK_EQ(hist_part(ns - 1), part - 1);
		/* No part is in two of the kernel's buckets, and none is longer than 1/32. */
		if (part < HIST_PARTS - 1) {
			uint64_t end = hist_part_from(part + 1);

			CHECK_EQ(kernel_bucket(ns), kernel_bucket(end - 1));
			CHECK(end - ns == 1 || (end - ns) * 32 <= ns);
		}
	}
	for (ns = 0; ns < 1ull << 45; ns += 1 + ns / 50) {
		part = hist_part(ns);
		CHECK(part >= last && part < HIST_PARTS);
		last = part;
	}
}

static void near(double found, double wanted)
{
	CHECK(found > wanted * 31 / 32 && found < wanted * 33 / 32);
}

static void quantiles(void)
{
	static struct hist h, more;
	uint64_t ns;

	CHECK(hist_quantile(&h, 500) == 0);
	CHECK(hist_mean(&h) == 0);
	for (ns = 1; ns <= 10000; ns++)
		hist_add(ns % 2 ? &h : &more, ns);
	hist_join(&h, &more);
	CHECK_EQ(h.count, 10000);
	CHECK_EQ(h.max, 10000);
	CHECK_EQ(h.sum, 50005000);
	CHECK(hist_mean(&h) == 5000.5);
	near(hist_quantile(&h, 500), 5000);
	near(hist_quantile(&h, 900), 9000);
	near(hist_quantile(&h, 990), 9900);
	CHECK(hist_quantile(&h, 1000) == 10000);
	CHECK(hist_quantile(&h, 0) == 1);
	/* Longer than any bucket takes; more than a product with 1000 holds. */
	memset(&h, 0, sizeof(h));
	hist_add(&h, 7);
	hist_add(&h, UINT64_MAX);
	CHECK(hist_quantile(&h, 500) == 7);
	CHECK(hist_quantile(&h, 501) == (double)UINT64_MAX);
	h = (struct hist){ .count = UINT64_MAX, .max = 20 };
	h.part[10] = UINT64_MAX / 2 + 1;
	h.part[20] = UINT64_MAX / 2;
	CHECK(hist_quantile(&h, 500) == 10);
	CHECK(hist_quantile(&h, 510) == 20);
}

/* Each bucket has two times, its shortest and its longest. */
static void told(void)
{
	static struct hist h;
	struct hist_list list;
	unsigned int b;

	hist_tell(&h, &list);
	CHECK_EQ(list.len, 0);
	CHECK_EQ(list.count, 0);
	CHECK_EQ(hist_list_below(&list, 500), 0);
	for (b = 0; b < WEFT_HIST_BUCKETS; b++) {
		hist_add(&h, b ? 1ull << (b - 1) : 0);
		hist_add(&h, (1ull << b) - 1);
	}
	hist_tell(&h, &list);
	CHECK_EQ(list.len, WEFT_HIST_BUCKETS);
	CHECK_EQ(list.count, 2 * WEFT_HIST_BUCKETS);
	CHECK_EQ(list.sum, h.sum);
	for (b = 0; b < WEFT_HIST_BUCKETS; b++) {
		CHECK_EQ(list.bucket[b].below, b < WEFT_HIST_BUCKETS - 1 ? 1ull << b : 0);
		CHECK_EQ(list.bucket[b].count, 2);
	}
	CHECK_EQ(hist_list_below(&list, 500), 1ull << 19);
	CHECK_EQ(hist_list_below(&list, 1000), 0);
	/* Empty ones are left out. */
	memset(&h, 0, sizeof(h));
	hist_add(&h, 5);
	hist_add(&h, 70);
	hist_add(&h, 100);
	hist_tell(&h, &list);
	CHECK_EQ(list.len, 2);
	CHECK_EQ(list.bucket[0].below, 8);
	CHECK_EQ(list.bucket[1].below, 128);
	CHECK_EQ(list.bucket[1].count, 2);
	CHECK_EQ(hist_list_below(&list, 300), 8);
	CHECK_EQ(hist_list_below(&list, 990), 128);
}

static void written(void)
{
	static const char wanted[] =
		"{\"h\":{\"count\":3,\"sum_ns\":274877907119,\"mean_ns\":91625969039.667,\"p50_below_ns\":128,\"p99_below_ns\":null,\"buckets\":[{\"below_ns\":128,\"count\":2},{\"below_ns\":null,\"count\":1}]}}\n";
	static struct hist h;
	char *text = NULL;
	size_t size = 0;
	struct json j;
	FILE *f = open_memstream(&text, &size);

	CHECK(f != NULL);
	hist_add(&h, 75);
	hist_add(&h, 100);
	hist_add(&h, 1ull << 38);
	json_begin(&j, f, false);
	hist_json(&j, "h", &h);
	json_end(&j);
	CHECK(!fclose(f));
	if (strcmp(text, wanted))
		printf("%s", text);
	CHECK(!strcmp(text, wanted));
	free(text);
}

int main(void)
{
	buckets();
	layout();
	quantiles();
	told();
	written();
	return check_result();
}
