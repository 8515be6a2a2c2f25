// SPDX-License-Identifier: GPL-2.0-only
/* The P4 switch, see p4.h. */
#include "lines/p4.h"

#include "base/blade.h"
#include "base/log.h"
#include "lines/looks.h"
#include "net/members.h"
#include "net/send.h"
#include "standby/mirror.h"

#define FIRST_MS	20	/* until MEMBERS is repeated, doubled each time */
#define LAST_MS		500
#define PROBE_MS	1000	/* between probes, when all is told */
#define PROBING_MS	1000	/* no answer for that long: there is no switch */
#define TAKEN_MS	100	/* the same of a standby that has taken over where there was none */
#define LOSING_MS	3500	/* the same where there has been one */
#define TELL_MS		10000	/* until it is logged again that one is waited for */
#define WANTED_MS	50	/* between questions to one without which nobody is served */

bool p4_settled(const struct memd *m)
{
	return m->b->p4->settled == m->b->members->version;
}

static void settle(struct memd *m)
{
	struct p4 *p = m->b->p4;
	struct deferred *dc;

	p->settled = m->b->members->version;
	while ((dc = SLIST_FIRST(&p->waiting)) && p4_settled(m)) {
		SLIST_REMOVE_HEAD(&p->waiting, next);
		deferred_release(m, dc, 0);
	}
	if (p->on_settled)
		p->on_settled(m);
}

void p4_wait(struct memd *m, struct deferred *dc)
{
	if (p4_settled(m))
		return;
	deferred_hold(dc);
	SLIST_INSERT_HEAD(&m->b->p4->waiting, dc, next);
}

static void lose_switch(struct memd *m)
{
	struct p4 *p = m->b->p4;

	if (p->in_use)
		log_say("the P4 switch does not answer any more");
	p->in_use = false;
	mirror_switch(m, false);
	p->no_switch = true;
}

static void tell_switch(struct memd *m)
{
	struct weft_msg msg = {
		.type = WEFT_MSG_MEMBERS,
		.txn = m->b->p4->txn,
		.copyset = m->b->members->mask & ~m->b->members->coming,
		.nonce = m->b->members->version,
	};

	send_message(m, &msg, WEFT_WIRE_GROUP);
}

/*
 * How long an answer is waited for.  A machine that has taken over may take the word of the one
 * before it that there is none; a moment is for a switch that began just then.
 */
static u64 patience_ms(const struct memd *m)
{
	return m->b->p4->in_use ? LOSING_MS : m->b->opt.role.taken ? TAKEN_MS : PROBING_MS;
}

/*
 * A P4 switch was in use at the former machine and has not heard of this one yet: it would
 * go on answering for its lines.
 */
static bool needs_switch(struct memd *m)
{
	struct p4 *p = m->b->p4;

	if (!m->b->opt.role.had_switch)
		return false;
	if (!p->told || m->timers.now - p->told >= TELL_MS) {
		p->told = m->timers.now;
		log_say("waiting for the P4 switch, which the machine before this one used: it has to know at which port blade %u is now (weft-switchd, 'blade %u=PORT'; see --on-takeover)",
			options_blade(&m->b->opt) + 1, m->b->opt.id);
	}
	return true;
}

/* Tell the switch until it answers, then once a second whether it is there. */
static void on_timer(struct memd *m, struct timer *t)
{
	struct p4 *p = m->b->p4;
	u64 now = m->timers.now;
	u32 last;

	if (p4_settled(m))
		p->txn = weft_txn(m->b->opt.id, memd_seq(m));
	tell_switch(m);
	if (!p4_settled(m)) {
		last = m->b->opt.role.taken ? WANTED_MS : LAST_MS;
		p->delay = p->delay * 2 < last ? p->delay * 2 : last;
		timer_set(&m->timers, t, p->delay);
		if (now - p->changed >= patience_ms(m) && !needs_switch(m)) {
			lose_switch(m);
			settle(m);
		}
		return;
	}
	timer_set(&m->timers, t, PROBE_MS);
	if (p->in_use && now - p->answered > LOSING_MS)
		lose_switch(m);
	if (p->in_use)
		looks_reserve(m);
}

void p4_init(struct memd *m)
{
	struct p4 *p = m->b->p4;

	p->settled = 0;
	p->timer.fn = on_timer;
}

void p4_tell(struct memd *m)
{
	struct p4 *p = m->b->p4;

	p->changed = m->timers.now;
	/* a former life of the first blade may have used this number: the switch hears it again */
	p->settled = 0;
	if (!p->listening || p->no_switch)
		settle(m);
	if (!p->listening)
		return;
	p->delay = FIRST_MS;
	p->txn = weft_txn(m->b->opt.id, memd_seq(m));
	tell_switch(m);
	timer_set(&m->timers, &p->timer, p->delay);
}

void p4_start(struct memd *m)
{
	m->b->p4->listening = m->b->opt.use_switch;
	if (memd_is_first(m))
		p4_tell(m);
}

void p4_changed(struct memd *m)
{
	m->b->members->version++;
	p4_tell(m);
}

void p4_ack(struct memd *m, const struct weft_msg *msg)
{
	struct p4 *p = m->b->p4;

	if (!p->listening)
		return;
	/* a late answer counts, too: on a busy machine all may be late */
	p->answered = m->timers.now;
	/* late: an answer to an older question */
	if (msg->nonce != m->b->members->version && msg->txn != p->txn)
		return;
	if (msg->nonce != m->b->members->version && memd_is_first(m)) {
		/*
		 * The switch has another list and takes it for a newer one: of an
		 * earlier life of this blade, by a clock that was ahead, or forged.
		 * Versions go round: one more than the switch's is newer than that,
		 * whatever it is.
		 */
		m->b->members->version = msg->nonce;
		p4_changed(m);
		return;
	}
	if (!p->in_use)
		log_say("a P4 switch answers: lines in use go there");
	p->in_use = true;
	mirror_switch(m, true);
	p->no_switch = false;
	if (!p4_settled(m)) {
		timer_set(&m->timers, &p->timer, PROBE_MS);
		settle(m);
	}
}

void p4_stop(struct memd *m)
{
	m->b->p4->listening = false;
	timer_stop(&m->b->p4->timer);
	settle(m);
}
