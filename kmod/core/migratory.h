/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Migratory lines: those that nodes read and then write, in turns.
 *
 * Each turn of such a line costs two transactions: the line is read (from the node that
 * wrote it, which keeps a copy), then written (which takes that copy away).  If it is
 * asked for to write at once, one does.  A node learns that from what it does itself,
 * line by line: nothing of it is on the wire, and a wrong guess costs time only.
 *
 * One visit of a line: from its coming here until another node takes it, or the right to
 * write it.
 */
#ifndef WEFT_CORE_MIGRATORY_H
#define WEFT_CORE_MIGRATORY_H

#include "types.h"

#define WEFT_MIGRATORY_FIRST	2	/* visits that it takes at first */
#define WEFT_MIGRATORY_MOST	32	/* ... after many guesses that were wrong */

/* How a line came, or the right to write it. */
enum weft_came {
	WEFT_CAME_READ,		/* asked for to read */
	WEFT_CAME_WRITE,	/* asked for to write, as a program wanted that */
	WEFT_CAME_UPGRADE,	/* was here to read, asked for to write */
	WEFT_CAME_GUESSED,	/* asked for to write, as a program wanted to read it */
};

/**
 * struct weft_migratory - is this line read first, then written, each time?
 * @seen: visits of which that was true; each of which it was not halves this.  So guesses
 *	go on as long as two of three are right
 * @needed: it takes so many more than WEFT_MIGRATORY_FIRST of them to guess; doubled, both
 *	together, each time that wrong guesses end it, one less with each right guess
 * @read: this visit began with a read
 * @wrote: and then there was a write
 * @guessed: the line was asked for to write at once
 *
 * All zeros at first.
 */
struct weft_migratory {
	u8 seen;
	u8 needed;
	bool read;
	bool wrote;
	bool guessed;
};

/* What to ask for, as a program wants to read a line that is not here. */
u8 weft_migratory_ask(const struct weft_migratory *m);

/* The permission came that was asked for. */
void weft_migratory_came(struct weft_migratory *m, enum weft_came how);

/* A program is about to write, with the permission that it needs. */
static inline void weft_migratory_wrote(struct weft_migratory *m)
{
	m->wrote = true;
}

/**
 * weft_migratory_ends() - the visit is over
 * @taken: another node asked for the line; else it is evicted, which says nothing but
 *	that a guess may have been wrong
 *
 * Return: false if it was guessed, wrongly.
 */
bool weft_migratory_ends(struct weft_migratory *m, bool taken);

#endif /* WEFT_CORE_MIGRATORY_H */
