// SPDX-License-Identifier: GPL-2.0-only
/* What a blade has promised, see promise.h. */
#include "promise.h"

#include "disk.h"
#include "tests/common/check.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/lines/region.h"

struct promises promised;

void promise_begin(void)
{
	memset(&promised, 0, sizeof(promised));
	promised.marked = -1;
}

void promise_add_size(struct mregion *mr, u32 blocks)
{
	CHECK(mr->n_sizes < PROMISE_SIZES);
	mr->size[mr->n_sizes].blocks = blocks;
	mr->size[mr->n_sizes++].time = disk_time;
}

/* Those before @n are not what it may have any more. */
static void forget_sizes(struct mregion *mr, u32 n)
{
	mr->n_sizes -= n;
	memmove(&mr->size[0], &mr->size[n], mr->n_sizes * sizeof(mr->size[0]));
}

/* What it was given until @time is on the disk: of that only the last size is left. */
static void forget_sizes_before(struct mregion *mr, u64 time)
{
	u32 k;

	for (k = mr->n_sizes; k > 1 && mr->size[k - 1].time > time; k--)
		;
	if (k > 1)
		forget_sizes(mr, k - 1);
}

void promise_add_content(struct mblock *mb, u32 tag)
{
	CHECK(mb->n < PROMISE_VERSIONS);
	mb->tag[mb->n] = tag;
	mb->time[mb->n++] = disk_time;
}

void promise_answered(struct mregion *mr, const struct weft_call *reply)
{
	u32 k;

	mr->txn = 0;
	mr->old_mode = mr->mode;
	if (mr->state == REMOVING) {
		mr->state = GONE;
		return;
	}
	if (mr->state == ASKED) {
		if (reply->region <= promised.highest_id)
			CHECK_FAIL("number %u is given again: %u was", reply->region,
				   promised.highest_id);
		mr->id = reply->region;
		mr->state = THERE;
		promised.highest_id = mr->id;
	}
	if (mr->n_sizes > 1 && mr->blocks < mr->size[mr->n_sizes - 2].blocks)
		forget_sizes(mr, mr->n_sizes - 1);
	/* what was cut off does not come back */
	for (k = mr->blocks; k < PROMISE_BLOCKS; k++)
		mr->b[k].certain = mr->b[k].n - 1;
}

void promise_note_sync(struct msync *sync)
{
	u32 i, k;

	sync->time = disk_time;
	sync->n_regions = promised.n_regions;
	for (i = 0; i < promised.n_regions; i++)
		for (k = 0; k < PROMISE_BLOCKS; k++)
			sync->contents[i][k] = promised.regions[i].b[k].n - 1;
}

void promise_keep_sync(const struct msync *sync)
{
	u32 i, k;

	for (i = 0; i < sync->n_regions; i++) {
		struct mregion *mr = &promised.regions[i];

		forget_sizes_before(mr, sync->time);
		for (k = 0; k < PROMISE_BLOCKS; k++)
			if (mr->b[k].certain < sync->contents[i][k])
				mr->b[k].certain = sync->contents[i][k];
	}
}

void promise_disk_synced(u64 time, u64 from, u64 to)
{
	u32 i, k;

	/* of the log alone what is answered tells more */
	if (from || to != ~0ull || promised.unread)
		return;
	for (i = 0; i < promised.n_regions; i++) {
		struct mregion *mr = &promised.regions[i];

		forget_sizes_before(mr, time);
		for (k = 0; k < PROMISE_BLOCKS; k++) {
			struct mblock *mb = &mr->b[k];

			while (mb->certain + 1 < mb->n && mb->time[mb->certain + 1] <= time)
				mb->certain++;
		}
	}
}
