/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A region whose homes change: what each blade does.  The first one says when (catalog/move.c,
 * REHOME).  front/memd.c shows it each message about a line before anybody else.
 */
#ifndef WEFT_MEMD_REHOME_H
#define WEFT_MEMD_REHOME_H

#include "net/reply.h"
#include "base/flush.h"
#include "lines/region.h"
#include "base/timer.h"
#include "wire.h"

/*
 * For the lines of the region it is what a restart is for those of a blade: nobody knows any more
 * who has what, nodes give all back, and to the new homes.  Only the contents have to be brought
 * there: those that the blade has are sent as WB while nodes are served (WEFT_REHOME_COPY), and
 * when nobody is any more, what was written since (WEFT_REHOME_FREEZE).
 */

#define REHOME_BYTES	(512u << 10)	/* of blocks in flight */
#define REHOME_BLOCKS	(REHOME_BYTES / WEFT_BLOCK_MIN)

/* A block on its way to another blade. */
struct sent_block {
	u64 index;
	u32 txn;	/* that its WB_ACK names, 0: a free place */
	u64 version;	/* of it */
	u64 at;		/* millisecond when it was sent last */
};

/* The part of this blade in the move of a region. */
struct rehome {
	struct region *r;
	u64 run;		/* where to go on looking */
	u64 clean;		/* so many runs before that have none */
	bool passed;		/* all was looked at once */
	struct sent_block sent[REHOME_BLOCKS];	/* blocks in flight */
	u32 n;			/* how many of these */
	u64 done;		/* blocks that have arrived */
	struct timer timer;	/* next step */
	struct flush flush;	/* that brings it to the disk */
	bool synced;		/* it is there */
};

void rehome_init(struct memd *m);

/**
 * rehome_phase() - come as far as that
 * @c: REHOME
 * @done: receives how much has been done, which grows
 *
 * Return: 0: it is so; EINPROGRESS; another errno: it cannot be.
 */
u16 rehome_phase(struct memd *m, struct region *r, const struct weft_call *c, u64 *done);

/* REHOME, at other blades. */
enum answer rehome_call(struct memd *m, struct request *q);

/*
 * A message about a line, before anybody else sees it.  Return: true: it is dealt with, as its
 * region moves, or its home is another blade by now.
 */
bool rehome_takes(struct memd *m, const struct weft_msg *msg, u32 from);

/* The first blade begins a life: what belongs to others goes, unless a move goes on. */
void rehome_restart(struct memd *m);

/* Is there a region of which nobody is served? */
bool rehome_freezes(const struct memd *m);

/* Nothing of a move that had begun counts: another life of the first blade. */
void rehome_forget_all(struct memd *m);

/* The first blade says, with the other attributes: these are the homes. */
void rehome_told(struct memd *m, struct region *r, u32 homes, bool frozen);

/* The region goes. */
void rehome_free(struct region *r);

#endif /* WEFT_MEMD_REHOME_H */
