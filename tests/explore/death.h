/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes that die at any moment, and how the others are told: docs/protocol.md, "Nodes that
 * die".  First all that live hear of it, nodes and home, in any order; then the homes and
 * the switch take the dead ones for members no more; then the home looks through its lines.
 */
#ifndef EXPLORE_DEATH_H
#define EXPLORE_DEATH_H

#include "world.h"

void death_init(struct world *w, const struct config *c);
void death_actions(const struct world *w, const struct config *c, struct action *a, int *k);
void death_step(struct world *w, const struct config *c, const struct action *a);

/* Something has happened at a node: is it through with the dead now? */
void death_goes_on(struct world *w, const struct config *c, int n);

/* Is there somebody where the message goes, who listens to whom it comes from? */
bool death_hears(const struct world *w, const struct flight *f);

bool death_at_rest(const struct world *w, const struct config *c);

#endif /* EXPLORE_DEATH_H */
