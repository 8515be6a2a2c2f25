// SPDX-License-Identifier: GPL-2.0-only
/* The last message that was refused, see refused.h. */
#include <linux/ktime.h>
#include <linux/spinlock.h>

#include "base/stats.h"
#include "net/refused.h"

static struct {
	unsigned int stat;
	__be32 from;
	ktime_t when;
} last = { .stat = WEFT_STAT_COUNT };

static DEFINE_SPINLOCK(lock);

void weft_refused_note(unsigned int stat, __be32 from)
{
	weft_stat_inc(stat);
	spin_lock_bh(&lock);
	last.stat = stat;
	last.from = from;
	last.when = ktime_get_coarse();
	spin_unlock_bh(&lock);
}

void weft_refused_last(struct weft_refused *r)
{
	spin_lock_bh(&lock);
	r->stat = last.stat;
	r->from = last.from;
	r->msecs = (u64)ktime_ms_delta(ktime_get_coarse(), last.when);
	spin_unlock_bh(&lock);
}

void weft_refused_forget(void)
{
	spin_lock_bh(&lock);
	last.stat = WEFT_STAT_COUNT;
	spin_unlock_bh(&lock);
}
