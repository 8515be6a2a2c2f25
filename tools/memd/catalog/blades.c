// SPDX-License-Identifier: GPL-2.0-only
/* Which memory blades there are, see blades.h. */
#include "catalog/blades.h"

#include <stdio.h>

#include "base/blade.h"
#include "base/log.h"
#include "catalog/join.h"
#include "catalog/journal.h"
#include "catalog/move.h"
#include "lines/region.h"
#include "net/members.h"
#include "net/reply.h"

#define SETTLED_MS	3000	/* all nodes have asked for the members since */

static struct member *blade(const struct memd *m, u32 i)
{
	return &m->b->members->by_id[WEFT_BLADE_MIN + i];
}

u32 blades_in_use(const struct memd *m)
{
	/* the first one always: it cannot be drained */
	u32 use = 1, i;

	for (i = 1; i < m->b->regions->blades; i++)
		if (blade(m, i)->used && !blade(m, i)->drains)
			use |= 1u << i;
	return use;
}

static u32 regions_of(struct memd *m, u32 i)
{
	struct region *r;
	u32 id = 0, n = 0;

	while ((r = region_after(m->b->regions, id))) {
		id = r->id;
		n += (r->homes | r->to) >> i & 1;
	}
	return n;
}

bool blades_needed(struct memd *m, u32 i)
{
	return (blade(m, i)->used && !blade(m, i)->drains) || regions_of(m, i);
}

const char *blades_name(u32 blades)
{
	static char text[2][WEFT_BLADE_MAX * 3];
	static u32 next;
	char *s = text[next++ % 2];
	int n = 0;
	u32 i;

	s[0] = 0;
	for (i = 0; blades >> i; i++)
		if (blades >> i & 1)
			n += snprintf(s + n, sizeof(text[0]) - (size_t)n, "%s%u",
				      !n ? "" : blades >> i == 1 ? " and " : ", ", i + 1);
	return s;
}

void blades_look(struct memd *m)
{
	u32 i;

	for (i = 1; i < m->b->regions->blades; i++) {
		struct member *who = blade(m, i);

		if (who->used || !who->in || m->timers.now - who->asked < SETTLED_MS)
			continue;
		who->used = true;
		(void)journal_blade(m, WEFT_BLADE_MIN + i);
		log_say("memory blade %u (%s) is used by regions that are made from now on",
			i + 1, log_addr(who->addr));
	}
}

void blades_learn(struct memd *m, u32 id, u32 addr)
{
	struct member *who;

	if (!weft_is_blade(id) || !addr)
		return;
	who = &m->b->members->by_id[id];
	if (who->addr)
		return;
	who->addr = addr;
	if (id - WEFT_BLADE_MIN >= m->b->regions->blades)
		m->b->regions->blades = id - WEFT_BLADE_MIN + 1;
	log_say("memory blade %u is at %s", id - WEFT_BLADE_MIN + 1, log_addr(addr));
}

bool blades_restore(struct memd *m, u32 id, u32 addr, bool used, bool drains)
{
	struct member *who;

	if (!weft_is_blade(id))
		return false;
	who = &m->b->members->by_id[id];
	who->addr = addr;
	who->used = used;
	who->drains = drains;
	if (id - WEFT_BLADE_MIN >= m->b->regions->blades)
		m->b->regions->blades = id - WEFT_BLADE_MIN + 1;
	return true;
}

/* --- the administrator -------------------------------------------------------------- */

static bool has_address(const struct memd *m, u32 addr)
{
	u32 id;

	for (id = 1; id <= WEFT_BLADE_MAX; id++)
		if (m->b->members->by_id[id].addr == addr || m->b->members->by_id[id].twin == addr)
			return true;
	return false;
}

static u16 add(struct memd *m, const struct weft_call *c)
{
	u32 i = c->node - WEFT_BLADE_MIN;
	struct member *who = blade(m, i);

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
	if (!blade(m, i)->drains)
		log_say("memory blade %u is not used any more: what it has moves to others", i + 1);
	blade(m, i)->drains = true;
	move_look(m);
	return journal_blade(m, c->node) ? EIO : 0;
}

static u16 use(struct memd *m, const struct weft_call *c)
{
	u32 i = c->node - WEFT_BLADE_MIN;

	if (i >= m->b->regions->blades)
		return ENXIO;
	blade(m, i)->drains = false;
	return journal_blade(m, c->node) ? EIO : 0;
}

static void list(struct memd *m, struct weft_call *reply)
{
	u8 *p = reply->list;
	u32 i;

	for (i = 0; i < m->b->regions->blades; i++, p += WEFT_BLADE_LEN) {
		const struct member *who = blade(m, i);

		memset(p, 0, WEFT_BLADE_LEN);
		p[0] = (u8)(WEFT_BLADE_MIN + i);
		p[1] = (u8)((who->in || !i ? WEFT_BLADE_IN : 0) |
			    (who->drains ? WEFT_BLADE_DRAINS : 0));
		put_unaligned_be32(who->addr, p + 4);
		put_unaligned_be64(m->b->regions->size[i], p + 8);
		put_unaligned_be64(m->b->regions->reserved[i], p + 16);
		put_unaligned_be32(regions_of(m, i), p + 24);
	}
	reply->list_len = (u16)(p - reply->list);
}

enum answer blades_call(struct memd *m, struct request *q)
{
	const struct weft_call *c = &q->call;

	if (c->valid && !weft_is_blade(c->node)) {
		q->reply.err = EINVAL;
		return ANSWER;
	}
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
