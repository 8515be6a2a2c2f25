// SPDX-License-Identifier: GPL-2.0-only
/* Vegas under the curve of CUBIC, see window.h. */
#include "window.h"

#define NEVER		(~0ull)
#define MS_NS		1000000
#define MS_MAX		20000	/* by then the curve is far above WEFT_WINDOW_MAX */
/* in tenths: C of RFC 9438, steps a second^3; the part of the window that a loss leaves */
#define CUBIC_C		4
#define CUBIC_BETA	7

static u32 bounded(u64 size)
{
	if (size < WEFT_WINDOW_MIN)
		return WEFT_WINDOW_MIN;
	return size > WEFT_WINDOW_MAX ? WEFT_WINDOW_MAX : (u32)size;
}

static void new_round(struct weft_window *w)
{
	w->answered = 0;
	w->pressed = false;
	w->best = NEVER;
}

void weft_window_init(struct weft_window *w)
{
	*w = (struct weft_window){
		.size = WEFT_WINDOW_FIRST, .starting = true,
		.base = { NEVER, NEVER },
	};
	new_round(w);
}

bool weft_window_room(const struct weft_window *w, u32 bytes)
{
	return !w->flight || (u64)w->flight + bytes <= w->size;
}

bool weft_window_take(struct weft_window *w, u32 bytes)
{
	if (!weft_window_room(w, bytes)) {
		w->pressed = true;
		return false;
	}
	w->flight += bytes;
	return true;
}

void weft_window_force(struct weft_window *w, u32 bytes)
{
	w->flight += bytes;
}

void weft_window_give(struct weft_window *w, u32 bytes)
{
	w->flight -= bytes < w->flight ? bytes : w->flight;
}

/* --- the curve of CUBIC ---------------------------------------------------------------- */

/* The integer cube root, bit by bit. */
static u32 cube_root(u64 x)
{
	u32 root = 0;
	int bit;

	for (bit = 20; bit >= 0; bit--) {
		u64 more = root | 1u << bit;

		if (more * more * more <= x)
			root = (u32)more;
	}
	return root;
}

/* Height of the curve at @now, bytes; no limit without a loss.  @step: a segment. */
static u32 curve(const struct weft_window *w, u32 step, u64 now)
{
	u64 since = (now - w->cut) / MS_NS, drop, flat, c = (u64)step * CUBIC_C / 10;
	int64_t off, to;

	if (!w->cut)
		return WEFT_WINDOW_MAX;
	/* K, ms: from the cut until the curve is back where the loss was */
	drop = (u64)w->most * (10 - CUBIC_BETA) / 10;
	flat = cube_root(drop * 1000000000 / c);
	if (since > MS_MAX)
		since = MS_MAX;
	off = (int64_t)since - (int64_t)flat;
	to = (int64_t)w->most + (int64_t)c * off * off * off / 1000000000;
	return bounded(to > 0 ? (u64)to : 0);
}

/* --- delay ------------------------------------------------------------------------------- */

static u64 base_of(const struct weft_window *w)
{
	return w->base[0] < w->base[1] ? w->base[0] : w->base[1];
}

static void note_base(struct weft_window *w, u64 took, u64 now)
{
	if (now - w->period > WEFT_WINDOW_BASE_NS) {
		w->base[1] = w->base[0];
		w->base[0] = NEVER;
		w->period = now;
	}
	if (took < w->base[0])
		w->base[0] = took;
}

static u64 queued(const struct weft_window *w)
{
	u64 best = w->best / 16, base = base_of(w) / 16;	/* no product overflows */

	return best > base ? w->size * (best - base) / best : 0;
}

/*
 * Growth in a round that was pressed and saw no queue: a step, as in Vegas; below the curve up to
 * half of the window (RFC 9438, 4.4), to make up soon for several losses in a row.
 */
static u64 growth(const struct weft_window *w, u32 step, u32 most)
{
	u64 below = w->cut && most > w->size ? most - w->size : 0;

	if (below > w->size / 2)
		below = w->size / 2;
	return below > step ? below : step;
}

/* @bytes: of the last answer, a block, which is the least step. */
static void end_round(struct weft_window *w, u32 bytes, u64 now)
{
	u32 step = bytes > WEFT_WINDOW_STEP ? bytes : WEFT_WINDOW_STEP;
	u64 queue = queued(w), size = w->size, most = curve(w, step, now);

	if (queue > WEFT_WINDOW_QUEUE_LEAST)
		w->starting = false;
	if (queue > WEFT_WINDOW_QUEUE_MOST)
		size = size > step ? size - step : 0;
	else if (w->pressed && w->starting)
		size *= 2;
	else if (w->pressed && queue < WEFT_WINDOW_QUEUE_LEAST)
		size += growth(w, step, most);
	/* the curve limits growth only */
	if (size > w->size && size > most)
		size = w->size > most ? w->size : most;
	w->size = bounded(size);
	new_round(w);
}

void weft_window_answered(struct weft_window *w, u32 bytes, u64 took, u64 now)
{
	took = took ? took : 1;
	note_base(w, took, now);
	if (took < w->best)
		w->best = took;
	w->answered += bytes;
	if (w->answered >= w->size)
		end_round(w, bytes, now);
}

/* --- loss -------------------------------------------------------------------------------- */

bool weft_window_lost(struct weft_window *w, u64 asked, u64 now)
{
	u32 size = w->size;

	if (w->cut && asked <= w->cut)
		return false;
	w->before = size;
	w->before_most = w->most;
	w->before_cut = w->cut;
	/* fast convergence (RFC 9438, 4.7): lost again below the last loss, so leave room */
	w->most = w->cut && size < w->most ? size / 20 * (10 + CUBIC_BETA) : size;
	w->size = bounded(w->starting ? size / 2 : size / 10 * CUBIC_BETA);
	w->starting = false;
	w->cut = now;
	new_round(w);
	return true;
}

void weft_window_needless(struct weft_window *w)
{
	if (!w->before)
		return;
	if (w->size < w->before)
		w->size = w->before;
	w->most = w->before_most;
	w->cut = w->before_cut;
	w->before = 0;
}
