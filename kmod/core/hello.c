// SPDX-License-Identifier: GPL-2.0-only
/* Connection private data as bytes, see hello.h. */
#include "hello.h"
#include "wire.h"

#define MAGIC	0x77656674	/* "weft" */

enum {
	OFF_MAGIC = 0, OFF_VERSION = 4, OFF_TAGGED = 5, OFF_FROM = 6, OFF_TO = 7,
	OFF_RACK = 8, OFF_EPOCH = 12, OFF_TICK = 16, OFF_ROOMS = 20,
	OFF_ADDR = 24, OFF_KEY = 32, OFF_ZERO = 36, OFF_TAG = 40,
};

static_assert(OFF_TAG + 8 == WEFT_HELLO_LEN, "the fields of a hello fill it");

void weft_hello_pack(const struct weft_hello *hello, void *buf, const struct weft_key *key)
{
	bool tagged = weft_key_set(key);
	u8 *b = buf;

	memset(b, 0, WEFT_HELLO_LEN);
	put_unaligned_be32(MAGIC, b + OFF_MAGIC);
	b[OFF_VERSION] = WEFT_HELLO_VERSION;
	b[OFF_TAGGED] = tagged;
	b[OFF_FROM] = hello->from;
	b[OFF_TO] = hello->to;
	put_unaligned_be32(hello->rack, b + OFF_RACK);
	put_unaligned_be32(hello->n_rooms, b + OFF_ROOMS);
	put_unaligned_be64(hello->rooms.addr, b + OFF_ADDR);
	put_unaligned_be32(hello->rooms.key, b + OFF_KEY);
	if (!tagged)
		return;
	put_unaligned_be32(hello->stamp.epoch, b + OFF_EPOCH);
	put_unaligned_be32(hello->stamp.tick, b + OFF_TICK);
	put_unaligned_be64(weft_key_header(key, b, OFF_TAG), b + OFF_TAG);
}

static bool is_member(u8 id)
{
	return weft_node_bit(id) || weft_is_blade(id);
}

int weft_hello_unpack(struct weft_hello *hello, const void *buf, size_t len,
		      const struct weft_key *key)
{
	const u8 *b = buf;

	memset(hello, 0, sizeof(*hello));
	if (len < WEFT_HELLO_LEN || get_unaligned_be32(b + OFF_MAGIC) != MAGIC)
		return -EBADMSG;
	if (b[OFF_VERSION] != WEFT_HELLO_VERSION)
		return -EPROTONOSUPPORT;
	if (b[OFF_TAGGED] > 1 || get_unaligned_be32(b + OFF_ZERO) ||
	    !is_member(b[OFF_FROM]) || !is_member(b[OFF_TO]) || b[OFF_FROM] == b[OFF_TO] ||
	    get_unaligned_be32(b + OFF_ROOMS) > WEFT_ROOMS_MAX)
		return -EBADMSG;
	if (!b[OFF_TAGGED] && weft_key_set(key))
		return -ENOKEY;
	/* one comparison of registers: its time does not disclose the tag */
	if (b[OFF_TAGGED] && (!weft_key_set(key) || get_unaligned_be64(b + OFF_TAG) !=
			      weft_key_header(key, b, OFF_TAG)))
		return -EKEYREJECTED;
	hello->from = b[OFF_FROM];
	hello->to = b[OFF_TO];
	hello->rack = get_unaligned_be32(b + OFF_RACK);
	hello->tagged = b[OFF_TAGGED];
	hello->stamp.epoch = get_unaligned_be32(b + OFF_EPOCH);
	hello->stamp.tick = get_unaligned_be32(b + OFF_TICK);
	hello->n_rooms = get_unaligned_be32(b + OFF_ROOMS);
	hello->rooms.addr = get_unaligned_be64(b + OFF_ADDR);
	hello->rooms.key = get_unaligned_be32(b + OFF_KEY);
	return 0;
}
