// SPDX-License-Identifier: GPL-2.0-only
/* Regions as nodes and other blades know them, see tell.h. */
#include "catalog/tell.h"

#include "base/blade.h"
#include "call.h"
#include "lines/grace.h"
#include "lines/region.h"
#include "net/members.h"
#include "net/push.h"

void tell_attributes(const struct region *r, struct weft_call *reply)
{
	reply->region = r->id;
	reply->mode = r->mode;
	reply->uid = r->uid;
	reply->gid = r->gid;
	reply->block = r->block;
	reply->size = r->size;
	reply->used = r->used;
	reply->mtime = r->mtime;
	reply->policy = r->undecided ? r->policy - WEFT_POLICY_CHANGE : r->policy;
	reply->nodes = r->undecided ? r->before : r->nodes;
	reply->homes = r->homes;
	reply->name_len = r->unlinked ? 0 : r->name_len;
	memcpy(reply->name, r->name, reply->name_len);
}

void tell_nodes_of(const struct region *r, struct weft_call *call)
{
	call->policy = r->policy;
	call->nodes = r->nodes;
}

/* Nodes that have it open, as other blades are told: more, while some may not have said so. */
static u32 opens(const struct memd *m, const struct region *r)
{
	u32 perhaps = m->b->grace->active ? ~0u : m->b->grace->late;

	return r->opens | (r->nodes ? perhaps & r->nodes : perhaps);
}

void tell_blade(struct memd *m, u8 blade, const struct region *r, u64 size,
		  struct deferred *dc)
{
	struct weft_call call = { .op = WEFT_CALL_REGION };

	tell_attributes(r, &call);
	tell_nodes_of(r, &call);
	call.size = size;
	call.members = opens(m, r);
	call.valid = r->frozen ? WEFT_REGION_FROZEN : 0;
	push_call(m, blade, &call, 0, dc);
}

void tell_blades(struct memd *m, const struct region *r, u64 size, struct deferred *dc)
{
	u32 i;

	for (i = 1; i < m->b->regions->blades; i++)
		if (members_blade(m, i)->in)
			tell_blade(m, (u8)(WEFT_BLADE_MIN + i), r, size, dc);
}

void tell_blades_now(struct memd *m, const struct region *r, struct deferred *dc)
{
	/* while it grows others have been told of what it will be */
	tell_blades(m, r, r->growing > r->size ? r->growing : r->size, dc);
}

void tell_all_opens(struct memd *m)
{
	struct region *r;
	u32 id;

	if (m->b->regions->blades == 1)
		return;
	for_each_region(m, r, id)
		if (!r->gone)
			tell_blades_now(m, r, NULL);
}

void tell_changed(struct memd *m, u32 nodes, struct weft_call *call, struct deferred *dc)
{
	u32 id;

	call->op = WEFT_CALL_CHANGED;
	for_each_node(nodes, id)
		push_call(m, (u8)id, call, 0, dc);
}
