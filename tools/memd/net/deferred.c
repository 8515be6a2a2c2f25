// SPDX-License-Identifier: GPL-2.0-only
/* Deferred calls, see deferred.h. */
#include "net/deferred.h"

#include <stdlib.h>

struct deferred *deferred_new(const struct request *q,
			      void (*finish)(struct memd *m, struct deferred *dc))
{
	struct deferred *dc = calloc(1, sizeof(*dc));

	if (!dc)
		return NULL;
	dc->q = *q;
	dc->held = 1;
	dc->finish = finish;
	return dc;
}

void deferred_answer(struct memd *m, struct deferred *dc)
{
	if (dc->err)
		dc->q.reply.err = dc->err;
	reply_finish(m, &dc->q);
}

void deferred_hold(struct deferred *dc)
{
	if (dc)
		dc->held++;
}

void deferred_release(struct memd *m, struct deferred *dc, u16 err)
{
	if (!dc)
		return;
	if (err && !dc->err)
		dc->err = err;
	if (--dc->held)
		return;
	dc->finish(m, dc);
	if (!dc->held)
		free(dc);
}
