/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The nodes of a world: pages.c, whose lines are pages, and locks.c, whose one line is
 * a lock.  They host the real core: what a node may do next, what it then does, and
 * what must hold of all of them.
 */
#ifndef EXPLORE_NODES_H
#define EXPLORE_NODES_H

#include "world.h"

void pages_init(struct world *w, const struct config *c);
void pages_recv(struct world *w, const struct config *c, int n,
		const struct flight *f);
void pages_actions(const struct world *w, const struct config *c, int n,
		   struct action *a, int *k);
void pages_step(struct world *w, const struct config *c, const struct action *a);
const char *pages_check(const struct world *w, const struct config *c);
void pages_tidy(struct world *w, const struct config *c, int n);
bool pages_at_rest(const struct world *w, const struct config *c);
/* Node @n has died. */
void pages_die(struct world *w, const struct config *c, int n);

/* Node @n is through with the dead ones in its lines @lines; returns those that it is not. */
u8 pages_gone(struct world *w, const struct config *c, int n, u8 lines);

/* Node @n gives back what it has to the home. */
void pages_renew(struct world *w, const struct config *c, int n);

void pages_print(const struct world *w, const struct config *c, int line);

/* The transaction that ACT_PASS, ACT_LEND and ACT_YIELD are for. */
u32 pages_named(const struct world *w, const struct action *a);

void locks_init(struct world *w, const struct config *c);
void locks_recv(struct world *w, const struct config *c, int n,
		const struct flight *f);
void locks_actions(const struct world *w, const struct config *c, int n,
		   struct action *a, int *k);
void locks_step(struct world *w, const struct config *c, const struct action *a);
bool locks_busy(const struct world *w, const struct config *c, int n);
const char *locks_check(const struct world *w, const struct config *c);
void locks_tidy(struct world *w, int n);
bool locks_at_rest(const struct world *w, const struct config *c);
void locks_die(struct world *w, int n);
void locks_settle(struct world *w);
void locks_gone(struct world *w, const struct config *c, int n);
void locks_print(const struct world *w, const struct config *c);

#endif /* EXPLORE_NODES_H */
