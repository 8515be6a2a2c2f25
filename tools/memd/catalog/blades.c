// SPDX-License-Identifier: GPL-2.0-only
/* The memory blades of the rack, see blades.h. */
#include "catalog/blades.h"

#include <stdio.h>

#include "base/blade.h"
#include "base/log.h"
#include "lines/region.h"
#include "net/members.h"

#define START_MS	15000	/* all blades are up that long after the first */

u32 blades_in_use(const struct memd *m)
{
	/* the first one always: it cannot be drained */
	u32 use = 1, i;

	for (i = 1; i < m->b->regions->blades; i++)
		if (members_blade(m, i)->used && !members_blade(m, i)->drains)
			use |= 1u << i;
	return use;
}

u32 blades_regions(struct memd *m, u32 i)
{
	struct region *r;
	u32 id, n = 0;

	for_each_region(m, r, id)
		n += (r->homes | r->to) >> i & 1;
	return n;
}

bool blades_needed(struct memd *m, u32 i)
{
	return (members_blade(m, i)->used && !members_blade(m, i)->drains) || blades_regions(m, i);
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

u16 blades_there(struct memd *m)
{
	u64 now = m->timers.now;
	u32 i;

	for (i = 1; i < m->b->regions->blades; i++) {
		const struct member *who = members_blade(m, i);

		if (!who->in && blades_needed(m, i))
			return now - m->b->started < START_MS ||
			       now - who->heard < MEMBER_ALIVE_MS ?
			       EAGAIN : EHOSTDOWN;
	}
	return 0;
}
