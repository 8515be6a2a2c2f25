/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the data of a miss may land: memory of the node that asks, into which the network
 * card of whoever provides the data may write, so that it is not copied at either end (as
 * in MIND and Soul, whose data goes by one-sided operations).  The protocol needs nothing
 * new for it:
 *
 * - A request offers a landing, as its payload: GETS, GETM, and READ of the node that asks.
 *   A directory, at home or in the switch, passes it on unseen, with what it makes of the
 *   request: READ, FWD, INV.
 * - The provider has its card write the block there, and says so behind it, on the same
 *   connection, with LANDED, which is DATA but for the bytes.  Or it sends DATA, as if
 *   there was no landing: it may have no such card, or no connection.
 *
 * What must hold is that programs never see memory into which a card may still write: the
 * write may be late, come twice, or from a provider that was asked by an old copy of the
 * request.  So
 *
 * - a landing is closed before anything else is put into the block, and before anything
 *   makes the block fit to be read: LANDED closes it as it comes (send with invalidate),
 *   other data has it closed first (WEFT_DO_CLOSE, WEFT_DO_AGAIN);
 * - a transaction has one landing at most, which no other has had, or will have (its key is
 *   used once).  A request that is repeated offers none: perhaps it is cards that fail;
 * - there is none where a part of the block is already (it came for an upgrade that was
 *   overtaken), nor over data that others may still want: a line that retains data asks for
 *   nothing.
 *
 * What a card has written is believed when LANDED says so and the transaction is the one
 * that offered the landing, for the reasons for which DATA is (docs/protocol.md), but for
 * one case: two copies of a request were answered by two providers, of two versions, and
 * both have written.  Then an invalidation came to the node that asked before the second
 * version was made, and it asks again, for DATA.
 *
 * What a node writes home has no request that could offer a landing.  So a memory blade has
 * rooms for each node whose card is connected to its own: memory that nobody reads but as a
 * block that has come, and into which only that node's card writes.  The node's card writes a
 * block into a room that is free; when all of it is there, and the block has not changed
 * meanwhile, the node sends LANDED with the room as its landing, by the same connection, which
 * is WB but for the bytes.  From then on the room is the blade's, until it says by the
 * connection that it is free again.  So for the protocol the bytes are those that a WB would
 * have had that was encoded just before LANDED: it needs nothing new for that, either.
 *
 * A node that has a *deed* of a block can read what the home has of it without the blade's
 * program: it says where the block is in the blade's memory, and where a number stands that is
 * the deed's own for as long as it is there.  LANDED from a blade has one as its payload, if the
 * blade gives any.  A node with a deed says so in its request (WEFT_F_DIRECT), and if what the
 * home has is current, and nobody has to give it up, a directory in a switch says GRANT
 * instead of asking anybody for it.
 * The node that asked then sends READ; and its card does what that says: it reads the block
 * into the landing, and after it the number.  If it is the deed's, the block is what LANDED
 * from the home would tell of now: the node is in the copyset, so nothing newer can get home
 * before it has heard of it (INV).  If it is not, READ goes to the blade after all.
 */
#ifndef WEFT_CORE_LANDING_H
#define WEFT_CORE_LANDING_H

#include "wire.h"

/* A request's payload: key (4), 0 (4), address (8), big-endian. */
#define WEFT_LANDING_LEN	16

/* A deed: address of the block (8), its key (4), key (4) and address (8) of the number, it (8). */
#define WEFT_DEED_LEN		32

/* Bytes of a room: a larger block goes home in messages. */
#define WEFT_ROOM_SIZE		65536
/* Rooms for one node at most. */
#define WEFT_ROOMS_MAX		32

/**
 * struct weft_landing - where a block may land
 * @addr: as the network card of the node that asks knows it
 * @key: the right to write there; 0: there is no landing
 */
struct weft_landing {
	u64 addr;
	u32 key;
};

/**
 * weft_landing_pack() - the payload of a request that offers a landing
 * @buf: WEFT_LANDING_LEN bytes
 */
void weft_landing_pack(const struct weft_landing *landing, void *buf);

/**
 * weft_landing_unpack() - what a request, or what a directory made of it, offers
 * @msg: checked by weft_wire_unpack()
 *
 * Return: false, and no landing in *@landing, if it offers none.
 */
bool weft_landing_unpack(struct weft_landing *landing, const struct weft_msg *msg);

/**
 * struct weft_deed - where a blade has a block
 * @block: as the blade's network card knows it; its key 0: there is no deed
 * @mark: where @number stands, 8 bytes, big-endian
 * @number: not 0; no other deed of this life of the blade has it
 */
struct weft_deed {
	struct weft_landing block;
	struct weft_landing mark;
	u64 number;
};

/**
 * weft_deed_pack() - the payload of LANDED from a blade
 * @buf: WEFT_DEED_LEN bytes
 */
void weft_deed_pack(const struct weft_deed *deed, void *buf);

/**
 * weft_deed_unpack() - the deed that LANDED brings
 * @msg: checked by weft_wire_unpack()
 *
 * Return: false, and no deed in *@deed, if it brings none.
 */
bool weft_deed_unpack(struct weft_deed *deed, const struct weft_msg *msg);

#endif /* WEFT_CORE_LANDING_H */
