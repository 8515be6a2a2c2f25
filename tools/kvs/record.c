// SPDX-License-Identifier: GPL-2.0-only
/* Records of the benchmark. */
#include <stdio.h>
#include <string.h>

#include "record.h"
#include "zipf.h"

void record_key(char key[RECORD_KEY], uint64_t id)
{
	char text[RECORD_KEY + 1];

	/* A number has 20 digits at most. */
	snprintf(text, sizeof(text), "user%020llu", (unsigned long long)zipf_scatter(id));
	memcpy(key, text, RECORD_KEY);
}

static uint64_t step(uint64_t x)
{
	return x * 6364136223846793005ull + 1442695040888963407ull;
}

/* What stands at @at: 8 bytes that follow from the head and the place. */
static void fill(unsigned char *at, size_t len, const struct record *r)
{
	uint64_t x = r->id ^ r->version << 32 ^ (uint64_t)r->writer << 16 ^ r->filling;

	for (; len >= 8; len -= 8, at += 8) {
		x = step(x);
		memcpy(at, &x, 8);
	}
	x = step(x);
	memcpy(at, &x, len);
}

void record_fill(void *value, size_t len, const struct record *r)
{
	memcpy(value, r, sizeof(*r));
	fill((unsigned char *)value + sizeof(*r), len - sizeof(*r), r);
}

const char *record_wrong(const struct kvs_found *f, uint64_t *id)
{
	struct record r;

	if (!(f->flags & KVS_RECORD))
		return "it was not written by the benchmark";
	if (f->len < sizeof(r))
		return "its value is too short";
	memcpy(&r, f->value, sizeof(r));
	if (*id != UINT64_MAX && r.id != *id)
		return "its value is that of another record";
	*id = r.id;
	if (r.version != f->version)
		return "its value is that of another version";
	return NULL;
}

const char *record_wrong_key(const void *key, size_t key_len, uint64_t id)
{
	char wanted[RECORD_KEY];

	record_key(wanted, id);
	if (key_len != RECORD_KEY || memcmp(key, wanted, RECORD_KEY))
		return "its value is that of another key";
	return NULL;
}
