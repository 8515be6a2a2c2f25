// SPDX-License-Identifier: GPL-2.0-only
/* Calls that wait for the disk, see sync.h. */
#include "catalog/sync.h"

#include "base/blade.h"
#include "lines/grace.h"
#include "store/backing.h"

/* All of the file. */
static void part(struct memd *m, u64 *at, size_t *len)
{
	(void)at;
	(void)len;
	count(m, SYNC_FLUSH);
}

static bool over(struct memd *m, bool failed)
{
	(void)failed;
	return m->b->backing->failed;
}

enum answer sync_call(struct memd *m, struct request *q)
{
	const struct backing *b = m->b->backing;
	struct deferred *dc;

	/* nodes give back the blocks of the former life first, and hear which are lost */
	if (!grace_is_over(m))
		return ANSWER_NOT;
	count(m, SYNC);
	dc = b->fd >= 0 && !b->failed ? deferred_new(q, deferred_answer) : NULL;
	if (!dc)
		return reply_refuse(q, b->fd < 0 ? EOPNOTSUPP : b->failed ? EIO : ENOMEM);
	commit_hold(m, m->b->sync, dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}

int sync_init(struct memd *m)
{
	static const struct commit_ops ops = { .part = part, .over = over };

	return commit_init(m, m->b->sync, &ops);
}
