/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wire codec: the only place that knows where a field stands in a message.
 *
 * Layout of the header, all fields big-endian (docs/protocol.md has their
 * meaning for each message):
 *
 *   0 u8  magic      1 u8  version    2 u8  type       3 u8  flags
 *   4 u16 length (header and payload) 6 u16 hsum
 *   8 u32 txn                        12 u32 line_hi   16 u32 line_lo
 *  20 u8  src       21 u8  status    22 u16 info
 *  24 u32 copyset   28 u32 provider  32 u32 holder    36 u32 nonce
 *  40 u64 version of the data        48 u16 offset in units of 64 bytes
 *  50 u8  log2 of size  51 u8 tagged 52 u32 grant
 *  56 u32 psum                       60 u32 rack
 *
 * hsum makes the ones' complement sum of the header's 16-bit words 0xFFFF; the
 * switch checks it before it changes its registers and mends it in what it
 * sends.  psum is the payload's hash, end to end.
 *
 * In a rack that has a key (tag.h), tagged is WEFT_WIRE_TAGGED, psum is 0, and a
 * trailer stands behind the payload and counts in length:
 *
 *   0 u32 epoch      4 u32 tick       8 u64 tag
 */
#ifndef WEFT_CORE_WIRE_H
#define WEFT_CORE_WIRE_H

#include "tag.h"
#include "types.h"

#define WEFT_WIRE_UNIT		64	/* of fragments and offsets, bytes */
#define WEFT_WIRE_TRAILER_LEN	16
#define WEFT_WIRE_TAGGED	1

/*
 * GRANT, INV, INV_ACK, INFO of a lock: who had the lock to write died, perhaps with it.
 * Only a home says so: the lock stays there until somebody has heard it.  HAND, HANDED: a
 * node says so whose programs have heard it, or know it of a process of theirs, and have
 * not mended it.  A switch passes that on and need not know of it.
 */
#define WEFT_F_DIED		0x80

/*
 * DATA, LANDED: the contents are older than what a node had that has died, and nobody has
 * said that they will do.  The home says so, and who passes them on before it has dropped
 * them.  No directory looks at it.
 */
#define WEFT_F_LOST		0x40

/* For a filter in front of a socket, which has no codec. */
#define WEFT_WIRE_TYPE_AT	2
#define WEFT_WIRE_LINE_AT	12

/**
 * struct weft_msg - one message, in host byte order
 * @type: WEFT_MSG_*
 * @flags: WEFT_F_*
 * @src: member that sent it (1..32 nodes, 33..48 blades); the switch leaves it
 * @status: status of the entry at the directory, or the new one in a COMMIT
 * @info: reason of a NACK; bytes of a full fragment in DATA, WB, PASS and PASSED,
 *	a multiple of 64
 * @txn: the transaction that it belongs to
 * @line: name of the line
 * @copyset: nodes with a copy, one bit each
 * @provider: bit of the node that shall send the data, or has sent it and retains it
 *	(COMMIT, COMMIT_ACK), 0 for none
 * @holder: lock of the entry (NACK, INFO), or the chased transaction; nodes to which
 *	the owner has lent the line (DATA, PASS and PASSED that leave it)
 * @grant: grant number of the entry; with @txn it names one taking of the lock
 * @nonce: retention of a provider (DATA, PASS, PASSED, COMMIT, COMMIT_ACK),
 *	generation of a slot (ADD, DROP), query number (QUERY, INFO)
 * @version: version of the data; the owner raises it
 * @offset: where the payload stands in the block, bytes, a multiple of 64
 * @size: bytes of the whole block, a power of two, or 0
 * @rack: number of the rack; a message of another rack is not for us
 * @tagged: unpacked: a trailer stands behind the payload
 * @stamp: unpacked: when it was sent, if @tagged
 * @len: bytes of payload
 * @payload: in the received buffer, or NULL; not owned
 */
struct weft_msg {
	u8 type;
	u8 flags;
	u8 src;
	u8 status;
	u16 info;
	u32 txn;
	u64 line;
	u32 copyset;
	u32 provider;
	u32 holder;
	u32 nonce;
	u32 grant;
	u64 version;
	u32 offset;
	u32 size;
	u32 rack;
	bool tagged;
	struct weft_stamp stamp;
	u32 len;
	const void *payload;
};

/* Refusals in a row before it is asked whether what stands in the way is still wanted. */
#define WEFT_CHASE_AFTER	8

/* After @n refusals in a row, a number that stays at 255: is this the time? */
static inline bool weft_chase_is_due(u8 n)
{
	return n % WEFT_CHASE_AFTER == 0 || n == 255;
}

static inline bool weft_key_set(const struct weft_key *key)
{
	return key && key->set;
}

/* Bytes behind each payload. */
static inline u32 weft_wire_trailer(const struct weft_key *key)
{
	return weft_key_set(key) ? WEFT_WIRE_TRAILER_LEN : 0;
}

/**
 * weft_wire_fragment() - the greatest fragment of a block
 * @longest: bytes of the longest message, header and trailer included
 * @key: of the rack, or NULL
 *
 * Return: bytes, a multiple of WEFT_WIRE_UNIT.
 */
static inline u32 weft_wire_fragment(u32 longest, const struct weft_key *key)
{
	return (longest - WEFT_WIRE_HDR_LEN - weft_wire_trailer(key)) /
	       WEFT_WIRE_UNIT * WEFT_WIRE_UNIT;
}

/**
 * weft_wire_pack() - write a header and a trailer
 * @msg: the message; @msg->len and @msg->payload say what the payload is
 * @buf: WEFT_WIRE_HDR_LEN bytes, @msg->len bytes, weft_wire_trailer() bytes; any
 *	alignment
 * @key: of the rack; NULL, or one that is not set: the rack has none
 * @stamp: the time, if there is a key
 *
 * The payload is hashed, not copied: it stands in @buf already, or comes there
 * afterwards.  Any context.
 *
 * Return: bytes of the message.
 */
size_t weft_wire_pack(const struct weft_msg *msg, void *buf,
		      const struct weft_key *key, struct weft_stamp stamp);

/**
 * weft_wire_pack_parts() - like weft_wire_pack(), header and trailer apart
 * @hdr: WEFT_WIRE_HDR_LEN bytes
 * @trailer: weft_wire_trailer() bytes; not written to, and may be NULL, without a key
 */
size_t weft_wire_pack_parts(const struct weft_msg *msg, void *hdr, void *trailer,
			    const struct weft_key *key, struct weft_stamp stamp);

/**
 * weft_wire_hash() - the hash of a payload that its messages have
 * @payload: @len bytes
 * @key: of the rack; NULL, or one that is not set: the rack has none
 *
 * It depends on these and on nothing else of a message: what changes from one message to
 * the next (header, stamp) is hashed together with it when the tag is made.  So who sends
 * the same contents often can keep it, and make it anew when the contents have changed.
 */
u64 weft_wire_hash(const void *payload, size_t len, const struct weft_key *key);

/**
 * weft_wire_pack_hashed() - like weft_wire_pack_parts(), the payload's hash known
 * @hash: what weft_wire_hash() says of the payload and @key; @msg->payload is not read
 *
 * The message is the same byte by byte.  A receiver hashes the payload itself, so one
 * that is sent with another payload's hash is refused.
 */
size_t weft_wire_pack_hashed(const struct weft_msg *msg, void *hdr, void *trailer,
			     const struct weft_key *key, struct weft_stamp stamp,
			     u64 hash);

/* weft_wire_pack() in a rack without a key. */
static inline size_t weft_wire_pack_plain(const struct weft_msg *msg, void *buf)
{
	return weft_wire_pack(msg, buf, NULL, (struct weft_stamp){ 0, 0 });
}

/**
 * weft_wire_first() - where the first message of a datagram ends
 * @hdr: WEFT_WIRE_HDR_LEN bytes if @len is that much, not trusted
 * @len: bytes that are left of the datagram
 *
 * One member sends DATA to another in a row: as many messages as fit stand in one
 * datagram then.  All other messages have a datagram of their own, as a switch
 * looks at the first one only.
 *
 * Return: bytes of the first message, 1..@len; @len if it takes the rest, or if it
 * makes no sense, which weft_wire_unpack() will say.  0 if @len is.
 */
size_t weft_wire_first(const void *hdr, size_t len);

/* Of a header that may be anything. */
static inline u8 weft_wire_type(const void *hdr)
{
	return ((const u8 *)hdr)[WEFT_WIRE_TYPE_AT];
}

/* Several messages of that type may stand in one datagram. */
static inline bool weft_wire_joins(u8 type)
{
	return type == WEFT_MSG_DATA;
}

/**
 * weft_wire_unpack() - check a received message and read its header
 * @msg: filled in; @msg->payload points into @buf
 * @buf: the message
 * @len: its length in bytes, as weft_wire_first() says
 * @key: of the rack; NULL, or one that is not set: the rack has none
 *
 * Everything is checked that can be without knowing the receiver and the time: magic,
 * version, lengths, sums, ranges of src, status and offsets, then the tag.  Any
 * context.
 *
 * Return: 0; -EPROTONOSUPPORT for another version; -EILSEQ if the header is right and
 * the payload is not (it was damaged on the way, or changed while it was sent); -ENOKEY without a trailer where
 * there is a key; -EKEYREJECTED for a wrong tag, or for any where there is no key
 * (then a payload may be damaged as well); -EBADMSG for anything else that is wrong.
 * After -ENOKEY and -EKEYREJECTED @msg is filled in; nothing of it is to be believed.
 */
int weft_wire_unpack(struct weft_msg *msg, const void *buf, size_t len,
		     const struct weft_key *key);

/**
 * weft_wire_unpack_header() - the first part of weft_wire_unpack(), payload elsewhere
 * @msg: filled in, @msg->payload is NULL
 * @hdr: the header, WEFT_WIRE_HDR_LEN bytes
 * @len: length of the whole message
 * @psum: receives the payload's hash for weft_wire_psum()
 *
 * For a receiver that has the payload in pieces: before it uses any of it, it must
 * compare @psum itself unless @msg->tagged, and in any case ask weft_wire_check_tag().
 *
 * Return: 0, -EPROTONOSUPPORT or -EBADMSG.
 */
int weft_wire_unpack_header(struct weft_msg *msg, const void *hdr, size_t len,
			    u32 *psum);

/**
 * weft_wire_check_tag() - the second part
 * @msg: as weft_wire_unpack_header() left it; the stamp is filled in
 * @hdr: the header
 * @rest: payload and trailer in one piece; not looked at unless @msg->tagged
 * @key: as for weft_wire_unpack()
 *
 * Return: 0, -ENOKEY or -EKEYREJECTED.
 */
int weft_wire_check_tag(struct weft_msg *msg, const void *hdr, const void *rest,
			const struct weft_key *key);

/*
 * psum is XXH64 of the payload with this seed (any but 0, so that a buffer of
 * zeros does not hash to a usual value), folded to 32 bits.
 */
#define WEFT_WIRE_PSUM_SEED	0x77656674ull

static inline u32 weft_wire_psum_fold(u64 hash)
{
	return (u32)(hash ^ hash >> 32);
}

/* Hash of a payload, as it stands in psum.  0 for none. */
u32 weft_wire_psum(const void *payload, size_t len);

/* Does a message of that type carry a fragment of a block? */
static inline bool weft_msg_has_data(u8 type)
{
	return type == WEFT_MSG_DATA || type == WEFT_MSG_WB ||
	       type == WEFT_MSG_PASS || type == WEFT_MSG_PASSED;
}

/* Name of a message type for logs and statistics; "?" for an unknown one. */
const char *weft_msg_name(u8 type);

/*
 * The address that a switch answers from to what @asker has sent to the group, as it has
 * none of its own: one of the asker's network, surely not the asker's.  IPv4, host byte
 * order; p4/weft_address.p4 does the same.
 */
static inline u32 weft_switch_addr(u32 asker)
{
	return (asker & ~3u) | ((asker & 3) == 1 ? 2 : 1);
}

#endif /* WEFT_CORE_WIRE_H */
