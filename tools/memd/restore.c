// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contents of blocks after a restart: each frame of the backing file says of
 * which version of which block it is.  A block is the newest version of which
 * all frames are there, and which is not from before the block was cut.
 */
#include <stdlib.h>

#include "journal.h"
#include "log.h"
#include "memd.h"

static int compare(const void *a, const void *b)
{
	const struct frame_id *x = a, *y = b;

	if (x->region != y->region)
		return x->region < y->region ? -1 : 1;
	if (x->piece != y->piece)
		return x->piece < y->piece ? -1 : 1;
	if (x->version != y->version)
		return x->version > y->version ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* The frame of a version of a piece, among @n sorted ones of its block. */
static const struct frame_id *find(const struct frame_id *ids, size_t n,
				   u64 piece, u64 version)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (ids[i].piece == piece && ids[i].version == version)
			return &ids[i];
	return NULL;
}

/* All frames of one block.  Return: false without memory. */
static bool restore_block(struct memd *m, struct region *r,
			  const struct frame_id *ids, size_t n)
{
	u32 pieces = r->block / FRAME_SIZE, i;
	u64 index = ids[0].piece / pieces;
	const struct frame_id *f;
	struct block *b;
	size_t v;

	if (index >= region_blocks(r, r->size))
		return true;
	/* the first piece has every version that can be whole, newest first */
	for (v = 0; v < n && ids[v].piece == index * pieces &&
	     ids[v].version > region_base(r, index); v++) {
		for (i = 1; i < pieces; i++)
			if (!find(ids, n, index * pieces + i, ids[v].version))
				break;
		if (i < pieces)
			continue;
		b = region_block(&m->regions, r, index, true);
		if (!b)
			return false;
		b->version = ids[v].version;
		for (i = pieces; i--; ) {
			f = find(ids, n, index * pieces + i, ids[v].version);
			frames_claim(&m->frames, f, b->frame);
			b->frame = f->frame;
		}
		r->used += r->block;
		return true;
	}
	return true;
}

int restore_blocks(struct memd *m, char *err)
{
	struct frame_id *ids = NULL;
	size_t n = 0, i, end;
	bool ok = !frames_scan(&m->frames, &ids, &n);

	if (ok)
		qsort(ids, n, sizeof(*ids), compare);
	for (i = 0; ok && i < n; i = end) {
		struct region *r = region_find(&m->regions, ids[i].region);
		u32 pieces = r ? r->block / FRAME_SIZE : 1;

		for (end = i + 1; end < n && ids[end].region == ids[i].region &&
		     ids[end].piece / pieces == ids[i].piece / pieces; end++)
			;
		if (r)
			ok = restore_block(m, r, ids + i, end - i);
	}
	free(ids);
	if (!ok)
		return fail(err, "cannot read the blocks in %s: %s",
			    m->backing.path, strerror(errno));
	frames_scanned(&m->frames);
	if (m->regions.n)
		log_say("%s: %u regions, %u MiB of contents", m->backing.path,
			m->regions.n, m->frames.used / 256);
	return 0;
}
