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

/**
 * struct block - one block that is homed here
 * @line: its line
 * @timer: set while the line moves
 * @version: of the contents
 * @frame: first frame of the contents, FRAME_NONE for zeros
 * @known: the line was asked for
 * @wanted: the line is to come back from the switch and be forgotten
 * @sure: the switch does not have it without our knowing; see looks_mark()
 * @lost: a node died with what it last was; until somebody accepts that
 * @swept: it is to come back from the switch to be looked at, see sweep.h
 * @probe: the question whose answer says so, 0: not asked
 * @lost_txn: the transaction whose READ has found it lost last
 */
struct block {
	struct weft_home_line line;
	struct timer timer;
	u64 version;
	u32 frame;
	bool known;
	bool wanted;
	bool sure;
	bool lost;
	bool swept;
	u32 probe;
	u32 lost_txn;
};

struct run {
	struct block block[RUN_BLOCKS];
};

/* A lock line that is homed here: no contents. */
struct lock {
	struct block block;
	SLIST_ENTRY(lock) next;		/* in its bucket */
};

SLIST_HEAD(bucket, lock);

#define LOCKS_MAX	(1u << 20)	/* of a region at one blade */

/**
 * struct locks - the lock lines of a region, by offset
 * @n: how many
 * @buckets: a power of two, or 0
 * @bucket: the first of each
 * @allowed: how many there may be, see quota_lock()
 * @refused: millisecond when more were refused, 0: they were not
 */
struct locks {
	u32 n;
	u32 allowed;
	u64 refused;
	u32 buckets;
	struct bucket *bucket;
};

/**
 * struct trim - taking away the end of a region, or all of it; see trim.h
 * @active: it goes on
 * @from: first block to go
 * @next: first block not looked at yet
 * @waiting: lines on their way back
 * @dc: waits for it, or NULL
 * @timer: next step
 * @give_up: millisecond after which lines are not waited for
 */
struct trim {
	bool active;
	u64 from;
	u64 next;
	u32 waiting;
	struct deferred *dc;
	struct timer timer;
	u64 give_up;
};

/**
 * struct withdraw - the lines come back from the switch, to stay; see withdraw.h
 * @active: it goes on
 * @run: all lines of blocks before this run are at home
 * @bucket: all locks before this one are
 * @elsewhere: how many lines were not when it last looked
 * @life: of the directory, when it began
 * @dc: waits for it, or NULL
 * @timer: next look
 * @give_up: millisecond after which it has failed
 */
struct withdraw {
	bool active;
	u64 run;
	u32 bucket;
	u32 elsewhere;
	u32 life;
	struct deferred *dc;
	struct timer timer;
	u64 give_up;
};

#define CUTS_MAX	8

/**
 * struct cut - the end of a region went
 * @epoch: that began with it
 * @from: first block that went
 */
struct cut {
	u32 epoch;
	u64 from;
};

/**
 * struct unsent - blocks that are to be sent to new homes
 * @runs: number of @left; 0: the region does not move
 * @left: by run: one bit each; other threads set them, too
 */
struct unsent {
	u64 runs;
	u64 *left;
};

/**
 * struct region - a region
 * @id: number, never used twice
 * @mode: permission bits
 * @uid: owner
 * @gid: group
 * @block: bytes of a block
 * @size: bytes
 * @growing: bytes that it is to have, while it is @busy; else 0
 * @mtime: nanoseconds since 1970
 * @policy: WEFT_POLICY_*, and the number of the last change, see call.h
 * @nodes: that may use it, 0: all; see allow.h
 * @undecided: whether it will be for @nodes is being found out, see allow_set()
 * @before: for which nodes it is until then
 * @homes: bits of the blades that are homes of its lines, see weft_line_blade()
 * @to: those that are to be, while contents go there; 0: it does not move
 * @wanted: first blade: those that somebody wants it to have, in the journal, too; 0: nobody does
 * @later: first blade: millisecond before which that is not tried again
 * @frozen: no line of it is served: its homes change, see rehome.h
 * @strays: there may be contents of blocks whose home is another blade
 * @moved: number of the move that it was last part of, 0: none
 * @phase: how far that is, WEFT_REHOME_*
 * @rehome: what this blade does for the move; NULL: nothing
 * @unsent: of the move: blocks that are to be sent
 * @used: bytes of the blocks that have contents here
 * @lost: blocks that are, see struct block
 * @opens: nodes that have it open; at other blades: as the first one last said
 * @epoch: raised when blocks go, see region_base()
 * @cuts: number of @cut
 * @cut: where, oldest first, without those that a later one has gone below: both
 *	numbers grow
 * @grant: that lines begin with, so that nothing granted before is valid
 * @unlinked: it has no name any more
 * @gone: it is on its way out
 * @hatching: not announced to all blades yet, or not certain to be on the disk
 * @noted: but in the journal
 * @busy: its size changes, or a policy
 * @busy_opens: OPEN calls that other blades are told of
 * @doomed: to go when it is not busy any more
 * @seen: other blades: the first blade knows it, too
 * @doubtful: it is older than this life of the directory
 * @trim: blocks being taken away
 * @withdraw: lines that come home
 * @by_name: among those with the same hash
 * @hash: of the name
 * @name_len: bytes of the name
 * @name: name
 * @locks: its lock lines
 * @runs: number of @run
 * @run: blocks, NULL where nothing was touched or another blade is the home
 */
struct region {
	u32 id;
	u32 mode;
	u32 uid;
	u32 gid;
	u32 block;
	u64 size;
	u64 growing;
	u64 mtime;
	u32 policy;
	u32 nodes;
	bool undecided;
	u32 before;
	u32 homes;
	u32 to;
	u32 wanted;
	u64 later;
	bool frozen;
	bool strays;
	u32 moved;
	u8 phase;
	struct rehome *rehome;
	struct unsent unsent;
	u64 used;
	u64 lost;
	u32 opens;
	u32 epoch;
	u32 cuts;
	struct cut cut[CUTS_MAX];
	u32 grant;
	bool unlinked;
	bool gone;
	bool hatching;
	bool noted;
	bool busy;
	u32 busy_opens;
	bool doomed;
	bool seen;
	bool doubtful;
	struct trim trim;
	struct withdraw withdraw;
	LIST_ENTRY(region) by_name;
	u32 hash;
	u16 name_len;
	char name[WEFT_NAME_MAX + 1];
	struct locks locks;
	u64 runs;
	struct run **run;
};

#define NAME_SLOTS	4096	/* a power of two */

/**
 * struct regions - all regions
 * @n: how many
 * @by_id: all, in the order of their numbers
 * @by_name: those that have a name
 * @freed: how often one was freed
 * @restricted: how many are for some nodes only
 * @next_id: never used, nor is any after it
 * @self: id of this blade
 * @blades: number of blades, with those that came later and those that are not used
 * @size: by blade: bytes of memory
 * @reserved: by blade: bytes that the regions may come to need
 * @end_move: what a move of a region has is freed; set by rehome.c
 * @destroy: it is busy no more, and was to go: it is gone now; set by the catalog
 */
struct regions {
	u32 n;
	struct region *by_id[REGIONS_MAX];
	LIST_HEAD(, region) by_name[NAME_SLOTS];
	u64 freed;
	u32 restricted;
	u32 next_id;
	u8 self;
	u32 blades;
	u64 size[BLADES_MAX];
	u64 reserved[BLADES_MAX];
	void (*end_move)(struct region *r);
	void (*destroy)(struct memd *m, struct region *r);
};

/* There are none.  Their numbers begin anywhere, if there is no file that says which were used. */
void region_init(struct memd *m);

/* By number, also one that is gone but not freed; NULL if there is none. */
struct region *region_find(const struct regions *rs, u32 id);

/**
 * struct region_hint - the one last found by number
 * @r: it, or NULL
 * @freed: as in struct regions then; otherwise it may be one that was freed
 */
struct region_hint {
	struct region *r;
	u64 freed;
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
