// SPDX-License-Identifier: GPL-2.0-only
/* Nodes that die, see fence.h. */
#include "catalog/fence.h"

#include <time.h>

#include "base/blade.h"
#include "base/log.h"
#include "catalog/journal.h"
#include "lines/sweep.h"
#include "net/members.h"
#include "net/push.h"
#include "net/send.h"
#include "rdma/rdma.h"
#include "standby/mirror.h"

#define FIRST_MS	10	/* until FENCE is repeated, doubled each time */
#define LAST_MS		250
#define LOOKS		8	/* looks who is silent, in a lease */
#define LOOK_MAX_MS	1000
#define RETURN_MS	3000	/* to be heard again by a blade that was alone; a mount waits 5 s */

/* --- asking ------------------------------------------------------------------ */

static void send(struct memd *m, u32 id)
{
	struct fence *f = m->b->fence;
	struct weft_call call = {
		.op = WEFT_CALL_FENCE,
		.node = id,
		.members = m->b->members->dead,
		.life = m->b->members->by_id[id].life,
		.cookie = f->seq,
	};

	send_call_to(m, &call, f->txn[id], id);
}

static void send_to_all(struct memd *m)
{
	u32 id;

	if (!mirror_has(m, m->b->fence->noted))
		return;
	for (id = WEFT_NODE_MIN; id <= WEFT_BLADE_MAX; id++)
		if (m->b->fence->waiting & members_bit(id))
			send(m, id);
}

/* A member that lives. */
static bool hears(const struct memd *m, u32 id)
{
	const struct member *who = &m->b->members->by_id[id];

	return who->in && id != m->b->opt.id && !members_is_dead(m, id);
}

/* All that live, anew: there are more dead than they know of. */
static void ask_all(struct memd *m)
{
	struct fence *f = m->b->fence;
	u32 id;

	f->seq++;
	f->waiting = 0;
	f->began = m->timers.now;
	f->delay = FIRST_MS;
	for (id = WEFT_NODE_MIN; id <= WEFT_BLADE_MAX; id++) {
		if (!hears(m, id))
			continue;
		f->waiting |= members_bit(id);
		f->txn[id] = weft_txn(m->b->opt.id, memd_seq(m));
	}
	send_to_all(m);
	/* also if nobody is left to ask: the timer ends the fencing */
	timer_set(&m->timers, &f->timer, f->waiting ? f->delay : 1);
}

/* All have heard: they are members no more. */
static void check_end(struct memd *m)
{
	struct fence *f = m->b->fence;
	u32 dead = m->b->members->dead, id;

	if (!dead || f->waiting)
		return;
	timer_stop(&f->timer);
	m->b->members->dead = 0;
	for_each_node(dead, id)
		f->node_died(m, id);
}

/* Take a node for dead that does not obey in time; have a blade join anew. */
static void give_up(struct memd *m)
{
	struct fence *f = m->b->fence;
	u32 id;

	for (id = WEFT_BLADE_MIN; id <= WEFT_BLADE_MAX; id++)
		if (f->waiting & members_bit(id) && !m->b->members->by_id[id].in)
			f->waiting &= ~members_bit(id);
	if (m->timers.now - f->began < FENCE_LIMIT_MS)
		return;
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		if (f->waiting & members_bit(id))
			fence_node(m, id, "it lives, but does not give up what dead nodes had lent it");
	for (id = WEFT_BLADE_MIN; id <= WEFT_BLADE_MAX; id++)
		if (f->waiting & members_bit(id))
			m->b->members->blade_lost(m, (u8)id, 0);
}

static void on_timer(struct memd *m, struct timer *t)
{
	struct fence *f = m->b->fence;

	give_up(m);
	if (f->waiting) {
		send_to_all(m);
		f->delay = f->delay * 2 < LAST_MS ? f->delay * 2 : LAST_MS;
		timer_set(&m->timers, t, f->delay);
	}
	check_end(m);
}

void fence_node(struct memd *m, u32 id, const char *why)
{
	struct fence *f = m->b->fence;

	if (!weft_node_bit(id) || !m->b->members->by_id[id].in || members_is_dead(m, id))
		return;
	log_warn("node %u (%s) is taken out of the rack: %s", id,
		 log_addr(m->b->members->by_id[id].addr), why);
	count(m, FENCED);
	m->b->members->dead |= weft_node_bit(id);
	f->died[id] = m->timers.now;
	rdma_life_over(m, weft_node_bit(id));
	/* the next life of this blade must not call the node alive; a failure is logged */
	(void)journal_member(m, id);
	f->noted = mirror_position(m);
	push_drop(m, (u8)id, 0);
	ask_all(m);
}

bool fence_may_join(const struct memd *m, u32 id)
{
	const struct fence *f = m->b->fence;

	return !members_is_dead(m, id) &&
	       (!f->died[id] || m->timers.now - f->died[id] >= FENCE_LEAST_MS) &&
	       !sweep_is_active(m);
}

void fence_joined(struct memd *m, u32 id)
{
	struct fence *f = m->b->fence;

	if (!m->b->members->dead)
		return;
	f->waiting |= members_bit(id);
	f->txn[id] = weft_txn(m->b->opt.id, memd_seq(m));
	if (mirror_has(m, f->noted))
		send(m, id);
}

void fence_left(struct memd *m, u32 id)
{
	struct fence *f = m->b->fence;

	if (!(f->waiting & members_bit(id)))
		return;
	f->waiting &= ~members_bit(id);
	/* not from here: the caller changes the members */
	timer_set(&m->timers, &f->timer, 1);
}

bool fence_reply(struct memd *m, const struct weft_msg *msg)
{
	struct fence *f = m->b->fence;
	struct weft_call reply;

	if (msg->src > WEFT_BLADE_MAX || !(f->waiting & members_bit(msg->src)) ||
	    msg->txn != f->txn[msg->src] ||
	    weft_call_unpack(&reply, msg->payload, msg->len))
		return false;
	if (reply.err)
		return true;
	f->waiting &= ~members_bit(msg->src);
	check_end(m);
	return true;
}

/* --- who is silent ------------------------------------------------------------- */

static u64 look_ms(const struct memd *m)
{
	u64 ms = m->b->opt.lease / LOOKS;

	return ms < LOOK_MAX_MS ? ms : LOOK_MAX_MS;
}

/*
 * Is no node heard at all?  Then it is this blade that is cut off, or whoever might need what
 * the dead had is dead, too: nobody is taken out.  Half a lease: nodes are heard several times
 * in one, so none has been silent for all of it when this is noticed.
 */
static bool is_alone(const struct memd *m)
{
	const struct members *ms = m->b->members;
	u64 last = m->b->fence->joining;
	u32 id;

	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		if (ms->by_id[id].in && !members_is_dead(m, id) && ms->by_id[id].heard > last)
			last = ms->by_id[id].heard;
	return last + m->b->opt.lease / 2 < m->timers.now;
}

/* The time since when who is silent is so: a part of the lease is left when others are back. */
static void wait_for_others(struct memd *m)
{
	struct fence *f = m->b->fence;
	u64 left = m->b->opt.lease / 2 < RETURN_MS ? m->b->opt.lease / 2 : RETURN_MS;
	u64 from = m->timers.now + left;

	from = from > m->b->opt.lease ? from - m->b->opt.lease : 0;
	if (f->heard_from < from)
		f->heard_from = from;
	/* the time to obey starts anew, too: members do not hear of the dead now */
	f->began = m->timers.now;
}

void fence_visited(struct memd *m)
{
	m->b->fence->joining = m->timers.now;
}

/* Time in which this blade itself stood still does not count, see struct timers. */
static void on_watch(struct memd *m, struct timer *t)
{
	const struct members *ms = m->b->members;
	struct fence *f = m->b->fence;
	char why[64];
	u32 id;

	/* it did stand still, for less than those count: what nodes have sent is still to come */
	if (m->timers.now - f->looked > 2 * look_ms(m) && f->heard_from < m->timers.now)
		f->heard_from = m->timers.now;
	f->looked = m->timers.now;
	if (is_alone(m))
		wait_for_others(m);
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++) {
		const struct member *who = &ms->by_id[id];
		u64 from = who->heard > f->heard_from ? who->heard : f->heard_from, silent;

		if (!who->in || who->joining || members_is_dead(m, id) || from >= m->timers.now)
			continue;
		silent = m->timers.now - from;
		if (silent <= m->b->opt.lease)
			continue;
		snprintf(why, sizeof(why), "nothing was heard of it for %llu ms",
			 (unsigned long long)silent);
		fence_node(m, id, why);
	}
	timer_set(&m->timers, t, look_ms(m));
}

void fence_init(struct memd *m)
{
	m->b->fence->timer.fn = on_timer;
	m->b->fence->watch.fn = on_watch;
	/* other blades have heard those of our former lives */
	if (memd_is_first(m))
		m->b->fence->seq = (u64)time(NULL) << 20;
}

void fence_start(struct memd *m)
{
	u32 id;

	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		if (m->b->members->by_id[id].dying)
			fence_node(m, id, "it was being taken out when this blade ended");
	m->b->fence->looked = m->b->fence->heard_from = m->timers.now;
	/* nodes of a blade that has taken over do not know yet whom to speak to */
	if (m->b->opt.role.taken)
		m->b->fence->heard_from += m->b->opt.lease;
	if (m->b->opt.lease)
		timer_set(&m->timers, &m->b->fence->watch, look_ms(m));
}

/* --- calls ---------------------------------------------------------------------- */

/* An administrator knows better, or does not want to wait. */
static void fence_by_hand(struct memd *m, struct request *q)
{
	u32 id = q->call.members ? (u32)__builtin_ctz(q->call.members) + 1 : 0;

	if (!weft_node_bit(id) || q->call.members != weft_node_bit(id) || id == q->src) {
		q->reply.err = EINVAL;
		return;
	}
	if (!m->b->members->by_id[id].in)
		q->reply.err = ENOENT;
	else
		fence_node(m, id, "an administrator wants it");
}

enum answer fence_call(struct memd *m, struct request *q)
{
	struct fence *f = m->b->fence;

	if (q->call.op == WEFT_CALL_FENCE_NODE) {
		fence_by_hand(m, q);
		return ANSWER;
	}
	if (q->call.life != m->b->life)
		return ANSWER_NOT;
	if (q->call.cookie > f->seq) {
		f->seq = q->call.cookie;
		m->b->members->dead |= q->call.members;
		rdma_life_over(m, q->call.members);
	}
	return ANSWER;
}

void fence_forget(struct memd *m)
{
	m->b->fence->seq = 0;
	m->b->members->dead = 0;
}
