// SPDX-License-Identifier: GPL-2.0-only
/* Where the data of a miss may land, see landing.h. */
#include "landing.h"

enum { OFF_KEY = 0, OFF_ZERO = 4, OFF_ADDR = 8 };

static_assert(OFF_ADDR + 8 == WEFT_LANDING_LEN, "the fields of a landing fill it");

void weft_landing_pack(const struct weft_landing *landing, void *buf)
{
	u8 *b = buf;

	put_unaligned_be32(landing->key, b + OFF_KEY);
	put_unaligned_be32(0, b + OFF_ZERO);
	put_unaligned_be64(landing->addr, b + OFF_ADDR);
}

bool weft_landing_unpack(struct weft_landing *landing, const struct weft_msg *msg)
{
	const u8 *b = msg->payload;

	landing->key = 0;
	landing->addr = 0;
	if (msg->len != WEFT_LANDING_LEN || get_unaligned_be32(b + OFF_ZERO))
		return false;
	landing->key = get_unaligned_be32(b + OFF_KEY);
	landing->addr = get_unaligned_be64(b + OFF_ADDR);
	return landing->key;
}
