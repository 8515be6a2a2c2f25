/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regions that move to other blades, one at a time: the first blade asks all blades and then all
 * nodes to come as far as the next phase (WEFT_REHOME_*), until each has said that it has
 * (docs/protocol.md, "Homes that move").  What a blade does for it: lines/rehome.c.
 */
#ifndef WEFT_MEMD_MOVE_H
#define WEFT_MEMD_MOVE_H

#include "net/reply.h"
#include "lines/region.h"
#include "base/timer.h"

/*
 * Until the new homes are noted in the catalog, the move can be given up.  From then on it goes on
 * until it is done, also in another life of this blade.
 */

/* The region that moves. */
struct move {
	u32 region;		/* number, 0: none */
	u32 life;		/* number of the move; grows */
	u32 homes;		/* where to */
	/*
	 * Of the blades, at the last look: one that begins another has not kept what it was sent
	 * for a move that can be given up, and else does not know of it
	 */
	u32 lives[BLADES_MAX];
	u8 phase;		/* WEFT_REHOME_* */
	bool noting;		/* the new homes are on their way to the disk */
	u64 began;		/* millisecond */
	/* Millisecond since which nobody is served and the region is busy; 0: not yet */
	u64 frozen;
	u64 moved;		/* millisecond of the last progress */
	u64 told;	/* millisecond of the last line in the log about who is waited for */
	u32 blades;		/* bits of the blades that are not there yet */
	u32 nodes;		/* bits of the nodes that have not given all back yet */
	bool asking;		/* nodes are asked */
	u32 txn[WEFT_BLADE_MAX + 1];	/* of the call that is out, by id */
	u64 done[WEFT_BLADE_MAX + 1];	/* how much each has done, by id */
	u64 seen[WEFT_NODE_MAX + 1];	/* millisecond of the last sign of each node */
	struct timer timer;	/* next look */
};

void move_init(struct memd *m);

/* Something may have to move: look soon.  The first blade. */
void move_look(struct memd *m);

/* A REPLY.  Return: true if it is to one of this. */
bool move_reply(struct memd *m, const struct weft_msg *msg);

/* A node has left, or has died. */
void move_gone(struct memd *m, u32 id);

/* The region is to be cut: a move that has not come far is given up for it. */
void move_give_way(struct memd *m, const struct region *r);

/* SPREAD. */
enum answer move_call(struct memd *m, struct request *q);

/* CLAIM of a region's locks.  Return: errno. */
u16 move_claim(struct memd *m, const struct request *q);

#endif /* WEFT_MEMD_MOVE_H */
