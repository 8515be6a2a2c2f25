/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Codec of connection private data: what two members tell each other as their network cards
 * connect, in the request and in the answer.  rdma/ and the blade call it.  It checks form and
 * tag; the caller checks that the other end is the member that it means.
 */
#ifndef WEFT_CORE_HELLO_H
#define WEFT_CORE_HELLO_H

#include "landing.h"
#include "tag.h"
#include "types.h"

/*
 *   0 u32 magic      4 u8 version    5 u8 tagged     6 u8 from       7 u8 to
 *   8 u32 rack      12 u32 epoch    16 u32 tick     20 u32 write-back buffers
 *  24 u64 address of the first one  32 u32 their key 36 u32 0       40 u64 tag
 *
 * Big-endian; epoch, tick and tag are 0 without a key.  The connection then carries messages with
 * tags of their own, and bytes of blocks, for which the cards are believed.
 */
#define WEFT_HELLO_LEN		48
#define WEFT_HELLO_VERSION	2

/**
 * struct weft_hello - connection private data
 * @from: the member that says it
 * @to: the member that it means
 * @rack: number of the rack
 * @tagged: unpacked: it has a tag, which is right
 * @stamp: when it was said, if @tagged; the caller checks weft_stamp_fresh()
 * @n_rooms: write-back buffers (landing.h) that blade @from has for node @to, one behind the other
 * @rooms: the first one
 */
struct weft_hello {
	u8 from;
	u8 to;
	u32 rack;
	bool tagged;
	struct weft_stamp stamp;
	u32 n_rooms;
	struct weft_landing rooms;
};

/* @buf: WEFT_HELLO_LEN bytes.  @key: NULL, or not set: the rack has none. */
void weft_hello_pack(const struct weft_hello *hello, void *buf, const struct weft_key *key);

/**
 * weft_hello_unpack() - check and read private data
 * @len: bytes of @buf; transports may add zeros
 *
 * Return: 0; -EPROTONOSUPPORT: another version; -ENOKEY: no tag where there is a key;
 * -EKEYREJECTED: a wrong tag, or any tag where there is no key; -EBADMSG: all else that is wrong.
 */
int weft_hello_unpack(struct weft_hello *hello, const void *buf, size_t len,
		      const struct weft_key *key);

#endif /* WEFT_CORE_HELLO_H */
