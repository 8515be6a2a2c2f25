// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading ahead, see ahead.h.
 *
 * Each access that goes on where a reader was doubles its window; what is asked
 * for ahead of it stays that much in front.  Accesses may skip blocks that were
 * read ahead: those may have been mapped around an earlier fault.
 */
#include <linux/minmax.h>

#include "ahead.h"
#include "cache.h"

#define WINDOW_MIN	4
#define WINDOW_MAX	32

/* The reader that this access belongs to; else a new one in place of the oldest. */
static struct weft_stream *find_stream(struct weft_inode *wi, u64 index)
{
	struct weft_stream *oldest = &wi->stream[0];
	int i;

	lockdep_assert_held(&wi->lock);
	for (i = 0; i < WEFT_STREAMS; i++) {
		struct weft_stream *s = &wi->stream[i];

		if (s->age && index > s->at && index <= s->end)
			return s;
		if (s->age < oldest->age)
			oldest = s;
	}
	oldest->window = 0;
	oldest->at = index;
	oldest->end = index + 1;
	return oldest;
}

static void next_window(struct weft_inode *wi, u64 index, u64 *from, u64 *to)
{
	struct weft_stream *s;

	spin_lock(&wi->lock);
	s = find_stream(wi, index);
	s->age = ++wi->stream_age;
	/* the very first block counts as sequential, other first ones do not */
	if (index > s->at || !index)
		s->window = clamp_t(u32, s->window * 2, WINDOW_MIN, WINDOW_MAX);
	s->at = index;
	*from = max(s->end, index + 1);
	*to = max(*from, index + 1 + s->window);
	s->end = *to;
	spin_unlock(&wi->lock);
}

void weft_ahead(struct weft_inode *wi, u64 index)
{
	u64 from, to, blocks;

	next_window(wi, index, &from, &to);
	blocks = DIV_ROUND_UP_ULL(i_size_read(&wi->vfs), weft_block_size(wi));
	to = min(to, blocks);
	for (; from < to; from++) {
		struct weft_cline *cl = weft_cline_get(wi, from, false, 0);

		if (IS_ERR(cl))
			break;
		weft_cline_prefetch(cl);
		weft_cline_put(cl);
	}
}
