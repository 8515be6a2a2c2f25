/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rooms that a blade has for blocks of this node that go home (core/landing.h):
 *
 *	free    ours: a block may be written there
 *	taken   our card writes there; then LANDED goes, or the room is free again
 *	theirs  LANDED has gone: free when the blade says so, by a message without bytes that
 *		has the room's number (immediate data)
 *
 * All of it with the card's lock.  With the connection the rooms end.
 */
#ifndef WEFT_RDMA_ROOM_H
#define WEFT_RDMA_ROOM_H

#include "rdma/card.h"

/* The connection is UP: what the blade has said of its rooms; a node has none. */
void weft_rooms_begin(struct weft_link *link, const struct weft_hello *hello);

/* The connection is not there any more. */
void weft_rooms_end(struct weft_link *link);

/**
 * weft_room_take() - a room for a block that goes home
 * @wb: the message that would carry it
 *
 * What went that way lately, and was not heard of, goes by another one: so a block does not
 * depend on cards that fail.  Return: its number; -1: none.
 */
int weft_room_take(struct weft_link *link, const struct weft_msg *wb);

/* LANDED goes: it is the blade's now. */
void weft_room_give(struct weft_link *link, int room);

/* LANDED does not go: it is free again. */
void weft_room_free(struct weft_link *link, int room);

/* The blade says that it is.  Return: false: that cannot be. */
bool weft_room_told(struct weft_link *link, u32 room);

/* Where it is, for the card. */
struct weft_landing weft_room_landing(const struct weft_link *link, int room);

#endif /* WEFT_RDMA_ROOM_H */
