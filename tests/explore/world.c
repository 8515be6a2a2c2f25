// SPDX-License-Identifier: GPL-2.0-only
/* The rack that is explored; see world.h. */
#include "death.h"
#include "life.h"
#include "network.h"
#include "nodes.h"
#include "serve.h"
#include "values.h"

static const char *wrong;	/* what a step found */

void world_complain(const char *what)
{
	if (!wrong)
		wrong = what;
}

void world_init(struct world *w, const struct config *c)
{
	memset(w, 0, sizeof(*w));
	serve_init(w, c);
	if (c->locks)
		locks_init(w, c);
	else
		pages_init(w, c);
	memcpy(w->ops, c->ops, sizeof(w->ops));
	w->loss = c->loss;
	w->dup = c->dup;
	w->spurious = c->spurious;
	w->steals = c->steals;
	w->recalls = c->recalls;
	w->expects = c->expects;
	w->passes = c->passes;
	w->lends = c->lends;
	w->yields = c->yields;
	w->hasty = c->hasty;
	w->leaves = c->leaves;
	w->members = (u8)((1u << c->nodes) - 1);
	w->switch_members = w->members;
	death_init(w, c);
	life_init(w, c);
}

bool world_silent(const struct world *w, const struct config *c, int line)
{
	for (int i = 0; i < w->flights; i++)
		if (w->flight[i].line == world_key(c, line))
			return false;
	for (int n = 0; n < c->nodes; n++)
		if (c->locks ? locks_busy(w, c, n) :
			       w->line[n][line].revoking)
			return false;
	return true;
}

int world_actions(const struct world *w, const struct config *c,
		  struct action *a)
{
	int k = 0;

	for (int i = 0; i < w->flights; i++) {
		if (i && !memcmp(&w->flight[i], &w->flight[i - 1], sizeof(w->flight[0])))
			continue;
		world_add(a, &k, ACT_DELIVER, 0, 0, i);
		if (w->dup && (!c->dup_type || c->dup_type == w->flight[i].type))
			world_add(a, &k, ACT_REPEAT, 0, 0, i);
		if (w->loss)
			world_add(a, &k, ACT_LOSE, 0, 0, i);
	}
	for (int n = 0; n < c->nodes; n++) {
		if (c->locks)
			locks_actions(w, c, n, a, &k);
		else
			pages_actions(w, c, n, a, &k);
	}
	serve_actions(w, c, a, &k);
	death_actions(w, c, a, &k);
	life_actions(w, c, a, &k);
	return k;
}

static bool goes_to_node(const struct flight *f)
{
	return f->hop == HOP_NODE && !weft_is_blade(f->to);
}

static void deliver(struct world *w, const struct config *c,
		    const struct flight *f)
{
	if (f->hop == HOP_SWITCH)
		serve_switch_recv(w, c, f);
	else if (!goes_to_node(f))
		serve_home_recv(w, c, f);
	else if (c->locks)
		locks_recv(w, c, f->to - 1, f);
	else
		pages_recv(w, c, f->to - 1, f);
}

/* The node whose lines or lock an action changes, -1: none. */
static int changes(const struct action *a, const struct flight *f)
{
	switch (a->kind) {
	case ACT_DELIVER:
	case ACT_REPEAT:
		return goes_to_node(f) ? f->to - 1 : -1;
	case ACT_LOSE:
	case ACT_HOME_TIMEOUT:
	case ACT_RECALL:
	case ACT_FENCE_HOME:
	case ACT_REMOVE_HOME:
	case ACT_REMOVE_SWITCH:
	case ACT_GONE:
	case ACT_HOME_DIES:
	case ACT_SERVE:
		return -1;
	default:
		return a->node;
	}
}

const char *world_step(struct world *w, const struct config *c,
		       const struct action *a)
{
	struct flight f = w->flight[a->flight];
	int n = changes(a, &f);
	const char *broken;

	wrong = NULL;
	switch (a->kind) {
	case ACT_REPEAT:
		w->dup--;
		deliver(w, c, &f);
		break;
	case ACT_LOSE:
		w->loss--;
		network_take(w, a->flight);
		break;
	case ACT_DELIVER:
		network_take(w, a->flight);
		deliver(w, c, &f);
		break;
	case ACT_HOME_TIMEOUT:
	case ACT_RECALL:
	case ACT_GONE:
		serve_step(w, c, a);
		break;
	case ACT_DIE:
	case ACT_FENCE:
	case ACT_JOIN:
	case ACT_FENCE_HOME:
	case ACT_REMOVE_HOME:
	case ACT_REMOVE_SWITCH:
		death_step(w, c, a);
		break;
	case ACT_HOME_DIES:
	case ACT_RENEW:
	case ACT_SERVE:
		life_step(w, c, a);
		break;
	default:
		if (c->locks)
			locks_step(w, c, a);
		else
			pages_step(w, c, a);
		break;
	}
	if (n >= 0 && !c->locks)
		death_goes_on(w, c, n);
	if (c->locks)
		locks_settle(w);
	else
		values_settle(w, c);
	broken = c->locks ? locks_check(w, c) : pages_check(w, c);
	if (broken)
		world_complain(broken);
	/* What nobody reads would make equal states look different.  The rest was tidy. */
	serve_tidy(w, c);
	if (n >= 0 && c->locks)
		locks_tidy(w, n);
	else if (n >= 0)
		pages_tidy(w, c, n);
	return wrong;
}

bool world_at_rest(const struct world *w, const struct config *c)
{
	if (w->flights)
		return false;
	for (int n = 0; n < c->nodes; n++)
		if (w->want[n])
			return false;
	return serve_at_rest(w, c) && death_at_rest(w, c) && life_at_rest(w) &&
	       (c->locks ? locks_at_rest(w, c) : pages_at_rest(w, c));
}
