// SPDX-License-Identifier: GPL-2.0-only
/* The layer as a whole, see layer.h. */
#include "store/layer.h"

#include "base/blade.h"
#include "store/backing.h"
#include "store/frames.h"

#define FLUSHING_MS	20	/* to see whether it is over */

static void on_timer(struct memd *m, struct timer *t)
{
	bool busy = frames_settle(m->b->frames, FRAMES_PER_GROUP * 8);

	busy |= frames_flush(m->b->frames);
	m->b->settle->soon = busy;
	timer_set(&m->timers, t, busy ? FLUSHING_MS : STORE_FLUSH_MS);
}

void store_flush_soon(struct memd *m)
{
	turn_alone(m);
	/* else it is looked at soon anyhow, and one who asks often must not put that off */
	if (m->b->settle->soon)
		return;
	m->b->settle->soon = true;
	timer_set(&m->timers, &m->b->settle->timer, 1);
}

int store_make(struct memd *m)
{
	struct blade *b = m->b;

	if (!blade_make(b->backing) || !blade_make(b->frames) || !blade_make(b->settle))
		return -1;
	b->settle->timer.fn = on_timer;
	return 0;
}

int store_open(struct memd *m, char *err)
{
	struct blade *b = m->b;

	if (backing_open(b->backing, &b->opt, err) ||
	    frames_init(b->frames, b->opt.memory, b->backing, err))
		return -1;
	b->frames->shared = b->threads > 1;
	if (b->backing->fd >= 0)
		timer_set(&m->timers, &b->settle->timer, STORE_FLUSH_MS);
	return 0;
}

void store_free(struct memd *m)
{
	struct blade *b = m->b;

	frames_exit(b->frames);
	backing_close(b->backing);
	free(b->settle);
	free(b->frames);
	free(b->backing);
}
