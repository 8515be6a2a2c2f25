// SPDX-License-Identifier: GPL-2.0-only
/* The directory at home, see lines.h. */
#include "lines/lines.h"

#include "base/blade.h"
#include "base/log.h"
#include "lines/access.h"
#include "lines/blocks.h"
#include "lines/grace.h"
#include "lines/looks.h"
#include "lines/p4.h"
#include "lines/quota.h"
#include "lines/region.h"
#include "net/members.h"
#include "net/send.h"
#include "store/frames.h"

#define MOVE_MS		20	/* until a move is repeated, doubled each time */
#define MOVE_MAX_MS	500
/* Terms of a lock that the former life may have begun and nobody told us of. */
#define TERMS		(1u << 16)

/* --- what follows from an event --------------------------------------------- */

static void to_switch(struct memd *m, struct weft_msg *msg)
{
	send_message(m, msg, WEFT_WIRE_GROUP);
}

static void send_out(struct memd *m, struct weft_home_out *out, u32 from)
{
	u32 id;

	switch (out->dest) {
	case WEFT_TO_SENDER:
		if (out->msg.type == WEFT_MSG_NACK) {
			if (out->msg.info == WEFT_WHY_BUSY)
				count(m, BUSY);
			else if (out->msg.info == WEFT_WHY_MOVING)
				count(m, MOVING);
		}
		send_message(m, &out->msg, from);
		break;
	case WEFT_TO_NODES:
		for_each_node(out->targets, id)
			send_to_member(m, &out->msg, id);
		break;
	case WEFT_TO_HOME:
		blocks_read(m, &out->msg);
		break;
	default:
		break;
	}
}

/* A line's timer is its thread's, also if it is set by another one that is alone. */
static void wake_at(struct memd *m, struct block *b, u64 delay)
{
	struct memd *owner = memd_of(m, b->line.key);

	if (owner != m) {
		owner->timers.now = m->timers.now;
		owner->turn.sooner = true;
	}
	timer_set(&owner->timers, &b->timer, delay);
}

static u64 move_delay(const struct weft_home_line *l)
{
	u32 ms = MOVE_MS << (l->tries < 5 ? l->tries : 5);

	return ms < MOVE_MAX_MS ? ms : MOVE_MAX_MS;
}

static void note_place(struct memd *m, u8 was, const struct weft_home_out *out,
		       const struct weft_home_line *l)
{
	if (was != WEFT_AT_HOME)
		m->lines->at[was]--;
	if (l->place != WEFT_AT_HOME)
		m->lines->at[l->place]++;
	if (!out->moved)
		return;
	if (l->place == WEFT_IN_SWITCH)
		count(m, ADDED);
	else if (was == WEFT_ADDING)
		count(m, ADD_REFUSED);
	else
		count(m, REMOVED);
	if (out->lost)
		count(m, LOST);
}

/* Remember the generation of a slot: it holds for all lines that may get the slot. */
static void learn_gen(struct memd *m, const struct weft_home_line *l)
{
	u32 *gen = &m->lines->gen[weft_line_slot(l->key)];

	if (!*gen || (int)(l->gen - *gen) > 0)
		*gen = l->gen;
	looks_heard(m->b->looks, l->gen);
}

static void tell_gen(const struct memd *m, struct weft_home_line *l)
{
	u32 gen = m->lines->gen[weft_line_slot(l->key)];

	if (!gen)
		gen = looks_first_gen(m->b->looks);
	/* a move that has begun is not to be disturbed */
	if (l->place == WEFT_AT_HOME && (!l->gen || (int)(gen - l->gen) > 0))
		l->gen = gen;
}

static void forget(struct memd *m, struct region *r, struct block *b)
{
	m->b->line_ops->forgotten(m, b);
	m->lines->known -= b->known;
	b->known = false;
	region_reset_line(m->b->regions, r, b);
}

/* @was: place of the line before the event. */
static void carry_out(struct memd *m, struct region *r, struct block *b,
		      struct weft_home_out *out, u8 was, u32 from, u64 delay)
{
	struct weft_home_out again;

	note_place(m, was, out, &b->line);
	send_out(m, out, from);
	if (out->to_switch)
		to_switch(m, &out->sw);
	if (out->chase) {
		count(m, CHASE);
		send_to_member(m, &out->msg_chase, out->chase);
	}
	if (out->timer)
		wake_at(m, b, delay);
	if (!out->moved)
		return;
	timer_stop(&b->timer);
	/* the switch has given the line up, or does not have it */
	if (b->line.place == WEFT_AT_HOME && grace_is_over(m))
		b->sure = true;
	if (b->swept && !b->wanted) {
		m->b->line_ops->arrived(m, r, b);
		return;
	}
	if (!b->wanted)
		return;
	was = b->line.place;
	if (weft_home_recall(&b->line, memd_seq(m), &again)) {
		forget(m, r, b);
		m->b->line_ops->trimmed(m, r);
		return;
	}
	note_place(m, was, &again, &b->line);
	to_switch(m, &again.sw);
	wake_at(m, b, move_delay(&b->line));
}

static void on_timer(struct memd *m, struct timer *t)
{
	struct block *b = timer_owner(t, struct block, timer);
	struct region *r = region_find(m->b->regions,
				       weft_line_region(b->line.key));
	struct weft_home_out out;
	u8 was = b->line.place;

	count(m, MOVE_REPEATED);
	weft_home_timeout(&b->line, &out);
	carry_out(m, r, b, &out, was, 0, move_delay(&b->line));
}

static void know(struct memd *m, struct block *b)
{
	b->timer.fn = on_timer;
	m->lines->known += !b->known;
	b->known = true;
}

/* --- lines ------------------------------------------------------------------- */

static struct block *line_of(struct memd *m, struct region *r, u64 key, bool make)
{
	u64 index = weft_line_index(key);

	switch (weft_line_kind(key)) {
	case WEFT_KIND_PAGE:
		return region_block(m->b->regions, r, index, make);
	case WEFT_KIND_LOCK:
		return region_lock(m->b->regions, r, index, make);
	default:
		return NULL;
	}
}

static struct block *block_of(struct memd *m, u64 key, struct region **r)
{
	*r = region_find_again(m->b->regions, m->hint, weft_line_region(key));
	return *r ? line_of(m, *r, key, false) : NULL;
}

/* --- requests --------------------------------------------------------------- */

/* The line of a request, made if it is new and there may be another one. */
static struct block *requested(struct memd *m, struct region *r, u64 key)
{
	struct block *b = line_of(m, r, key, false);

	if (b || (weft_line_kind(key) == WEFT_KIND_LOCK && !quota_lock(m, r)))
		return b;
	return line_of(m, r, key, true);
}

/*
 * For a line that is not there the node hears so, except that what ends a
 * transaction is answered as if it had ended: it would be repeated for ever.
 */
static void no_line(struct memd *m, const struct weft_msg *msg, u16 why, u32 from)
{
	struct weft_home_line none;
	struct weft_home_out out;

	if (msg->type == WEFT_MSG_GETS || msg->type == WEFT_MSG_GETM ||
	    msg->type == WEFT_MSG_PUT || msg->type == WEFT_MSG_ACQUIRE) {
		access_refuse(m, msg, why, from);
		return;
	}
	weft_home_init(&none, msg->line, m->b->opt.id);
	weft_home_recv(&none, grace_nodes(m), false, msg, memd_seq(m), &out);
	send_out(m, &out, from);
}

bool lines_over(struct memd *m, const struct weft_msg *msg, u32 from)
{
	const struct region *r;

	if (msg->type != WEFT_MSG_COMMIT)
		return false;
	r = region_find_again(m->b->regions, m->hint, weft_line_region(msg->line));
	/* a blade that waits for the first one serves nobody either, but has its entries */
	if (!m->b->grace->active && (!r || !r->frozen))
		return false;
	if (!(m->b->grace->late & weft_node_bit(msg->src)) &&
	    members_sender(m, msg->src, from))
		no_line(m, msg, 0, from);
	return true;
}

/* Refuse a lock.  Ignore the request for a block: the node asks again, memory may be free then. */
static void no_room(struct memd *m, const struct region *r,
		    const struct weft_msg *msg, u32 from)
{
	if (weft_line_kind(msg->line) != WEFT_KIND_LOCK) {
		log_warn("no memory for another line of region %u", r->id);
		return;
	}
	if (msg->type == WEFT_MSG_ACQUIRE) {
		count(m, NO_LOCK);
		log_warn("region %u of user %u has as many locks as it may: raise --locks if %u for all regions are too few",
			 r->id, r->uid, m->b->opt.locks);
	}
	no_line(m, msg, WEFT_WHY_FULL, from);
}

void lines_request(struct memd *m, const struct weft_msg *msg, u32 from)
{
	struct weft_home_out out;
	struct region *r;
	struct block *b;
	u16 why;
	u8 was;

	if (m->b->grace->late & weft_node_bit(msg->src)) {
		count(m, STRANGER);
		return;
	}
	if (!weft_node_bit(msg->src) || !members_sender(m, msg->src, from)) {
		members_refused(m, msg->src, from);
		/* the answer is for those who came before we knew them */
		if (weft_node_bit(msg->src) && msg->type != WEFT_MSG_ABORT)
			access_refuse(m, msg, WEFT_WHY_NOT_MEMBER, from);
		return;
	}
	r = access_line(m, msg->line);
	if (!r) {
		no_line(m, msg, WEFT_WHY_NO_LINE, from);
		return;
	}
	why = access_request(m, r, msg);
	if (why) {
		access_refuse(m, msg, why, from);
		return;
	}
	b = requested(m, r, msg->line);
	if (!b) {
		no_room(m, r, msg, from);
		return;
	}
	if (!looks_sure(m, r, b)) {
		if (grace_is_over(m) &&
		    (msg->type == WEFT_MSG_GETS || msg->type == WEFT_MSG_GETM ||
		     msg->type == WEFT_MSG_PUT || msg->type == WEFT_MSG_ACQUIRE))
			access_refuse(m, msg, WEFT_WHY_MOVING, from);
		return;
	}
	if (b->line.place == WEFT_IN_SWITCH) {
		looks_for(m, b);
		if (!grace_is_over(m))
			return;
	}
	know(m, b);
	was = b->line.place;
	tell_gen(m, &b->line);
	weft_home_recv(&b->line, grace_nodes(m),
		       m->b->p4->in_use && !b->wanted && !r->nodes, msg,
		       memd_seq(m), &out);
	carry_out(m, r, b, &out, was, from, move_delay(&b->line));
}

/* --- the switch ------------------------------------------------------------- */

void lines_answer(struct memd *m, const struct weft_msg *msg)
{
	struct weft_home_out out;
	struct region *r;
	struct block *b;
	u64 delay;
	u8 was;

	if (looks_is_answer(m->b->looks, msg)) {
		if (looks_answered(m, msg))
			return;
		b = block_of(m, msg->line, &r);
		if (b && b->line.place == WEFT_IN_SWITCH)
			looks_lost(m, "the P4 switch has lost lines of ours");
		return;
	}
	b = block_of(m, msg->line, &r);
	if (!b)
		return;
	b->timer.fn = on_timer;
	was = b->line.place;
	weft_home_recv(&b->line, grace_nodes(m), m->b->p4->in_use, msg,
		       memd_seq(m), &out);
	learn_gen(m, &b->line);
	if (msg->type == WEFT_MSG_ADD_ACK && was == WEFT_ADDING &&
	    !(msg->flags & WEFT_F_INSTALLED) && msg->info != WEFT_WHY_FULL)
		count(m, ADD_AGAIN);
	/* refused because it is busy: that ends soon, do not wait for long */
	delay = msg->type == WEFT_MSG_NACK ? MOVE_MS : move_delay(&b->line);
	carry_out(m, r, b, &out, was, 0, delay);
}

bool lines_fetch(struct memd *m, struct region *r, struct block *b)
{
	struct weft_home_out out;

	if (!r->doubtful || b->sure || !m->b->p4->in_use)
		return false;
	tell_gen(m, &b->line);
	if (weft_home_fetch(&b->line, memd_seq(m), &out))
		return false;
	count(m, FETCHED);
	know(m, b);
	carry_out(m, r, b, &out, WEFT_AT_HOME, 0, move_delay(&b->line));
	return true;
}

/*
 * Somebody waits for a lock, and its holder does not answer.  Of one that came into the
 * switch in a former life of ours nothing is known here, and if its holder has died nobody
 * looks after it.
 */
static void chase_lock(struct memd *m, const struct weft_msg *msg)
{
	struct region *r = access_line(m, msg->line);
	struct block *b = r && r->doubtful ? requested(m, r, msg->line) : NULL;

	if (b)
		(void)lines_fetch(m, r, b);
}

void lines_chase(struct memd *m, const struct weft_msg *msg)
{
	struct weft_home_line none;
	struct weft_home_out out;
	struct region *r;
	struct block *b;

	if (weft_line_kind(msg->line) == WEFT_KIND_LOCK) {
		chase_lock(m, msg);
		return;
	}
	b = block_of(m, msg->line, &r);
	if (b) {
		lines_answer(m, msg);
		return;
	}
	if (!m->b->p4->in_use)
		return;
	/* the line is forgotten here, and its entry in the switch may still be locked */
	weft_home_init(&none, msg->line, m->b->opt.id);
	weft_home_recv(&none, grace_nodes(m), false, msg, memd_seq(m), &out);
	if (out.to_switch)
		to_switch(m, &out.sw);
}

enum weft_gone lines_gone(struct memd *m, struct region *r, struct block *b)
{
	struct weft_home_out out;
	enum weft_gone gone;
	u8 was = b->line.place;

	gone = weft_home_gone(&b->line, grace_nodes(m), true, memd_seq(m), &out);
	b->timer.fn = on_timer;
	carry_out(m, r, b, &out, was, 0, move_delay(&b->line));
	return gone;
}

bool lines_bring_home(struct memd *m, struct block *b)
{
	struct weft_home_out out;
	u8 was = b->line.place;

	if (weft_home_recall(&b->line, memd_seq(m), &out))
		return true;
	b->timer.fn = on_timer;
	note_place(m, was, &out, &b->line);
	if (out.to_switch) {
		to_switch(m, &out.sw);
		wake_at(m, b, move_delay(&b->line));
	}
	return false;
}

bool lines_recall(struct memd *m, struct region *r, struct block *b)
{
	if (lines_bring_home(m, b)) {
		forget(m, r, b);
		return true;
	}
	/* a line on its way to the switch is recalled when it has arrived */
	b->wanted = true;
	return false;
}

void lines_forget(struct memd *m, struct region *r, struct block *b)
{
	if (b->line.place != WEFT_AT_HOME)
		m->lines->at[b->line.place]--;
	forget(m, r, b);
}

/* --- threads ---------------------------------------------------------------- */

bool lines_concern_all(struct memd *m, const struct weft_msg *msg)
{
	struct region *r;
	struct block *b;

	if (turn_is_alone(m))
		return false;
	if (memd_of(m, msg->line) != m) {
		count(m, OTHER_SHARE);
		return true;
	}
	/* nodes give back, which is looked at; and what the switch says of itself */
	if (!grace_is_over(m) || looks_is_answer(m->b->looks, msg))
		return true;
	/* contents, wherever the directory is */
	if (msg->type == WEFT_MSG_READ || msg->type == WEFT_MSG_WB)
		return false;
	b = block_of(m, msg->line, &r);
	if (!b)
		return r && weft_line_kind(msg->line) == WEFT_KIND_LOCK;
	/* somebody waits for it, or the switch may have lost what it had and is asked */
	return b->wanted || (b->line.place == WEFT_IN_SWITCH && !looks_lately(m)) ||
	       (r->doubtful && !b->sure);
}

/* --- a new life ------------------------------------------------------------- */

/* Nobody has the line.  One that a trim waits for has come home. */
static void renew_line(struct memd *m, struct region *r, struct block *b)
{
	bool wanted = b->wanted;

	/* invalidate remote handles, too, until the directory knows again who has the block */
	frames_unmark(m->b->frames, b->frame);
	lines_forget(m, r, b);
	if (wanted)
		m->b->line_ops->trimmed(m, r);
}

void lines_renew_region(struct memd *m, struct region *r, u32 grant)
{
	struct lock *l;
	u64 n;
	u32 i;

	r->grant = grant;
	r->doubtful = true;
	for (n = 0; n < r->runs; n++)
		for (i = 0; r->run[n] && i < RUN_BLOCKS; i++)
			renew_line(m, r, &r->run[n]->block[i]);
	for (i = 0; i < r->locks.buckets; i++)
		SLIST_FOREACH(l, &r->locks.bucket[i], next)
			renew_line(m, r, &l->block);
}

void lines_drop_strays(struct memd *m, struct region *r)
{
	struct locks *t = &r->locks;
	struct lock *l, *next;
	u32 i;

	for (i = 0; i < t->buckets; i++)
		for (l = SLIST_FIRST(&t->bucket[i]); l; l = next) {
			next = SLIST_NEXT(l, next);
			if (region_is_home(m->b->regions, r, l->block.line.key))
				continue;
			lines_forget(m, r, &l->block);
			region_drop_lock(t, &t->bucket[i], l);
		}
}

void lines_renew(struct memd *m, u32 grant)
{
	struct region *r;
	u32 id, i;

	looks_forget(m);
	/* forget generations of slots: it may be another switch, and they are learned at once */
	for (i = 0; i < m->b->threads; i++)
		memset(m->b->thread[i]->lines->gen, 0, sizeof(m->lines->gen));
	for_each_region(m, r, id)
		lines_renew_region(m, r, grant);
}

void lines_claim(struct memd *m, u8 node, u64 key, u32 epoch, u8 state)
{
	struct region *r = access_line(m, key);
	struct weft_dir_entry *e;
	struct block *b;
	bool first;

	if (!r || weft_line_kind(key) != WEFT_KIND_LOCK ||
	    (state != WEFT_S && state != WEFT_M))
		return;
	b = line_of(m, r, key, true);
	if (!b) {
		log_warn("no room in the directory for another lock of region %u", r->id);
		return;
	}
	first = !b->known;
	m->lines->known += first;
	b->known = true;
	count(m, CLAIM);
	e = &b->line.e;
	epoch &= ~(u32)WEFT_EPOCH_FROZEN;
	if (state == WEFT_M) {
		if (e->lock && e->lock != weft_node_bit(node)) {
			log_warn("two nodes hold a lock of region %u to write", r->id);
			return;
		}
		/* the holder hands over by this number */
		e->lock = weft_node_bit(node);
		e->grant = epoch;
		return;
	}
	e->copyset |= weft_node_bit(node);
	epoch += TERMS;
	if (!e->lock && (first || (int)(epoch - e->grant) > 0))
		e->grant = epoch;
}
