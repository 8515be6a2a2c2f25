// SPDX-License-Identifier: GPL-2.0-only
/* What a blade has against what was promised, see compare.h. */
#include "compare.h"

#include "node.h"
#include "promise.h"
#include "tests/common/check.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/lines/blocks.h"
#include "tools/memd/lines/grace.h"
#include "tools/memd/lines/region.h"
#include "tools/memd/net/members.h"
#include "tools/memd/net/udp.h"
#include "tools/memd/store/frames.h"
#include "words.h"

struct compare_counts compare_counts;

static u32 tag_at(const u8 *data, u32 i)
{
	return get_unaligned_be32(data + (size_t)i * 4);
}

/* Which of its contents a block has; -1: none that it had. */
static int contents(struct memd *b, const struct mregion *mr, u32 index)
{
	struct region *r = region_find(b->b->regions, mr->id);
	struct weft_msg msg = {
		.type = WEFT_MSG_READ, .txn = weft_txn(NODE, 1),
		.line = weft_line_key(mr->id, WEFT_KIND_PAGE, index),
	};
	const struct mblock *mb = &mr->b[index];
	static u8 data[16384];
	u32 tag = 0, late, opens, i;
	struct block *blk;
	u32 mask = b->b->members->mask;

	late = b->b->grace->late;
	b->b->members->mask |= weft_node_bit(NODE);
	b->b->grace->late = 0;
	opens = r->opens;
	r->opens |= weft_node_bit(NODE);
	/* this looks whether it is intact */
	blocks_read(b, &msg);
	udp_flush(b->udp);
	r->opens = opens;
	b->b->members->mask = mask;
	b->b->grace->late = late;
	blk = region_block(b->b->regions, r, index, false);
	if (blk && blk->frame) {
		CHECK(!frames_load(b->b->frames, blk->frame, 0, data, r->block));
		tag = tag_at(data, 0);
		for (i = 1; i < r->block / 4; i++)
			if (tag_at(data, i) != tag)
				return -1;
		if (!tag)
			return -1;
	}
	for (i = mb->n; i--; )
		if (mb->tag[i] == tag)
			return (int)i;
	fprintf(stderr, "found %x, has %x of %u\n", tag, mb->tag[mb->n - 1], mb->n);
	return -1;
}

/* Return: which of its contents the block has, one that it may have. */
static u32 compare_block(struct memd *b, const struct mregion *mr, u32 index)
{
	const struct mblock *mb = &mr->b[index];
	int is = contents(b, mr, index);

	compare_counts.blocks++;
	if (is < 0)
		CHECK_FAIL("block %u of %s (%u) has what it never had", index, mr->name, mr->id);
	if ((u32)is < mb->certain)
		CHECK_FAIL("block %u of %s (%u) has contents %d: %u are certain, %u the last",
			   index, mr->name, mr->id, is, mb->certain, mb->n - 1);
	compare_counts.older += mb->tag[is] && (u32)is < mb->n - 1;
	compare_counts.zeros += !mb->tag[is] && (u32)is < mb->n - 1;
	return (u32)is;
}

/* It all comes from the disk, so that it is on it. */
static void learn_block(struct mblock *mb, u32 tag)
{
	mb->tag[0] = tag;
	mb->time[0] = 0;
	mb->n = 1;
	mb->certain = 0;
}

static bool same_region(const struct region *r, const struct mregion *mr)
{
	return r->name_len == strlen(mr->name) && !memcmp(r->name, mr->name, r->name_len) &&
	       r->block == mr->block;
}

static bool had_size(const struct mregion *mr, u64 size)
{
	u32 i;

	for (i = 0; i < mr->n_sizes; i++)
		if (size == mr->size[i].blocks * mr->block)
			return true;
	return false;
}

/* The region that has the name of @mr, NULL if there is none: whichever may be. */
static struct region *find_region(struct memd *b, const struct mregion *mr)
{
	struct region *r = region_named(b->b->regions, mr->name, (u32)strlen(mr->name));

	if (r && mr->state == GONE)
		CHECK_FAIL("%s was removed, and is there", mr->name);
	if (r && !same_region(r, mr))
		CHECK_FAIL("%s is another region", mr->name);
	if (!r && mr->state == THERE)
		CHECK_FAIL("%s (%u) is not there", mr->name, mr->id);
	if (mr->state == ASKED) {
		compare_counts.asked_there += !!r;
		compare_counts.asked_not += !r;
	}
	if (r && (mr->id || mr->state != ASKED) && r->id != mr->id)
		CHECK_FAIL("%s has number %u, not %u", mr->name, r->id, mr->id);
	compare_counts.gone_back += r && mr->state == REMOVING;
	return r;
}

static void learn_region(const struct region *r, struct mregion *mr, bool crashed)
{
	mr->state = THERE;
	mr->blocks = (u32)(r->size / r->block);
	if (crashed)
		mr->n_sizes = 0;
	if (crashed || mr->size[mr->n_sizes - 1].blocks != mr->blocks)
		promise_add_size(mr, mr->blocks);
	mr->mode = mr->old_mode = r->mode;
	if (r->id > promised.highest_id)
		promised.highest_id = r->id;
}

/* The log says how it ended, and what is lost, and nothing else of that. */
static void compare_words(bool crashed, bool learn)
{
	if ((crashed && promised.marked > 0) != words_have("was in use when its machine ended") &&
	    !(crashed && promised.marked < 0))
		CHECK_FAIL("the log does not say how it ended (%d, %d)", crashed, promised.marked);
	if (learn && crashed)
		promised.lost |= words_have("is lost");
	/* what is lost with a machine is said until it is written anew */
	if (!crashed && ((words_have("is lost") && !promised.lost) || words_have("is older")))
		CHECK_FAIL("the log speaks of losses");
}

void compare_blade(struct memd *b, bool crashed, bool learn)
{
	bool any = false;
	u32 i, k, known = 0;

	for (i = 0; i < promised.n_regions; i++) {
		struct mregion *mr = &promised.regions[i];
		struct region *r;

		if (mr->state == NEVER)
			continue;
		if (learn)
			mr->txn = 0;
		r = find_region(b, mr);
		if (!r) {
			if (learn)
				mr->state = GONE;
			continue;
		}
		known++;
		mr->id = r->id;
		if (!had_size(mr, r->size) || (!crashed && r->size != mr->blocks * r->block))
			CHECK_FAIL("%s has %llu bytes, not %u blocks or %u", mr->name,
				   (unsigned long long)r->size, mr->blocks, mr->size[0].blocks);
		if (r->mode != mr->mode && r->mode != mr->old_mode)
			CHECK_FAIL("%s has mode %o, not %o", mr->name, r->mode, mr->mode);
		if (learn)
			learn_region(r, mr, crashed);
		for (k = 0; k < PROMISE_BLOCKS; k++) {
			struct mblock *mb = &mr->b[k];
			u32 tag = 0;

			if (k * r->block < r->size) {
				u32 is = compare_block(b, mr, k);

				any |= is < mb->n - 1;
				tag = mb->tag[is];
			}
			if (learn && crashed)
				learn_block(mb, tag);
		}
	}
	for (i = 0, k = 0; i < b->b->regions->n; i++)
		k += !b->b->regions->by_id[i]->unlinked;
	if (k != known)
		CHECK_FAIL("%u regions have names, not %u", k, known);
	if (b->b->regions->next_id <= promised.highest_id)
		CHECK_FAIL("the next region has number %u, %u is given", b->b->regions->next_id,
			   promised.highest_id);
	if (!crashed && any)
		CHECK_FAIL("something is lost, but only the process has ended");
	compare_words(crashed, learn);
	if (learn)
		promised.unread = false;
}
