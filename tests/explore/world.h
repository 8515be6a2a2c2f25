/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small rack as one value: nodes and a home that run the real core, a switch,
 * messages in flight, and budgets for what may still go wrong.  Two worlds are
 * the same state if their bytes are the same.
 */
#ifndef EXPLORE_WORLD_H
#define EXPLORE_WORLD_H

#include <stdlib.h>

#include "home.h"
#include "controller.h"
#include "lock.h"

#define MAX_NODES	3
#define MAX_LINES	2
#define MAX_FRAGS	2
#define MAX_FLIGHT	20
#define MAX_ACTIONS	160
#define MAX_TOLD	2

#define HOME		WEFT_BLADE_MIN

/* Which providers have a card that writes where the data may land. */
enum { LAND_NOBODY, LAND_ALL, LAND_NODES, LAND_HOME };

/*
 * Messages that are none: a card writes a fragment, and then the next, or LANDED goes; and it
 * reads one of what the home has, and then the next, and then the deed's number.
 */
#define MSG_WRITE	200
#define MSG_FETCH	201

/* What to explore. */
struct config {
	const char *name;
	u8 nodes, lines, frags;
	u8 ops[MAX_NODES];	/* programs' operations a node */
	u8 loss, dup, spurious;	/* budgets: losses, repetitions, early time-outs */
	u8 dup_type;		/* repetitions of messages of this type only; 0: of all */
	u8 steals;		/* lines taken before their program's access */
	u8 recalls;		/* times that the home takes a line back */
	u8 expects;		/* times that a line is expected, without a request */
	u8 passes;		/* times that an owner passes it to such a transaction */
	u8 lends;		/* times that an owner lets one read that expects to */
	u8 yields;		/* times that it is given back before it is asked for */
	u8 hasty;		/* times that one does not wait for it long */
	u8 leaves;		/* nodes that leave the rack, when they have nothing left */
	u8 deaths;		/* nodes that die, at any moment */
	u8 mortal;		/* bits of those that may; 0: all */
	u8 joins;		/* dead nodes that come back, with nothing */
	u8 lives;		/* times that the home is killed and begins anew */
	bool greedy;		/* reads ask to write, as of migratory lines */
	bool owned;		/* node 1 owns the lines at the beginning, modified */
	bool mistakes;		/* ... also to read what is expected to write, and so on */
	bool use_switch;	/* lines move into a P4 switch */
	bool same_slot;		/* the two lines collide in the switch */
	bool evicts, cleans;	/* programs' operations include these */
	u8 landings;		/* requests offer landings, LAND_*; LAND_NOBODY: they do not */
	bool deeds;		/* homes give deeds, and cards read what the home has by them */
	bool keeps;		/* owners lend to nobody that asks: it goes home */
	bool locks;		/* the line is a lock; operations take and leave it */
	bool neat;		/* no entry is left locked: nothing is lost, or very late */
	bool full;		/* only in the long run */
};

/* Where a message is on its way. */
enum hop { HOP_SWITCH, HOP_HOME, HOP_NODE };

/* A message in flight; only fields that the core reads. */
struct flight {
	u64 line, version;
	u32 txn, copyset, provider, holder, nonce, grant, offset;
	u16 info;
	u8 type, flags, src, status;
	u8 hop, to;		/* HOP_NODE: the member */
	u8 size, used;		/* size in fragments of one byte; slot in use */
	bool lands;		/* it offers a landing of its transaction, or writes to it */
	u8 val[MAX_FRAGS];
	u32 list[MAX_NODES];	/* HAND: transactions that wait */
};

/* Who has died, and who knows what of it; see death.h.  All but the counts are bits of nodes. */
struct death {
	u8 deaths, joins;		/* budgets */
	u8 dead;
	u8 heard[MAX_NODES];		/* this node hears those no more */
	u8 fenced[MAX_NODES];		/* ... and its lines are through with them */
	u8 lines[MAX_NODES];		/* bits of those lines that are not */
	u8 home_heard;
	u8 gone;			/* bits of lines that the home has yet to look at */
	u8 asked;			/* ... and has asked the switch for */
	/* pages: what may become of the last value written */
	u8 last[MAX_LINES];		/* as values are counted */
	u8 owner[MAX_LINES];		/* who had it alone, to write */
	u8 mortal[MAX_LINES];		/* that one has died: it may be what the home has */
	u8 floor[MAX_LINES];		/* but not older than this */
	u8 given[MAX_LINES];		/* what that one found when it began to own it */
	u8 fell[MAX_LINES];		/* who alone has found that it fell back */
	u8 before[MAX_LINES];		/* the last value until then */
	u8 heirs[MAX_LINES];		/* bits of who is to write it home: what the dead one had lent */
	u8 listed;			/* bits of lines that the home has listed as lost since then */
	/* locks */
	u8 writer;			/* died with the lock, which nobody else may have yet */
	u8 owed;			/* ... and nobody has heard that */
	u8 blamed;			/* somebody may hear it: a dead node was the holder */
};

/* Which life the home is in; see life.h. */
struct life {
	u8 lives;			/* budget */
	bool asks;			/* nodes are to give back: nobody is served */
	u8 renewed;			/* bits of nodes that have heard it */
};

struct world {
	/* what the nodes have comes first, and all else after it: see explore.c */
	union {
		struct weft_line line[MAX_NODES][MAX_LINES];
		struct weft_lock lock[MAX_NODES];
	};
	struct weft_home_line home[MAX_LINES];
	struct weft_slot slot[MAX_LINES];
	u64 home_version[MAX_LINES];
	u32 seq[MAX_NODES + 1];		/* the last one is the home's */
	u64 deed[MAX_NODES][MAX_LINES];	/* of that version of what the home has, plus 1; 0: none */
	u8 data[MAX_NODES][MAX_LINES][MAX_FRAGS];
	u8 home_data[MAX_LINES][MAX_FRAGS];
	u8 truth[MAX_LINES];		/* the last value written */
	u8 want[MAX_NODES];		/* 0, or permission wanted for ... */
	u8 want_line[MAX_NODES];
	u8 hold[MAX_NODES];		/* locks: permission that a program holds */
	u8 ops[MAX_NODES];
	u8 loss, dup, spurious, steals, recalls;
	u8 expects, passes, lends, yields, hasty, leaves;
	u8 members;			/* mask of nodes, as the homes know them */
	u8 switch_members;		/* ... and as the switch does */
	struct death death;
	struct life life;
	u32 told[MAX_NODES][MAX_TOLD];	/* transactions that an owner may know of */
	u8 told_perm[MAX_NODES][MAX_TOLD];
	u8 flights;
	struct flight flight[MAX_FLIGHT];
};

enum action_kind {
	ACT_DELIVER, ACT_REPEAT, ACT_LOSE, ACT_REVOKED, ACT_TIMEOUT, ACT_ACCESS,
	ACT_READ, ACT_WRITE, ACT_EVICT, ACT_DROP, ACT_CLEAN, ACT_HOME_TIMEOUT,
	ACT_RECALL, ACT_RDLOCK, ACT_WRLOCK, ACT_UNLOCK, ACT_SHARE,
	ACT_EXPECT_READ, ACT_EXPECT_WRITE, ACT_UNEXPECT, ACT_LEAVE, ACT_DIE, ACT_FENCE,
	ACT_JOIN, ACT_FENCE_HOME, ACT_REMOVE_HOME, ACT_REMOVE_SWITCH, ACT_GONE,
	ACT_HOME_DIES, ACT_RENEW, ACT_SERVE, ACT_PASS, ACT_LEND, ACT_YIELD,
};

/*
 * @flight: of a message; of a pass or loan: whose transaction, and which of them; ACT_REVOKED: 1: a
 * node that has asked may be lent the line
 */
struct action {
	u8 kind, node, line, flight;
};

void world_init(struct world *w, const struct config *c);

/* All actions that are possible in @w. */
int world_actions(const struct world *w, const struct config *c,
		  struct action *a);

/* Carry one out.  Returns NULL, or what is wrong with the world after it. */
const char *world_step(struct world *w, const struct config *c,
		       const struct action *a);

/* Nothing is wanted, outstanding or in flight. */
bool world_at_rest(const struct world *w, const struct config *c);

/* For the parts of a world: nodes.h, serve.h, network.h. */

/* Something is wrong; who says so first is believed. */
void world_complain(const char *what);

/* Nothing more will happen to a line unless a time-out does it. */
bool world_silent(const struct world *w, const struct config *c, int line);

/* Node @n is there: it has neither left the rack nor died. */
static inline bool world_lives(const struct world *w, int n)
{
	return w->members & ~w->death.dead & 1u << n;
}

static inline void world_add(struct action *a, int *k, u8 kind, int node, int line,
			     int flight)
{
	if (*k == MAX_ACTIONS)
		abort();
	a[(*k)++] = (struct action){ kind, (u8)node, (u8)line, (u8)flight };
}

/* Lines 0 and 1 of region 1; in one slot of the switch if the config says so. */
static inline u64 world_key(const struct config *c, int i)
{
	return weft_line_key(1, c->locks ? WEFT_KIND_LOCK : WEFT_KIND_PAGE,
			     c->same_slot && i ? 0x10001u : (u64)i);
}

static inline int world_line(const struct config *c, u64 key)
{
	for (int i = 0; i < c->lines; i++)
		if (world_key(c, i) == key)
			return i;
	abort();
}

/* Of print.c. */
void world_print_action(const struct world *w, const struct action *a);
void world_print(const struct world *w, const struct config *c);

#endif /* EXPLORE_WORLD_H */
