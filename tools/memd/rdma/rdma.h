/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data by RDMA: a node whose network card can do it connects its card to ours, which writes blocks
 * to where the node wants them (landing.h).  Without a connection, or when too much is in flight,
 * DATA goes by UDP: nothing here is needed for anything.
 */
#ifndef WEFT_MEMD_RDMA_H
#define WEFT_MEMD_RDMA_H

#include "types.h"

/*
 * Nodes connect, blades accept: by rdma_cm, at the blade's address and the number of its port.
 * The first thread does all of that, and hears from the card; it is alone when connections come
 * and go.  Any thread has the card send blocks (rdma_write()).
 *
 * With a block that was written to it a node gets a remote handle (address, key, tag; landing.h),
 * by which its card may read the block again without our program, until its contents change; unless
 * --deeds off.  Remote handles let a node's kernel read memory of regions that it did not ask for:
 * there are none as long as a region is for some nodes only (allow.h).
 *
 * Write-backs come the other way: a node's card writes a block into a write-back buffer that we
 * have for it, and says so by LANDED, which is handed in as a WB with those bytes.
 *
 * Whatever a card says that is wrong ends in a connection that is destroyed, which its
 * node makes anew, or in a listener that is closed, and tried again later.
 */

struct memd;
struct rdma_ops;

/* The blade has what it is going to have of processes: begin, unless --rdma off. */
void rdma_start(struct memd *m, const struct rdma_ops *ops);
void rdma_stop(struct memd *m);

/* For the event loop of the first thread: to be read from; -1: nothing will come. */
int rdma_fd(const struct memd *m);

/* Something has come there.  The first thread. */
void rdma_work(struct memd *m);

/**
 * rdma_mend() - at the end of each turn of the first thread
 *
 * Return: true if there is more to do at once.
 */
bool rdma_mend(struct memd *m);

/*
 * Of these nodes (bits) the life has ended that they have connected in: they are dead, or are no
 * members any more.  Their connections are destroyed at the end of the turn, so what was under
 * way for that life does not land in the next one.  The first thread.
 */
void rdma_life_over(struct memd *m, u32 nodes);

/*
 * A region is for some nodes only: is what nodes can read without asking gone by now?  If not, it
 * is soon.  Any thread.
 */
bool rdma_handles_over(struct memd *m);

/* For statistics. */
struct rdma_state {
	bool listening;		/* there is a card */
	u32 connections;	/* usable */
	u64 bytes;		/* of memory registered for it: frames, marks, buffers */
	u32 in_flight;		/* blocks */
};

void rdma_state(const struct memd *m, struct rdma_state *s);

#endif /* WEFT_MEMD_RDMA_H */
