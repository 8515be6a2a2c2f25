// SPDX-License-Identifier: GPL-2.0-only
/* Nodes that die, see death.h. */
#include "death.h"
#include "network.h"
#include "nodes.h"
#include "values.h"

void death_init(struct world *w, const struct config *c)
{
	struct death *d = &w->death;

	d->deaths = c->deaths;
	d->joins = c->joins;
	for (int i = 0; i < c->lines && c->deaths; i++) {
		d->last[i] = d->given[i] = w->truth[i];
		d->owner[i] = c->owned ? 1 : 0;
	}
}

bool death_hears(const struct world *w, const struct flight *f)
{
	u8 src = weft_is_blade(f->src) ? 0 : (u8)(1u << (f->src - 1));

	/* a card does not ask who is dead */
	if (f->hop == HOP_NODE && !weft_is_blade(f->to))
		return !(w->death.dead & 1u << (f->to - 1)) &&
		       (f->type == MSG_WRITE || !(w->death.heard[f->to - 1] & src));
	return f->hop != HOP_HOME || !(w->death.home_heard & src);
}

/* What nobody hears any more need not be played. */
static void prune(struct world *w)
{
	for (int i = w->flights; i-- > 0; )
		if (!death_hears(w, &w->flight[i]))
			network_take(w, i);
}

/* Everybody who lives has answered that he knows of them all. */
static bool all_know(const struct world *w, const struct config *c)
{
	const struct death *d = &w->death;

	for (int n = 0; n < c->nodes; n++)
		if (world_lives(w, n) && d->fenced[n] != d->dead)
			return false;
	return d->home_heard == d->dead;
}

static bool all_removed(const struct world *w)
{
	return !((w->members | w->switch_members) & w->death.dead);
}

/* Nothing is left of what the dead ones did. */
static bool is_over(const struct world *w, const struct config *c)
{
	return all_know(w, c) && all_removed(w) && !w->death.gone;
}

/* Is there something in flight that has to do with node @n? */
static bool is_heard_of(const struct world *w, int n)
{
	for (int i = 0; i < w->flights; i++)
		if (w->flight[i].src == n + 1 || weft_txn_member(w->flight[i].txn) == n + 1u)
			return true;
	return false;
}

static void node_actions(const struct world *w, const struct config *c, int n,
			 struct action *a, int *k)
{
	const struct death *d = &w->death;

	if (world_lives(w, n)) {
		if (d->deaths && (!c->mortal || c->mortal & 1u << n))
			world_add(a, k, ACT_DIE, n, 0, 0);
		if (d->heard[n] != d->dead)
			world_add(a, k, ACT_FENCE, n, 0, 0);
	} else if (d->joins && d->dead & 1u << n && is_over(w, c) && !is_heard_of(w, n)) {
		world_add(a, k, ACT_JOIN, n, 0, 0);
	}
}

void death_actions(const struct world *w, const struct config *c, struct action *a, int *k)
{
	const struct death *d = &w->death;

	if (!c->deaths)
		return;
	for (int n = 0; n < c->nodes; n++)
		node_actions(w, c, n, a, k);
	if (d->home_heard != d->dead)
		world_add(a, k, ACT_FENCE_HOME, 0, 0, 0);
	if (all_know(w, c) && w->members & d->dead)
		world_add(a, k, ACT_REMOVE_HOME, 0, 0, 0);
	if (c->use_switch && all_know(w, c) && w->switch_members & d->dead)
		world_add(a, k, ACT_REMOVE_SWITCH, 0, 0, 0);
	for (int i = 0; i < c->lines; i++)
		if (d->gone & 1u << i && all_removed(w) &&
		    (w->home[i].place == WEFT_AT_HOME || w->home[i].place == WEFT_IN_SWITCH))
			world_add(a, k, ACT_GONE, 0, i, 0);
}

static void die(struct world *w, const struct config *c, int n)
{
	struct death *d = &w->death;

	d->deaths--;
	d->dead |= (u8)(1u << n);
	d->heard[n] = d->fenced[n] = d->lines[n] = 0;
	w->want[n] = 0;
	w->hold[n] = 0;
	if (!d->joins)
		w->ops[n] = 0;
	if (c->locks) {
		locks_die(w, n);
	} else {
		values_die(w, c, n);
		pages_die(w, c, n);
	}
	prune(w);
}

static void fence(struct world *w, const struct config *c, int n)
{
	struct death *d = &w->death;

	d->heard[n] = d->dead;
	prune(w);
	d->lines[n] = 0;
	if (c->locks) {
		locks_gone(w, c, n);
	} else {
		values_inherit(w, c, n);
		d->lines[n] = pages_gone(w, c, n, (u8)((1u << c->lines) - 1));
	}
	if (!d->lines[n])
		d->fenced[n] = d->heard[n];
}

void death_goes_on(struct world *w, const struct config *c, int n)
{
	struct death *d = &w->death;

	if (!d->lines[n])
		return;
	d->lines[n] = pages_gone(w, c, n, d->lines[n]);
	if (!d->lines[n])
		d->fenced[n] = d->heard[n];
}

static void join(struct world *w, int n)
{
	struct death *d = &w->death;
	u8 keep = (u8)~(1u << n);

	d->joins--;
	d->dead &= keep;
	d->home_heard &= keep;
	for (int k = 0; k < MAX_NODES; k++) {
		d->heard[k] &= keep;
		d->fenced[k] &= keep;
	}
	d->heard[n] = d->fenced[n] = d->dead;
	w->members |= (u8)~keep;
	w->switch_members |= (u8)~keep;
}

void death_step(struct world *w, const struct config *c, const struct action *a)
{
	struct death *d = &w->death;

	switch (a->kind) {
	case ACT_DIE:
		die(w, c, a->node);
		break;
	case ACT_FENCE:
		fence(w, c, a->node);
		break;
	case ACT_JOIN:
		join(w, a->node);
		break;
	case ACT_FENCE_HOME:
		d->home_heard = d->dead;
		prune(w);
		break;
	case ACT_REMOVE_HOME:
		w->members &= (u8)~d->dead;
		if (!c->use_switch)
			w->switch_members = w->members;
		d->gone = (u8)((1u << c->lines) - 1);
		d->writer = 0;
		break;
	default: /* ACT_REMOVE_SWITCH */
		w->switch_members &= (u8)~d->dead;
		break;
	}
}

bool death_at_rest(const struct world *w, const struct config *c)
{
	return is_over(w, c);
}
