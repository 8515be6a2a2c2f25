/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contents of blocks on the wire: READ is answered with DATA, WB with WB_ACK.  front/memd.c hands
 * them in.  Which nodes have a block is the directory's: lines.c.
 */
#ifndef WEFT_MEMD_BLOCKS_H
#define WEFT_MEMD_BLOCKS_H

#include <sys/queue.h>

#include "lines/region.h"
#include "wire.h"

#define STAGING_PER_NODE	(2u << 20)	/* bytes of incomplete blocks, in all threads */

/* A block of which some fragments came. */
struct stage {
	TAILQ_ENTRY(stage) next;	/* the next older one of the same node */
	u64 line;
	u64 version;
	u32 size;	/* bytes of it */
	u32 fragment;	/* bytes of a full fragment */
	u64 have;	/* fragments that came, one bit each */
	u8 data[];
};

/* Incomplete blocks. */
struct staging {
	TAILQ_HEAD(stages, stage) of[WEFT_BLADE_MAX + 1];	/* by member, the newest first */
	u32 bytes[WEFT_BLADE_MAX + 1];	/* by member, of their blocks */
};

/* Nothing has come. */
void blocks_init(struct memd *m);

/* READ, from a node or a directory. */
void blocks_read(struct memd *m, const struct weft_msg *msg);

/* Send a block, as it is here, to another blade: WB under @txn. */
void blocks_send(struct memd *m, struct region *r, struct block *b, u32 txn, u32 to);

/* A block is read soon, see memd_far(). */
void blocks_far(struct memd *m, u64 line);
void blocks_near(struct memd *m, u64 line);

/* WB, a fragment. */
void blocks_write(struct memd *m, const struct weft_msg *msg);

/* Drop, in all threads, what a node began to send: it has left. */
void blocks_forget(struct memd *m, u8 node);

/* The block is lost: only a node that died had what it last was. */
void blocks_lost(struct memd *m, struct region *r, struct block *b);

/* Take a block's contents away. */
void blocks_clear(struct memd *m, struct region *r, struct block *b);

#endif /* WEFT_MEMD_BLOCKS_H */
