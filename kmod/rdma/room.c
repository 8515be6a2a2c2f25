// SPDX-License-Identifier: GPL-2.0-only
/* Rooms at a blade, see room.h. */
#include <linux/bitops.h>

#include "rdma/room.h"

void weft_rooms_begin(struct weft_link *link, const struct weft_hello *hello)
{
	struct weft_rooms *rooms = &link->rooms;

	lockdep_assert_held(&link->card->lock);
	memset(rooms, 0, sizeof(*rooms));
	if (!hello->rooms.key || !hello->n_rooms)
		return;
	rooms->first = hello->rooms;
	rooms->n = hello->n_rooms;
	rooms->free = GENMASK(rooms->n - 1, 0);
}

void weft_rooms_end(struct weft_link *link)
{
	lockdep_assert_held(&link->card->lock);
	link->rooms.n = 0;
	link->rooms.free = 0;
	link->rooms.theirs = 0;
}

static bool went_lately(const struct weft_rooms *rooms, const struct weft_msg *wb)
{
	u32 n = min_t(u32, rooms->used, WEFT_LINK_RECENT), i;

	for (i = 0; i < n; i++) {
		if (rooms->recent[i].line == wb->line && rooms->recent[i].version == wb->version)
			return true;
	}
	return false;
}

int weft_room_take(struct weft_link *link, const struct weft_msg *wb)
{
	struct weft_rooms *rooms = &link->rooms;
	int room;

	lockdep_assert_held(&link->card->lock);
	if (!rooms->free || went_lately(rooms, wb))
		return -1;
	rooms->recent[rooms->used % WEFT_LINK_RECENT].line = wb->line;
	rooms->recent[rooms->used % WEFT_LINK_RECENT].version = wb->version;
	/* never small again: else what is remembered would be forgotten */
	if (++rooms->used == 2 * WEFT_LINK_RECENT)
		rooms->used = WEFT_LINK_RECENT;
	room = __ffs(rooms->free);
	rooms->free &= ~BIT(room);
	return room;
}

void weft_room_free(struct weft_link *link, int room)
{
	lockdep_assert_held(&link->card->lock);
	link->rooms.free |= BIT(room);
}

void weft_room_give(struct weft_link *link, int room)
{
	lockdep_assert_held(&link->card->lock);
	link->rooms.theirs |= BIT(room);
}

bool weft_room_told(struct weft_link *link, u32 room)
{
	struct weft_rooms *rooms = &link->rooms;

	lockdep_assert_held(&link->card->lock);
	if (room >= rooms->n || !(rooms->theirs & BIT(room)))
		return false;
	rooms->theirs &= ~BIT(room);
	rooms->free |= BIT(room);
	return true;
}

struct weft_landing weft_room_landing(const struct weft_link *link, int room)
{
	struct weft_landing at = link->rooms.first;

	lockdep_assert_held(&link->card->lock);
	at.addr += (u64)room * WEFT_ROOM_SIZE;
	return at;
}
