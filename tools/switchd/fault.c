// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults of the wire.
 */
#include "fault.h"

#include <errno.h>

#include "tools/common/random.h"

/* What a random number is used for: each use has its own. */
enum use {
	USE_LOSS,
	USE_DUP,
	/* From here on separately for a frame and for its repetition. */
	USE_DAMAGE,
	USE_DAMAGE_WHERE,
	USE_DAMAGE_HOW,
	USE_REORDER,
	USE_REORDER_SPAN,
	USE_COUNT
};

/* The random number of a use for the current frame. */
static uint64_t draw(const struct fault *f, unsigned int use)
{
	uint64_t state = f->seed + (f->n_frames * (2 * USE_COUNT) + use) * RANDOM_STEP;

	return random_u64(&state);
}

static bool happens(const struct fault *f, unsigned int use, double p)
{
	return p > 0 && (double)(draw(f, use) >> 11) * 0x1p-53 < p;
}

void fault_reseed(struct fault *f, unsigned int port, uint64_t seed)
{
	f->seed = random_mix(random_mix(seed) + port + 1);
	f->n_frames = 0;
}

int fault_init(struct fault *f, unsigned int port, uint64_t seed,
	       void (*out)(void *arg, struct rte_mbuf *m), void *out_arg)
{
	memset(f, 0, sizeof(*f));
	f->out = out;
	f->out_arg = out_arg;
	fault_reseed(f, port, seed);
	return frameq_init(&f->delayq, FAULT_DELAY_MAX);
}

unsigned int fault_flush(struct fault *f)
{
	unsigned int i, n = f->n_held + frameq_count(&f->delayq);

	for (i = 0; i < f->n_held; i++)
		frame_free(f->held[i].m);
	f->n_held = 0;
	frameq_flush(&f->delayq);
	return n;
}

void fault_free(struct fault *f)
{
	fault_flush(f);
	frameq_free(&f->delayq);
}

/* Last stage: the delay.  Frames stay in order, also when it is changed. */
static void send_on(struct fault *f, struct rte_mbuf *m, uint64_t now)
{
	uint64_t due = now + f->config.delay_ns;

	if (!f->config.delay_ns && !frameq_count(&f->delayq)) {
		f->out(f->out_arg, m);
		return;
	}
	if (frameq_full(&f->delayq)) {
		f->n.overflow++;
		frame_free(m);
		return;
	}
	if (due < f->last_due && frameq_count(&f->delayq))
		due = f->last_due;
	f->last_due = due;
	f->due[f->delayq.tail & f->delayq.mask] = due;
	frameq_put(&f->delayq, m);
	f->n.delayed++;
}

static void release(struct fault *f, unsigned int i, uint64_t now)
{
	struct fault_held held = f->held[i];

	f->n_held--;
	memmove(&f->held[i], &f->held[i + 1],
		(f->n_held - i) * sizeof(f->held[0]));
	if (held.overtaken)
		f->n.reordered++;
	send_on(f, held.m, now);
}

/* A frame goes past those that are held back. */
static void overtake(struct fault *f, struct rte_mbuf *m, unsigned int n_before,
		     uint64_t now)
{
	unsigned int i;

	send_on(f, m, now);
	/* @n_before: a frame does not overtake the twin held just now. */
	for (i = 0; i < n_before; ) {
		struct fault_held *held = &f->held[i];

		if (++held->overtaken >= held->span) {
			release(f, i, now);
			n_before--;
		} else {
			i++;
		}
	}
}

static void damage(const struct fault *f, struct rte_mbuf *m, unsigned int base)
{
	uint32_t span = frame_len(m) - FRAME_MIN;
	uint32_t where = (uint32_t)(draw(f, base + USE_DAMAGE_WHERE) % span);
	uint8_t how = (uint8_t)(draw(f, base + USE_DAMAGE_HOW) % 255 + 1);

	frame_data(m)[FRAME_MIN + where] ^= how;
}

/*
 * ARP has no check sum but Ethernet's own, which damaged frames evade here: one damaged byte would
 * have a machine send to a wrong address for half a minute, whatever protocol it speaks.
 */
static bool may_be_damaged(const struct rte_mbuf *m)
{
	const uint8_t *type = frame_data(m) + FRAME_TYPE;

	return frame_len(m) > FRAME_MIN && (type[0] != 0x08 || type[1] != 0x06);
}

/* Damage and reordering, @base tells a frame from its repetition. */
static void one_copy(struct fault *f, struct rte_mbuf *m, unsigned int base,
		     unsigned int n_before, uint64_t now)
{
	if (happens(f, base + USE_DAMAGE, f->config.corrupt) && may_be_damaged(m)) {
		damage(f, m, base);
		f->n.damaged++;
	}
	if (happens(f, base + USE_REORDER, f->config.reorder) &&
	    f->n_held < FAULT_HOLD_MAX) {
		struct fault_held *held = &f->held[f->n_held++];

		held->m = m;
		held->due = now + FAULT_HOLD_NS;
		held->overtaken = 0;
		held->span = 1 + (uint32_t)(draw(f, base + USE_REORDER_SPAN) %
					    FAULT_HOLD_SPAN);
		f->n.held++;
		return;
	}
	overtake(f, m, n_before < f->n_held ? n_before : f->n_held, now);
}

void fault_frame(struct fault *f, struct rte_mbuf *m, uint64_t now)
{
	struct rte_mbuf *twin = NULL;
	unsigned int n_before = f->n_held;

	if (happens(f, USE_LOSS, f->config.loss)) {
		f->n.lost++;
		frame_free(m);
		f->n_frames++;
		return;
	}
	if (happens(f, USE_DUP, f->config.dup)) {
		/* Copied before the first one is damaged. */
		twin = frame_copy(m);
		if (twin)
			f->n.duplicated++;
		else
			f->n.overflow++;
	}
	one_copy(f, m, 0, n_before, now);
	if (twin)
		one_copy(f, twin, USE_COUNT, n_before, now);
	f->n_frames++;
}

void fault_poll(struct fault *f, uint64_t now)
{
	/* The first one held is the first one due. */
	while (f->n_held && f->held[0].due <= now)
		release(f, 0, now);
	while (frameq_count(&f->delayq) &&
	       f->due[f->delayq.head & f->delayq.mask] <= now)
		f->out(f->out_arg, frameq_get(&f->delayq));
}

uint64_t fault_due(const struct fault *f)
{
	uint64_t due = UINT64_MAX;

	if (f->n_held)
		due = f->held[0].due;
	if (frameq_count(&f->delayq) &&
	    f->due[f->delayq.head & f->delayq.mask] < due)
		due = f->due[f->delayq.head & f->delayq.mask];
	return due;
}
