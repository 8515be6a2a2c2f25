// SPDX-License-Identifier: GPL-2.0-only
/* Memory blades by an administrator, see admin.h. */
#include "catalog/admin.h"

#include "base/blade.h"
#include "base/log.h"
#include "catalog/blades.h"
#include "catalog/join.h"
#include "catalog/journal.h"
#include "catalog/move.h"
#include "lines/region.h"
#include "net/members.h"
#include "types.h"

static bool has_address(const struct memd *m, u32 addr)
{
	u32 id;

	for (id = 1; id <= WEFT_BLADE_MAX; id++) {
		const struct member *who = &m->b->members->by_id[id];

		if (who->addr == addr || who->standby == addr)
			return true;
	}
	return false;
}

static u16 add(struct memd *m, const struct weft_call *c)
{
	u32 i = c->node - WEFT_BLADE_MIN;
	struct member *who = members_blade(m, i);

	if (i < m->b->regions->blades)
		return who->addr == c->addr ? 0 : EEXIST;
	if (i != m->b->regions->blades || !c->addr)
		return EINVAL;
	if (has_address(m, c->addr))
		return EADDRINUSE;
	who->addr = c->addr;
	m->b->regions->blades++;
	log_say("memory blade %u is to be at %s", i + 1, log_addr(c->addr));
	if (journal_blade(m, c->node))
		return EIO;
	join_tell_members(m);
	return 0;
}

static u16 drain(struct memd *m, const struct weft_call *c)
{
	u32 i = c->node - WEFT_BLADE_MIN;

	if (i >= m->b->regions->blades)
		return ENXIO;
	/* it has the catalog */
	if (!i || !(blades_in_use(m) & ~(1u << i)))
		return EINVAL;
	if (!members_blade(m, i)->drains)
		log_say("memory blade %u is not used any more: what it has moves to others", i + 1);
	members_blade(m, i)->drains = true;
	move_look(m);
	return journal_blade(m, c->node) ? EIO : 0;
}

static u16 use(struct memd *m, const struct weft_call *c)
{
	u32 i = c->node - WEFT_BLADE_MIN;

	if (i >= m->b->regions->blades)
		return ENXIO;
	members_blade(m, i)->drains = false;
	return journal_blade(m, c->node) ? EIO : 0;
}

static void list(struct memd *m, struct weft_call *reply)
{
	u8 *p = reply->list;
	u32 i;

	for (i = 0; i < m->b->regions->blades; i++, p += WEFT_BLADE_LEN) {
		const struct member *who = members_blade(m, i);

		memset(p, 0, WEFT_BLADE_LEN);
		p[0] = (u8)(WEFT_BLADE_MIN + i);
		p[1] = (u8)((who->in || !i ? WEFT_BLADE_IN : 0) |
			    (who->drains ? WEFT_BLADE_DRAINS : 0));
		put_unaligned_be32(who->addr, p + 4);
		put_unaligned_be64(m->b->regions->size[i], p + 8);
		put_unaligned_be64(m->b->regions->reserved[i], p + 16);
		put_unaligned_be32(blades_regions(m, i), p + 24);
	}
	reply->list_len = (u16)(p - reply->list);
}

enum answer admin_call(struct memd *m, struct request *q)
{
	const struct weft_call *c = &q->call;

	if (c->valid && !weft_is_blade(c->node))
		return reply_refuse(q, EINVAL);
	switch (c->valid) {
	case 0:
		break;
	case WEFT_BLADE_ADD:
		q->reply.err = add(m, c);
		break;
	case WEFT_BLADE_DRAIN:
		q->reply.err = drain(m, c);
		break;
	case WEFT_BLADE_USE:
		q->reply.err = use(m, c);
		break;
	default:
		q->reply.err = EINVAL;
		break;
	}
	list(m, &q->reply);
	return ANSWER;
}
