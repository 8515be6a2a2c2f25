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

/**
 * struct rdma_buffers - write-back buffers of a node (landing.h)
 * @at: RDMA_BUFFERS of them
 * @mr: they are registered; NULL: there are none
 * @told: messages under way that say that one is free
 */
struct rdma_buffers {
	u8 *at;
	struct ibv_mr *mr;
	u32 told;
};

/**
 * struct rdma_conn - a node's connection
 * @sq: what is under way
 * @id: NULL: there is none
 * @buffers: of the node
 */
struct rdma_conn {
	struct rdma_sendq sq;
	struct rdma_cm_id *id;
	struct rdma_buffers buffers;
};

/**
 * struct rdma_own - memory of ours that the card reads and writes
 * @zeros: what blocks have that nobody has written to
 * @out: by write: LANDED
 * @in: what nodes send
 */
struct rdma_own {
	_Alignas(4096) u8 zeros[RDMA_ZEROS];
	u8 out[RDMA_WRITES][RDMA_MESSAGE];
	u8 in[RDMA_RECEIVES][RDMA_MESSAGE];
};

/**
 * struct rdma_handles - remote handles of blocks that nodes' cards may read (landing.h)
 * @wanted: by the command line
 * @mr: marks of frames are registered; NULL: there are none, so there are no remote handles
 * @last: number of the last one that was given
 *
 * A key lets all nodes read all of a chunk.  So none is given as long as a region is for some
 * nodes only.
 */
struct rdma_handles {
	bool wanted;
	struct ibv_mr *mr;
	u64 last;
};

/**
 * struct rdma - the card
 * @ops: what layers above do
 * @epoll_fd: all descriptors below
 * @events: of connections; NULL: nobody listens
 * @listener: the blade's address
 * @pd: protection domain
 * @channel: wakes the first thread when @cq has something
 * @cq: what the card has done
 * @srq: for what nodes send
 * @sges: pieces of a work request
 * @own: registered, as @own_mr
 * @memory: frames that are
 * @look: tries to listen; looks for what is stuck
 * @why: nobody listens
 * @lock: for what follows, and for @sq of connections while any thread is at work.  Before
 *	that of frames, which is before that of @memory
 * @writes: blocks under way
 * @handles: that nodes have
 * @mend: a connection is broken
 * @more: the card has done more than was looked at
 * @conn: by node; made and destroyed by who is alone
 */
struct rdma {
	const struct rdma_ops *ops;
	int epoll_fd;
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	u32 sges;
	struct rdma_own *own;
	struct ibv_mr *own_mr;
	struct rdma_memory memory;
	struct timer look;
	char why[128];
	pthread_mutex_t lock;
	struct rdma_writes writes;
	struct rdma_handles handles;
	bool mend;
	bool more;
	struct rdma_conn conn[WEFT_NODE_MAX + 1];
};

#endif /* WEFT_MEMD_RDMA_CARD_H */
