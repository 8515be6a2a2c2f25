/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lives of the home: docs/protocol.md, "Lives of a directory".  The home is killed and forgets
 * who has what.  Each node gives back what it has at a time of its own, and may ask for lines
 * again at once: a switch that lives on serves those that it has, and owners pass them on.  The
 * home serves when all nodes have given back.
 */
#ifndef EXPLORE_LIFE_H
#define EXPLORE_LIFE_H

#include "world.h"

void life_init(struct world *w, const struct config *c);
void life_actions(const struct world *w, const struct config *c, struct action *a, int *k);
void life_step(struct world *w, const struct config *c, const struct action *a);

/* Does the home hear this?  Until it serves it takes what nodes give back, and no requests. */
bool life_hears(const struct world *w, const struct flight *f);

bool life_at_rest(const struct world *w);

#endif /* EXPLORE_LIFE_H */
