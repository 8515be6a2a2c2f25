/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The witness's register: for each blade of each rack, which of both machines serves, and whether
 * the other one has everything.  Only register_change() changes an entry.  It is a text file,
 * written anew and synced before anything is answered.
 */
#ifndef WEFT_MEMD_REGISTER_H
#define WEFT_MEMD_REGISTER_H

#include "base/options.h"

/*
 * Only what register_change() allows changes it:
 *
 *	CLAIM		none -> {view, me, not complete}
 *	ALONE		{V, me, any} -> {V, me, not complete}
 *	COMPLETE	{V, me, any} -> {V, me, complete}
 *	TAKE		{V, other, complete} -> {V + 1, me, not complete}, if nothing was heard of
 *			the other one for its lease, and for that of who asks
 *	TAKE_BY_HAND	the same, whether it is complete or not: an administrator is sure that
 *			the other machine is off
 *
 * Each of them again, after it was done, changes nothing and is no mistake.  LOOK and BEAT
 * change nothing.  What is not allowed is refused: ESTALE, the register says something else;
 * EAGAIN, not yet.
 */

#define REGISTERS_MAX	256u	/* blades of all racks together */

enum register_op {
	REGISTER_LOOK = 1,
	REGISTER_BEAT,
	REGISTER_CLAIM,
	REGISTER_ALONE,
	REGISTER_COMPLETE,
	REGISTER_TAKE,
	REGISTER_TAKE_BY_HAND,
	REGISTER_OPS
};

/* Of a blade. */
struct entry {
	u32 rack;	/* number of the rack */
	u8 blade;	/* id */
	/* Grows each time that the other machine takes over; 0: nobody has claimed it */
	u32 view;
	u32 owner;	/* address of the machine that serves */
	bool complete;	/* the other one has everything */
	/* Milliseconds that the owner may be silent; 0: nobody takes over by itself */
	u32 lease;
	/* Millisecond when the owner was heard, or could have been; not in the file */
	u64 heard;
};

/* A question of a machine. */
struct question {
	u8 op;		/* enum register_op */
	u32 view;	/* as it knows it; CLAIM: that is to be */
	u32 who;	/* its address */
	u32 lease;	/* its own */
	u64 now;	/* millisecond */
};

/**
 * register_change() - what becomes of an entry
 *
 * Return: 0: allowed, and @e is changed, if anything changes; or errno.
 */
u16 register_change(struct entry *e, const struct question *q);

/* Would two entries look the same in the file? */
bool register_same(const struct entry *a, const struct entry *b);

/* The file: all entries. */
struct registers {
	const char *path;
	u32 n;			/* number of @entry */
	struct entry entry[REGISTERS_MAX];
};

/* Read it; one that is not there is empty.  Return: 0, or -1 with a sentence. */
int registers_read(struct registers *rs, const char *path, u64 now, char *err);

/* The one of a blade, made if it is not there; NULL: there are too many. */
struct entry *registers_of(struct registers *rs, u32 rack, u8 blade, u64 now);

/*
 * All of it to the disk.  Return: 0 or -1 with errno, then the old one is there still.  If it is
 * not certain which one is there the process ends: what it knows may be wrong either way.
 */
int registers_write(const struct registers *rs);

#endif /* WEFT_MEMD_REGISTER_H */
