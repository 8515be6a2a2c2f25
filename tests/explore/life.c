// SPDX-License-Identifier: GPL-2.0-only
/* Lives of the home, see life.h. */
#include "life.h"
#include "network.h"
#include "nodes.h"

#define GRANTS		64	/* more than a life has: the new one has others */

void life_init(struct world *w, const struct config *c)
{
	w->life.lives = c->lives;
}

bool life_hears(const struct world *w, const struct flight *f)
{
	return !w->life.asks || f->type == WEFT_MSG_WB || f->type == WEFT_MSG_COMMIT;
}

/* What was on its way to the home or from it to the switch was for the former life. */
static void begin(struct world *w, const struct config *c)
{
	w->life.lives--;
	w->life.asks = true;
	w->life.renewed = 0;
	for (int i = w->flights; i-- > 0; )
		if (w->flight[i].hop == HOP_HOME ||
		    (w->flight[i].hop == HOP_SWITCH && w->flight[i].src == HOME))
			network_take(w, i);
	/* lines that are in the switch stay there */
	for (int i = 0; i < c->lines; i++) {
		u32 grant = w->home[i].e.grant + GRANTS;

		if (w->home[i].place != WEFT_AT_HOME)
			continue;
		weft_home_init(&w->home[i], world_key(c, i), HOME);
		w->home[i].e.grant = grant & ~WEFT_GRANT_OWNED;
	}
}

/* All have given back, and nothing that they gave back is on its way. */
static bool may_serve(const struct world *w, const struct config *c)
{
	for (int n = 0; n < c->nodes; n++)
		for (int i = 0; world_lives(w, n) && i < c->lines; i++)
			if (!(w->life.renewed & 1u << n) ||
			    weft_line_returning(&w->line[n][i]))
				return false;
	return true;
}

void life_actions(const struct world *w, const struct config *c, struct action *a, int *k)
{
	if (!w->life.asks) {
		if (w->life.lives)
			world_add(a, k, ACT_HOME_DIES, 0, 0, 0);
		return;
	}
	for (int n = 0; n < c->nodes; n++)
		if (world_lives(w, n) && !(w->life.renewed & 1u << n))
			world_add(a, k, ACT_RENEW, n, 0, 0);
	if (may_serve(w, c))
		world_add(a, k, ACT_SERVE, 0, 0, 0);
}

void life_step(struct world *w, const struct config *c, const struct action *a)
{
	switch (a->kind) {
	case ACT_HOME_DIES:
		begin(w, c);
		break;
	case ACT_RENEW:
		w->life.renewed |= (u8)(1u << a->node);
		pages_renew(w, c, a->node);
		break;
	default: /* ACT_SERVE */
		w->life.asks = false;
		break;
	}
}

bool life_at_rest(const struct world *w)
{
	return !w->life.asks;
}
