// SPDX-License-Identifier: GPL-2.0-only
/* Messages as bytes, their sums and tags; see wire.h. */
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
	OFF_DATA_VERSION = 40, OFF_OFFSET = 48, OFF_SIZE = 50, OFF_TAGGED = 51,
	OFF_GRANT = 52, OFF_PSUM = 56, OFF_RACK = 60,
	/* of the trailer */
	OFF_EPOCH = 0, OFF_TICK = 4, OFF_TAG = 8,
};

static_assert(OFF_RACK + 4 == WEFT_WIRE_HDR_LEN, "header fields fill it");
static_assert(OFF_TYPE == WEFT_WIRE_TYPE_AT && OFF_LINE == WEFT_WIRE_LINE_AT,
	      "what filters look at");
static_assert(OFF_TAG + 8 == WEFT_WIRE_TRAILER_LEN, "trailer fields fill it");

u32 weft_wire_psum(const void *payload, size_t len)
{
	if (!len)
		return 0;
	return weft_wire_psum_fold(xxh64(payload, len, WEFT_WIRE_PSUM_SEED));
}

/* log2 of @size, a power of two or 0. */
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

/*
 * A tag covers the header, the stamp and the hash of the payload, in one piece.  A switch rewrites
 * fields of what it answers (directory.h) and none of what goes from member to member: the fields
 * that it may rewrite are covered as 0.  The class takes the place of hsum, which a switch updates
 * anyway, so that a recorded message of one class never counts in the other.
 */
enum { COV_CLASS = OFF_HSUM, COV_EPOCH = WEFT_WIRE_HDR_LEN, COV_TICK = COV_EPOCH + 4,
       COV_PAYLOAD = COV_TICK + 4, COV_LEN = COV_PAYLOAD + 8 };

enum { CLASS_SWITCHED = 1, CLASS_DIRECT = 2 };

/* Types that no directory makes. */
static bool is_direct(u8 type)
{
	return type >= WEFT_MSG_DATA && type != WEFT_MSG_HAND_ACK;
}

static u64 tag_of(const u8 *hdr, u64 payload_hash, const struct weft_key *key,
		  struct weft_stamp stamp)
{
	u8 c[COV_LEN];

	memcpy(c, hdr, WEFT_WIRE_HDR_LEN);
	c[COV_CLASS] = CLASS_DIRECT;
	c[COV_CLASS + 1] = 0;
	if (!is_direct(hdr[OFF_TYPE])) {
		c[COV_CLASS] = CLASS_SWITCHED;
		c[OFF_TYPE] = 0;
		c[OFF_FLAGS] = 0;
		c[OFF_STATUS] = 0;
		/* info, copyset, provider, holder, nonce */
		memset(c + OFF_INFO, 0, OFF_DATA_VERSION - OFF_INFO);
		memset(c + OFF_GRANT, 0, 4);
	}
	put_unaligned_be32(stamp.epoch, c + COV_EPOCH);
	put_unaligned_be32(stamp.tick, c + COV_TICK);
	put_unaligned_be64(payload_hash, c + COV_PAYLOAD);
	return weft_key_header(key, c, sizeof(c));
}

u64 weft_wire_hash(const void *payload, size_t len, const struct weft_key *key)
{
	return weft_key_set(key) ? weft_key_payload(key, payload, len) :
				   weft_wire_psum(payload, len);
}

size_t weft_wire_pack_hashed(const struct weft_msg *msg, void *hdr, void *trailer,
			     const struct weft_key *key, struct weft_stamp stamp,
			     u64 hash)
{
	bool tagged = weft_key_set(key);
	size_t len = WEFT_WIRE_HDR_LEN + msg->len + weft_wire_trailer(key);
	u8 *b = hdr, *t = trailer;

	b[OFF_MAGIC] = WEFT_WIRE_MAGIC;
	b[OFF_VERSION] = WEFT_WIRE_VERSION;
	b[OFF_TYPE] = msg->type;
	b[OFF_FLAGS] = msg->flags;
	put_unaligned_be16((u16)len, b + OFF_LENGTH);
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
	put_unaligned_be16((u16)(msg->offset / WEFT_WIRE_UNIT), b + OFF_OFFSET);
	b[OFF_SIZE] = size_to_wire(msg->size);
	b[OFF_TAGGED] = tagged ? WEFT_WIRE_TAGGED : 0;
	put_unaligned_be32(msg->grant, b + OFF_GRANT);
	put_unaligned_be32(tagged ? 0 : (u32)hash, b + OFF_PSUM);
	put_unaligned_be32(msg->rack, b + OFF_RACK);
	put_unaligned_be16((u16)~header_sum(b), b + OFF_HSUM);
	if (tagged) {
		put_unaligned_be32(stamp.epoch, t + OFF_EPOCH);
		put_unaligned_be32(stamp.tick, t + OFF_TICK);
		put_unaligned_be64(tag_of(b, hash, key, stamp), t + OFF_TAG);
	}
	return len;
}

size_t weft_wire_pack_parts(const struct weft_msg *msg, void *hdr, void *trailer,
			    const struct weft_key *key, struct weft_stamp stamp)
{
	return weft_wire_pack_hashed(msg, hdr, trailer, key, stamp,
				     weft_wire_hash(msg->payload, msg->len, key));
}

size_t weft_wire_pack(const struct weft_msg *msg, void *buf,
		      const struct weft_key *key, struct weft_stamp stamp)
{
	return weft_wire_pack_parts(msg, buf, (u8 *)buf + WEFT_WIRE_HDR_LEN + msg->len,
				    key, stamp);
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
	/* a damaged length does not tell where the next message begins */
	if (n < WEFT_WIRE_HDR_LEN || n > len || header_sum(b) != 0xFFFF)
		return len;
	return n;
}

int weft_wire_unpack_header(struct weft_msg *msg, const void *hdr, size_t len, u32 *psum)
{
	const u8 *b = hdr;

	if (len < WEFT_WIRE_HDR_LEN || b[OFF_MAGIC] != WEFT_WIRE_MAGIC)
		return -EBADMSG;
	if (b[OFF_VERSION] != WEFT_WIRE_VERSION)
		return -EPROTONOSUPPORT;
	if (get_unaligned_be16(b + OFF_LENGTH) != len || header_sum(b) != 0xFFFF ||
	    b[OFF_TAGGED] > WEFT_WIRE_TAGGED ||
	    (b[OFF_TAGGED] && len < WEFT_WIRE_HDR_LEN + WEFT_WIRE_TRAILER_LEN))
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
	msg->offset = (u32)get_unaligned_be16(b + OFF_OFFSET) * WEFT_WIRE_UNIT;
	msg->size = b[OFF_SIZE] && b[OFF_SIZE] < 32 ? 1u << b[OFF_SIZE] : 0;
	msg->grant = get_unaligned_be32(b + OFF_GRANT);
	msg->rack = get_unaligned_be32(b + OFF_RACK);
	msg->tagged = b[OFF_TAGGED];
	msg->len = (u32)(len - WEFT_WIRE_HDR_LEN);
	if (msg->tagged)
		msg->len -= WEFT_WIRE_TRAILER_LEN;
	*psum = get_unaligned_be32(b + OFF_PSUM);

	if (!weft_node_bit(msg->src) && !weft_is_blade(msg->src))
		return -EBADMSG;
	if (msg->status > WEFT_M)
		return -EBADMSG;
	/* a fragment lies inside its block, at a multiple of the full fragment */
	if (weft_msg_has_data(msg->type)) {
		if (!msg->len || !msg->info || msg->info % WEFT_WIRE_UNIT ||
		    msg->size > WEFT_BLOCK_MAX ||
		    msg->offset >= msg->size || msg->offset % msg->info ||
		    msg->len != (msg->size - msg->offset < msg->info ?
				 msg->size - msg->offset : msg->info))
			return -EBADMSG;
	}
	return 0;
}

int weft_wire_check_tag(struct weft_msg *msg, const void *hdr, const void *rest,
			const struct weft_key *key)
{
	const u8 *t = (const u8 *)rest + msg->len;

	if (!msg->tagged)
		return weft_key_set(key) ? -ENOKEY : 0;
	msg->stamp.epoch = get_unaligned_be32(t + OFF_EPOCH);
	msg->stamp.tick = get_unaligned_be32(t + OFF_TICK);
	/* one comparison of registers: its time does not disclose the tag */
	if (!weft_key_set(key) || get_unaligned_be64(t + OFF_TAG) !=
	    tag_of(hdr, weft_key_payload(key, rest, msg->len), key, msg->stamp))
		return -EKEYREJECTED;
	return 0;
}

int weft_wire_unpack(struct weft_msg *msg, const void *buf, size_t len,
		     const struct weft_key *key)
{
	const u8 *rest = (const u8 *)buf + WEFT_WIRE_HDR_LEN;
	u32 psum;
	int err = weft_wire_unpack_header(msg, buf, len, &psum);

	if (err)
		return err;
	msg->payload = msg->len ? rest : NULL;
	if (!msg->tagged && weft_wire_psum(msg->payload, msg->len) != psum)
		return -EILSEQ;
	return weft_wire_check_tag(msg, buf, rest, key);
}

const char *weft_msg_name(u8 type)
{
#define N(type) [WEFT_MSG_##type] = #type
	static const char * const names[] = {
		N(GETS), N(GETM), N(PUT), N(COMMIT), N(ABORT), N(QUERY), N(ADD), N(REMOVE),
		N(DROP), N(MEMBERS), N(ACQUIRE), N(HAND), N(INV), N(FWD), N(READ),
		N(GRANT), N(NACK), N(COMMIT_ACK), N(INFO), N(ADD_ACK), N(REMOVE_ACK),
		N(DROP_ACK), N(MEMBERS_ACK), N(COUNT), N(COUNT_ACK), N(ENQUEUE), N(HANDED),
		N(PASS), N(PASSED), N(DATA), N(INV_ACK), N(WB), N(WB_ACK), N(CHASE),
		N(HAND_ACK), N(LANDED), N(CALL), N(REPLY),
	};
#undef N

	if (type >= ARRAY_SIZE(names) || !names[type])
		return "?";
	return names[type];
}
