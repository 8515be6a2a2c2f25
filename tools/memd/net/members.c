// SPDX-License-Identifier: GPL-2.0-only
/* The members of the rack, see members.h. */
#include "net/members.h"

#include <time.h>

#include "base/log.h"
#include "call.h"
#include "net/udp.h"

void members_init(struct memd *m)
{
	m->b->members->version = (u32)time(NULL);
}

void members_start(struct memd *m)
{
	struct members *ms = m->b->members;
	u32 i;

	for (i = 0; i < m->b->opt.blades; i++) {
		ms->by_id[WEFT_BLADE_MIN + i].addr = m->b->opt.peers[i];
		ms->by_id[WEFT_BLADE_MIN + i].standby = m->b->opt.standbys[i];
		ms->by_id[WEFT_BLADE_MIN + i].used = true;
	}
	ms->by_id[m->b->opt.id].addr = m->udp->addr;
	ms->by_id[m->b->opt.id].life = m->b->life;
}

bool members_has(const struct memd *m, u32 id, u32 from)
{
	const struct member *who;

	if (id > WEFT_BLADE_MAX || id == m->b->opt.id)
		return false;
	who = &m->b->members->by_id[id];
	if (!who->addr || who->addr != from)
		return false;
	return !weft_node_bit(id) ||
	       ((m->b->members->mask & weft_node_bit(id)) && !members_is_dead(m, id));
}

struct member *members_sender(struct memd *m, u32 id, u32 from)
{
	struct member *who;

	if (!members_has(m, id, from))
		return NULL;
	who = &m->b->members->by_id[id];
	/* by several threads perhaps, but not for each message */
	if (__atomic_load_n(&who->heard, __ATOMIC_RELAXED) != m->timers.now)
		__atomic_store_n(&who->heard, m->timers.now, __ATOMIC_RELAXED);
	return who;
}

void members_move(struct memd *m, u32 id)
{
	struct member *who = &m->b->members->by_id[id];
	u32 former = who->addr;

	log_say("memory blade %u is at %s now: its twin has taken over from %s",
		id - WEFT_BLADE_MIN + 1, log_addr(who->standby), log_addr(former));
	who->addr = who->standby;
	who->standby = former;
}

void members_refused(struct memd *m, u32 id, u32 from)
{
	u32 addr = id <= WEFT_BLADE_MAX ? m->b->members->by_id[id].addr : 0;

	if (addr && addr != from) {
		count(m, WRONG_ADDRESS);
		memd_refused(m);
	} else {
		count(m, STRANGER);
	}
}

u32 members_joined(const struct members *ms)
{
	u32 mask = ms->mask, id;

	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		if (ms->by_id[id].joining)
			mask &= ~weft_node_bit(id);
	return mask;
}

static u8 *put_peer(u8 *p, u32 id, u32 kind, u32 view, u32 addr)
{
	put_unaligned_be32(id << 24 | kind << 16 | (view & 0xffff), p);
	put_unaligned_be32(addr, p + 4);
	return p + 8;
}

void members_list(struct memd *m, u32 nodes, struct weft_call *call)
{
	u8 *p = call->list;
	u32 id, view;

	call->members = nodes;
	for (id = 1; id <= WEFT_BLADE_MAX; id++) {
		const struct member *who = &m->b->members->by_id[id];

		if (!who->addr || weft_node_bit(id) & ~nodes)
			continue;
		view = id == m->b->opt.id ? m->b->opt.role.view : who->view;
		p = put_peer(p, id, WEFT_PEER_MEMBER, view, who->addr);
		if (who->standby)
			p = put_peer(p, id, WEFT_PEER_TWIN, view, who->standby);
	}
	call->list_len = (u16)(p - call->list);
}
