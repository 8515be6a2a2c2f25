/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes that die, and those that go on without them: fake.h, with a sign of life now and
 * then, one lock of one program each, and what a blade says of the dead.
 */
#ifndef WEFT_TESTS_MEMD_MORTAL_H
#define WEFT_TESTS_MEMD_MORTAL_H

#include "fake.h"
#include "lock.h"

#define MORTALS			RIG_NODES	/* from 1, of which the first have joined */
#define MORTAL_LIMIT_MS		(10000 * rig_scale())	/* anything that should come */

/**
 * struct mortal_seat - a lock at a node
 * @l: its state
 * @timer: millisecond of its time-out, or 0
 * @late: time-outs in a row
 * @refused: @timer is when to try again after a refusal
 * @lets: its program lets go as soon as somebody else waits
 */
struct mortal_seat {
	struct weft_lock l;
	u64 timer;
	u32 late;
	bool refused;
	bool lets;
};

extern u32 mortal_blades;
extern u32 mortal_nodes;
extern u32 mortal_told_not_yet;	/* how often nodes that wanted to join were */
extern struct mortal_seat mortal_seats[MORTALS + 1];

/*
 * A rack with so many blades, which give nodes up after @lease milliseconds ("0": never; then
 * nodes give no sign of life) and have files, if @files, and its nodes, which have joined.
 */
void mortal_open(bool p4, u32 n_blades, const char *lease, bool files, u32 nodes);

/* The first blade's or the second one's life, with what its file has. */
void mortal_start(u32 i);

/* From now on, or not: who has a lock claims it at a home that begins anew. */
void mortal_claim(bool on);

/* Time passes.  Those that live say so now and then, here and whenever something is awaited. */
void mortal_live(u64 ms);

/* Permission for a line, while all that live go on living.  Return: milliseconds. */
u64 mortal_get(struct fake *f, struct fake_line *fl, u8 perm);

/* Nothing of the line is under way any more. */
void mortal_settle(const struct fake_line *fl);

/* Node @f owns the block, which its home has with @home in it, and itself with @now. */
void mortal_modify(struct fake *f, struct fake_line *fl, u8 home, u8 now);

/* The same.  Return: false if the node was taken out meanwhile. */
bool mortal_try_modify(struct fake *f, struct fake_line *fl, u8 home, u8 now);

/* A counter of all blades together. */
u64 mortal_stat(struct fake *f, const char *name);

/* How many blocks of the region are lost, by all blades; @flags of WEFT_CALL_LOST. */
u64 mortal_lost(struct fake *f, u32 region, u32 flags);

/* So many nodes have been taken out, and what they had is free. */
void mortal_wait_swept(struct fake *f, u64 fenced);

/* All seats are of this lock from now on, which nobody has. */
void mortal_seat(u64 key);

/* Node @n minds its lock; a moment in which all that live do something, and it does that. */
void mortal_mind(u32 n);
void mortal_step(u32 n);

/* A lock: asked for; there (return: milliseconds); left. */
void mortal_ask_lock(u32 n, u8 perm);
u64 mortal_get_lock(u32 n, u8 perm);
void mortal_let_lock(u32 n);
void mortal_leave_lock(u32 n);

/* A node that comes back as it was finds that it is out, and joins as a new life. */
void mortal_come_back(struct fake *f);

/* All come back that live, and were taken out all the same: this machine was too slow for them. */
void mortal_come_back_all(void);

/* A node boots, whether anybody has noticed that it was dead or not: it has nothing, and joins. */
void mortal_boot(struct fake *f);

#endif /* WEFT_TESTS_MEMD_MORTAL_H */
