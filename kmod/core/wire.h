/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wire codec: the one place that knows where a field stands in a message (but p4/, which parses
 * the same header).  Nodes, blades and the switch in software pack and unpack with it.  It checks
 * what it can without knowing the receiver and the time; it sends nothing.
 */
#ifndef WEFT_CORE_WIRE_H
#define WEFT_CORE_WIRE_H

#include "tag.h"
#include "types.h"

/*
 * The header, big-endian; docs/protocol.md has the meaning of the fields for each message:
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
 * hsum makes the ones' complement sum of the header's 16-bit words 0xFFFF; the switch checks it
 * before it changes its registers, and updates it in what it sends.  psum is the hash of the
 * payload, end to end.
 *
 * In a rack with a key (tag.h) tagged is WEFT_WIRE_TAGGED, psum is 0, and a trailer behind the
 * payload counts in length:
 *
 *   0 u32 epoch      4 u32 tick       8 u64 tag
 */
#define WEFT_WIRE_UNIT		64	/* of fragments and offsets, bytes */
#define WEFT_WIRE_TRAILER_LEN	16
#define WEFT_WIRE_TAGGED	1

/*
 * Flag of lock messages: the writer that had the lock died, perhaps with it.  In GRANT, INV,
 * INV_ACK and INFO the home says so until a node has heard it.  In HAND and HANDED a node says so
 * whose programs have heard it, or one of whose processes died, and have not mended it.  A switch
 * passes it on without looking at it.
 */
#define WEFT_F_DIED		0x80

/*
 * Flag of DATA and LANDED: the contents are older than those that died with a node, and nobody has
 * accepted the loss.  Set by the home, and by a node that passes the contents on before it has
 * dropped them.  No directory looks at it.
 */
#define WEFT_F_LOST		0x40

/*
 * Flag of HAND, HANDED and INV_ACK for locks: no block that the lock guards comes after it, so that
 * the next holder asks at once for what it needs.  Not said if that is not known.  No directory
 * looks at it, and each passes it on from HAND to HANDED.
 */
#define WEFT_F_ALONE		0x20

/* For a filter in front of a socket, which has no codec. */
#define WEFT_WIRE_TYPE_AT	2
#define WEFT_WIRE_LINE_AT	12

/**
 * struct weft_msg - one message, in host byte order
 * @type: WEFT_MSG_*
 * @flags: WEFT_F_*
 * @src: the sender: 1..32 nodes, 33..48 blades; the switch does not change it
 * @status: of the entry at the directory, or the new one in a COMMIT
 * @info: reason of a NACK; bytes of a full fragment in DATA, WB, PASS and PASSED, a multiple of 64
 * @txn: the transaction of the message
 * @line: name of the line
 * @copyset: nodes with a copy, one bit each
 * @provider: bit of the node that shall send the data, or has sent and retains it (COMMIT,
 *	COMMIT_ACK); 0 for none
 * @holder: lock of the entry (NACK, INFO); the chased transaction (CHASE); nodes that the owner
 *	has lent the line to (DATA, PASS, PASSED of the former owner)
 * @grant: grant number of the entry; with @txn it names one taking of the entry's lock
 * @nonce: retention of a provider (DATA, PASS, PASSED, COMMIT, COMMIT_ACK), generation of a slot
 *	(ADD, DROP), query number (QUERY, INFO)
 * @version: of the data; the owner raises it
 * @offset: place of the payload in the block, bytes, a multiple of 64
 * @size: bytes of the whole block, a power of two, or 0
 * @rack: number of the rack; messages of other racks are dropped
 * @tagged: unpacked: the message has a trailer
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

/* Refusals in a row before the member whose transaction is in the way is asked for it (CHASE). */
#define WEFT_CHASE_AFTER	8

/* Is CHASE due after @n refusals in a row?  @n saturates at 255. */
static inline bool weft_chase_is_due(u8 n)
{
	return n % WEFT_CHASE_AFTER == 0 || n == 255;
}

static inline bool weft_key_set(const struct weft_key *key)
{
	return key && key->set;
}

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
 * weft_wire_pack() - write a header and a trailer around a payload
 * @msg: the message; @msg->len and @msg->payload describe the payload
 * @buf: WEFT_WIRE_HDR_LEN, @msg->len and weft_wire_trailer() bytes; any alignment
 * @key: of the rack; NULL, or not set: the rack has none
 * @stamp: the time, if there is a key
 *
 * Hashes the payload and does not copy it: the caller places it in @buf before or after.
 * Any context.
 *
 * Return: bytes of the message.
 */
size_t weft_wire_pack(const struct weft_msg *msg, void *buf,
		      const struct weft_key *key, struct weft_stamp stamp);

/**
 * weft_wire_pack_parts() - the same with header and trailer apart
 * @hdr: WEFT_WIRE_HDR_LEN bytes
 * @trailer: weft_wire_trailer() bytes; NULL is allowed without a key
 */
size_t weft_wire_pack_parts(const struct weft_msg *msg, void *hdr, void *trailer,
			    const struct weft_key *key, struct weft_stamp stamp);

/*
 * The hash of a payload in messages.  Header and stamp are hashed with it when the tag is made, so
 * a sender may keep it until the contents change.
 */
u64 weft_wire_hash(const void *payload, size_t len, const struct weft_key *key);

/**
 * weft_wire_pack_hashed() - weft_wire_pack_parts() for a payload whose hash is known
 * @hash: weft_wire_hash() of the payload and @key; @msg->payload is not read
 *
 * The bytes are the same.  A receiver hashes the payload itself, and refuses a wrong hash.
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
 * weft_wire_first() - the length of the first message of a datagram
 * @hdr: WEFT_WIRE_HDR_LEN bytes if @len is that much, not trusted
 * @len: bytes left of the datagram
 *
 * A member that sends another DATA in a row puts as many messages as fit into a datagram.  All
 * other messages have datagrams of their own, since a switch looks at the first message only.
 *
 * Return: 1..@len; @len, too, for nonsense, which weft_wire_unpack() refuses.  0 if @len is 0.
 */
size_t weft_wire_first(const void *hdr, size_t len);

/* Type of a header that has not been checked. */
static inline u8 weft_wire_type(const void *hdr)
{
	return ((const u8 *)hdr)[WEFT_WIRE_TYPE_AT];
}

/* May several messages of this type share a datagram? */
static inline bool weft_wire_joins(u8 type)
{
	return type == WEFT_MSG_DATA;
}

/**
 * weft_wire_unpack() - check a received message and read its header
 * @msg: filled in; @msg->payload points into @buf
 * @buf: the message
 * @len: its length in bytes, as weft_wire_first() says
 * @key: of the rack; NULL, or not set: the rack has none
 *
 * Checks all that needs neither the receiver nor the time: magic, version, lengths, sums, ranges
 * of src, status and offsets, then the tag.  Any context.
 *
 * Return: 0; -EPROTONOSUPPORT: another version; -EILSEQ: the payload was damaged on the way, or
 * changed while it was sent; -ENOKEY: no trailer where there is a key; -EKEYREJECTED: a wrong tag,
 * or any tag where there is no key (the payload may be damaged, too); -EBADMSG: all else that is
 * wrong.  After -ENOKEY and -EKEYREJECTED @msg is filled in, and not to be believed.
 */
int weft_wire_unpack(struct weft_msg *msg, const void *buf, size_t len,
		     const struct weft_key *key);

/**
 * weft_wire_unpack_header() - the first part of weft_wire_unpack(), for a payload in pieces
 * @msg: filled in, @msg->payload is NULL
 * @hdr: the header, WEFT_WIRE_HDR_LEN bytes
 * @len: length of the whole message
 * @psum: receives the payload's hash, as weft_wire_psum()
 *
 * Before it uses the payload the caller compares @psum unless @msg->tagged, and calls
 * weft_wire_check_tag() in any case.
 *
 * Return: 0, -EPROTONOSUPPORT or -EBADMSG.
 */
int weft_wire_unpack_header(struct weft_msg *msg, const void *hdr, size_t len, u32 *psum);

/**
 * weft_wire_check_tag() - the second part
 * @msg: from weft_wire_unpack_header(); the stamp is filled in
 * @hdr: the header
 * @rest: payload and trailer in one piece; not read unless @msg->tagged
 * @key: as for weft_wire_unpack()
 *
 * Return: 0, -ENOKEY or -EKEYREJECTED.
 */
int weft_wire_check_tag(struct weft_msg *msg, const void *hdr, const void *rest,
			const struct weft_key *key);

/*
 * psum is XXH64 of the payload, folded to 32 bits.  The seed is not 0, so that a buffer of zeros
 * has no usual hash.
 */
#define WEFT_WIRE_PSUM_SEED	0x77656674ull

static inline u32 weft_wire_psum_fold(u64 hash)
{
	return (u32)(hash ^ hash >> 32);
}

/* psum of a payload; 0 if @len is 0. */
u32 weft_wire_psum(const void *payload, size_t len);

/* Does a message of this type carry a fragment of a block? */
static inline bool weft_msg_has_data(u8 type)
{
	return type == WEFT_MSG_DATA || type == WEFT_MSG_WB ||
	       type == WEFT_MSG_PASS || type == WEFT_MSG_PASSED;
}

/* Name of a message type for logs and statistics; "?" for an unknown one. */
const char *weft_msg_name(u8 type);

/*
 * The source address of a switch's answer to what @asker has sent to the group.  A switch has no
 * address of its own, so it takes one of @asker's network that is not @asker's.  IPv4, host byte
 * order; p4/weft_address.p4 does the same.
 */
static inline u32 weft_switch_addr(u32 asker)
{
	return (asker & ~3u) | ((asker & 3) == 1 ? 2 : 1);
}

#endif /* WEFT_CORE_WIRE_H */
