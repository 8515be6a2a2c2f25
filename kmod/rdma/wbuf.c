// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write-back buffers at a blade: which ones are free.  Called by write.c, inbox.c and conn.c
 * with the card's lock.  Posts nothing.
 */
#include <linux/bitops.h>

#include "rdma/wbuf.h"

void weft_wbufs_begin(struct weft_conn *conn, const struct weft_hello *hello)
{
	struct weft_wbufs *wbufs = &conn->wbufs;

	lockdep_assert_held(&conn->card->lock);
	memset(wbufs, 0, sizeof(*wbufs));
	if (!hello->rooms.key || !hello->n_rooms)
		return;
	wbufs->first = hello->rooms;
	wbufs->n = hello->n_rooms;
	wbufs->free = GENMASK(wbufs->n - 1, 0);
}

void weft_wbufs_end(struct weft_conn *conn)
{
	lockdep_assert_held(&conn->card->lock);
	conn->wbufs.n = 0;
	conn->wbufs.free = 0;
	conn->wbufs.theirs = 0;
}

int weft_wbuf_take(struct weft_conn *conn, const struct weft_msg *wb)
{
	struct weft_wbufs *wbufs = &conn->wbufs;
	int room;

	lockdep_assert_held(&conn->card->lock);
	if (!wbufs->free || weft_recent_has(&wbufs->blocks, wb->line, wb->version))
		return -1;
	weft_recent_add(&wbufs->blocks, wb->line, wb->version);
	room = __ffs(wbufs->free);
	wbufs->free &= ~BIT(room);
	return room;
}

void weft_wbuf_free(struct weft_conn *conn, int room)
{
	lockdep_assert_held(&conn->card->lock);
	conn->wbufs.free |= BIT(room);
}

void weft_wbuf_give(struct weft_conn *conn, int room)
{
	lockdep_assert_held(&conn->card->lock);
	conn->wbufs.theirs |= BIT(room);
}

bool weft_wbuf_told(struct weft_conn *conn, u32 room)
{
	struct weft_wbufs *wbufs = &conn->wbufs;

	lockdep_assert_held(&conn->card->lock);
	if (room >= wbufs->n || !(wbufs->theirs & BIT(room)))
		return false;
	wbufs->theirs &= ~BIT(room);
	wbufs->free |= BIT(room);
	return true;
}

struct weft_landing weft_wbuf_landing(const struct weft_conn *conn, int room)
{
	struct weft_landing at = conn->wbufs.first;

	lockdep_assert_held(&conn->card->lock);
	at.addr += (u64)room * WEFT_ROOM_SIZE;
	return at;
}
