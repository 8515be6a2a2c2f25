/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the lines of a world are served: at their home, or in the switch. */
#ifndef EXPLORE_SERVE_H
#define EXPLORE_SERVE_H

#include "world.h"

void serve_init(struct world *w, const struct config *c);

/* A message has come to the switch; to the home. */
void serve_switch_recv(struct world *w, const struct config *c,
		       const struct flight *f);
void serve_home_recv(struct world *w, const struct config *c,
		     const struct flight *f);

/* What the home may do on its own, and that it does it. */
void serve_actions(const struct world *w, const struct config *c, struct action *a,
		   int *k);
void serve_step(struct world *w, const struct config *c, const struct action *a);

/* The entry of a line, wherever it is served; NULL while it moves. */
static inline const struct weft_dir_entry *
serve_entry(const struct world *w, const struct config *c, int i)
{
	const struct weft_slot *slot = &w->slot[c->same_slot ? 0 : i];

	if (w->home[i].place == WEFT_AT_HOME)
		return &w->home[i].e;
	return w->home[i].place == WEFT_IN_SWITCH ? &slot->entry : NULL;
}

void serve_tidy(struct world *w, const struct config *c);
bool serve_at_rest(const struct world *w, const struct config *c);

#endif /* EXPLORE_SERVE_H */
