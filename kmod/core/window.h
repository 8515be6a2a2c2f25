/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much may be under way from a peer, or to it: a window in bytes that learns from delay
 * and loss.
 *
 * TCP Vegas (Brakmo, O'Malley, Peterson 1994), held under the curve of CUBIC (RFC 9438)
 * after a loss, in bytes of blocks instead of segments:
 *
 * - Once in a round (a window of answers) the shortest time that an answer took is compared
 *   with the shortest of the last seconds, the base.  What that is longer, times the rate, is
 *   what stands in queues because of us: window * (best - base) / best.  Less than
 *   WEFT_WINDOW_QUEUE_LEAST: the window grows by a step; more than WEFT_WINDOW_QUEUE_MOST: it
 *   shrinks by one.  At first it doubles, until that much stands, or something is lost.
 *   So the rate of a bottleneck is used, and its queue stays short, on any network: both
 *   bounds are bytes, and no time stands anywhere.
 * - A loss makes the window 0.7 times as large (half, if it was still doubling), once for
 *   all that was under way then.  From there it stays under CUBIC's curve: fast to where the
 *   loss was, slowly past it, and faster again if nothing happens.  A buffer on the way that
 *   is smaller than the queue that Vegas asks for is so overrun every few seconds, where
 *   one step more for each round would do it after some milliseconds; and a loss costs a
 *   time-out.
 * - A repetition that turns out to have been needless takes its cut back (RFC 4015, Eifel).
 *
 * It does not grow when nobody asked for more (RFC 7661).
 *
 * Pure arithmetic on what it is told, for the kernel and for tests/unit; the caller keeps
 * others out (blocks/flight.c does).
 */
#ifndef WEFT_CORE_WINDOW_H
#define WEFT_CORE_WINDOW_H

#include "types.h"

#define WEFT_WINDOW_MIN		(16u << 10)	/* never less; one block, if that is more */
#define WEFT_WINDOW_FIRST	(64u << 10)	/* of a peer that has not answered yet */
#define WEFT_WINDOW_MAX		(2u << 20)	/* never more */
#define WEFT_WINDOW_STEP	(8u << 10)	/* for each round; one block, if that is more */
#define WEFT_WINDOW_QUEUE_LEAST	(256u << 10)	/* alpha of Vegas */
#define WEFT_WINDOW_QUEUE_MOST	(512u << 10)	/* beta */
#define WEFT_WINDOW_BASE_NS	10000000000ull	/* the base is of the last one or two of these */

/**
 * struct weft_window - what may be under way to one peer
 * @size: so many bytes, WEFT_WINDOW_MIN..WEFT_WINDOW_MAX
 * @flight: so many are; more than @size only by what did not ask for room
 * @most: @size when something was last lost: where CUBIC's curve is flat
 * @before: @size before that loss, 0: it cannot be taken back any more
 * @before_most: @most before it
 * @answered: bytes of this round
 * @starting: nothing was lost yet, and no queue seen: it doubles
 * @pressed: there was no room for something in this round
 * @best: the shortest time of this round, ns
 * @base: the shortest of this period, and of the one before it, ns
 * @period: when this one began, ns
 * @cut: when something was last lost, ns; 0: nothing was
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

/*
 * Is there room for so many bytes?  Always for one block, if nothing is under way, however
 * large it is.
 */
bool weft_window_room(const struct weft_window *w, u32 bytes);

/**
 * weft_window_take() - so many bytes are asked for, if there is room
 *
 * Return: false: there is none, nothing was taken.
 */
bool weft_window_take(struct weft_window *w, u32 bytes);

/* They are asked for anyway: a program waits for them. */
void weft_window_force(struct weft_window *w, u32 bytes);

/* They are under way no longer: answered, or given up. */
void weft_window_give(struct weft_window *w, u32 bytes);

/**
 * weft_window_answered() - and they have come
 * @took: ns from the request, which was sent once
 * @now: ns, from any beginning but 0
 */
void weft_window_answered(struct weft_window *w, u32 bytes, u64 took, u64 now);

/**
 * weft_window_lost() - no answer came in time
 * @asked: when it was asked for, ns
 * @now: ns
 *
 * Return: whether the window became smaller for it: not for the rest of what was lost
 * together.
 */
bool weft_window_lost(struct weft_window *w, u64 asked, u64 now);

/* The last one that counted as lost was only late. */
void weft_window_needless(struct weft_window *w);

#endif /* WEFT_CORE_WINDOW_H */
