// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contents of blocks after a restart: each frame of the backing file says of
 * which version of which block it is.  A block is the newest version of which
 * all frames are there, and which is not from before the block was cut.
 *
 * After the end of the machine contents may be missing whose records are there.  Who
 * has an older version, too, is older then (frames.h says why there is one), and who
 * has none is found out when it is read (blocks.c).  The log says what is known: of
 * versions of which nothing got to the disk there is nothing to know.
 */
#include "catalog/restore.h"

#include <unistd.h>

#include "base/blade.h"
#include "base/log.h"
#include "lines/recovery.h"
#include "lines/region.h"
#include "store/backing.h"
#include "store/frames.h"
#include "store/layer.h"

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

#define TOLD_MAX	64	/* blocks that are named */

/* Damage that the end of the machine has left. */
struct restore {
	u32 n;		/* blocks that are not what they were */
	u32 beyond;	/* blocks behind the end of their region */
	u32 unknown;	/* blocks of regions that are not there */
	bool torn;	/* there are parts of versions that are not used */
};

static void tell(struct memd *m, struct restore *rs, const struct region *r,
		 u64 index, bool zeros)
{
	rs->torn = true;
	if (!m->b->backing->crashed || rs->n++ >= TOLD_MAX)
		return;
	log_say("block %llu of region %u %s: its last contents did not get to the disk of %s",
		(unsigned long long)index, r->id,
		zeros ? "is lost" : "is older than it was", m->b->backing->path);
}

/* The version @version of a block, all frames of it.  Return: false without memory. */
static bool use(struct memd *m, struct region *r, u64 index, u64 version,
		const struct frame_id *ids, size_t n)
{
	u32 pieces = r->block / FRAME_SIZE, i;
	struct block *b = region_block(m->b->regions, r, index, true);
	const struct frame_id *f;

	if (!b)
		return false;
	b->version = version;
	for (i = pieces; i--; ) {
		f = find(ids, n, index * pieces + i, version);
		frames_claim(m->b->frames, f, b->frame);
		b->frame = f->frame;
	}
	r->used += r->block;
	return true;
}

static bool is_whole(struct memd *m, const struct frame_id *ids, size_t n, u64 first,
		     u32 pieces, u64 version, bool look)
{
	u32 i;

	for (i = 0; i < pieces; i++) {
		const struct frame_id *f = find(ids, n, first + i, version);

		if (!f || (look && !frames_intact(m->b->frames, f)))
			return false;
	}
	return true;
}

/* All frames of one block.  Return: false without memory. */
static bool restore_block(struct memd *m, struct restore *rs, struct region *r,
			  const struct frame_id *ids, size_t n)
{
	u32 pieces = r->block / FRAME_SIZE;
	u64 index = ids[0].piece / pieces, base, newest = 0;
	size_t v;

	if (index >= region_blocks(r, r->size)) {
		rs->beyond++;
		return true;
	}
	base = region_base(r, index);
	for (v = 0; v < n; v++)
		if (ids[v].version > newest)
			newest = ids[v].version;
	/* the first piece has every version that can be whole, newest first */
	for (v = 0; v < n && ids[v].piece == index * pieces &&
	     ids[v].version > base; v++) {
		bool other = v + 1 < n && ids[v + 1].piece == ids[v].piece &&
			     ids[v + 1].version > base;

		if (!is_whole(m, ids, n, index * pieces, pieces, ids[v].version,
			      m->b->backing->crashed && other))
			continue;
		if (ids[v].version < newest)
			tell(m, rs, r, index, false);
		return use(m, r, index, ids[v].version, ids, n);
	}
	if (newest > base)
		tell(m, rs, r, index, true);
	return true;
}

/* Log a summary of the damage. */
static void conclude(struct memd *m, const struct restore *rs)
{
	if (!m->b->backing->crashed)
		return;
	if (rs->n > TOLD_MAX)
		log_say("... and so are %u other blocks", rs->n - TOLD_MAX);
	if (rs->beyond || rs->unknown)
		log_say("%s: %u blocks are behind the end of their regions, or of regions that are not there: they are dropped",
			m->b->backing->path, rs->beyond + rs->unknown);
	recovery_crashed(m);
	if (m->b->backing->taken) {
		log_say("%s is the twin's copy: of regions that are not durability=mirror what was written home in the last moment may be missing",
			m->b->backing->path);
		return;
	}
	log_say("%s was in use when its machine ended: what was written home in the last %u s before may be missing, also of blocks and sizes that are not mentioned here",
		m->b->backing->path, STORE_FLUSH_MS / 1000 * 2);
}

int restore_blocks(struct memd *m, char *err)
{
	struct restore rs = { 0 };
	struct frame_id *ids = NULL;
	size_t n = 0, i, end;
	bool ok = !frames_scan(m->b->frames, &ids, &n);

	if (ok)
		qsort(ids, n, sizeof(*ids), compare);
	for (i = 0; ok && i < n; i = end) {
		struct region *r = region_find(m->b->regions, ids[i].region);
		u32 pieces = r ? r->block / FRAME_SIZE : 1;

		for (end = i + 1; end < n && ids[end].region == ids[i].region &&
		     ids[end].piece / pieces == ids[i].piece / pieces; end++)
			;
		if (r)
			ok = restore_block(m, &rs, r, ids + i, end - i);
		else
			rs.unknown++;
		/* a region of which the catalog does not know was there all the same */
		if (ids[i].region >= m->b->regions->next_id &&
		    ids[i].region < WEFT_REGION_MAX)
			m->b->regions->next_id = ids[i].region + 1;
	}
	free(ids);
	if (!ok)
		return fail(err, "cannot read the blocks in %s: %s",
			    m->b->backing->path, strerror(errno));
	conclude(m, &rs);
	/*
	 * Unused versions must not come back: nodes may write versions with the same numbers from
	 * now on.  And the used ones have to be on the disk.
	 */
	if (frames_scanned(m->b->frames) ||
	    ((m->b->backing->crashed || m->b->backing->unwritten || rs.torn) &&
	     fdatasync(m->b->backing->fd)) ||
	    backing_begin(m->b->backing))
		return fail(err, "cannot write to %s: %s", m->b->backing->path, strerror(errno));
	if (m->b->regions->n)
		log_say("%s: %u regions, %u MiB of contents", m->b->backing->path,
			m->b->regions->n, m->b->frames->used / 256);
	return 0;
}
