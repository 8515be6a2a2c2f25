/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The card and what is connected to it.  rdma.c has the connections, write.c the blocks that it
 * writes, buffer.c those that nodes' cards write, handle.c those that they read.
 */
#ifndef WEFT_MEMD_RDMA_CARD_H
#define WEFT_MEMD_RDMA_CARD_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "base/timer.h"
#include "rdma/sendq.h"
#include "rdma/memory.h"
#include "rdma/ops.h"

#define RDMA_MESSAGE	256u	/* bytes of a buffer for one; what goes out is shorter */
#define RDMA_RECEIVES	256u
#define RDMA_ZEROS	65536u
#define RDMA_SGES	16u	/* pieces of a work request at most */

#define RDMA_BUFFERS	32u	/* of a node: 2 MiB for each that is connected */

/*
 * What the card names a receive, and the message that a buffer is free (to the node with the
 * number that is the rest); writes have smaller names for some 2^53 blocks.
 */
#define RDMA_RECEIVE	(1ull << 63)
#define RDMA_BUFFER	(1ull << 62)

/* Write-back buffers of a node (landing.h). */
struct rdma_buffers {
	u8 *at;			/* RDMA_BUFFERS of them */
	struct ibv_mr *mr;	/* they are registered; NULL: there are none */
	u32 told;		/* messages in flight that say that one is free */
};

/* A node's connection. */
struct rdma_conn {
	struct rdma_sendq sq;		/* what is in flight */
	struct rdma_cm_id *id;		/* NULL: there is none */
	struct rdma_buffers buffers;	/* of the node */
};

/* Memory of ours that the card reads and writes. */
struct rdma_own {
	_Alignas(4096) u8 zeros[RDMA_ZEROS];	/* what blocks have that nobody has written to */
	u8 out[RDMA_WRITES][RDMA_MESSAGE];	/* by write: LANDED */
	u8 in[RDMA_RECEIVES][RDMA_MESSAGE];	/* what nodes send */
};

/*
 * Remote handles of blocks that nodes' cards may read (landing.h).
 *
 * A key lets all nodes read all of a chunk.  So none is given as long as a region is for some
 * nodes only.
 */
struct rdma_handles {
	bool wanted;		/* by the command line */
	/* Marks of frames are registered; NULL: there are none, so there are no remote handles */
	struct ibv_mr *mr;
	u64 last;		/* number of the last one that was given */
};

struct rdma {
	const struct rdma_ops *ops;	/* what layers above do */
	int epoll_fd;			/* all descriptors below */
	struct rdma_event_channel *events;	/* of connections; NULL: nobody listens */
	struct rdma_cm_id *listener;	/* the blade's address */
	struct ibv_pd *pd;		/* protection domain */
	struct ibv_comp_channel *channel;	/* wakes the first thread when @cq has something */
	struct ibv_cq *cq;		/* what the card has done */
	struct ibv_srq *srq;		/* for what nodes send */
	u32 sges;			/* pieces of a work request */
	struct rdma_own *own;		/* registered, as @own_mr */
	struct ibv_mr *own_mr;
	struct rdma_memory memory;	/* frames that are */
	struct timer look;		/* tries to listen; looks for what is stuck */
	char why[128];			/* nobody listens */
	/*
	 * For what follows, and for @sq of connections while any thread is at work.  Before that
	 * of frames, which is before that of @memory
	 */
	pthread_mutex_t lock;
	struct rdma_writes writes;	/* blocks in flight */
	struct rdma_handles handles;	/* that nodes have */
	bool mend;			/* a connection is broken */
	bool more;			/* the card has done more than was looked at */
	/* By node; made and destroyed by who is alone */
	struct rdma_conn conn[WEFT_NODE_MAX + 1];
};

#endif /* WEFT_MEMD_RDMA_CARD_H */
