/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue to the standby: all writes to the file, in their order.  The threads that write put
 * them in, the mirror's takes them out.
 */
#ifndef WEFT_MEMD_OUTGOING_H
#define WEFT_MEMD_OUTGOING_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "standby/stream.h"

/*
 * Nothing is put in before it is in the file, so whoever reads a part of the file and puts it in
 * while nobody else can has all that stands before it in the queue: the copy is right whatever is
 * written meanwhile.
 *
 * The position counts what was put in, also while nobody is there to take it.
 */

#define OUTGOING_MAX	(64ull << 20)	/* bytes in the queue */

struct outgoing {
	STAILQ_HEAD(, piece) pieces;	/* the oldest first */
	pthread_mutex_t lock;		/* for all but the atomics that are read without */
	bool attached;			/* there is a standby; else only @position counts */
	atomic_bool over;	/* OUTGOING_MAX was not enough: the standby has missed something */
	atomic_ullong position;		/* pieces put in, ever */
	atomic_ullong bytes;		/* in the queue */
	atomic_ullong sent_bytes;	/* put in since it was attached */
	atomic_ullong acked_bytes;	/* of these, that the standby has */
	u64 acked;			/* pieces that it has since then */
	atomic_bool asleep;		/* who takes them waits to be woken */
};

void outgoing_init(struct outgoing *q);

/* A standby is there that has nothing.  Return: the position from which it counts. */
u64 outgoing_attach(struct outgoing *q);
void outgoing_detach(struct outgoing *q);

/* One piece of any type.  Return: its position. */
u64 outgoing_put(struct outgoing *q, u8 type, const void *buf, u32 len, u64 at);

/* This has been written; @buf NULL: zeros.  What only concerns this machine is left out. */
void outgoing_write(struct outgoing *q, const void *buf, size_t len, u64 at);

/* Up to STREAM_PIECE bytes of the file as they are.  Return: 0 or -1. */
int outgoing_copy(struct outgoing *q, int fd, u32 len, u64 at);

/* As much as has room goes to the stream.  Return: 0 or -1. */
int outgoing_pump(struct outgoing *q, struct stream *s);

#endif /* WEFT_MEMD_OUTGOING_H */
