/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults of the wire, injected where frames enter the switch: loss,
 * repetition, damage, reordering and delay, in this order.
 *
 * What happens to a frame depends only on the seed, the port, and how many
 * frames the port has received before: the same sequence of frames meets the
 * same faults, whatever happens on other ports, and changing the rate of one
 * fault does not change the choices of another.
 */
#ifndef WEFT_SWITCHD_FAULT_H
#define WEFT_SWITCHD_FAULT_H

#include "frame.h"

/* Frames that can be held back at once for reordering, a port. */
#define FAULT_HOLD_MAX		16
/* A held frame goes on after 1 to this many later frames of its port... */
#define FAULT_HOLD_SPAN		4
/* ... or when it was held this long. */
#define FAULT_HOLD_NS		1000000ull
/* Frames that can be on the way at once when there is a delay, a port. */
#define FAULT_DELAY_MAX		2048

/**
 * struct fault_config - how bad the wire is
 * @loss: probability that a frame is lost
 * @dup: probability that a frame comes twice
 * @reorder: probability that a frame is overtaken by later ones
 * @corrupt: probability that one byte behind the Ethernet header is changed, but for ARP's
 * @delay_ns: time that every frame takes longer
 */
struct fault_config {
	double loss;
	double dup;
	double reorder;
	double corrupt;
	uint64_t delay_ns;
};

/**
 * struct fault_counters - what was done to the frames of a port
 * @lost: frames thrown away
 * @duplicated: frames repeated once
 * @damaged: frames with a changed byte
 * @held: frames held back
 * @reordered: frames held back that a later frame of the port overtook
 * @delayed: frames delayed
 * @overflow: frames dropped because too many were on the way, or no buffer
 */
struct fault_counters {
	uint64_t lost;
	uint64_t duplicated;
	uint64_t damaged;
	uint64_t held;
	uint64_t reordered;
	uint64_t delayed;
	uint64_t overflow;
};

struct fault_held {
	struct rte_mbuf *m;
	uint64_t due;		/* goes on at this time at the latest */
	uint32_t overtaken;	/* later frames that went before it */
	uint32_t span;		/* goes on after so many */
};

/**
 * struct fault - the faults of one port
 * @config: how bad the wire is; may be changed at any time
 * @n: what was done
 * @seed: of the choices, different for every port
 * @n_frames: frames received: the number of the next frame
 * @held: frames held back, in the order in which they came
 * @n_held: how many
 * @delayq: frames on the way, the first one due first
 * @due: when each of @delayq is due (same index as in the queue)
 * @last_due: when the last frame put into @delayq is due
 * @out: takes a frame that has got through
 * @out_arg: first argument of @out
 */
struct fault {
	struct fault_config config;
	struct fault_counters n;
	uint64_t seed;
	uint64_t n_frames;
	struct fault_held held[FAULT_HOLD_MAX];
	unsigned int n_held;
	struct frameq delayq;
	uint64_t due[FAULT_DELAY_MAX];
	uint64_t last_due;
	void (*out)(void *arg, struct rte_mbuf *m);
	void *out_arg;
};

/**
 * fault_init() - a wire without faults
 * @f: to be filled in
 * @port: number of the port
 * @seed: seed of the whole switch
 * @out: takes a frame that has got through
 * @out_arg: its first argument
 *
 * Return: 0 or -ENOMEM.
 */
int fault_init(struct fault *f, unsigned int port, uint64_t seed,
	       void (*out)(void *arg, struct rte_mbuf *m), void *out_arg);

/** fault_reseed() - start the sequence of choices anew */
void fault_reseed(struct fault *f, unsigned int port, uint64_t seed);

/**
 * fault_flush() - throw away the frames that are held or on the way
 * @f: the port's faults
 *
 * Return: how many there were.
 */
unsigned int fault_flush(struct fault *f);

void fault_free(struct fault *f);

/** fault_active() - whether frames have to go through fault_frame() */
static inline bool fault_active(const struct fault *f)
{
	return f->config.loss > 0 || f->config.dup > 0 ||
	       f->config.reorder > 0 || f->config.corrupt > 0 ||
	       f->config.delay_ns || f->n_held || frameq_count(&f->delayq);
}

/**
 * fault_frame() - a frame has come in
 * @f: the port's faults
 * @m: the frame, whose owner is @f from now on; not shared
 * @now: time in ns
 */
void fault_frame(struct fault *f, struct rte_mbuf *m, uint64_t now);

/** fault_poll() - pass on what is due at time @now */
void fault_poll(struct fault *f, uint64_t now);

/** fault_due() - when to call fault_poll(); UINT64_MAX if nothing is waiting */
uint64_t fault_due(const struct fault *f);

#endif /* WEFT_SWITCHD_FAULT_H */
