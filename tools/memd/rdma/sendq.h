/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The send queue of a connection to a node's network card: what is in flight, and whether more can
 * go.  Counting only: write.c posts, under @lock of struct rdma.
 */
#ifndef WEFT_MEMD_RDMA_SENDQ_H
#define WEFT_MEMD_RDMA_SENDQ_H

#include "landing.h"
#include "types.h"

#define RDMA_DEPTH	128	/* work requests of a connection that are not done */
#define RDMA_WRITES	1024	/* blocks in flight, of all connections */
#define RDMA_RECENT	64	/* posted receive buffers of a node that are remembered */
#define RDMA_STUCK_MS	10000	/* a card that takes longer is given up */

/* The way of a block for which the node has posted a receive buffer. */
enum rdma_way {
	RDMA_LANDS,
	RDMA_NO_CONNECTION,
	RDMA_FULL,		/* too much is in flight */
	RDMA_NO_MEMORY,		/* it is not registered */
	RDMA_AGAIN,		/* the receive buffer was used already: the request came twice */
};

/* A connection, as far as it is counted. */
struct rdma_sendq {
	u32 addr;	/* of the node */
	bool up;	/* it may be used */
	bool broken;	/* it may not any more, and is to be destroyed */
	bool over;	/* the life of the node that it was made in is over: likewise */
	u32 busy;	/* work requests that are not done */
	/* Landings that were used, the last ones */
	struct {
		u32 key;
		u32 txn;
	} recent[RDMA_RECENT];
	u32 used;	/* how many ever were */
};

/**
 * rdma_sendq_choose() - which way a block goes
 * @addr: of the node that asks
 * @key: of the landing
 * @txn: of the request
 * @work: requests for the card that it takes
 */
enum rdma_way rdma_sendq_choose(const struct rdma_sendq *l, u32 addr, u32 key, u32 txn,
			       u32 work);

/* It goes by this one. */
void rdma_sendq_went(struct rdma_sendq *l, u32 key, u32 txn, u32 work);

/* A block in flight. */
struct rdma_transfer {
	u64 name;	/* by which the card calls it, never 0; changes each time */
	u8 node;	/* to which it goes, 0: it is free */
	u32 work;	/* requests for the card */
	u32 frame;	/* first of the block, or FRAME_NONE for zeros */
	u32 bytes;	/* of the block */
	u64 since;	/* millisecond */
};

/* All of them. */
struct rdma_writes {
	struct rdma_transfer of[RDMA_WRITES];	/* each */
	u16 free[RDMA_WRITES];		/* those that are free */
	u32 n_free;			/* how many */
};

void rdma_writes_init(struct rdma_writes *fs);

/* One more; NULL: there are too many. */
struct rdma_transfer *rdma_writes_take(struct rdma_writes *fs, u8 node);

/* A block is done. */
void rdma_writes_put(struct rdma_writes *fs, struct rdma_transfer *f);

/* The block that the card names; NULL: it is done. */
struct rdma_transfer *rdma_writes_find(struct rdma_writes *fs, u64 name);

static inline u32 rdma_writes_index(const struct rdma_writes *fs,
				     const struct rdma_transfer *f)
{
	return (u32)(f - fs->of);
}

#endif /* WEFT_MEMD_RDMA_SENDQ_H */
