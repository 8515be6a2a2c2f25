// SPDX-License-Identifier: GPL-2.0-only
/* The generator of the benchmark, its checksums. */
#include <math.h>

#include "tests/kvs/rig.h"
#include "tools/common/random.h"
#include "tools/demo/node.h"
#include "tools/kvs/record.h"
#include "tools/kvs/zipf.h"

#define DRAWS	2000000

/* As often as the distribution says, within 4 standard deviations. */
static void expect(unsigned long found, double part)
{
	double wanted = part * DRAWS, deviation = sqrt(wanted * (1 - part));

	CHECK(fabs((double)found - wanted) < 4 * deviation + 1);
}

static void test_zipf(void)
{
	unsigned long low[2] = { 0 }, below_hundred = 0, below_million = 0;
	uint64_t random = random_stream(7, 7), rank;
	double zeta_hundred = 0, zeta_million = 0;
	struct zipf z;
	unsigned long i;

	zipf_init(&z);
	CHECK_EQ(zipf_rank(&z, 0), 0);
	CHECK(zipf_rank(&z, 1 - 0x1p-53) <= ZIPF_ITEMS);
	for (i = 0; i < DRAWS; i++) {
		rank = zipf_rank(&z, random_unit(&random));
		CHECK(rank <= ZIPF_ITEMS);
		if (rank < 2)
			low[rank]++;
		below_hundred += rank < 100;
		below_million += rank < 1000000;
	}
	for (i = 1; i <= 1000000; i++) {
		zeta_million += pow((double)i, -ZIPF_THETA);
		if (i == 100)
			zeta_hundred = zeta_million;
	}
	expect(low[0], 1 / ZIPF_ZETA);
	expect(low[1], pow(0.5, ZIPF_THETA) / ZIPF_ZETA);
	/* The formula is an approximation: 5 % off at most in the middle. */
	CHECK(fabs((double)below_hundred / DRAWS / (zeta_hundred / ZIPF_ZETA) - 1) < 0.05);
	CHECK(fabs((double)below_million / DRAWS / (zeta_million / ZIPF_ZETA) - 1) < 0.05);
}

/* Popular records are not neighbours, and records are all drawn about as often else. */
static void test_scatter(void)
{
	unsigned int counts[1000] = { 0 }, max = 0, i;

	/* What FNV-1a makes of 8 zeros, as a positive number. */
	CHECK_EQ(zipf_scatter(0) >> 63, 0);
	CHECK_EQ(zipf_scatter(0), 6284781860667377211ll);
	for (i = 0; i < 100000; i++) {
		unsigned int n = ++counts[zipf_scatter(i) % 1000];

		max = n > max ? n : max;
	}
	CHECK(max < 160);
	CHECK(zipf_scatter(0) % 1000 != zipf_scatter(1) % 1000);
}

/* Any one bit changes it, and any length. */
static void test_hash(void)
{
	unsigned char bytes[70] = { 0 };
	uint64_t seen[70 * 8 + 80], h;
	unsigned int n = 0, i, j;

	for (i = 0; i < 70 * 8; i++) {
		bytes[i / 8] ^= 1u << i % 8;
		seen[n++] = kvs_hash(bytes, sizeof(bytes), 0);
		bytes[i / 8] ^= 1u << i % 8;
	}
	for (i = 0; i <= 70; i++)
		seen[n++] = kvs_hash(bytes, i, 0);
	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			CHECK(seen[i] != seen[j]);
	h = kvs_hash("a", 1, 0);
	CHECK(h != kvs_hash("a", 1, 1) && h == kvs_hash("a", 1, 0));
}

static void test_records(void)
{
	unsigned char value[200], other[200];
	struct record r = { .id = 5, .version = 7, .writer = 3, .filling = 1 };
	struct kvs_found f = { value, sizeof(value), 7, KVS_RECORD };
	char key[RECORD_KEY];
	uint64_t id = 5;

	record_fill(value, sizeof(value), &r);
	CHECK(!record_wrong(&f, &id));
	r.writer = 4;
	record_fill(other, sizeof(other), &r);
	CHECK(memcmp(value + sizeof(r), other + sizeof(r), sizeof(value) - sizeof(r)));
	f.flags = 0;
	CHECK(record_wrong(&f, &id));
	f.flags = KVS_RECORD;
	f.len = RECORD_MIN - 1;
	CHECK(record_wrong(&f, &id));
	f.len = RECORD_MIN;
	CHECK(!record_wrong(&f, &id));
	f.version = 8;
	CHECK(record_wrong(&f, &id));
	record_key(key, 5);
	CHECK(!record_wrong_key(key, RECORD_KEY, 5));
	CHECK(record_wrong_key(key, RECORD_KEY - 1, 5));
	CHECK(record_wrong_key(key, RECORD_KEY, 6));
	CHECK(!memcmp(key, "user", 4));
}

int main(void)
{
	alarm(100 * check_scale());
	test_zipf();
	test_scatter();
	test_hash();
	test_records();
	return check_result();
}
