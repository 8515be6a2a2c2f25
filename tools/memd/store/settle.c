// SPDX-License-Identifier: GPL-2.0-only
/* The backing file goes to the disk, see settle.h. */
#include "store/settle.h"

#include "base/blade.h"
#include "store/backing.h"
#include "store/frames.h"

#define FLUSHING_MS	20	/* to see whether it is over */

static void on_timer(struct memd *m, struct timer *t)
{
	bool busy = frames_settle(m->b->frames, FRAMES_PER_GROUP * 8);

	busy |= frames_flush(m->b->frames);
	m->b->settle->soon = busy;
	timer_set(&m->timers, t, busy ? FLUSHING_MS : SETTLE_FLUSH_MS);
}

void settle_init(struct memd *m)
{
	m->b->settle->timer.fn = on_timer;
}

void settle_start(struct memd *m)
{
	timer_set(&m->timers, &m->b->settle->timer, SETTLE_FLUSH_MS);
}

void settle_soon(struct memd *m)
{
	turn_alone(m);
	/* else it is looked at soon anyhow, and one who asks often must not put that off */
	if (m->b->settle->soon)
		return;
	m->b->settle->soon = true;
	timer_set(&m->timers, &m->b->settle->timer, 1);
}
