/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Has the switch lost lines of ours?  It is asked by an ADD with a generation that the slot does
 * not have, which changes nothing, and whose answer tells whether the line is there.  One question
 * of each kind at a time.  Who calls is alone, but where it says so.
 */
#ifndef WEFT_MEMD_LOOKS_H
#define WEFT_MEMD_LOOKS_H

#include "wire.h"

struct block;
struct memd;
struct region;

/* Questions to the switch whether it has lost lines. */
struct looks {
	u64 looked;	/* millisecond when the switch was last asked whether it has a line */
	u32 look_txn;	/* of that, 0 if it is answered */
	bool marked;	/* our mark is in the switch */
	u32 mark;	/* how many places were tried for it */
	u32 mark_gen;	/* generation of that place */
	u32 tries;	/* ADDs that were answered since looks_mark() was called */
	u32 mark_txn;	/* of the last ADD of it, 0 if it is answered */
	u64 marked_at;	/* millisecond of that */
	u32 asked;	/* how often we have looked whether it is still there */
	u32 sure;	/* the last time that it was */
	/*
	 * The lowest generation that the switch has told of in this life, 0: none.  Those of slots
	 * begin with the same number, so it is that of slots that no line has had.  Any thread
	 */
	u32 first_gen;
};

static inline u32 looks_first_gen(const struct looks *ls)
{
	return __atomic_load_n(&ls->first_gen, __ATOMIC_RELAXED);
}

/* A slot has generation @gen.  For any thread: what another one has heard may be lost. */
static inline void looks_heard(struct looks *ls, u32 gen)
{
	u32 first = looks_first_gen(ls);

	/* 0: of a line that was not there to learn it */
	if (gen && (!first || (int)(gen - first) < 0))
		__atomic_store_n(&ls->first_gen, gen, __ATOMIC_RELAXED);
}

/*
 * A request has come for a line that the switch should have served: it was on its way while
 * the line moved, or the switch has lost all that it had.
 */
void looks_for(struct memd *m, const struct block *b);

/* Was that asked a moment ago?  For any thread. */
bool looks_lately(const struct memd *m);

/**
 * looks_mark() - leave a mark in the switch, at the beginning of a life
 *
 * Lines of a former life may be in the switch without our knowing.  If the switch is
 * restarted, requests for them come here, and must not be taken for the first ones: as
 * long as the mark is there, it was not.
 *
 * Return: true if it is there, or there is no switch; else it is asked again.
 */
bool looks_mark(struct memd *m);

/* Return: false: no place for the mark is free, all were tried. */
bool looks_has_room(const struct memd *m);

/*
 * Once a second: in a blade's first life, too, the mark is left as long as the switch has room.
 * A later life finds it there, whose mark may find none: it could not begin.
 */
void looks_reserve(struct memd *m);

/*
 * A request for a line has come here.  May the switch have had it, and lost it?  It has not if
 * the mark is there at a time after the request was sent on to us.
 *
 * Return: false: it is not known yet, or all begins anew.
 */
bool looks_sure(struct memd *m, const struct region *r, struct block *b);

/* Is it the answer to one of our questions?  For any thread. */
static inline bool looks_is_answer(const struct looks *ls, const struct weft_msg *msg)
{
	return msg->type == WEFT_MSG_ADD_ACK && msg->txn &&
	       (msg->txn == ls->look_txn || msg->txn == ls->mark_txn);
}

/* Such an answer.  Return: false: the line that it names is not in the switch. */
bool looks_answered(struct memd *m, const struct weft_msg *msg);

/* It has: a new life of the directory begins; @why is half a sentence. */
void looks_lost(struct memd *m, const char *why);

/* A new life: nothing that was asked before counts. */
void looks_forget(struct memd *m);

#endif /* WEFT_MEMD_LOOKS_H */
