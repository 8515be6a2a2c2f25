// SPDX-License-Identifier: GPL-2.0-only
/* Group commit, see commit.h. */
#include "net/commit.h"

#include "base/blade.h"
#include "base/wake.h"
#include "net/held.h"
#include "store/backing.h"

#define LOOK_MS		10

static void begin(struct memd *m, struct commit *c)
{
	size_t len = 0;
	u64 at = 0;

	c->running = c->waiting;
	SLIST_INIT(&c->waiting);
	c->ops->part(m, &at, &len);
	flush_begin(&c->flush, at, len);
	timer_set(&m->timers, &c->timer, LOOK_MS);
}

static void end(struct memd *m, struct commit *c)
{
	struct deferred_list list = c->running;
	bool failed = flush_end(&c->flush);
	struct deferred *dc;

	if (failed)
		backing_fails(m->b->backing);
	failed = c->ops->over(m, failed);
	SLIST_INIT(&c->running);
	while ((dc = SLIST_FIRST(&list))) {
		SLIST_REMOVE_HEAD(&list, next_noted);
		dc->unnoted |= failed;
		deferred_release(m, dc, failed ? EIO : 0);
	}
}

static void look(struct memd *m, struct commit *c)
{
	if (!c->flush.running || !flush_over(&c->flush))
		return;
	end(m, c);
	if (SLIST_EMPTY(&c->waiting)) {
		timer_stop(&c->timer);
		return;
	}
	if (c->ops->next)
		c->ops->next(m);
	begin(m, c);
}

static void on_timer(struct memd *m, struct timer *t)
{
	timer_set(&m->timers, t, LOOK_MS);
	look(m, timer_owner(t, struct commit, timer));
}

void commit_work(struct memd *m, struct commit *c)
{
	wake_heard(c->flush.wake);
	turn_alone(m);
	look(m, c);
	turn_together(m);
}

void commit_hold(struct memd *m, struct commit *c, struct deferred *dc)
{
	deferred_hold(dc);
	SLIST_INSERT_HEAD(&c->waiting, dc, next_noted);
	held_hold(m, dc);
	if (!c->flush.running)
		begin(m, c);
}

int commit_init(struct memd *m, struct commit *c, const struct commit_ops *ops)
{
	c->ops = ops;
	c->timer.fn = on_timer;
	return m->b->backing->fd < 0 ? 0 : flush_open(&c->flush, m->b->backing->fd, true);
}

void commit_exit(struct memd *m, struct commit *c)
{
	while (c->flush.running || !SLIST_EMPTY(&c->waiting)) {
		if (!c->flush.running)
			begin(m, c);
		end(m, c);
	}
	timer_stop(&c->timer);
}

void commit_close(struct commit *c)
{
	flush_close(&c->flush);
}
