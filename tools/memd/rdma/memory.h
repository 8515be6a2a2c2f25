/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frames that a network card may read: chunks of them, registered when the first of a chunk is
 * sent; for our card only, or for nodes' cards, too, which read them without our knowing.  write.c
 * uses them; store/frames.c asks before memory goes back to the system.
 */
#ifndef WEFT_MEMD_RDMA_MEMORY_H
#define WEFT_MEMD_RDMA_MEMORY_H

#include "store/frames.h"

/*
 * A registered chunk is memory that the system cannot take back.  So it is deregistered before any
 * of it is returned to the system; not while the card reads in it, then it is returned afterwards.
 * One that nodes have a key for stays registered, and its memory ours, as long as they may read:
 * to read what is not registered any more would cost a node its connection, which whoever may
 * shorten a file could bring about.
 */

#define RDMA_MEMORY_AGAIN_MS	1000	/* after it was refused */

/* To a chunk. */
struct rdma_keys {
	u32 own;	/* by which our card reads it */
	u32 nodes;	/* by which those of nodes do; 0: they may not */
};

/* What the card does for it. */
struct rdma_memory_ops {
	/* Register, for cards of nodes as well if @nodes; NULL with errno */
	void *(*add)(void *card, void *at, size_t len, bool nodes, struct rdma_keys *keys);
	void (*del)(void *card, void *registered);	/* deregister what @add returned */
};

/* Adjacent frames, registered together. */
struct rdma_chunk {
	void *registered;	/* what the card calls it, NULL: it is not */
	struct rdma_keys keys;	/* then */
	bool nodes;		/* then: those that nodes have may be in use */
	u32 users;		/* pieces of it that our card reads just now */
	bool late;		/* some of it is to be returned to the system */
};

/* All of it. */
struct rdma_memory {
	struct frames_card card;	/* that frames know */
	struct frames *frames;		/* whose it is */
	const struct rdma_memory_ops *ops;	/* what the card does */
	void *arg;			/* for @ops */
	/*
	 * Nodes may read: from here on chunks are registered so, those that are otherwise when
	 * they are used next.  Who is alone sets it, and takes it back only with
	 * rdma_memory_drop()
	 */
	bool nodes;
	pthread_mutex_t lock;		/* for what follows */
	struct rdma_chunk *chunk;	/* all there are */
	u32 n;				/* how many */
	u64 bytes;			/* registered */
	u64 refused;		/* millisecond when some was refused, 0: it was not lately */
	bool said;			/* people know that it is refused */
};

/**
 * rdma_memory_init() - nothing is registered
 *
 * Return: false: frames are in a file, or there is no memory.
 */
bool rdma_memory_init(struct rdma_memory *mem, struct frames *f,
		      const struct rdma_memory_ops *ops, void *arg);

/*
 * All of it is deregistered, and what was to be returned to the system is.  Nothing is in use, and
 * nobody else is at work.
 */
void rdma_memory_drop(struct rdma_memory *mem);

/* The end, after rdma_memory_drop(). */
void rdma_memory_exit(struct rdma_memory *mem);

/**
 * rdma_memory_piece() - what of a chain the card can read in one piece
 * @frame: of the chain; then the one after the piece, or FRAME_NONE
 *
 * Return: how many frames it has, 1 at least, all of one chunk.
 */
u32 rdma_memory_piece(const struct frames *f, u32 *frame);

/**
 * rdma_memory_use() - a piece of a chunk is going to be read
 * @frame: first of the piece
 * @now: millisecond
 * @keys: receives its chunk's
 *
 * Return: false: it cannot be registered.
 */
bool rdma_memory_use(struct rdma_memory *mem, u32 frame, u64 now, struct rdma_keys *keys);

/* It has been read. */
void rdma_memory_unuse(struct rdma_memory *mem, u32 frame);

#endif /* WEFT_MEMD_RDMA_MEMORY_H */
