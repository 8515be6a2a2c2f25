// SPDX-License-Identifier: GPL-2.0-only
/* The last message that was refused, see refused.h. */
#include "base/stats.h"
#include "net/refused.h"

void weft_refused_init(struct weft_last_refused *last)
{
	spin_lock_init(&last->lock);
	last->stat = WEFT_STAT_COUNT;
}

void weft_refused_note(struct weft_last_refused *last, unsigned int stat, __be32 from)
{
	spin_lock_bh(&last->lock);
	last->stat = stat;
	last->from = from;
	last->when = ktime_get_coarse();
	spin_unlock_bh(&last->lock);
}

void weft_refused_last(struct weft_last_refused *last, struct weft_refused *r)
{
	spin_lock_bh(&last->lock);
	r->stat = last->stat;
	r->from = last->from;
	r->msecs = (u64)ktime_ms_delta(ktime_get_coarse(), last->when);
	spin_unlock_bh(&last->lock);
}

void weft_refused_forget(struct weft_last_refused *last)
{
	spin_lock_bh(&last->lock);
	last->stat = WEFT_STAT_COUNT;
	spin_unlock_bh(&last->lock);
}
