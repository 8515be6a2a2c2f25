// SPDX-License-Identifier: GPL-2.0-only
/* Members, and what the switch knows of them; see members.h. */
#include "lines/members.h"

#include <time.h>

#include "base/blade.h"
#include "base/count.h"
#include "base/log.h"
#include "base/timer.h"
#include "catalog/blades.h"
#include "catalog/fence.h"
#include "catalog/follow.h"
#include "catalog/takeover.h"
#include "front/gate.h"
#include "front/memd.h"
#include "lines/blocks.h"
#include "lines/looks.h"
#include "lines/renew.h"
#include "lines/sweep.h"
#include "net/job.h"
#include "net/udp.h"
#include "rdma/rdma.h"
#include "standby/mirror.h"

#define FIRST_MS	20	/* until MEMBERS is repeated, doubled each time */
#define LAST_MS		500
#define PROBE_MS	1000	/* between probes, when all is told */
#define PROBING_MS	1000	/* no answer for that long: there is no switch */
#define TAKEN_MS	100	/* the same of a twin that has taken over where there was none */
#define LOSING_MS	3500	/* the same where there has been one */
#define WANTED_MS	50	/* between questions to one without which nobody is served */

bool members_settled(const struct members *ms)
{
	return ms->settled == ms->version;
}

static void settle(struct memd *m)
{
	struct members *ms = m->b->members;
	struct job *job;

	ms->settled = ms->version;
	while ((job = ms->waiting) && members_settled(ms)) {
		ms->waiting = job->next;
		job_release(m, job, 0);
	}
	follow_settled(m);
}

void members_wait(struct memd *m, struct job *job)
{
	if (members_settled(m->b->members))
		return;
	job_hold(job);
	job->next = m->b->members->waiting;
	m->b->members->waiting = job;
}

static void lose_switch(struct memd *m)
{
	struct members *ms = m->b->members;

	if (ms->use_switch)
		log_say("the P4 switch does not answer any more");
	ms->use_switch = false;
	mirror_switch(m, false);
	ms->no_switch = true;
}

static void tell_switch(struct memd *m)
{
	struct weft_msg msg = {
		.type = WEFT_MSG_MEMBERS,
		.txn = m->b->members->txn,
		.copyset = m->b->members->mask & ~m->b->members->coming,
		.nonce = m->b->members->version,
	};

	memd_send(m, &msg, WEFT_WIRE_GROUP);
}

/*
 * How long an answer is waited for.  A machine that has taken over may take the word of the one
 * before it that there is none; a moment is for a switch that began just then.
 */
static u64 patience_ms(const struct memd *m)
{
	return m->b->members->use_switch ? LOSING_MS : m->b->opt.role.taken ? TAKEN_MS : PROBING_MS;
}

/* Tell the switch until it answers, then once a second whether it is there. */
static void on_timer(struct memd *m, struct timer *t)
{
	struct members *ms = m->b->members;
	u64 now = m->timers.now;
	u32 last;

	if (members_settled(ms))
		ms->txn = weft_txn(m->b->opt.id, memd_seq(m));
	tell_switch(m);
	if (!members_settled(ms)) {
		last = m->b->opt.role.taken ? WANTED_MS : LAST_MS;
		ms->delay = ms->delay * 2 < last ? ms->delay * 2 : last;
		timer_set(&m->timers, t, ms->delay);
		if (now - ms->changed >= patience_ms(m) && !takeover_needs_switch(m)) {
			lose_switch(m);
			settle(m);
		}
		return;
	}
	timer_set(&m->timers, t, PROBE_MS);
	if (ms->use_switch && now - ms->answered > LOSING_MS)
		lose_switch(m);
	if (ms->use_switch)
		looks_reserve(m);
}

void members_init(struct memd *m)
{
	struct members *ms = m->b->members;

	ms->version = (u32)time(NULL);
	ms->settled = 0;
	ms->timer.fn = on_timer;
}

static void begin_telling(struct memd *m)
{
	struct members *ms = m->b->members;

	ms->changed = m->timers.now;
	/* also if another life of the first blade has used this number before */
	ms->settled = 0;
	if (!ms->listening || ms->no_switch)
		settle(m);
	if (!ms->listening)
		return;
	ms->delay = FIRST_MS;
	ms->txn = weft_txn(m->b->opt.id, memd_seq(m));
	tell_switch(m);
	timer_set(&m->timers, &ms->timer, ms->delay);
}

void members_start(struct memd *m)
{
	u32 i;

	m->b->members->listening = m->b->opt.use_switch;
	for (i = 0; i < m->b->opt.blades; i++) {
		m->b->members->by_id[WEFT_BLADE_MIN + i].addr = m->b->opt.peers[i];
		m->b->members->by_id[WEFT_BLADE_MIN + i].twin = m->b->opt.twins[i];
		m->b->members->by_id[WEFT_BLADE_MIN + i].used = true;
	}
	m->b->members->by_id[m->b->opt.id].addr = m->udp->addr;
	m->b->members->by_id[m->b->opt.id].life = m->b->life;
	if (memd_is_first(m))
		begin_telling(m);
}

void members_changed(struct memd *m)
{
	m->b->members->version++;
	begin_telling(m);
}

void members_ack(struct memd *m, const struct weft_msg *msg)
{
	struct members *ms = m->b->members;

	if (!ms->listening)
		return;
	/* also a late one: on a busy machine they may all be */
	ms->answered = m->timers.now;
	/* late: an answer to an older question */
	if (msg->nonce != ms->version && msg->txn != ms->txn)
		return;
	if (msg->nonce != ms->version && memd_is_first(m)) {
		/*
		 * The switch has another list and takes it for a newer one: of an
		 * earlier life of this blade, by a clock that was ahead, or forged.
		 * Versions go round: one more than the switch's is newer than that,
		 * whatever it is.
		 */
		ms->version = msg->nonce;
		members_changed(m);
		return;
	}
	if (!ms->use_switch)
		log_say("a P4 switch answers: lines in use go there");
	ms->use_switch = true;
	mirror_switch(m, true);
	ms->no_switch = false;
	if (!members_settled(ms)) {
		timer_set(&m->timers, &ms->timer, PROBE_MS);
		settle(m);
	}
}

void members_stop(struct memd *m)
{
	m->b->members->listening = false;
	timer_stop(&m->b->members->timer);
	settle(m);
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
	       ((m->b->members->mask & weft_node_bit(id)) && !fence_is_dead(m, id));
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
		id - WEFT_BLADE_MIN + 1, log_addr(who->twin), log_addr(former));
	who->addr = who->twin;
	who->twin = former;
}

void members_refused(struct memd *m, u32 id, u32 from)
{
	u32 addr = id <= WEFT_BLADE_MAX ? m->b->members->by_id[id].addr : 0;

	if (addr && addr != from) {
		count(m, WRONG_ADDRESS);
		gate_refused(m);
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
		if (who->twin)
			p = put_peer(p, id, WEFT_PEER_TWIN, view, who->twin);
	}
	call->list_len = (u16)(p - call->list);
}

void members_learn(struct memd *m, const struct weft_call *call, u32 version)
{
	struct members *ms = m->b->members;
	u32 i, id, gone, died;

	for (i = 0; i + 8 <= call->list_len; i += 8) {
		id = call->list[i];
		if (weft_node_bit(id) && call->list[i + 1] == WEFT_PEER_MEMBER)
			ms->by_id[id].addr = get_unaligned_be32(call->list + i + 4);
		else if (call->list[i + 1] == WEFT_PEER_MEMBER)
			blades_learn(m, id, get_unaligned_be32(call->list + i + 4));
	}
	gone = ms->mask & ~call->members;
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++) {
		ms->by_id[id].in = call->members & weft_node_bit(id);
		if (!(gone & weft_node_bit(id)))
			continue;
		blocks_forget(m, (u8)id);
		renew_gone(m, id);
	}
	rdma_life_over(m, gone);
	/* nobody has told us which of the nodes that went while we were out of touch have died */
	died = m->b->ready ? gone & m->b->fence->dead : gone;
	fence_members(m, call->members);
	ms->mask = call->members;
	ms->coming = call->nodes;
	ms->version = version;
	begin_telling(m);
	if (died)
		sweep_begin(m);
}
