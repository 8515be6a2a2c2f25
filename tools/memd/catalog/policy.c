// SPDX-License-Identifier: GPL-2.0-only
/* Policies of regions, see policy.h. */
#include "catalog/policy.h"

#include "base/blade.h"
#include "base/log.h"
#include "catalog/blades.h"
#include "catalog/journal.h"
#include "catalog/remove.h"
#include "catalog/tell.h"
#include "lines/region.h"
#include "net/deferred.h"
#include "net/members.h"
#include "store/backing.h"

/*
 * It is on the disk: nobody hears of a change that the end of the machine could undo, as its
 * number would then be that of another one.  Who does not answer is left behind; the caller
 * hears of that.
 */
static void tell(struct memd *m, struct deferred *dc)
{
	struct weft_call changed = { 0 };
	struct region *r = dc->region;

	dc->finish = remove_end_change;
	deferred_hold(dc);
	if (!dc->err) {
		tell_attributes(r, &changed);
		tell_changed(m, r->opens & m->b->members->mask, &changed, dc);
		tell_blades(m, r, r->size, dc);
	}
	/* not deferred_release(), which calls this, and frees the call when it ends here */
	if (!--dc->held)
		remove_end_change(m, dc);
}

/* Has every blade a standby? */
static bool have_standbys(struct memd *m)
{
	bool all = true;
	u32 i;

	for (i = 0; i < m->b->regions->blades; i++)
		all &= members_blade(m, i)->standby ||
		       !blades_needed(m, i);
	return all;
}

/* Is there a disk that contents of regions can be on, at every blade? */
static bool have_disks(struct memd *m)
{
	bool all = m->b->backing->fd >= 0;
	u32 i;

	for (i = 1; i < m->b->regions->blades; i++)
		all &= members_blade(m, i)->backing || !blades_needed(m, i);
	return all;
}

enum answer policy_set(struct memd *m, struct request *q, struct region *r)
{
	const struct weft_call *c = &q->call;
	u32 old = r->policy;
	struct deferred *dc;
	u16 err;

	if (c->valid & ~(u32)WEFT_SET_POLICY || !weft_policy_valid(c->policy))
		return reply_refuse(q, EINVAL);
	err = blades_there(m);
	if (err)
		return err == EAGAIN ? ANSWER_NOT : reply_refuse(q, err);
	if (c->valid & WEFT_SET_DURABILITY &&
	    (c->policy & WEFT_POLICY_DURABILITY) == WEFT_POLICY_SYNC && !have_disks(m))
		return reply_refuse(q, EOPNOTSUPP);
	if (c->valid & WEFT_SET_DURABILITY &&
	    (c->policy & WEFT_POLICY_DURABILITY) == WEFT_POLICY_MIRROR && !have_standbys(m)) {
		log_warn("durability=mirror is refused: not every blade has a twin (weft-memd --peers A/T)");
		return reply_refuse(q, EOPNOTSUPP);
	}
	if (r->busy || r->trim.active)
		return ANSWER_NOT;
	dc = deferred_new(q, tell);
	if (!dc)
		return reply_refuse(q, ENOMEM);
	r->policy = weft_policy_change(old, c->policy, c->valid);
	if (journal_policy(m, r)) {
		r->policy = old;
		dc->finish = remove_end_change;
		dc->region = r;
		deferred_release(m, dc, EIO);
		return ANSWER_LATER;
	}
	r->busy = true;
	dc->region = r;
	journal_hold(m, dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}
