// SPDX-License-Identifier: GPL-2.0-only
/* Blades that do one thing wrong, see mutant.h. */
#include "mutant.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "blade.h"
#include "promise.h"
#include "tests/common/check.h"
#include "tools/memd/base/blade.h"
#include "tools/memd/catalog/sync.h"
#include "tools/memd/net/deferred.h"
#include "tools/memd/store/backing.h"
#include "tools/memd/store/frames.h"

enum mutant mutant;

const char *const mutant_names[MUTANTS] = {
	"none", "the file is not synced", "the log of the catalog is not synced",
	"a start does not sync before it clears", "the superblock is not synced",
	"the old record goes before the new one is certain",
	"frames are used anew before their successors are certain",
	"nobody compares sums of contents", "no mark says who uses the file",
	"a call is answered before its record is certain",
	"a SYNC is answered before its sync is over",
	"a SYNC is answered by a sync that had begun before",
};

bool mutant_leaves_out(bool all, u64 from)
{
	return (mutant == NO_FLUSH && all && disk_is_working()) ||
	       (mutant == NO_START_SYNC && all && blade_starting && promised.marked > 0) ||
	       (mutant == NO_LOG_SYNC && !all && from) ||
	       ((mutant == NO_SUPER_SYNC || mutant == NO_MARK) && !all && !from);
}

void mutant_mend_sums(const struct disk *d)
{
	u8 data[FRAME_SIZE], r[FRAME_RECORD];
	u32 frame;

	if (mutant != NO_SUMS)
		return;
	for (frame = 1; frame <= 3 * FRAMES_PER_GROUP; frame++) {
		if (pread(d->fd, r, sizeof(r), (off_t)backing_record_at(frame)) != sizeof(r) ||
		    !get_unaligned_be32(r))
			continue;
		memset(data, 0, sizeof(data));
		(void)!pread(d->fd, data, sizeof(data), (off_t)backing_frame_at(frame));
		put_unaligned_be32(weft_wire_psum(data, sizeof(data)), r + 24);
		put_unaligned_be32(0, r + 4);
		put_unaligned_be32(weft_wire_psum(r, sizeof(r)), r + 4);
		syscall(SYS_pwrite64, d->fd, r, sizeof(r), backing_record_at(frame));
	}
}

void mutant_clear(u32 frame)
{
	static const u8 none[FRAME_RECORD];

	if (mutant != CLEAR_FIRST)
		return;
	for (; frame; frame = blade.b->frames->next[frame])
		CHECK(!backing_write(blade.b->backing, none, sizeof(none),
				     backing_record_at(frame)));
}

void mutant_free(void)
{
	struct frames *f = blade.b->frames;

	if (mutant != FREE_FIRST || f->flushed.first[0] || f->flushed.first[1])
		return;
	f->flushed = f->resting;
	f->resting = (struct rest){ 0 };
	frames_settle(f, 1000);
}

void mutant_join_sync(void)
{
	struct commit *s = blade.b->sync;
	struct deferred *dc;

	if (mutant != SYNC_JOINS || SLIST_EMPTY(&s->running) || SLIST_EMPTY(&s->waiting))
		return;
	dc = SLIST_FIRST(&s->waiting);
	SLIST_REMOVE_HEAD(&s->waiting, next_noted);
	CHECK(SLIST_EMPTY(&s->waiting));
	SLIST_INSERT_HEAD(&s->running, dc, next_noted);
}
