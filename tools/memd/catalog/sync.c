// SPDX-License-Identifier: GPL-2.0-only
/* Calls that wait for the disk, see sync.h. */
#include "catalog/sync.h"

#include <unistd.h>

#include "base/blade.h"
#include "base/wake.h"
#include "lines/grace.h"
#include "net/held.h"
#include "net/reply.h"
#include "store/backing.h"

#define SYNCING_MS	10	/* to see whether it is over, if nothing says so */

static void begin(struct memd *m)
{
	struct sync *s = m->b->sync;

	s->syncing = s->waiting;
	SLIST_INIT(&s->waiting);
	count(m, SYNC_FLUSH);
	flush_begin(&s->flush, 0, 0);
	timer_set(&m->timers, &s->timer, SYNCING_MS);
}

static void end(struct memd *m)
{
	struct sync *s = m->b->sync;
	struct deferred_list list = s->syncing;
	struct deferred *dc;

	if (flush_end(&s->flush))
		backing_fails(m->b->backing);
	SLIST_INIT(&s->syncing);
	while ((dc = SLIST_FIRST(&list))) {
		SLIST_REMOVE_HEAD(&list, next_noted);
		deferred_release(m, dc, m->b->backing->failed ? EIO : 0);
	}
}

static void look(struct memd *m)
{
	struct sync *s = m->b->sync;

	if (!s->flush.running || !flush_over(&s->flush))
		return;
	end(m);
	if (!SLIST_EMPTY(&s->waiting))
		begin(m);
	else
		timer_stop(&s->timer);
}

static void on_timer(struct memd *m, struct timer *t)
{
	timer_set(&m->timers, t, SYNCING_MS);
	look(m);
}

void sync_work(struct memd *m)
{
	wake_heard(m->b->sync->flush.wake);
	turn_alone(m);
	look(m);
	turn_together(m);
}

enum answer sync_call(struct memd *m, struct request *q)
{
	const struct backing *b = m->b->backing;
	struct sync *s = m->b->sync;
	struct deferred *dc;

	/* of a former life: who has something gives it back first, and hears what is lost */
	if (!grace_is_over(m))
		return ANSWER_NOT;
	count(m, SYNC);
	dc = b->fd >= 0 && !b->failed ? deferred_new(q, deferred_answer) : NULL;
	if (!dc)
		return reply_refuse(q, b->fd < 0 ? EOPNOTSUPP : b->failed ? EIO : ENOMEM);
	SLIST_INSERT_HEAD(&s->waiting, dc, next_noted);
	held_hold(m, dc);
	if (!s->flush.running)
		begin(m);
	return ANSWER_LATER;
}

int sync_init(struct memd *m)
{
	struct sync *s = m->b->sync;

	s->timer.fn = on_timer;
	return m->b->backing->fd < 0 ? 0 : flush_open(&s->flush, m->b->backing->fd, true);
}

void sync_exit(struct memd *m)
{
	struct sync *s = m->b->sync;

	while (s->flush.running || !SLIST_EMPTY(&s->waiting)) {
		if (!s->flush.running)
			begin(m);
		end(m);
	}
	timer_stop(&s->timer);
}

void sync_close(struct memd *m)
{
	flush_close(&m->b->sync->flush);
}
