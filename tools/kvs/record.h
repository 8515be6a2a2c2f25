/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of the benchmark: keys by number as YCSB makes them, and values that tell
 * who wrote them.
 */
#ifndef WEFT_KVS_RECORD_H
#define WEFT_KVS_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "kvs.h"

/**
 * struct record - how a value begins; the rest is filled up
 * @id:		number of the record
 * @version:	that its entry had to have
 * @writer:	struct kvs_thread
 * @filling:	what the rest is made from
 *
 * That all of it is as it was written tells the checksum of the entry.
 */
struct record {
	uint64_t id;
	uint64_t version;
	uint32_t writer;
	uint32_t filling;
};

#define RECORD_KEY	24	/* bytes of a key */
#define RECORD_MIN	sizeof(struct record)

/* Not ended by a zero. */
void record_key(char key[RECORD_KEY], uint64_t id);

void record_fill(void *value, size_t len, const struct record *r);

/*
 * A sentence about what is wrong with an entry, NULL: nothing.  @id is the record's
 * if it is known, else UINT64_MAX; it is set.
 */
const char *record_wrong(const struct kvs_found *f, uint64_t *id);
const char *record_wrong_key(const void *key, size_t key_len, uint64_t id);

#endif /* WEFT_KVS_RECORD_H */
