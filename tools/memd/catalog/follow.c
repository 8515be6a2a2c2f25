// SPDX-License-Identifier: GPL-2.0-only
/* Blades other than the first, see follow.h. */
#include "catalog/follow.h"

#include <sys/random.h>

#include "base/blade.h"
#include "base/log.h"
#include "catalog/blades.h"
#include "catalog/fence.h"
#include "catalog/journal.h"
#include "catalog/remove.h"
#include "catalog/takeover.h"
#include "lines/blocks.h"
#include "lines/grace.h"
#include "lines/p4.h"
#include "lines/recovery.h"
#include "lines/region.h"
#include "lines/rehome.h"
#include "lines/sweep.h"
#include "lines/trim.h"
#include "lines/withdraw.h"
#include "net/deferred.h"
#include "net/members.h"
#include "net/send.h"
#include "net/udp.h"
#include "rdma/rdma.h"

#define FIRST_MS	50	/* until the JOIN is repeated, doubled each time */
/* A new life of the first blade is found within that: we serve nobody until we have joined it. */
#define BEAT_MS		200
#define TURNS_MS	2500	/* no answer for that long: its standby is asked, too */
#define TIME_MS		100	/* between questions for the time */
#define SILENT_MS	5000	/* no answer for that long is worth a line */
#define TELL_MS		20000	/* until the next one */

/* --- joining ---------------------------------------------------------------- */

/* The first blade; if it is silent its standby may have taken over, so in turns. */
static u32 whom(const struct memd *m)
{
	const struct member *first = members_blade(m, 0);

	return first->standby && m->b->follow->asked_at == first->addr &&
	       (!m->b->follow->joined || m->timers.now - m->b->follow->heard > TURNS_MS) ?
	       first->standby : first->addr;
}

static void ask(struct memd *m, u16 op)
{
	struct weft_call call = {
		.op = op,
		.node = m->b->opt.id,
		.life = m->b->life,
		.addr = m->udp->addr,
		.size = m->b->opt.memory,
		.valid = m->b->opt.backing ? WEFT_JOIN_BACKING : 0,
	};

	/* a JOIN that is repeated is the same call */
	if (op != WEFT_CALL_JOIN || !m->b->follow->txn) {
		m->b->follow->txn = weft_txn(m->b->opt.id, memd_seq(m));
		/* an answer that somebody has recorded must not set the clock */
		if (getrandom(&m->b->follow->nonce, sizeof(m->b->follow->nonce),
			      GRND_NONBLOCK) < 0)
			m->b->follow->nonce = memd_seq(m) * 2654435761u;
	}
	m->b->follow->asked = m->timers.now;
	m->b->follow->asked_at = whom(m);
	send_call(m, &call, m->b->follow->txn, m->b->follow->nonce, m->b->follow->asked_at);
}

static void on_timer(struct memd *m, struct timer *t)
{
	struct follow *f = m->b->follow;
	u64 silent = m->timers.now - f->heard;

	/* its new life may not know where we are */
	if (silent > TURNS_MS)
		takeover_again(m, WEFT_BLADE_MIN);
	if (silent > SILENT_MS && (!f->told || m->timers.now - f->told >= TELL_MS)) {
		f->told = m->timers.now;
		log_warn("memory blade 1 (%s) does not answer: is weft-memd running there?",
			 log_addr(members_blade(m, 0)->addr));
	}
	if (f->joined) {
		ask(m, WEFT_CALL_PEERS);
		timer_set(&m->timers, t, BEAT_MS);
		return;
	}
	ask(m, WEFT_CALL_JOIN);
	timer_set(&m->timers, t, f->delay);
	f->delay = f->delay * 2 < BEAT_MS ? f->delay * 2 : BEAT_MS;
}

static void begin(struct memd *m)
{
	struct follow *f = m->b->follow;
	u32 i;

	f->joined = false;
	f->synced = false;
	f->seq = 0;
	f->txn = 0;
	f->delay = FIRST_MS;
	fence_forget(m);
	rehome_forget_all(m);
	m->b->ready = false;
	for (i = 0; i < m->b->regions->n; i++)
		m->b->regions->by_id[i]->seen = false;
	f->timer.fn = on_timer;
	timer_set(&m->timers, &f->timer, 1);
}

void follow_start(struct memd *m)
{
	m->b->follow->heard = m->timers.now;
	begin(m);
}

static bool is_answer(const struct memd *m, const struct weft_msg *msg)
{
	const struct follow *f = m->b->follow;

	return !memd_is_first(m) && msg->src == WEFT_BLADE_MIN && f->txn &&
	       msg->txn == f->txn && msg->nonce == f->nonce;
}

/* Where the first blade is, or where it was asked for and has answered. */
static bool is_there(const struct memd *m, u32 from)
{
	const struct member *first = members_blade(m, 0);

	return from == first->addr || (from == first->standby && from == m->b->follow->asked_at);
}

bool follow_is_answer(const struct memd *m, const struct weft_msg *msg, u32 from)
{
	return is_answer(m, msg) && is_there(m, from);
}

bool follow_clock(struct memd *m, const struct weft_msg *msg, u32 from)
{
	if (!follow_is_answer(m, msg, from))
		return false;
	clock_set(&m->b->clock, msg->stamp, m->timers.now);
	return true;
}

static void ask_again(struct memd *m)
{
	m->b->follow->txn = 0;
	ask(m, m->b->follow->joined ? WEFT_CALL_PEERS : WEFT_CALL_JOIN);
}

bool follow_wants_time(const struct memd *m)
{
	return m->timers.now - m->b->follow->asked >= TIME_MS;
}

void follow_ask_time(struct memd *m)
{
	if (follow_wants_time(m))
		ask_again(m);
}

void follow_wrong_key(struct memd *m, const struct weft_msg *msg, u32 from)
{
	struct weft_call reply;

	if (!follow_is_answer(m, msg, from) ||
	    weft_call_unpack(&reply, msg->payload, msg->len) ||
	    (reply.err != ENOKEY && reply.err != EKEYREJECTED))
		return;
	log_warn("memory blade 1 does not let us join: %s",
		 reply.err == EKEYREJECTED ? "it has another key" :
		 m->b->key.set ? "it has no key" : "it has a key and we have none (--key)");
}

bool follow_moved(struct memd *m, const struct weft_msg *msg, u32 from)
{
	if (!is_answer(m, msg) || from == members_blade(m, 0)->addr ||
	    !is_there(m, from))
		return false;
	members_move(m, WEFT_BLADE_MIN);
	return true;
}

bool follow_reply(struct memd *m, const struct weft_msg *msg)
{
	struct follow *f = m->b->follow;
	struct weft_call reply;

	if (!is_answer(m, msg) ||
	    weft_call_unpack(&reply, msg->payload, msg->len))
		return false;
	f->heard = m->timers.now;
	if (reply.err == WEFT_CALL_WRONG_TIME) {
		/* the clock is right now */
		if (f->stale++ < WEFT_CALL_TRIES)
			ask_again(m);
		return true;
	}
	f->stale = 0;
	if (reply.op == WEFT_CALL_JOIN) {
		/* with a key that answer is refused before: follow_wrong_key() */
		if (reply.err == ENOKEY)
			follow_wrong_key(m, msg, members_blade(m, 0)->addr);
		else if (reply.err)
			log_warn("memory blade 1 does not let us join: %s",
				 strerror(reply.err));
		else
			f->joined = true;
	} else if (reply.err && f->joined) {
		/* the first blade has a new life, or has given us up: begin a new life, too */
		log_say("joining memory blade 1 again");
		if (getrandom(&m->b->life, sizeof(m->b->life), GRND_NONBLOCK) < 0 ||
		    !m->b->life)
			m->b->life = memd_seq(m);
		/* meanwhile a node may have died and joined anew, of which we have not heard */
		rdma_life_over(m, ~0u);
		begin(m);
	}
	return true;
}

/* The switch knows the members, or there is none. */
static void settled(struct memd *m)
{
	if (!m->b->follow->synced || m->b->ready)
		return;
	log_note("ready");
	m->b->ready = true;
}

void follow_init(struct memd *m)
{
	m->b->p4->on_settled = settled;
}

/* --- what the first blade says ---------------------------------------------- */

static void copy_attributes(struct memd *m, struct region *r, const struct weft_call *c)
{
	r->mode = c->mode;
	r->uid = c->uid;
	r->gid = c->gid;
	r->mtime = c->mtime;
	r->policy = c->policy;
	region_set_nodes(m->b->regions, r, c->nodes);
	/* nodes lose what they can read by themselves, whether anybody waits for that or not */
	(void)rdma_handles_over(m);
	r->opens = c->members;
	r->seen = true;
}

static int add_region(struct memd *m, const struct weft_call *c)
{
	struct region *r;

	if (!region_block_ok(c->block))
		return -EINVAL;
	r = region_add(m->b->regions, c->region, c->block, c->name, c->name_len);
	if (!r)
		return -ENOSPC;
	if (!region_prepare(r, c->size)) {
		region_free(m->b->regions, r);
		return -ENOMEM;
	}
	copy_attributes(m, r, c);
	if (c->homes)
		r->homes = c->homes;
	r->frozen = c->valid & WEFT_REGION_FROZEN;
	region_account(m->b->regions, r, 0, c->size);
	r->size = c->size;
	r->grant = m->b->life & ~(u32)WEFT_GRANT_OWNED;
	if (!journal_region(m, r, r->unlinked) && !journal_policy(m, r))
		return 0;
	/* later records would refer to one that is missing */
	region_free(m->b->regions, r);
	return -EIO;
}

/* Does the call restrict a region that was for all nodes?  The switch may have lines of it. */
static bool restricts(const struct memd *m, const struct region *r, const struct weft_call *c)
{
	/* while this blade joins it hears of lists that hold already */
	return m->b->ready && c->nodes && !r->nodes;
}

/* Have attributes changed that the journal keeps?  It does not keep who has it open. */
static bool differs(const struct region *r, const struct weft_call *c)
{
	return r->mode != c->mode || r->uid != c->uid || r->gid != c->gid ||
	       r->mtime != c->mtime || r->size != c->size;
}

static enum answer take_region(struct memd *m, struct request *q)
{
	const struct weft_call *c = &q->call;
	struct region *r = region_find(m->b->regions, c->region);
	bool shorter, policy, withdraw, noted;
	struct deferred *dc;

	if (!r || r->gone) {
		/* the catalog never names a region again that is gone */
		q->reply.err = r ? ESTALE : (u16)-add_region(m, c);
		return ANSWER;
	}
	shorter = c->size < r->size;
	policy = c->policy != r->policy || c->nodes != r->nodes;
	withdraw = restricts(m, r, c);
	noted = !differs(r, c);
	if (withdraw && !withdraw_possible(m, r))
		return reply_refuse(q, EOPNOTSUPP);
	if (c->block != r->block || !region_prepare(r, c->size)) {
		q->reply.err = c->block != r->block ? EINVAL : ENOMEM;
		return ANSWER;
	}
	copy_attributes(m, r, c);
	rehome_told(m, r, c->homes, c->valid & WEFT_REGION_FROZEN);
	region_account(m->b->regions, r, r->size, c->size);
	region_cut(r, r->size, c->size);
	r->size = c->size;
	if ((!noted && journal_attributes(m, r)) || (policy && journal_policy(m, r)))
		q->reply.err = EIO;
	if (!shorter && !withdraw)
		return ANSWER;
	dc = deferred_new(q, deferred_answer);
	if (withdraw)
		withdraw_start(m, r, dc);
	/* else a restart of this blade would bring the blocks back */
	if (shorter && dc && !q->reply.err)
		journal_hold(m, dc);
	if (shorter)
		trim_start(m, r, region_blocks(r, r->size), dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}

static void drop_unseen(struct memd *m)
{
	struct region *r;
	u32 id;

	for_each_region(m, r, id)
		if (!r->seen)
			remove_region(m, r);
}

/* Take over the list of members; forget the nodes that left. */
static void learn_members(struct memd *m, const struct weft_call *call, u32 version)
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
		recovery_gone(m, id);
	}
	rdma_life_over(m, gone);
	/* nobody has told us which of the nodes that went while we were out of touch have died */
	died = m->b->ready ? gone & ms->dead : gone;
	ms->dead &= call->members;
	ms->mask = call->members;
	ms->coming = call->nodes;
	ms->version = version;
	p4_tell(m);
	if (died)
		sweep_begin(m);
}

enum answer follow_call(struct memd *m, struct request *q)
{
	const struct weft_call *c = &q->call;
	struct region *r = region_find(m->b->regions, c->region);

	if (c->life != m->b->life)
		return ANSWER_NOT;
	if (c->cookie <= m->b->follow->seq)
		return ANSWER;	/* overtaken */
	if (c->op == WEFT_CALL_REGION && r && !r->gone &&
	    (r->trim.active || r->withdraw.active ||
	     (restricts(m, r, c) && m->b->grace->active)))
		return ANSWER_NOT;
	/*
	 * A node joins.  As long as the sweep is not through, lines that its former life had
	 * would pass for those of its new life, and what is lost with them would not be listed.
	 */
	if (c->op == WEFT_CALL_MEMBERS && sweep_is_active(m) &&
	    c->members & ~m->b->members->mask)
		return ANSWER_NOT;
	m->b->follow->seq = c->cookie;
	switch (c->op) {
	case WEFT_CALL_REGION:
		if (!c->region || c->region > WEFT_REGION_MAX || !weft_policy_valid(c->policy) ||
		    !region_size_ok(m->b->regions, c->size))
			return reply_refuse(q, EINVAL);
		return take_region(m, q);
	case WEFT_CALL_FORGET:
		if (r)
			remove_region(m, r);
		return ANSWER;
	default: /* WEFT_CALL_MEMBERS */
		if (c->valid && !m->b->follow->synced) {
			drop_unseen(m);
			m->b->follow->synced = true;
		}
		learn_members(m, c, q->nonce);
		/* now we know whom to ask for what they have of our last life */
		if (m->b->follow->synced && !m->b->grace->life)
			grace_begin(m, "a new life");
		else if (m->b->follow->synced && m->b->grace->unsure)
			grace_begin(m, "homes of a region were to change");
		if (m->b->follow->synced)
			m->b->grace->unsure = false;
		return ANSWER;
	}
}
