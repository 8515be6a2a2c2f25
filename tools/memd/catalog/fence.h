/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes that die: who is not heard for the lease is taken out of the rack.  The first blade
 * decides, and tells all members (FENCE); other blades obey.  join.c hears when all have.
 */
#ifndef WEFT_MEMD_FENCE_H
#define WEFT_MEMD_FENCE_H

#include "net/reply.h"
#include "base/timer.h"
#include "wire.h"

/*
 * The first blade stops listening to the dead node, and tells all other members to do so
 * (FENCE): from its answer on, a node takes nothing from the dead one, and has nothing that only
 * the dead one could have taken back (core/controller.h, weft_line_gone()).  When all have
 * answered, and not before, the dead node is no member any more: the homes and the switch serve
 * what it had from what the homes have (sweep.h).  So nobody can read what it alone knew while
 * others read something else.
 *
 * A node that was only cut off, or paused, finds that it is no member, drops all that it
 * has, and joins anew.
 *
 * A blade that hears no node at all takes none out: it is cut off itself, or nobody is there
 * who could want what the dead had.  When it hears one again the others have a moment to be
 * heard, too (RETURN_MS).
 */

#define FENCE_LEAST_MS	200	/* nothing of the dead node stays in the network for so long */
#define FENCE_LIMIT_MS	15000	/* a node that lives and does not obey is dead, too */

/* The dead, and who is still to hear of them. */
struct fence {
	u64 waiting;			/* members that have not answered, bit of the id */
	u32 txn[WEFT_BLADE_MAX + 1];	/* by id: of the FENCE that is out */
	u64 seq;	/* number of the last one that was sent, or, at other blades, obeyed */
	u64 began;			/* millisecond */
	/*
	 * Position in the file after the last one was noted: nobody is told before the standby
	 * knows, else who takes over would hear a node that others do not
	 */
	u64 noted;
	/* By node: millisecond when it was found dead, for FENCE_LEAST_MS */
	u64 died[WEFT_NODE_MAX + 1];
	u64 looked;			/* millisecond of the last look who is silent */
	/*
	 * Since then nodes can be heard: this blade has not stood still, and they know where it
	 * is; after a take-over this is to come
	 */
	u64 heard_from;
	/* Millisecond when a node last wanted to join: it is there, though no member yet */
	u64 joining;
	u32 delay;			/* until it is repeated */
	struct timer timer;		/* for that */
	struct timer watch;		/* to look who is silent */
	/* Set by join.c: all others have heard that a node is dead */
	void (*node_died)(struct memd *m, u32 id);
};

void fence_init(struct memd *m);

/* The first blade begins to look who is silent, if there is a lease. */
void fence_start(struct memd *m);

/* A node is dead; @why is half a sentence.  The first blade; none if it is known already. */
void fence_node(struct memd *m, u32 id, const char *why);

/* A node wants to join: this blade is not cut off. */
void fence_visited(struct memd *m);

/* May it join, as far as its last life is concerned? */
bool fence_may_join(const struct memd *m, u32 id);

/* A member that has just come is to hear of the dead, too; one that has gone is not. */
void fence_joined(struct memd *m, u32 id);
void fence_left(struct memd *m, u32 id);

/* A REPLY.  Return: true if it is to FENCE. */
bool fence_reply(struct memd *m, const struct weft_msg *msg);

/* FENCE, at other blades; FENCE_NODE, of an administrator, at the first. */
enum answer fence_call(struct memd *m, struct request *q);

/* Other blades: what the first one says next counts, whatever it has said. */
void fence_forget(struct memd *m);

#endif /* WEFT_MEMD_FENCE_H */
