// SPDX-License-Identifier: GPL-2.0-only
/* Landings and remote handles as bytes, see landing.h. */
#include "landing.h"

enum { OFF_KEY = 0, OFF_ZERO = 4, OFF_ADDR = 8 };

static_assert(OFF_ADDR + 8 == WEFT_LANDING_LEN, "the fields of a landing fill it");

enum { DEED_BLOCK = 0, DEED_BLOCK_KEY = 8, DEED_MARK_KEY = 12, DEED_MARK = 16, DEED_NUMBER = 24 };

static_assert(DEED_NUMBER + 8 == WEFT_DEED_LEN, "the fields of a deed fill it");

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

void weft_deed_pack(const struct weft_deed *deed, void *buf)
{
	u8 *b = buf;

	put_unaligned_be64(deed->block.addr, b + DEED_BLOCK);
	put_unaligned_be32(deed->block.key, b + DEED_BLOCK_KEY);
	put_unaligned_be32(deed->mark.key, b + DEED_MARK_KEY);
	put_unaligned_be64(deed->mark.addr, b + DEED_MARK);
	put_unaligned_be64(deed->number, b + DEED_NUMBER);
}

bool weft_deed_unpack(struct weft_deed *deed, const struct weft_msg *msg)
{
	const u8 *b = msg->payload;

	memset(deed, 0, sizeof(*deed));
	if (msg->len != WEFT_DEED_LEN)
		return false;
	deed->block.addr = get_unaligned_be64(b + DEED_BLOCK);
	deed->block.key = get_unaligned_be32(b + DEED_BLOCK_KEY);
	deed->mark.key = get_unaligned_be32(b + DEED_MARK_KEY);
	deed->mark.addr = get_unaligned_be64(b + DEED_MARK);
	deed->number = get_unaligned_be64(b + DEED_NUMBER);
	return deed->block.key && deed->mark.key && deed->number;
}
