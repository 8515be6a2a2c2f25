/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What blocks hold.  Values are counted as they are written: there is a last one, and
 * whoever can read reads that.  If its owner dies with it, it may be lost: then it is what
 * the home has, for everybody, and for ever.  What is older than what that owner found is
 * listed as lost before anybody can read it.
 */
#ifndef EXPLORE_VALUES_H
#define EXPLORE_VALUES_H

#include "world.h"

/* A program of node @n writes. */
void values_write(struct world *w, const struct config *c, int n, int line);

/* Node @n has died. */
void values_die(struct world *w, const struct config *c, int n);

/*
 * Node @n hears who is dead, and lives: what it has of what one of these had lent is not lost, if
 * it does not die itself.
 */
void values_inherit(struct world *w, const struct config *c, int n);

/* The home lists a line as lost. */
void values_listed(struct world *w, const struct config *c, int line);

/* What has become of the last value; before pages_check(). */
void values_settle(struct world *w, const struct config *c);

/* What programs can still do, through mappings that are not yet revoked. */
static inline u8 values_perm(const struct weft_line *l)
{
	if (!l->revoking || l->quiesced)
		return weft_line_perm(l);
	return l->state == WEFT_M && l->lent ? WEFT_S : l->state;
}

#endif /* EXPLORE_VALUES_H */
