// SPDX-License-Identifier: GPL-2.0-only
/* Regions that move to other blades, see move.h. */
#include "catalog/move.h"

#include <time.h>

#include "base/blade.h"
#include "base/log.h"
#include "catalog/blades.h"
#include "catalog/fence.h"
#include "catalog/journal.h"
#include "catalog/remove.h"
#include "catalog/tell.h"
#include "lines/grace.h"
#include "lines/lines.h"
#include "lines/rehome.h"
#include "net/deferred.h"
#include "net/members.h"
#include "net/send.h"
#include "store/backing.h"

#define POLL_MS		20	/* between questions how far they are */
#define LOOK_MS		500	/* ... for a region that is to move */
#define LEAST_MS	200	/* nothing of before stays in the network for so long */
#define FROZEN_MS	8000	/* programs wait: after that it is given up */
#define STALL_LIMIT_MS	20000	/* without progress, while they do not */
#define NODE_LIMIT_MS	15000	/* a node that gives nothing back for so long is dead */
#define AGAIN_MS	5000	/* until a move that was given up is tried again */
#define TELL_MS		10000
#define SETTLED_MS	3000	/* all nodes have asked for the members since */

static struct region *current(struct memd *m)
{
	struct move *mv = m->b->move;

	return mv->region ? region_find(m->b->regions, mv->region) : NULL;
}

/* Numbers grow, also from one life of this blade to the next. */
static void next_life(struct move *mv)
{
	u32 now = (u32)(time(NULL) - 1700000000) << 5;

	mv->life = (int)(now - mv->life) > 0 || !mv->life ? now : mv->life + 1;
}

/* --- which region ------------------------------------------------------------------ */

/* A blade that was added has been there for long enough that all know where it is. */
static void use_new_blades(struct memd *m)
{
	u32 i;

	for (i = 1; i < m->b->regions->blades; i++) {
		struct member *who = members_blade(m, i);

		if (who->used || !who->in || m->timers.now - who->asked < SETTLED_MS)
			continue;
		who->used = true;
		(void)journal_blade(m, WEFT_BLADE_MIN + i);
		log_say("memory blade %u (%s) is used by regions that are made from now on",
			i + 1, log_addr(who->addr));
	}
}

/* Where it is to be, if not where it is; 0: it stays. */
static u32 goal(struct memd *m, const struct region *r)
{
	u32 use = blades_in_use(m), homes = r->wanted ? r->wanted & use : r->homes & use;

	if (!homes)
		homes = use;
	return homes == r->homes ? 0 : homes;
}

static bool may_move(struct memd *m, const struct region *r)
{
	return !r->gone && !r->hatching && !r->busy && !r->busy_opens && !r->trim.active &&
	       !r->withdraw.active && m->timers.now >= r->later;
}

/* All blades that have a part in it have joined. */
static bool all_there(const struct memd *m, u32 blades)
{
	u32 i;

	for (i = 1; i < m->b->regions->blades; i++)
		if (blades & 1u << i && !members_blade(m, i)->in)
			return false;
	return true;
}

/* Of @blades, those that have begun another life since the last look. */
static u32 other_lives(struct memd *m, u32 blades)
{
	u32 others = 0, i;

	for (i = 0; i < m->b->regions->blades; i++) {
		u32 life = members_blade(m, i)->life;

		if (blades & 1u << i && m->b->move->lives[i] != life)
			others |= 1u << i;
		m->b->move->lives[i] = life;
	}
	return others;
}

static void ask_all(struct memd *m, u8 phase)
{
	struct move *mv = m->b->move;
	u32 i;

	mv->phase = phase;
	mv->moved = m->timers.now;
	mv->told = m->timers.now;
	/* blades that are not there hear the outcome when they join */
	mv->blades = weft_first_homes(m->b->regions->blades);
	for (i = 0; i < m->b->regions->blades; i++)
		mv->done[WEFT_BLADE_MIN + i] = 0;
}

static void start(struct memd *m, const struct region *r, u32 homes, u64 frozen)
{
	struct move *mv = m->b->move;

	other_lives(m, 0);
	mv->region = r->id;
	mv->homes = homes;
	mv->began = m->timers.now;
	mv->frozen = frozen;
	mv->asking = false;
	mv->noting = false;
	next_life(mv);
}

static bool begin(struct memd *m, struct region *r, u32 homes)
{
	if (!all_there(m, r->homes | homes))
		return false;
	if (!region_reserve_move(m->b->regions, r, homes)) {
		log_warn("region %u stays where it is: the other blades have no room for it", r->id);
		r->later = m->timers.now + AGAIN_MS * 4;
		return false;
	}
	start(m, r, homes, 0);
	log_say("region %u moves from blades %s to %s", r->id, blades_name(r->homes),
		blades_name(homes));
	count(m, MOVE);
	ask_all(m, WEFT_REHOME_COPY);
	return true;
}

/* One that moved when this blade ended goes on. */
static void resume(struct memd *m, struct region *r)
{
	start(m, r, r->homes, m->timers.now);
	log_say("region %u goes on moving to blades %s", r->id, blades_name(r->homes));
	r->busy = true;
	ask_all(m, WEFT_REHOME_ADOPT);
}

static void choose(struct memd *m)
{
	struct region *r;
	u32 id, homes;

	for_each_region(m, r, id) {
		if (!r->frozen || r->gone)
			continue;
		resume(m, r);
		return;
	}
	for_each_region(m, r, id) {
		if (!grace_is_over(m) || !may_move(m, r))
			continue;
		homes = goal(m, r);
		if (!homes)
			r->wanted = 0;
		else if (begin(m, r, homes))
			return;
	}
}

/* --- how it ends ------------------------------------------------------------------- */

static void end(struct memd *m, struct region *r)
{
	struct move *mv = m->b->move;

	mv->region = 0;
	mv->nodes = 0;
	mv->asking = false;
	if (!r)
		return;
	/* before FREEZE it may be busy with something else, whose end sees to that */
	if (mv->frozen)
		r->busy = false;
	if (r->doomed)
		remove_region(m, r);
}

/*
 * Not now.  As long as nobody has been stopped, all is as it was; later nodes have to give
 * back as well, but to the homes that there were.
 */
static void give_up(struct memd *m, struct region *r, const char *why)
{
	struct move *mv = m->b->move;

	log_say("region %u does not move now: %s", r->id, why);
	count(m, MOVE_FAILED);
	r->later = m->timers.now + AGAIN_MS;
	mv->homes = r->homes;
	ask_all(m, mv->phase == WEFT_REHOME_COPY ? WEFT_REHOME_THAW : WEFT_REHOME_ADOPT);
}

void move_give_way(struct memd *m, const struct region *r)
{
	struct move *mv = m->b->move;

	if (mv->region == r->id && mv->phase == WEFT_REHOME_COPY)
		give_up(m, current(m), "its end is to be cut");
}

static const char *reason(u16 err)
{
	return err == ENOMEM ? "a blade has no memory for it" :
	       err == EIO ? "it does not get to the disk of a blade" :
	       err == ESTALE ? "a blade does not know it" : "a blade refuses";
}

/* --- blades ------------------------------------------------------------------------ */

static void ask_blade(struct memd *m, const struct region *r, u8 id)
{
	struct move *mv = m->b->move;
	struct weft_call call = {
		.op = WEFT_CALL_REHOME,
		.region = r->id,
		.homes = mv->homes,
		.life = mv->life,
		.valid = mv->phase,
	};

	mv->txn[id] = weft_txn(m->b->opt.id, memd_seq(m));
	send_call_to(m, &call, mv->txn[id], id);
}

static void blade_says(struct memd *m, struct region *r, u8 id, u16 err, u64 done)
{
	struct move *mv = m->b->move;

	if (!err) {
		mv->blades &= ~(1u << (id - WEFT_BLADE_MIN));
		mv->moved = m->timers.now;
		return;
	}
	if (done > mv->done[id]) {
		mv->done[id] = done;
		mv->moved = m->timers.now;
	}
	if (err != EINPROGRESS && err != EAGAIN && mv->phase < WEFT_REHOME_ADOPT)
		give_up(m, r, reason(err));
}

static void ask_blades(struct memd *m, struct region *r)
{
	struct move *mv = m->b->move;
	u8 phase = mv->phase, id;
	u32 i;

	for (i = 1; i < m->b->regions->blades; i++) {
		id = (u8)(WEFT_BLADE_MIN + i);
		if (!(mv->blades & 1u << i))
			continue;
		/* an absent blade that has no part in the move hears of it when it joins */
		if (!m->b->members->by_id[id].in && !((r->homes | mv->homes) & 1u << i))
			mv->blades &= ~(1u << i);
		else if (m->b->members->by_id[id].in)
			ask_blade(m, r, id);
	}
	if (mv->blades & 1) {
		struct weft_call own = {
			.homes = mv->homes, .life = mv->life, .valid = mv->phase,
		};
		u64 done;
		u16 err = rehome_phase(m, r, &own, &done);

		if (mv->phase == phase)
			blade_says(m, r, WEFT_BLADE_MIN, err, done);
	}
}

/* --- nodes ------------------------------------------------------------------------- */

static void ask_node(struct memd *m, const struct region *r, u32 id)
{
	struct move *mv = m->b->move;
	struct weft_call call = { .op = WEFT_CALL_MOVE };

	tell_attributes(r, &call);
	call.life = mv->life;
	send_call_to(m, &call, mv->txn[id], id);
}

static void begin_nodes(struct memd *m)
{
	struct move *mv = m->b->move;
	u32 id;

	mv->asking = true;
	mv->nodes = m->b->members->mask;
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++) {
		mv->txn[id] = weft_txn(m->b->opt.id, memd_seq(m));
		mv->done[id] = 0;
		mv->seen[id] = m->timers.now;
	}
}

static void ask_nodes(struct memd *m, struct region *r)
{
	struct move *mv = m->b->move;
	u32 id;

	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++) {
		if (!(mv->nodes & weft_node_bit(id)) || members_is_dead(m, id))
			continue;
		if (m->timers.now - mv->seen[id] >= NODE_LIMIT_MS)
			fence_node(m, id, "it does not give a region back that moves to other blades");
		else
			ask_node(m, r, id);
	}
}

void move_gone(struct memd *m, u32 id)
{
	m->b->move->nodes &= ~weft_node_bit(id);
}

static bool node_says(struct memd *m, u32 id, const struct weft_call *reply)
{
	struct move *mv = m->b->move;

	if (!mv->asking || !(mv->nodes & weft_node_bit(id)))
		return false;
	if (!reply->err)
		mv->nodes &= ~weft_node_bit(id);
	else if (reply->err != EINPROGRESS || reply->used <= mv->done[id])
		return true;
	mv->done[id] = reply->used;
	mv->seen[id] = m->timers.now;
	return true;
}

bool move_reply(struct memd *m, const struct weft_msg *msg)
{
	struct move *mv = m->b->move;
	struct region *r = current(m);
	struct weft_call reply;

	if (!r || msg->src > WEFT_BLADE_MAX || msg->txn != mv->txn[msg->src] ||
	    weft_call_unpack(&reply, msg->payload, msg->len))
		return false;
	if (weft_node_bit(msg->src))
		return node_says(m, msg->src, &reply);
	if (reply.op != WEFT_CALL_REHOME)
		return false;
	mv->txn[msg->src] = 0;
	if (reply.valid == mv->phase)
		blade_says(m, r, msg->src, reply.err, reply.used);
	return true;
}

/* --- phases ------------------------------------------------------------------------ */

/* The new homes are on the disk: there is no way back. */
static void noted(struct memd *m, struct deferred *dc)
{
	struct move *mv = m->b->move;
	struct region *r = dc->region;

	mv->noting = false;
	if (dc->err) {
		/* the disk may have the old homes or the new: the next life sees which */
		log_warn("region %u moves, but %s does not say so: after a restart of this blade it may be back",
			 r->id, m->b->backing->path);
	}
	ask_all(m, WEFT_REHOME_ADOPT);
}

static void note(struct memd *m, struct region *r)
{
	static const struct request none;
	struct move *mv = m->b->move;
	struct deferred *dc = deferred_new(&none, noted);

	if (!dc) {
		give_up(m, r, "no memory");
		return;
	}
	dc->region = r;
	mv->noting = true;
	region_set_homes(m->b->regions, r, mv->homes, 0);
	r->policy += WEFT_POLICY_CHANGE;
	if (journal_policy(m, r))
		dc->err = EIO;
	journal_hold(m, dc);
	deferred_release(m, dc, 0);
}

/* Done: also for who is not here. */
static void thawed(struct memd *m, struct region *r)
{
	struct move *mv = m->b->move;

	if (r->homes == mv->homes && mv->frozen)
		log_say("region %u is at blades %s, after %llu ms, of which programs have waited %llu",
			r->id, blades_name(r->homes),
			(unsigned long long)(m->timers.now - mv->began),
			(unsigned long long)(m->timers.now - mv->frozen));
	if (!goal(m, r))
		r->wanted = 0;
	(void)journal_policy(m, r);
	tell_blades(m, r, r->growing > r->size ? r->growing : r->size, NULL);
	end(m, r);
}

static void next_phase(struct memd *m, struct region *r)
{
	struct move *mv = m->b->move;

	switch (mv->phase) {
	case WEFT_REHOME_COPY:
		/* calls that keep the region busy end first */
		if (!may_move(m, r))
			return;
		r->busy = true;
		mv->frozen = m->timers.now;
		ask_all(m, WEFT_REHOME_FREEZE);
		break;
	case WEFT_REHOME_FREEZE:
		ask_all(m, WEFT_REHOME_SYNC);
		break;
	case WEFT_REHOME_SYNC:
		note(m, r);
		break;
	case WEFT_REHOME_ADOPT:
		if (!mv->asking)
			begin_nodes(m);
		else if (!mv->nodes && m->timers.now - mv->frozen >= LEAST_MS)
			ask_all(m, WEFT_REHOME_THAW);
		break;
	default:
		thawed(m, r);
		break;
	}
}

static void tell(struct memd *m, const struct region *r)
{
	struct move *mv = m->b->move;

	if (m->timers.now - mv->told < TELL_MS)
		return;
	mv->told = m->timers.now;
	if (mv->blades)
		log_say("region %u moves: waiting for blades %s", r->id, blades_name(mv->blades));
	else if (mv->nodes)
		log_say("region %u moves: waiting for nodes, bits %08x", r->id, mv->nodes);
}

static void step(struct memd *m, struct region *r)
{
	struct move *mv = m->b->move;
	u32 others = other_lives(m, r->homes | mv->homes);
	u8 phase = mv->phase;

	/* a blade in a new life has to hear the phase before it takes write-backs of nodes */
	mv->blades |= others;
	if (mv->noting)
		return;
	if (mv->phase < WEFT_REHOME_ADOPT && !all_there(m, r->homes | mv->homes)) {
		give_up(m, r, "a blade does not answer");
		return;
	}
	if (mv->phase < WEFT_REHOME_ADOPT && others) {
		give_up(m, r, "a blade has begun another life");
		return;
	}
	if (mv->phase < WEFT_REHOME_ADOPT &&
	    (mv->frozen ? m->timers.now - mv->frozen >= FROZEN_MS :
			  m->timers.now - mv->moved >= STALL_LIMIT_MS)) {
		give_up(m, r, "it takes too long");
		return;
	}
	ask_blades(m, r);
	if (mv->phase == phase && !mv->blades)
		next_phase(m, r);
	if (mv->asking && mv->phase == WEFT_REHOME_ADOPT)
		ask_nodes(m, r);
	tell(m, r);
}

static void on_timer(struct memd *m, struct timer *t)
{
	struct move *mv = m->b->move;
	struct region *r = current(m);

	if (mv->region && (!r || r->gone)) {
		end(m, NULL);
	} else if (r && r->doomed && mv->phase == WEFT_REHOME_COPY) {
		/* nobody wants it any more */
		end(m, r);
	} else if (mv->region) {
		step(m, r);
	} else {
		use_new_blades(m);
		choose(m);
	}
	timer_set(&m->timers, t, mv->region ? POLL_MS : LOOK_MS);
}

void move_init(struct memd *m)
{
	m->b->move->timer.fn = on_timer;
	if (memd_is_first(m))
		timer_set(&m->timers, &m->b->move->timer, LOOK_MS);
}

void move_look(struct memd *m)
{
	if (!m->b->move->region)
		timer_set(&m->timers, &m->b->move->timer, 1);
}

/* --- calls ------------------------------------------------------------------------- */

/* The next life of this blade goes on with it, if it ends before the new homes are noted. */
static u16 want(struct memd *m, struct region *r, u32 homes)
{
	bool stays = homes == r->homes && m->b->move->region != r->id;
	u32 old = r->wanted;

	r->wanted = stays ? 0 : homes;
	r->later = 0;
	if (r->wanted == old || r->gone || r->hatching || !journal_policy(m, r))
		return 0;
	r->wanted = old;
	return EIO;
}

enum answer move_call(struct memd *m, struct request *q)
{
	u32 use = blades_in_use(m), homes = q->call.homes ? q->call.homes : use, id = 0;
	struct region *r = NULL;
	struct deferred *dc;

	if (homes & ~use)
		return reply_refuse(q, EINVAL);
	if (q->call.region) {
		r = region_find(m->b->regions, q->call.region);
		if (!r || r->gone || r->hatching)
			return reply_refuse(q, ESTALE);
	}
	dc = deferred_new(q, deferred_answer);
	if (!dc)
		return reply_refuse(q, ENOMEM);
	if (r)
		dc->q.reply.err = want(m, r, homes);
	while (!q->call.region && !dc->q.reply.err && (r = region_after(m->b->regions, id))) {
		id = r->id;
		dc->q.reply.err = want(m, r, homes);
	}
	move_look(m);
	journal_hold(m, dc);
	deferred_release(m, dc, 0);
	return ANSWER_LATER;
}

u16 move_claim(struct memd *m, const struct request *q)
{
	const struct weft_call *c = &q->call;
	struct region *r = region_find(m->b->regions, c->region);
	const u8 *p = c->list;

	if (!r || r->gone || !r->frozen || r->phase != WEFT_REHOME_ADOPT || r->moved != c->life)
		return ESTALE;
	if (c->list_len % WEFT_CLAIM_LEN)
		return EINVAL;
	for (; p < c->list + c->list_len; p += WEFT_CLAIM_LEN)
		if (weft_line_region(get_unaligned_be64(p)) == r->id)
			lines_claim(m, q->src, get_unaligned_be64(p), get_unaligned_be32(p + 8),
				    p[12]);
	return 0;
}
