/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Congestion window: how many bytes may be in flight from a peer, or to it; learnt from delay and
 * loss.  blocks/flight.c keeps one for each home and direction and provides the lock; tests/unit
 * plays it.  Pure arithmetic: no clock, no locks, no messages.
 */
#ifndef WEFT_CORE_WINDOW_H
#define WEFT_CORE_WINDOW_H

#include "types.h"

/*
 * TCP Vegas (Brakmo, O'Malley, Peterson 1994), held under the curve of CUBIC (RFC 9438) after a
 * loss, in bytes of blocks instead of segments:
 *
 * - Once a round (a window of answers) the shortest round trip is compared with the base, the
 *   shortest of the last seconds.  window * (best - base) / best bytes of ours stand in queues.
 *   Below WEFT_WINDOW_QUEUE_LEAST the window grows by a step, above WEFT_WINDOW_QUEUE_MOST it
 *   shrinks by one; at first it doubles until so much stands, or something is lost.  Both bounds
 *   are bytes: they keep a bottleneck busy and its queue short on any network.
 * - A loss makes the window 0.7 times as large (half, while it doubled), once for all that was in
 *   flight.  Then it stays under CUBIC's curve: fast to where the loss was, slow past it, faster
 *   later.  A buffer that is smaller than the queue of Vegas overflows every few seconds so;
 *   with a step a round it would after milliseconds, and each loss costs a time-out.
 * - A spurious retransmission takes its cut back (RFC 4015, Eifel).
 * - The window does not grow while nobody asks for more (RFC 7661).
 */
#define WEFT_WINDOW_MIN		(16u << 10)	/* never less; one block, if that is more */
#define WEFT_WINDOW_FIRST	(64u << 10)	/* of a peer that has not answered yet */
#define WEFT_WINDOW_MAX		(2u << 20)	/* never more */
#define WEFT_WINDOW_STEP	(8u << 10)	/* a round; one block, if that is more */
#define WEFT_WINDOW_QUEUE_LEAST	(256u << 10)	/* alpha of Vegas */
#define WEFT_WINDOW_QUEUE_MOST	(512u << 10)	/* beta */
#define WEFT_WINDOW_BASE_NS	10000000000ull	/* the base is of the last one or two of these */

/**
 * struct weft_window - what may be in flight from or to one peer
 * @size: the window, bytes, WEFT_WINDOW_MIN..WEFT_WINDOW_MAX
 * @flight: bytes in flight; more than @size only by weft_window_force()
 * @most: @size at the last loss: the flat part of CUBIC's curve
 * @before: @size before that loss; 0: the cut cannot be undone any more
 * @before_most: @most before it
 * @answered: bytes answered in this round
 * @starting: no loss and no queue seen yet: the window doubles
 * @pressed: something found no room in this round
 * @best: shortest round trip of this round, ns
 * @base: shortest round trip of this period, and of the one before, ns
 * @period: when this period began, ns
 * @cut: when something was last lost, ns; 0: never
 * @before_cut: @cut before that
 */
struct weft_window {
	u32 size;
	u32 flight;
	u32 most;
	u32 before;
	u32 before_most;
	u32 answered;
	bool starting;
	bool pressed;
	u64 best;
	u64 base[2];
	u64 period;
	u64 cut;
	u64 before_cut;
};

void weft_window_init(struct weft_window *w);

/* Is there room for @bytes?  There is for one block of any size if nothing is in flight. */
bool weft_window_room(const struct weft_window *w, u32 bytes);

/* Count @bytes as in flight if there is room.  Return: false, with nothing counted, if not. */
bool weft_window_take(struct weft_window *w, u32 bytes);

/* Count @bytes as in flight in any case: a program waits for them. */
void weft_window_force(struct weft_window *w, u32 bytes);

/* @bytes are in flight no longer: answered, or given up. */
void weft_window_give(struct weft_window *w, u32 bytes);

/**
 * weft_window_answered() - a sample: @bytes have come
 * @took: round trip of a request that was sent once, ns
 * @now: ns, any clock that does not begin at 0
 */
void weft_window_answered(struct weft_window *w, u32 bytes, u64 took, u64 now);

/**
 * weft_window_lost() - no answer came in time
 * @asked: when the request was sent, ns
 * @now: ns
 *
 * Return: whether the window was cut: once for all that was lost together.
 */
bool weft_window_lost(struct weft_window *w, u64 asked, u64 now);

/* Undo the last cut: the retransmission was spurious. */
void weft_window_needless(struct weft_window *w);

#endif /* WEFT_CORE_WINDOW_H */
