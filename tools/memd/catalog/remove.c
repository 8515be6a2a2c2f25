// SPDX-License-Identifier: GPL-2.0-only
/* Regions that go, see remove.h. */
#include "catalog/remove.h"

#include "base/blade.h"
#include "call.h"
#include "catalog/journal.h"
#include "catalog/tell.h"
#include "lines/grace.h"
#include "lines/region.h"
#include "lines/trim.h"
#include "net/deferred.h"
#include "net/members.h"
#include "net/push.h"
#include "net/reply.h"

void remove_region(struct memd *m, struct region *r)
{
	u32 i;

	if (r->gone)
		return;
	if (r->busy || r->busy_opens || r->trim.active || r->withdraw.active) {
		r->doomed = true;
		return;
	}
	r->gone = true;
	r->opens = 0;
	region_unname(r);
	/* a failure is logged; the region would be back after a restart */
	(void)journal_gone(m, r->id);
	for (i = 1; memd_is_first(m) && i < m->b->regions->blades; i++) {
		struct weft_call call = {
			.op = WEFT_CALL_FORGET,
			.region = r->id,
		};

		/* a blade that is not there learns it when it joins */
		if (members_blade(m, i)->in)
			push_call(m, (u8)(WEFT_BLADE_MIN + i), &call, 0, NULL);
	}
	trim_start(m, r, 0, NULL);
}

void remove_unused(struct memd *m, struct region *r)
{
	if (r->unlinked && !r->opens && !m->b->grace->active)
		remove_region(m, r);
}

void remove_all_unused(struct memd *m)
{
	struct region *r;
	u32 id;

	for_each_region(m, r, id)
		remove_unused(m, r);
}

void remove_end_change(struct memd *m, struct deferred *dc)
{
	struct region *r = dc->region;

	r->busy = false;
	dc->q.reply.err = dc->err;
	tell_attributes(r, &dc->q.reply);
	if (r->doomed)
		remove_region(m, r);
	reply_finish(m, &dc->q);
}
