// SPDX-License-Identifier: GPL-2.0-only
/* Wire codec, see wire.h. */
#include "wire.h"

#ifndef __KERNEL__
#define XXH_INLINE_ALL
#include <xxhash.h>
#define xxh64(p, n, seed)	XXH64(p, n, seed)
#endif

enum {
	OFF_MAGIC = 0, OFF_VERSION = 1, OFF_TYPE = 2, OFF_FLAGS = 3,
	OFF_LENGTH = 4, OFF_HSUM = 6, OFF_TXN = 8, OFF_LINE = 12,
	OFF_SRC = 20, OFF_STATUS = 21, OFF_INFO = 22, OFF_COPYSET = 24,
	OFF_PROVIDER = 28, OFF_HOLDER = 32, OFF_NONCE = 36,
	OFF_DATA_VERSION = 40, OFF_OFFSET = 48, OFF_SIZE = 50, OFF_GRANT = 52,
	OFF_PSUM = 56, OFF_RACK = 60,
};

static_assert(OFF_RACK + 4 == WEFT_WIRE_HDR_LEN, "header fields fill it");

u32 weft_wire_psum(const void *payload, size_t len)
{
	if (!len)
		return 0;
	return weft_wire_psum_fold(xxh64(payload, len, WEFT_WIRE_PSUM_SEED));
}

#define OFFSET_UNIT	64

/* log2 of a block's size, which is a power of two or 0. */
static u8 size_to_wire(u32 size)
{
	u8 n = 0;

	while (size > 1) {
		size >>= 1;
		n++;
	}
	return n;
}

/* Ones' complement sum of the header's words, folded to 16 bits. */
static u16 header_sum(const u8 *buf)
{
	u32 sum = 0;
	int i;

	for (i = 0; i < WEFT_WIRE_HDR_LEN; i += 2)
		sum += get_unaligned_be16(buf + i);
	sum = (sum & 0xFFFF) + (sum >> 16);
	return (u16)((sum & 0xFFFF) + (sum >> 16));
}

void weft_wire_pack(const struct weft_msg *msg, void *buf)
{
	u8 *b = buf;

	b[OFF_MAGIC] = WEFT_WIRE_MAGIC;
	b[OFF_VERSION] = WEFT_WIRE_VERSION;
	b[OFF_TYPE] = msg->type;
	b[OFF_FLAGS] = msg->flags;
	put_unaligned_be16((u16)(WEFT_WIRE_HDR_LEN + msg->len), b + OFF_LENGTH);
	put_unaligned_be16(0, b + OFF_HSUM);
	put_unaligned_be32(msg->txn, b + OFF_TXN);
	put_unaligned_be64(msg->line, b + OFF_LINE);
	b[OFF_SRC] = msg->src;
	b[OFF_STATUS] = msg->status;
	put_unaligned_be16(msg->info, b + OFF_INFO);
	put_unaligned_be32(msg->copyset, b + OFF_COPYSET);
	put_unaligned_be32(msg->provider, b + OFF_PROVIDER);
	put_unaligned_be32(msg->holder, b + OFF_HOLDER);
	put_unaligned_be32(msg->nonce, b + OFF_NONCE);
	put_unaligned_be64(msg->version, b + OFF_DATA_VERSION);
	put_unaligned_be16((u16)(msg->offset / OFFSET_UNIT), b + OFF_OFFSET);
	b[OFF_SIZE] = size_to_wire(msg->size);
	b[OFF_SIZE + 1] = 0;
	put_unaligned_be32(msg->grant, b + OFF_GRANT);
	put_unaligned_be32(weft_wire_psum(msg->payload, msg->len), b + OFF_PSUM);
	put_unaligned_be32(msg->rack, b + OFF_RACK);
	put_unaligned_be16((u16)~header_sum(b), b + OFF_HSUM);
}

size_t weft_wire_first(const void *hdr, size_t len)
{
	const u8 *b = hdr;
	size_t n;

	/* a message of another version may have its length elsewhere */
	if (len < WEFT_WIRE_HDR_LEN || b[OFF_VERSION] != WEFT_WIRE_VERSION ||
	    !weft_wire_joins(b[OFF_TYPE]))
		return len;
	n = get_unaligned_be16(b + OFF_LENGTH);
	/* a damaged length says nothing about what follows */
	if (n < WEFT_WIRE_HDR_LEN || n > len || header_sum(b) != 0xFFFF)
		return len;
	return n;
}

int weft_wire_unpack_linear(struct weft_msg *msg, const void *hdr, size_t len,
			    u32 *psum)
{
	const u8 *b = hdr;

	if (len < WEFT_WIRE_HDR_LEN || b[OFF_MAGIC] != WEFT_WIRE_MAGIC)
		return -EBADMSG;
	if (b[OFF_VERSION] != WEFT_WIRE_VERSION)
		return -EPROTONOSUPPORT;
	if (get_unaligned_be16(b + OFF_LENGTH) != len || header_sum(b) != 0xFFFF)
		return -EBADMSG;

	memset(msg, 0, sizeof(*msg));
	msg->type = b[OFF_TYPE];
	msg->flags = b[OFF_FLAGS];
	msg->txn = get_unaligned_be32(b + OFF_TXN);
	msg->line = get_unaligned_be64(b + OFF_LINE);
	msg->src = b[OFF_SRC];
	msg->status = b[OFF_STATUS];
	msg->info = get_unaligned_be16(b + OFF_INFO);
	msg->copyset = get_unaligned_be32(b + OFF_COPYSET);
	msg->provider = get_unaligned_be32(b + OFF_PROVIDER);
	msg->holder = get_unaligned_be32(b + OFF_HOLDER);
	msg->nonce = get_unaligned_be32(b + OFF_NONCE);
	msg->version = get_unaligned_be64(b + OFF_DATA_VERSION);
	msg->offset = (u32)get_unaligned_be16(b + OFF_OFFSET) * OFFSET_UNIT;
	msg->size = b[OFF_SIZE] && b[OFF_SIZE] < 32 ? 1u << b[OFF_SIZE] : 0;
	msg->grant = get_unaligned_be32(b + OFF_GRANT);
	msg->rack = get_unaligned_be32(b + OFF_RACK);
	msg->len = (u32)(len - WEFT_WIRE_HDR_LEN);
	*psum = get_unaligned_be32(b + OFF_PSUM);

	if (!weft_node_bit(msg->src) && !weft_is_blade(msg->src))
		return -EBADMSG;
	if (msg->status > WEFT_M)
		return -EBADMSG;
	/* a part of a block lies inside it and starts at a full fragment */
	if (weft_msg_has_data(msg->type)) {
		if (!msg->len || !msg->info || msg->info % OFFSET_UNIT ||
		    msg->size > WEFT_BLOCK_MAX ||
		    msg->offset >= msg->size || msg->offset % msg->info ||
		    msg->len != (msg->size - msg->offset < msg->info ?
				 msg->size - msg->offset : msg->info))
			return -EBADMSG;
	}
	return 0;
}

int weft_wire_unpack(struct weft_msg *msg, const void *buf, size_t len)
{
	u32 psum;
	int err = weft_wire_unpack_linear(msg, buf, len, &psum);

	if (err)
		return err;
	msg->payload = msg->len ? (const u8 *)buf + WEFT_WIRE_HDR_LEN : NULL;
	if (weft_wire_psum(msg->payload, msg->len) != psum)
		return -EBADMSG;
	return 0;
}

const char *weft_msg_name(u8 type)
{
	static const char * const names[] = {
		[WEFT_MSG_GETS] = "GETS", [WEFT_MSG_GETM] = "GETM",
		[WEFT_MSG_PUT] = "PUT", [WEFT_MSG_COMMIT] = "COMMIT",
		[WEFT_MSG_ABORT] = "ABORT", [WEFT_MSG_QUERY] = "QUERY",
		[WEFT_MSG_ADD] = "ADD", [WEFT_MSG_REMOVE] = "REMOVE",
		[WEFT_MSG_DROP] = "DROP", [WEFT_MSG_MEMBERS] = "MEMBERS",
		[WEFT_MSG_ACQUIRE] = "ACQUIRE", [WEFT_MSG_HAND] = "HAND",
		[WEFT_MSG_INV] = "INV", [WEFT_MSG_FWD] = "FWD",
		[WEFT_MSG_READ] = "READ", [WEFT_MSG_GRANT] = "GRANT",
		[WEFT_MSG_NACK] = "NACK", [WEFT_MSG_COMMIT_ACK] = "COMMIT_ACK",
		[WEFT_MSG_INFO] = "INFO", [WEFT_MSG_ADD_ACK] = "ADD_ACK",
		[WEFT_MSG_REMOVE_ACK] = "REMOVE_ACK",
		[WEFT_MSG_DROP_ACK] = "DROP_ACK",
		[WEFT_MSG_MEMBERS_ACK] = "MEMBERS_ACK",
		[WEFT_MSG_COUNT] = "COUNT",
		[WEFT_MSG_COUNT_ACK] = "COUNT_ACK",
		[WEFT_MSG_ENQUEUE] = "ENQUEUE", [WEFT_MSG_HANDED] = "HANDED",
		[WEFT_MSG_PASS] = "PASS", [WEFT_MSG_PASSED] = "PASSED",
		[WEFT_MSG_DATA] = "DATA", [WEFT_MSG_INV_ACK] = "INV_ACK",
		[WEFT_MSG_WB] = "WB", [WEFT_MSG_WB_ACK] = "WB_ACK",
		[WEFT_MSG_DONE] = "DONE", [WEFT_MSG_CHASE] = "CHASE",
		[WEFT_MSG_HAND_ACK] = "HAND_ACK",
		[WEFT_MSG_CALL] = "CALL", [WEFT_MSG_REPLY] = "REPLY",
	};

	if (type >= ARRAY_SIZE(names) || !names[type])
		return "?";
	return names[type];
}
