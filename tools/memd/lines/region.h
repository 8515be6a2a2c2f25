/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regions: attributes, and for each block its line at home and its contents.
 * The table of regions by number and by name.  No protocol in here.
 */
#ifndef WEFT_MEMD_REGION_H
#define WEFT_MEMD_REGION_H

#include <sys/queue.h>

#include "call.h"
#include "home.h"
#include "base/options.h"
#include "base/timer.h"
#include "weft.h"

#define RUN_BLOCKS	64	/* a run has one home, see weft_line_home() */

struct deferred;
struct rehome;

/* One block that is homed here. */
struct block {
	struct weft_home_line line;
	struct timer timer;	/* set while the line moves */
	u64 version;	/* of the contents */
	u32 frame;	/* first frame of the contents, FRAME_NONE for zeros */
	bool known;	/* the line was asked for */
	bool wanted;	/* the line is to come back from the switch and be forgotten */
	bool sure;	/* the switch does not have it without our knowing; see looks_mark() */
	bool lost;	/* a node died with what it last was; until somebody accepts that */
	bool swept;	/* it is to come back from the switch to be looked at, see sweep.h */
	u32 probe;	/* the question whose answer says so, 0: not asked */
	u32 lost_txn;	/* the transaction whose READ has found it lost last */
};

struct run {
	struct block block[RUN_BLOCKS];
};

/* A lock line that is homed here: no contents. */
struct lock {
	SLIST_ENTRY(lock) next;	/* in its bucket */
	struct block block;
};

SLIST_HEAD(bucket, lock);

#define LOCKS_MAX	(1u << 20)	/* of a region at one blade */

/* The lock lines of a region, by offset. */
struct locks {
	u32 n;			/* how many */
	u32 allowed;		/* how many there may be, see quota_lock() */
	u64 refused;		/* millisecond when more were refused, 0: they were not */
	u32 buckets;		/* a power of two, or 0 */
	struct bucket *bucket;	/* the first of each */
};

/* Taking away the end of a region, or all of it; see trim.h. */
struct trim {
	bool active;		/* it goes on */
	u64 from;		/* first block to go */
	u64 next;		/* first block not looked at yet */
	u32 waiting;		/* lines on their way back */
	struct deferred *dc;	/* waits for it, or NULL */
	struct timer timer;	/* next step */
	u64 give_up;		/* millisecond after which lines are not waited for */
};

/* The lines come back from the switch, to stay; see withdraw.h. */
struct withdraw {
	bool active;		/* it goes on */
	u64 run;		/* all lines of blocks before this run are at home */
	u32 bucket;		/* all locks before this one are */
	u32 elsewhere;		/* how many lines were not when it last looked */
	u32 life;		/* of the directory, when it began */
	struct deferred *dc;	/* waits for it, or NULL */
	struct timer timer;	/* next look */
	u64 give_up;		/* millisecond after which it has failed */
};

#define CUTS_MAX	8

/* The end of a region went. */
struct cut {
	u32 epoch;	/* that began with it */
	u64 from;	/* first block that went */
};

/* Blocks that are to be sent to new homes. */
struct unsent {
	u64 runs;	/* number of @left; 0: the region does not move */
	u64 *left;	/* by run: one bit each; other threads set them, too */
};

struct region {
	LIST_ENTRY(region) by_name;	/* among those with the same hash */
	u32 id;		/* number, never used twice */
	u32 mode;	/* permission bits */
	u32 uid;
	u32 gid;
	u32 block;	/* bytes of a block */
	u64 size;	/* bytes */
	u64 growing;	/* bytes that it is to have, while it is @busy; else 0 */
	u64 mtime;	/* nanoseconds since 1970 */
	u32 policy;	/* WEFT_POLICY_*, and the number of the last change, see call.h */
	u32 nodes;	/* that may use it, 0: all; see allow.h */
	bool undecided;	/* whether it will be for @nodes is being found out, see allow_set() */
	u32 before;	/* for which nodes it is until then */
	u32 homes;	/* bits of the blades that are homes of its lines, see weft_line_blade() */
	u32 to;		/* those that are to be, while contents go there; 0: it does not move */
	/* First blade: those that somebody wants it to have, also noted; 0: nobody does */
	u32 wanted;
	u64 later;	/* first blade: millisecond before which that is not tried again */
	bool frozen;	/* no line of it is served: its homes change, see rehome.h */
	bool strays;	/* there may be contents of blocks whose home is another blade */
	u32 moved;	/* number of the move that it was last part of, 0: none */
	u8 phase;	/* how far that is, WEFT_REHOME_* */
	struct rehome *rehome;	/* what this blade does for the move; NULL: nothing */
	struct unsent unsent;	/* of the move: blocks that are to be sent */
	u64 used;	/* bytes of the blocks that have contents here */
	u64 lost;	/* blocks that are, see struct block */
	u32 opens;	/* nodes that have it open; at other blades: as the first one last said */
	u32 epoch;	/* raised when blocks go, see region_base() */
	u32 cuts;	/* number of @cut */
	/* Where, oldest first, without those that a later one has gone below: both numbers grow */
	struct cut cut[CUTS_MAX];
	u32 grant;	/* that lines begin with, so that nothing granted before is valid */
	bool unlinked;	/* it has no name any more */
	bool gone;	/* it is on its way out */
	bool hatching;	/* not announced to all blades yet, or not certain to be on the disk */
	bool noted;	/* but in the journal */
	bool busy;	/* its size changes, or a policy */
	u32 busy_opens;	/* OPEN calls that other blades are told of */
	bool doomed;	/* to go when it is not busy any more */
	bool seen;	/* other blades: the first blade knows it, too */
	bool doubtful;	/* it is older than this life of the directory */
	struct trim trim;	/* blocks being taken away */
	struct withdraw withdraw;	/* lines that come home */
	u32 hash;	/* of the name */
	u16 name_len;	/* bytes of the name */
	char name[WEFT_NAME_MAX + 1];
	struct locks locks;	/* its lock lines */
	u64 runs;	/* number of @run */
	/* Blocks, NULL where nothing was touched or another blade is the home */
	struct run **run;
};

#define NAME_SLOTS	4096	/* a power of two */

struct regions {
	u32 n;				/* how many */
	struct region *by_id[REGIONS_MAX];	/* all, in the order of their numbers */
	LIST_HEAD(, region) by_name[NAME_SLOTS];	/* those that have a name */
	u64 freed;			/* how often one was freed */
	u32 restricted;			/* how many are for some nodes only */
	u32 next_id;			/* never used, nor is any after it */
	u8 self;			/* id of this blade */
	/* Number of blades, with those that came later and those that are not used */
	u32 blades;
	u64 size[BLADES_MAX];		/* by blade: bytes of memory */
	u64 reserved[BLADES_MAX];	/* by blade: bytes that the regions may come to need */
	/* What a move of a region has is freed; set by rehome.c */
	void (*end_move)(struct region *r);
	/* It is busy no more, and was to go: it is gone now; set by the catalog */
	void (*destroy)(struct memd *m, struct region *r);
};

/* There are none.  Their numbers begin anywhere, if there is no file that says which were used. */
void region_init(struct memd *m);

/* By number, also one that is gone but not freed; NULL if there is none. */
struct region *region_find(const struct regions *rs, u32 id);

/* The one last found by number. */
struct region_hint {
	struct region *r;	/* it, or NULL */
	u64 freed;	/* as in struct regions then; otherwise it may be one that was freed */
};

/* The same by who asks for one again and again. */
struct region *region_find_again(const struct regions *rs, struct region_hint *hint, u32 id);

/* By name. */
struct region *region_named(struct regions *rs, const char *name, u32 len);

/* First with a number above @id; NULL if there is none. */
struct region *region_after(struct regions *rs, u32 id);

/* Each region in the order of numbers, which may be freed meanwhile; @id is where the loop is. */
#define for_each_region(m, r, id) \
	for ((id) = 0; ((r) = region_after((m)->b->regions, id)) && ((id) = (r)->id); )

/**
 * region_add() - a new region, without blocks
 * @id: not in use
 * @block: bytes of a block
 * @name: its name; @len 0 for none
 *
 * Return: it, or NULL: no memory, or REGIONS_MAX of them.
 */
struct region *region_add(struct regions *rs, u32 id, u32 block,
			  const char *name, u32 len);

/* It loses its name. */
void region_unname(struct region *r);

/* Which nodes may use it, 0: all. */
void region_set_nodes(struct regions *rs, struct region *r, u32 nodes);

/* Free a region; its lines and frames are gone. */
void region_free(struct regions *rs, struct region *r);

/**
 * region_reserve() - account for a region's size
 * @size: bytes that it may come to need, in the place of @r->size
 *
 * Does not change @r.  Return: false if a blade has not that much left.
 */
bool region_reserve(struct regions *rs, const struct region *r, u64 size);

/* It is to move to @to, or not any more (0), which takes room.  Return: as above. */
bool region_reserve_move(struct regions *rs, struct region *r, u32 to);

/* The homes change, and what is reserved; also by who has not reserved anything. */
void region_set_homes(struct regions *rs, struct region *r, u32 homes, u32 to);

/* Is this blade a home of a line, or is it to be one? */
bool region_is_home(const struct regions *rs, const struct region *r, u64 key);
bool region_will_be_home(const struct regions *rs, const struct region *r, u64 key);

/* The same backwards, or without looking whether there is room. */
void region_account(struct regions *rs, const struct region *r, u64 from, u64 to);

/* Whether @size is within what so many blades can have at most. */
static inline bool region_size_ok(const struct regions *rs, u64 size)
{
	return size <= rs->blades * BLADE_BYTES_MAX;
}

/* Whether there are blocks of @block bytes. */
static inline bool region_block_ok(u32 block)
{
	return block >= WEFT_BLOCK_MIN && block <= WEFT_REGION_BLOCK_MAX && !(block & (block - 1));
}

/* Get ready for @size.  Return: false if there is no memory. */
bool region_prepare(struct region *r, u64 size);

/* Blocks that @size bytes make. */
static inline u64 region_blocks(const struct region *r, u64 size)
{
	return size / r->block + !!(size % r->block);
}

/* The size changes from @from to @to: note which blocks go, if any. */
void region_cut(struct region *r, u64 from, u64 to);

/**
 * region_base() - the version that a block begins with
 *
 * It is the epoch of the last cut that took block @index away, << 32: what was written
 * before is older.  It must not be later than that: nodes may have written the block
 * under any version above this, and a home that was restarted has nothing else to
 * compare what they give back with, as long as it has no contents of the block.
 */
u64 region_base(const struct region *r, u64 index);

/**
 * region_block() - a block
 * @index: below the number of blocks
 * @make: make it if it was never touched
 *
 * Return: NULL if it was not, or if there is no memory.
 */
struct block *region_block(struct regions *rs, struct region *r, u64 index,
			   bool make);

/**
 * region_lock() - a lock line
 * @offset: of the lock in the region
 * @make: make it if it is new
 *
 * Return: NULL if it is not there, or there is no memory, or LOCKS_MAX of them.
 */
struct block *region_lock(struct regions *rs, struct region *r, u64 offset,
			  bool make);

/* Free a lock line, which is in @b. */
void region_drop_lock(struct locks *t, struct bucket *b, struct lock *l);

/* Free the lock lines from @offset on that are not on their way (@all: any). */
void region_drop_locks(struct region *r, u64 offset, bool all);

/* The contents of a block are others now: if the region moves they are to be sent. */
void region_changed(struct region *r, u64 index);

/* May another blade have what is to be here? */
bool region_expects(const struct regions *rs, const struct region *r, u64 line);

/* Forget what the directory knew of a block. */
void region_reset_line(struct regions *rs, struct region *r, struct block *b);

static inline u64 block_index(const struct block *b)
{
	return weft_line_index(b->line.key);
}

#endif /* WEFT_MEMD_REGION_H */
