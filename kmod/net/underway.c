// SPDX-License-Identifier: GPL-2.0-only
/* What is under way to each peer, see underway.h. */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>

#include "net/underway.h"

#define CALM_LIMIT	HZ	/* a home that takes nothing for so long stops nobody */

void weft_underway_init(struct weft_underway *under)
{
	spin_lock_init(&under->lock);
	weft_window_init(&under->window);
	under->homing = 0;
	init_waitqueue_head(&under->calm);
	under->newest = 0;
}

bool weft_underway_room(struct weft_underway *under, u32 bytes)
{
	struct weft_window *w = &under->window;
	u32 flight = READ_ONCE(w->flight);

	if (!flight || (u64)flight + bytes <= READ_ONCE(w->size))
		return true;
	/* no take that fails: the window learns of it here */
	if (!READ_ONCE(w->pressed))
		WRITE_ONCE(w->pressed, true);
	return false;
}

u32 weft_underway_size(struct weft_underway *under)
{
	return READ_ONCE(under->window.size);
}

bool weft_underway_take(struct weft_underway *under, u32 bytes)
{
	bool ok;

	spin_lock_bh(&under->lock);
	ok = weft_window_take(&under->window, bytes);
	spin_unlock_bh(&under->lock);
	return ok;
}

void weft_underway_force(struct weft_underway *under, u32 bytes)
{
	spin_lock_bh(&under->lock);
	weft_window_force(&under->window, bytes);
	spin_unlock_bh(&under->lock);
}

void weft_underway_homing(struct weft_underway *under, u32 bytes)
{
	spin_lock_bh(&under->lock);
	WRITE_ONCE(under->homing, under->homing + bytes);
	spin_unlock_bh(&under->lock);
}

/* The window may be small for what others lose; so much keeps a home busy. */
static bool is_calm(const struct weft_underway *under)
{
	return READ_ONCE(under->homing) <
	       max_t(u32, READ_ONCE(under->window.size), 2 * WEFT_WINDOW_FIRST);
}

void weft_underway_calm(struct weft_underway *under)
{
	if (!is_calm(under))
		wait_event_killable_timeout(under->calm, is_calm(under), CALM_LIMIT);
}

void weft_underway_done(struct weft_underway *under, u32 bytes, bool homing, u64 asked)
{
	u64 now = ktime_get_ns();

	spin_lock_bh(&under->lock);
	weft_window_give(&under->window, bytes);
	if (asked) {
		weft_window_answered(&under->window, bytes, now - asked, now);
		if (asked > under->newest)
			WRITE_ONCE(under->newest, asked);
	}
	if (homing)
		WRITE_ONCE(under->homing, under->homing - min(bytes, under->homing));
	spin_unlock_bh(&under->lock);
	if (homing && wq_has_sleeper(&under->calm) && is_calm(under))
		wake_up_all(&under->calm);
}

bool weft_underway_overtaken(const struct weft_underway *under, u64 asked)
{
	return READ_ONCE(under->newest) > asked;
}

bool weft_underway_lost(struct weft_underway *under, u64 asked)
{
	bool cut;

	spin_lock_bh(&under->lock);
	cut = weft_window_lost(&under->window, asked, ktime_get_ns());
	spin_unlock_bh(&under->lock);
	return cut;
}

void weft_underway_needless(struct weft_underway *under)
{
	spin_lock_bh(&under->lock);
	weft_window_needless(&under->window);
	spin_unlock_bh(&under->lock);
}
