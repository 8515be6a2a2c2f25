// SPDX-License-Identifier: GPL-2.0-only
/* Access to regions, see allow.h. */
#include "catalog/allow.h"

#include "base/blade.h"
#include "catalog/blades.h"
#include "catalog/journal.h"
#include "catalog/remove.h"
#include "catalog/tell.h"
#include "lines/access.h"
#include "lines/grace.h"
#include "lines/withdraw.h"
#include "net/deferred.h"
#include "net/members.h"

/* --- open and close --------------------------------------------------------- */

/* Do owner and mode of the region permit the access that the node has granted? */
static bool fits(const struct region *r, const struct weft_call *c)
{
	u32 want = c->mode & 7;

	switch (c->valid) {
	case WEFT_OPEN_KEEP:
	case WEFT_OPEN_CAPABLE:
		return true;
	case WEFT_OPEN_OWNER:
		return c->uid == r->uid && !(want & ~(r->mode >> 6));
	case WEFT_OPEN_GROUP:
		return c->uid != r->uid && c->gid == r->gid && !(want & ~(r->mode >> 3));
	case WEFT_OPEN_OTHER:
		return c->uid != r->uid && !(want & ~r->mode);
	case WEFT_OPEN_NEW:
		return c->uid == r->uid;
	default:
		return false;
	}
}

static void opened(struct memd *m, struct deferred *dc)
{
	/* a blade that has gone away hears of it when it comes back */
	tell_attributes(dc->region, &dc->q.reply);
	dc->region->busy_opens--;
	if (dc->region->doomed)
		remove_region(m, dc->region);
	reply_finish(m, &dc->q);
}

enum answer allow_open(struct memd *m, struct request *q, struct region *r)
{
	u32 bit = weft_node_bit(q->src);
	struct deferred *dc;

	/* the homes that the node would hear change in a moment */
	if (r->frozen)
		return ANSWER_NOT;
	tell_attributes(r, &q->reply);
	if (!access_node(r, q->src) || !fits(r, &q->call)) {
		count(m, OPEN_REFUSED);
		return reply_refuse(q, EACCES);
	}
	if (m->b->regions->blades == 1 || r->opens & bit) {
		r->opens |= bit;
		return ANSWER;
	}
	/* the other blades are to know before the node asks them for lines */
	dc = deferred_new(q, opened);
	if (!dc)
		return reply_refuse(q, ENOMEM);
	r->opens |= bit;
	r->busy_opens++;
	dc->region = r;
	tell_blades_now(m, r, dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}

void allow_close(struct memd *m, struct region *r, u32 node)
{
	if (!(r->opens & weft_node_bit(node)))
		return;
	r->opens &= ~weft_node_bit(node);
	if (m->b->regions->blades > 1)
		tell_blades_now(m, r, NULL);
}

void allow_close_all(struct memd *m, u8 node)
{
	struct region *r;
	u32 id;

	for_each_region(m, r, id) {
		if (!(r->opens & weft_node_bit(node)))
			continue;
		allow_close(m, r, node);
		remove_unused(m, r);
	}
}

/* --- for which nodes -------------------------------------------------------- */

/* Nodes that have it open and are not to use it any more. */
static u32 left_over(const struct memd *m, const struct region *r)
{
	return r->nodes ? r->opens & ~r->nodes & m->b->members->mask : 0;
}

static void call_nodes(struct memd *m, const struct region *r, u32 nodes, struct deferred *dc)
{
	struct weft_call changed = { 0 };

	tell_attributes(r, &changed);
	tell_nodes_of(r, &changed);
	tell_changed(m, nodes, &changed, dc);
}

/* Restore the former list of nodes, here and everywhere. */
static void undo(struct memd *m, struct deferred *dc)
{
	struct region *r = dc->region;
	/* the nodes that were to lose it: some may have dropped it already */
	u32 told = r->nodes ? m->b->members->mask & ~r->nodes : 0;

	region_set_nodes(m->b->regions, r, r->before);
	r->undecided = false;
	/* a newer number: nodes replace the policy that they were told */
	r->policy += WEFT_POLICY_CHANGE;
	tell_blades_now(m, r, NULL);
	call_nodes(m, r, told, NULL);
	remove_end_change(m, dc);
}

/*
 * Nothing of it is in the switch, and nobody else has it.  Only now it is noted: what is noted is
 * so after a restart, when nobody knows what the switch has.
 */
static void withdrawn(struct memd *m, struct deferred *dc)
{
	struct region *r = dc->region;

	if (!dc->err && journal_policy(m, r))
		dc->err = EIO;
	if (dc->err) {
		undo(m, dc);
		return;
	}
	r->undecided = false;
	/* nodes that may use it show people the new list */
	call_nodes(m, r, r->opens & m->b->members->mask, NULL);
	dc->finish = remove_end_change;
	if (!journal_hold(m, dc))
		remove_end_change(m, dc);
}

/* Those that are to lose it have answered: they have given it back, or use it. */
static void asked(struct memd *m, struct deferred *dc)
{
	struct region *r = dc->region;
	u32 left = left_over(m, r);

	/* ETIMEDOUT of a node that died meanwhile does not count: it has nothing any more */
	if (left) {
		dc->q.reply.members = left;
		dc->err = dc->err ? dc->err : EBUSY;
		undo(m, dc);
		return;
	}
	dc->err = 0;
	dc->finish = withdrawn;
	deferred_hold(dc);
	tell_blades_now(m, r, dc);
	withdraw_start(m, r, dc);
	/* not deferred_release(): that is what calls this; the lines hold it */
	dc->held--;
}

enum answer allow_set(struct memd *m, struct request *q, struct region *r)
{
	const struct weft_call *c = &q->call;
	struct deferred *dc;
	u16 err;

	if (c->valid != WEFT_SET_NODES)
		return reply_refuse(q, EINVAL);
	err = blades_there(m);
	if (err)
		return err == EAGAIN ? ANSWER_NOT : reply_refuse(q, err);
	if (r->busy || r->trim.active || r->withdraw.active || !grace_is_over(m))
		return ANSWER_NOT;
	if (c->nodes && !r->nodes && !withdraw_possible(m, r))
		return reply_refuse(q, EOPNOTSUPP);
	dc = deferred_new(q, asked);
	if (!dc)
		return reply_refuse(q, ENOMEM);
	dc->region = r;
	r->before = r->nodes;
	r->undecided = true;
	/* from here on nobody else opens it, or is served */
	region_set_nodes(m->b->regions, r, c->nodes);
	r->policy += WEFT_POLICY_CHANGE;
	r->busy = true;
	call_nodes(m, r, left_over(m, r), dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}
