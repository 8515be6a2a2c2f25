/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What two members tell each other as they connect their network cards, for data that one
 * writes into the other's memory (landing.h): in the private data of the connection's request,
 * and of what accepts it.  Each end checks that the other one is who it means, and in a rack
 * with a key that it has the key.  What goes by the connection afterwards is messages, each
 * with its own tag, and bytes of blocks, for which the cards are believed.
 *
 *   0 u32 magic      4 u8 version    5 u8 tagged     6 u8 from       7 u8 to
 *   8 u32 rack      12 u32 epoch    16 u32 tick     20 u32 rooms
 *  24 u64 address of the first room 32 u32 their key 36 u32 0       40 u64 tag
 *
 * all big-endian; epoch, tick and tag are 0 without a key.  A memory blade that accepts has
 * rooms for the node (landing.h), or none.
 */
#ifndef WEFT_CORE_HELLO_H
#define WEFT_CORE_HELLO_H

#include "landing.h"
#include "tag.h"
#include "types.h"

#define WEFT_HELLO_LEN		48
#define WEFT_HELLO_VERSION	2

/**
 * struct weft_hello - who connects to whom
 * @from: member that says it
 * @to: member that it means
 * @rack: number of the rack
 * @tagged: unpacked: it has a tag, which is right
 * @stamp: when it was said, if @tagged: the caller asks weft_stamp_fresh()
 * @n_rooms: how many rooms @from has for @to, one behind the other
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

/**
 * weft_hello_pack()
 * @buf: WEFT_HELLO_LEN bytes
 * @key: of the rack; NULL, or one that is not set: the rack has none
 */
void weft_hello_pack(const struct weft_hello *hello, void *buf, const struct weft_key *key);

/**
 * weft_hello_unpack() - check and read one
 * @len: bytes of @buf; transports may add zeros behind it
 *
 * Return: 0; -EPROTONOSUPPORT for another version, -ENOKEY without a tag where there is a
 * key, -EKEYREJECTED for a wrong tag, or any where there is no key, -EBADMSG for anything else.
 */
int weft_hello_unpack(struct weft_hello *hello, const void *buf, size_t len,
		      const struct weft_key *key);

#endif /* WEFT_CORE_HELLO_H */
