// SPDX-License-Identifier: GPL-2.0-only
/* Questions to the switch, see looks.h. */
#include "lines/looks.h"

#include "base/blade.h"
#include "lines/grace.h"
#include "lines/p4.h"
#include "lines/region.h"
#include "net/send.h"

#define LOOK_MS		20	/* between questions whether a line is in the switch */
#define MARK_KIND	2u	/* no kind of line */
#define MARK_MS		5	/* between looks at the mark */
#define MARK_PLACES	4096u	/* for it, of each blade */
#define MARK_STRIDE	2531u	/* from one to the next: odd, and far, as lines lie side by side */
#define MARK_TRIES	64	/* at once, before we wait to be asked again */
#define NO_SLOT_HAS	0x80000000u	/* added to a slot's generation: another one */

static void ask(struct memd *m, struct weft_msg *msg)
{
	send_message(m, msg, WEFT_WIRE_GROUP);
}

void looks_lost(struct memd *m, const char *why)
{
	count(m, LOST);
	grace_begin(m, why);
}

/* --- a line ------------------------------------------------------------------ */

bool looks_lately(const struct memd *m)
{
	return m->timers.now - m->b->looks->looked < LOOK_MS;
}

void looks_for(struct memd *m, const struct block *b)
{
	struct looks *ls = m->b->looks;
	struct weft_msg msg = {
		.type = WEFT_MSG_ADD,
		.line = b->line.key,
		.nonce = b->line.gen + NO_SLOT_HAS,
	};

	if (looks_lately(m))
		return;
	ls->looked = m->timers.now;
	if (!m->b->p4->in_use) {
		grace_begin(m, "the P4 switch is gone with lines of ours");
		return;
	}
	ls->look_txn = weft_txn(m->b->opt.id, memd_seq(m));
	msg.txn = ls->look_txn;
	ask(m, &msg);
}

/* --- the mark ---------------------------------------------------------------- */

static void send_mark(struct memd *m, u32 nonce)
{
	struct looks *ls = m->b->looks;
	struct weft_msg msg = {
		.type = WEFT_MSG_ADD,
		.line = weft_line_key(WEFT_REGION_MAX, MARK_KIND, options_blade(&m->b->opt) +
				      BLADES_MAX * (ls->mark * MARK_STRIDE % MARK_PLACES)),
		.nonce = nonce,
	};

	ls->marked_at = m->timers.now;
	ls->mark_txn = weft_txn(m->b->opt.id, memd_seq(m));
	msg.txn = ls->mark_txn;
	ask(m, &msg);
}

bool looks_mark(struct memd *m)
{
	/* without regions there is nothing that could be there */
	if (m->b->looks->marked || !m->b->p4->in_use || !m->b->regions->n)
		return true;
	m->b->looks->tries = 0;
	send_mark(m, m->b->looks->mark_gen);
	return false;
}

void looks_reserve(struct memd *m)
{
	if (m->b->looks->marked || m->b->grace->active)
		return;
	m->b->looks->tries = 0;
	send_mark(m, m->b->looks->mark_gen);
}

static void mark_answered(struct memd *m, const struct weft_msg *msg)
{
	struct looks *ls = m->b->looks;

	ls->mark_txn = 0;
	if (ls->marked) {
		if (msg->flags & WEFT_F_INSTALLED)
			ls->sure = ls->asked;
		else
			looks_lost(m, "the P4 switch has lost its lines");
		return;
	}
	if (msg->flags & WEFT_F_INSTALLED) {
		ls->marked = true;
		/* a generation that the slot never has, to ask whether the mark is there */
		ls->mark_gen = msg->nonce + NO_SLOT_HAS;
		return;
	}
	ls->mark_gen = msg->nonce;
	looks_heard(ls, msg->nonce);
	if (msg->info == WEFT_WHY_FULL) {
		ls->mark++;
		ls->mark_gen = 0;
	}
	/* A switch in use has few places left, and all programs wait for this. */
	if (++ls->tries < MARK_TRIES)
		send_mark(m, ls->mark_gen);
}

bool looks_has_room(const struct memd *m)
{
	return m->b->looks->marked || m->b->looks->mark < MARK_PLACES;
}

bool looks_sure(struct memd *m, const struct region *r, struct block *b)
{
	struct looks *ls = m->b->looks;

	if (b->sure || !r->doubtful)
		return true;
	if (!m->b->p4->in_use) {
		if (ls->marked) {
			grace_begin(m, "the P4 switch is gone");
			return false;
		}
		b->sure = true;
		return true;
	}
	if (!b->probe)
		b->probe = ls->asked + 1;
	if ((int)(ls->sure - b->probe) >= 0) {
		b->sure = true;
		return true;
	}
	if (m->timers.now - ls->marked_at >= MARK_MS && looks_mark(m)) {
		ls->asked++;
		send_mark(m, ls->mark_gen);
	}
	return false;
}

/* --- both --------------------------------------------------------------------- */

bool looks_answered(struct memd *m, const struct weft_msg *msg)
{
	struct looks *ls = m->b->looks;

	if (msg->txn == ls->mark_txn) {
		mark_answered(m, msg);
		return true;
	}
	ls->look_txn = 0;
	return msg->flags & WEFT_F_INSTALLED;
}

void looks_forget(struct memd *m)
{
	struct looks *ls = m->b->looks;

	ls->look_txn = 0;
	ls->mark_txn = 0;
	ls->marked = false;
	ls->mark = 0;
	ls->mark_gen = 0;
	ls->sure = ls->asked;
	ls->first_gen = 0;
}
