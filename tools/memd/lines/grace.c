// SPDX-License-Identifier: GPL-2.0-only
/* Who is waited for at the beginning of a life, see grace.h. */
#include "lines/grace.h"

#include "net/members.h"

void grace_begin(struct memd *m, const char *why)
{
	m->b->grace->begin(m, why);
}

u32 grace_nodes(const struct memd *m)
{
	return m->b->members->mask & ~m->b->grace->late;
}

void grace_moved(struct memd *m, u32 id)
{
	if (m->b->grace->waiting & weft_node_bit(id))
		m->b->grace->moved[id] = m->timers.now;
}

void grace_stored(struct memd *m, u32 id)
{
	/* else nobody asks for it, and several threads would write it */
	if (!m->b->grace->active)
		return;
	grace_moved(m, id);
	m->b->grace->stored[id]++;
}

void grace_refused(struct memd *m, u32 id)
{
	if (!m->b->grace->active)
		return;
	grace_moved(m, id);
	m->b->grace->refused = m->timers.now;
}
