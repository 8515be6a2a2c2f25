// SPDX-License-Identifier: GPL-2.0-only
/* Joining and leaving at the first blade, see join.h. */
#include "base/blade.h"
#include "base/log.h"
#include "catalog/allow.h"
#include "catalog/blades.h"
#include "catalog/fence.h"
#include "catalog/journal.h"
#include "catalog/move.h"
#include "catalog/tell.h"
#include "lines/blocks.h"
#include "lines/p4.h"
#include "lines/recovery.h"
#include "lines/region.h"
#include "lines/sweep.h"
#include "net/deferred.h"
#include "net/held.h"
#include "net/members.h"
#include "net/push.h"
#include "rdma/rdma.h"
#include "catalog/join.h"

#define GAVE_UP_MS	1500	/* without a repeated JOIN a node has given up */

static void blade_lost(struct memd *m, u8 blade, u16 err)
{
	u32 number = blade - WEFT_BLADE_MIN + 1u;
	const char *addr = log_addr(m->b->members->by_id[blade].addr);

	if (err)
		log_warn("memory blade %u (%s) cannot note what becomes of a region (%s): it has to join again; see its log",
			 number, addr, strerror(err));
	else
		log_warn("memory blade %u (%s) does not answer: is weft-memd running there?",
			 number, addr);
	m->b->members->by_id[blade].in = false;
	/* calls do not fail for a blade that no region uses */
	push_drop(m, blade, blades_needed(m, number - 1) ? EHOSTDOWN : 0);
}

/* Members to all other blades, or to one of them. */
static void tell_members(struct memd *m, u8 blade, bool last, struct deferred *dc)
{
	struct weft_call call = {
		.op = WEFT_CALL_MEMBERS,
		.valid = last,
		.nodes = m->b->members->coming,
	};

	members_list(m, m->b->members->mask, &call);
	push_call(m, blade, &call, m->b->members->version, dc);
}

static void tell_members_to_all(struct memd *m, struct deferred *dc)
{
	u32 i;

	for (i = 1; i < m->b->regions->blades; i++)
		if (members_blade(m, i)->in)
			tell_members(m, (u8)(WEFT_BLADE_MIN + i), false, dc);
}

void join_tell_members(struct memd *m)
{
	p4_changed(m);
	tell_members_to_all(m, NULL);
}

static void fill_in(struct memd *m, struct request *q)
{
	members_list(m, members_joined(m->b->members), &q->reply);
	q->reply.life = m->b->life;
	q->reply.used = m->b->opt.lease;
	q->reply.valid = m->b->members->dead;
}

/* --- blades ----------------------------------------------------------------- */

/* Another blade begins a life: it hears everything. */
static enum answer join_blade(struct memd *m, struct request *q)
{
	struct member *who = &m->b->members->by_id[q->src];
	struct region *r;
	u32 id;

	fill_in(m, q);
	if (who->in && who->life == q->call.life)
		return ANSWER;
	log_say("memory blade %u joins", q->src - WEFT_BLADE_MIN + 1u);
	push_drop(m, q->src, EHOSTDOWN);
	who->life = q->call.life;
	who->in = true;
	who->backing = q->call.valid & WEFT_JOIN_BACKING;
	who->heard = m->timers.now;
	who->asked = m->timers.now;
	m->b->regions->size[q->src - WEFT_BLADE_MIN] = q->call.size;
	for_each_region(m, r, id)
		if (!r->gone)
			tell_blade(m, q->src, r, r->size, NULL);
	tell_members(m, q->src, true, NULL);
	fence_joined(m, q->src);
	return ANSWER;
}

/* --- nodes ------------------------------------------------------------------ */

static void remove_node(struct memd *m, u8 id)
{
	struct member *who = &m->b->members->by_id[id];

	who->in = false;
	who->dying = false;
	m->b->members->mask &= ~weft_node_bit(id);
	m->b->members->coming &= ~weft_node_bit(id);
	recovery_gone(m, id);
	fence_left(m, id);
	move_gone(m, id);
	rdma_life_over(m, weft_node_bit(id));
	/* a failure is logged; it would be asked for its lines after a restart */
	(void)journal_member(m, id);
	allow_close_all(m, id);
	blocks_forget(m, id);
	push_drop(m, id, 0);
	p4_changed(m);
}

/* All others have heard that a node is dead: it is no member any more. */
static void node_died(struct memd *m, u32 id)
{
	remove_node(m, (u8)id);
	tell_members_to_all(m, NULL);
	sweep_begin(m);
}

static void finish_join(struct memd *m, struct deferred *dc)
{
	struct member *who = &m->b->members->by_id[dc->q.src];

	who->joining = false;
	/* a node that gave up believes that it has not joined, and would never leave */
	if (!dc->err &&
	    (who->gave_up || m->timers.now - who->asked > GAVE_UP_MS))
		dc->err = ETIMEDOUT;
	if (dc->err && who->in) {
		remove_node(m, dc->q.src);
		tell_members_to_all(m, NULL);
	}
	if (!dc->err)
		fence_joined(m, dc->q.src);
	dc->q.reply.err = dc->err;
	fill_in(m, &dc->q);
	reply_finish(m, &dc->q);
}

/* All blades are through with its former life: now the switch may serve it. */
static void finish_telling(struct memd *m, struct deferred *dc)
{
	u32 bit = weft_node_bit(dc->q.src);

	dc->finish = finish_join;
	if (!dc->err && m->b->members->coming & bit) {
		m->b->members->coming &= ~bit;
		join_tell_members(m);
		p4_wait(m, dc);
	}
	if (!dc->held)
		finish_join(m, dc);
}

/* It is a member, but the answer to its JOIN was lost. */
static void finish_again(struct memd *m, struct deferred *dc)
{
	fill_in(m, &dc->q);
	reply_finish(m, &dc->q);
}

/* A node that does not know of this answer asks until it hears another one. */
static enum answer not_yet(struct request *q)
{
	return q->call.valid & WEFT_JOIN_ASKS_AGAIN ? reply_refuse(q, EAGAIN) : ANSWER_NOT;
}

static enum answer join_node(struct memd *m, struct request *q)
{
	struct member *who = &m->b->members->by_id[q->src];
	bool same = who->in && who->life == q->call.life && who->addr == q->from;
	u16 err = blades_there(m);
	struct deferred *dc;

	fence_visited(m);
	if (who->joining) {
		if (who->life == q->call.life && who->addr == q->from)
			who->asked = m->timers.now;
		return ANSWER_NOT;
	}
	if (err)
		return err == EAGAIN ? not_yet(q) : reply_refuse(q, err);
	/* the same address with another life: the machine was rebooted */
	if (who->in && who->addr != q->from &&
	    m->timers.now - who->heard < MEMBER_ALIVE_MS) {
		log_warn("%s wants to be node %u, but %s is", log_addr(q->from),
			 q->src, log_addr(who->addr));
		q->reply.addr = who->addr;
		return reply_refuse(q, EEXIST);
	}
	/* its former life is dead: all members hear that first */
	if (who->in && !same)
		fence_node(m, q->src, "it has begun another life");
	if (!fence_may_join(m, q->src))
		return not_yet(q);
	dc = deferred_new(q, same ? finish_again : finish_telling);
	if (!dc)
		return reply_refuse(q, ENOMEM);
	who->heard = m->timers.now;
	if (!same) {
		log_say("node %u joins (%s)", q->src, log_addr(q->from));
		count(m, JOIN);
		reply_begin(m, q->src, q->txn);
		who->addr = q->from;
		who->life = q->call.life;
		who->asked = m->timers.now;
		who->in = true;
		/* the next life has to know who may have lines of this one */
		if (journal_member(m, q->src)) {
			who->in = false;
			deferred_release(m, dc, EIO);
			return ANSWER_LATER;
		}
		who->joining = true;
		who->gave_up = false;
		m->b->members->mask |= weft_node_bit(q->src);
		m->b->members->coming |= weft_node_bit(q->src);
		p4_changed(m);
		tell_members_to_all(m, dc);
	}
	p4_wait(m, dc);
	held_hold(m, dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}

enum answer join_call(struct memd *m, struct request *q)
{
	if (q->call.node != q->src || !q->call.life)
		return reply_refuse(q, EINVAL);
	if (q->call.addr != q->from) {
		count(m, WRONG_ADDRESS);
		log_warn("%s says that its address is %s: is there address translation on the way? Members have to reach each other as they are",
			 log_addr(q->from), log_addr(q->call.addr));
		return reply_refuse(q, EADDRNOTAVAIL);
	}
	return weft_is_blade(q->src) ? join_blade(m, q) : join_node(m, q);
}

static void finish_leave(struct memd *m, struct deferred *dc)
{
	reply_finish(m, &dc->q);
}

enum answer join_leave(struct memd *m, struct request *q)
{
	struct member *who = &m->b->members->by_id[q->src];
	struct deferred *dc;

	if (q->call.node != q->src || !weft_node_bit(q->src))
		return reply_refuse(q, EINVAL);
	if (!who->in)
		return ANSWER;
	if (who->addr != q->from || who->life != q->call.life || members_is_dead(m, q->src))
		return reply_refuse(q, ENOTCONN);
	if (who->joining) {
		who->gave_up = true;
		return ANSWER_NOT;
	}
	dc = deferred_new(q, finish_leave);
	if (!dc)
		return reply_refuse(q, ENOMEM);
	log_say("node %u leaves", q->src);
	count(m, LEAVE);
	remove_node(m, q->src);
	tell_members_to_all(m, dc);
	p4_wait(m, dc);
	/* else a standby that takes over would ask the node for its lines */
	held_hold(m, dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}

/*
 * A node that is no member finds itself missing in the answer and joins again.
 * Where another has its place, or it has the place of an earlier life, it hears
 * that.
 */
enum answer join_peers(struct memd *m, struct request *q)
{
	const struct member *who = &m->b->members->by_id[q->src];
	bool known = who->in && who->addr == q->from &&
		     who->life == q->call.life;

	fill_in(m, q);
	/* others hear of it when all have given up what they have of it */
	if (members_is_dead(m, q->src))
		q->reply.members &= ~weft_node_bit(q->src);
	if (!known && (who->in || weft_is_blade(q->src)))
		return reply_refuse(q, ENOTCONN);
	return ANSWER;
}

void join_init(struct memd *m)
{
	m->b->members->blade_lost = blade_lost;
	m->b->fence->node_died = node_died;
}
