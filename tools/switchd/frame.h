/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames: Ethernet frames in DPDK's packet buffers, and queues of them.
 *
 * A frame is a single buffer.  Once it was given to a port it may be shared by
 * several ports (reference count) and must not be written any more.
 */
#ifndef WEFT_SWITCHD_FRAME_H
#define WEFT_SWITCHD_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_mbuf.h>

#include "fail.h"

/* 9000 bytes, Ethernet header, VLAN tags, and some air. */
#define FRAME_MAX	9216
/* Without checksum; frames shorter than an Ethernet header are no frames. */
#define FRAME_MIN	14
#define FRAME_TYPE	12	/* offset of the two bytes that say what it carries */
/*
 * A P4 parser on SWX does not look at the length of a packet: it reads what
 * lies behind the end of a short one.  That is made to be zeros, up to here,
 * and never a rest of the buffer's previous frame.
 */
#define FRAME_PARSED	128

/**
 * frame_init() - start DPDK's environment, without privileges and huge pages
 * @megabytes: memory for buffers, tables and registers (0: a default)
 * @n_frames: number of buffers (0: a default)
 * @err: reason of a failure
 *
 * To be called once in a process.  The calling thread keeps its CPU affinity.
 *
 * Return: 0 or a negative errno.
 */
int frame_init(unsigned int megabytes, unsigned int n_frames, char *err);

/** frame_exit() - end DPDK's environment */
void frame_exit(void);

/** frame_pool_free() - number of buffers not in use, for tests of leaks */
unsigned int frame_pool_free(void);

/** frame_alloc() - an empty frame; NULL if there is no buffer left */
struct rte_mbuf *frame_alloc(void);

/** frame_from() - a frame with the given bytes; NULL without a buffer */
struct rte_mbuf *frame_from(const void *bytes, size_t len);

/** frame_copy() - a copy that shares nothing; NULL without a buffer */
struct rte_mbuf *frame_copy(const struct rte_mbuf *m);

static inline void frame_free(struct rte_mbuf *m)
{
	rte_pktmbuf_free_seg(m);
}

static inline uint8_t *frame_data(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, uint8_t *);
}

static inline uint32_t frame_len(const struct rte_mbuf *m)
{
	return m->data_len;
}

/* To be called by whoever filled the buffer: @len was checked. */
static inline void frame_set_len(struct rte_mbuf *m, uint32_t len)
{
	if (len < FRAME_PARSED)
		memset(frame_data(m) + len, 0, FRAME_PARSED - len);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
}

/**
 * struct frameq - first in, first out, of fixed size
 * @slot: the frames
 * @mask: size - 1; the size is a power of two
 * @head: number of frames taken out, ever
 * @tail: number of frames put in, ever
 */
struct frameq {
	struct rte_mbuf **slot;
	uint32_t mask;
	uint32_t head;
	uint32_t tail;
};

int frameq_init(struct frameq *q, uint32_t size);
/* Frees the frames in it, too. */
void frameq_free(struct frameq *q);
void frameq_flush(struct frameq *q);

static inline uint32_t frameq_count(const struct frameq *q)
{
	return q->tail - q->head;
}

static inline bool frameq_full(const struct frameq *q)
{
	return frameq_count(q) > q->mask;
}

/* The @i-th frame from the head, which must exist. */
static inline struct rte_mbuf *frameq_peek(const struct frameq *q, uint32_t i)
{
	return q->slot[(q->head + i) & q->mask];
}

/* The queue must not be full. */
static inline void frameq_put(struct frameq *q, struct rte_mbuf *m)
{
	q->slot[q->tail++ & q->mask] = m;
}

/* NULL if it is empty. */
static inline struct rte_mbuf *frameq_get(struct frameq *q)
{
	if (q->head == q->tail)
		return NULL;
	return q->slot[q->head++ & q->mask];
}

#endif /* WEFT_SWITCHD_FRAME_H */
