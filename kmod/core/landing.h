/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Codec of landings (where a network card may write a block) and of remote handles (where a card
 * may read one).  Called by whoever sends or takes requests and LANDED.  No memory is posted or
 * registered here: that is the host's.
 */
#ifndef WEFT_CORE_LANDING_H
#define WEFT_CORE_LANDING_H

#include "wire.h"

/*
 * A request (GETS, GETM, READ of the node that asks) offers a landing as its payload: memory of
 * that node into which the provider's card writes the block by a one-sided operation, as in MIND
 * and Soul.  LANDED follows on the same connection and is DATA but for the bytes; the provider
 * may always send DATA instead.  docs/protocol.md ("Data that lands") has the reasons for these
 * rules, by which programs never see memory into which a card may still write:
 *
 * - A landing is closed before anything else is put into the block, and before the block may be
 *   read.  LANDED closes it (send with invalidate); for other data the host closes it first
 *   (WEFT_DO_CLOSE, WEFT_DO_AGAIN).
 * - A transaction has one landing at most, under a key that is used once.  A repeated request
 *   offers none, since cards may be what fails.
 * - No landing covers a part of the block that is here already, or data that is retained.
 * - LANDED counts if its transaction offered the landing, and no INV came since: otherwise two
 *   providers may have written two versions (may_be_mixed()).
 *
 * A block that goes home lands in a write-back buffer (room) of the blade, which that node's card
 * alone writes to and which is no part of the store before LANDED.  LANDED then is WB but for the
 * bytes, of a block that has not changed meanwhile.
 *
 * A remote handle (deed) says where a blade has a block, and where a number stands as long as the
 * block is there.  A node with one says WEFT_F_DIRECT in its request; if the answer is GRANT, its
 * card reads the block and then the number.  The right number means that the block is current:
 * the node is in the copyset, so an INV reaches it before the home has a newer version.
 */

/* A request's payload: key (4), 0 (4), address (8), big-endian. */
#define WEFT_LANDING_LEN	16

/* A handle: address (8), key (4) of the block; key (4), address (8) of the number; it (8). */
#define WEFT_DEED_LEN		32

/* Bytes of a write-back buffer: a larger block goes home in messages. */
#define WEFT_ROOM_SIZE		65536
/* Write-back buffers for one node at most. */
#define WEFT_ROOMS_MAX		32

/**
 * struct weft_landing - where a block may land
 * @addr: as the card of the node that asks knows it
 * @key: the right to write there; 0: no landing
 */
struct weft_landing {
	u64 addr;
	u32 key;
};

/* The payload of a request that offers a landing: WEFT_LANDING_LEN bytes at @buf. */
void weft_landing_pack(const struct weft_landing *landing, void *buf);

/**
 * weft_landing_unpack() - the landing that a request, or the directory's message for it, offers
 * @msg: checked by weft_wire_unpack()
 *
 * Return: false, with key 0 in @landing, if there is none.
 */
bool weft_landing_unpack(struct weft_landing *landing, const struct weft_msg *msg);

/**
 * struct weft_deed - remote handle: where a blade has a block
 * @block: as the blade's card knows it; key 0: no handle
 * @mark: where @number stands, 8 bytes, big-endian
 * @number: not 0; no other handle of this life of the blade has it
 */
struct weft_deed {
	struct weft_landing block;
	struct weft_landing mark;
	u64 number;
};

/* The payload of LANDED from a blade: WEFT_DEED_LEN bytes at @buf. */
void weft_deed_pack(const struct weft_deed *deed, void *buf);

/**
 * weft_deed_unpack() - the remote handle that LANDED brings
 * @msg: checked by weft_wire_unpack()
 *
 * Return: false, with key 0 in @deed, if there is none.
 */
bool weft_deed_unpack(struct weft_deed *deed, const struct weft_msg *msg);

#endif /* WEFT_CORE_LANDING_H */
