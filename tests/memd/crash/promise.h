/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a blade has promised about its disk: which regions there are, what their sizes and modes
 * may be, and which of the contents that its blocks have had are on the disk for certain.  It
 * knows nothing of blades: who makes one do something says here what may come of it.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_PROMISE_H
#define WEFT_TESTS_MEMD_CRASH_PROMISE_H

#include "call.h"

#define PROMISE_REGIONS		32u	/* in all lives of one disk */
#define PROMISE_BLOCKS		6u	/* of a region, at most */
#define PROMISE_VERSIONS	96u	/* of a block, in a life */
#define PROMISE_SIZES		12u

/**
 * struct mblock - contents that a block had in this life, and what it began with
 * @n: how many
 * @certain: the last one that is on the disk for certain
 * @tag: which they are, 0: zeros
 * @time: when they were written
 */
struct mblock {
	u32 n;
	u32 certain;
	u32 tag[PROMISE_VERSIONS];
	u64 time[PROMISE_VERSIONS];
};

enum mstate {
	NEVER,		/* not made */
	ASKED,		/* CREATE is not answered */
	THERE,
	REMOVING,	/* UNLINK is not answered */
	GONE,
};

/* @old_mode: before a SETATTR that is not answered; @size: since the last one that is certain */
struct mregion {
	enum mstate state;
	char name[12];
	u32 id;
	u32 block;
	u32 blocks;
	u32 n_sizes;
	struct {
		u32 blocks;
		u64 time;
	} size[PROMISE_SIZES];
	u32 mode, old_mode;
	u32 txn;		/* of a call that is not answered, or 0 */
	struct mblock b[PROMISE_BLOCKS];
};

/*
 * A SYNC that is not answered yet: how many contents each block had when it was made, and when
 * that was, for sizes.
 */
struct msync {
	u32 txn;		/* or 0 */
	u64 time;
	u32 n_regions;
	u32 contents[PROMISE_REGIONS][PROMISE_BLOCKS];
};

/**
 * struct promises - all of it, at one moment
 * @n_regions: number of @regions
 * @highest_id: number of a region that was given last
 * @marked: the mark of who uses the file is in it; -1: perhaps
 * @lost: something was lost in a former life
 * @unread: what the machine's end has left is not known yet
 */
struct promises {
	struct mregion regions[PROMISE_REGIONS];
	u32 n_regions;
	u32 highest_id;
	int marked;
	bool lost;
	bool unread;
};

extern struct promises promised;

/* A disk on which nothing is. */
void promise_begin(void);

/* The region may have another size, the block other contents, from now on. */
void promise_add_size(struct mregion *mr, u32 blocks);
void promise_add_content(struct mblock *mb, u32 tag);

/* What the blade was asked to do with a region is done and certain. */
void promise_answered(struct mregion *mr, const struct weft_call *reply);

/* A SYNC is made: what is written until now; it is answered, and that is on the disk. */
void promise_note_sync(struct msync *sync);
void promise_keep_sync(const struct msync *sync);

/* The disk has done what it was asked to (disk_synced). */
void promise_disk_synced(u64 time, u64 from, u64 to);

#endif /* WEFT_TESTS_MEMD_CRASH_PROMISE_H */
