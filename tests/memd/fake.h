/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes for the tests: the core's lines (line.h) with a host as simple as can
 * be, whose programs are functions of the test.
 */
#ifndef WEFT_TESTS_MEMD_FAKE_H
#define WEFT_TESTS_MEMD_FAKE_H

#include "call.h"
#include "controller.h"
#include "rig.h"
#include "weft.h"

#define FAKE_LINES	64	/* of each region that a node looks at, fake_apart apart */
#define FAKE_REGIONS	4

/**
 * struct fake_line - a line at a node
 * @l: its state
 * @data: the block
 * @timer: millisecond of its time-out, or 0
 * @failed: the home has no such line
 */
struct fake_line {
	struct weft_line l;
	u8 *data;
	u64 timer;
	bool failed;
};

/**
 * struct fake_region - a region at a node
 * @id: number, 0 for none
 * @block: bytes of a block
 * @homes: bits of the blades that are homes of its lines
 * @moving: the last MOVE that was carried out
 * @open_txn: of an OPEN after the first blade's restart, or a CLOSE, that is not answered
 *	yet, or 0
 * @closing: it is a CLOSE
 */
struct fake_region {
	u32 id;
	u32 block;
	u32 homes;
	u32 moving;
	u32 open_txn;
	bool closing;
	struct fake_line line[FAKE_LINES];
};

/**
 * struct fake - a node
 * @id: member
 * @at: whose address it sends from: its own
 * @life: of it
 * @seq: last sequence number
 * @blades: number of homes
 * @call_txn: of the call that is out
 * @call_nonce: its random number
 * @time_txn: of the question for the time that is out
 * @time_nonce: its random number
 * @time_asked: millisecond
 * @reply: its reply
 * @replied: it has come
 * @last: the last message that was no line's business
 * @changed: the last CHANGED
 * @deaf: does not answer calls of blades
 * @uses: its programs use what is to be given back: it refuses that
 * @keeps: it does not lend what others want to read: that goes home
 * @dead: neither hears nor says anything
 * @booting: it has not joined yet: it obeys nobody
 * @fenced: nodes that it takes nothing from, as a blade says that they are dead
 * @fencing: the last FENCE that was carried out
 * @renewing: by blade, the last RENEW that was carried out
 * @renewals: how many were
 * @renewed: by blade, the last RENEW that was answered
 * @served: how often one came again after that: the blade serves
 * @moves: how many MOVE were
 * @move_claim: by blade, of a CLAIM for a MOVE that is not answered yet, or 0
 * @claim_txn: by blade, of a CLAIM that is not answered yet, or 0
 */
struct fake {
	u32 id;
	u32 at;
	u32 life;
	u32 seq;
	u32 blades;
	u32 call_txn;
	u32 call_nonce;
	u32 time_txn;
	u32 time_nonce;
	u64 time_asked;
	struct weft_call reply;
	bool replied;
	struct weft_msg last;
	struct weft_call changed;
	bool deaf;
	bool uses;
	bool keeps;
	bool dead;
	bool booting;
	u32 fenced;
	u32 fencing;
	u32 renewing[RIG_BLADES];
	u32 renewals;
	u32 renewed[RIG_BLADES];
	u32 served;
	u32 moves;
	u32 move_claim[RIG_BLADES];
	u32 claim_txn[RIG_BLADES];
	struct fake_region region[FAKE_REGIONS];
};

extern struct fake fakes[RIG_NODES + 1];

/*
 * Line 1 of fake_line() is this line of the region, and so on: 1, or more for lines of many
 * runs, and so of all threads of a blade.
 */
extern u32 fake_apart;

/* By blade: the view of the last TWIN, 0: none came. */
extern u32 fake_view[RIG_BLADES];

/* Milliseconds until a request is repeated for the first time. */
extern u32 fake_timeout_ms;

/* Set by who plays locks: a message for one comes to node @f. */
extern void (*fake_take_lock)(struct fake *f, const struct weft_msg *msg);

/* ... or what a CHANGED wants back is in use */
extern void (*fake_refuses)(struct fake *f);

/* ... nodes have died */
extern void (*fake_fence_locks)(struct fake *f, u32 dead);

/*
 * ... and blade @blade begins anew, or (MOVE) is a home of a region's locks from now on: reset
 * them, claim those that are held (@claim_txn).
 */
extern void (*fake_renew_locks)(struct fake *f, u32 blade, const struct weft_call *c);

/* ... or nodes that say now and then that they live: called in each round */
extern void (*fake_idle)(void);

void fake_init(u32 blades);

/* One round of everything: network, timers. */
void fake_step(int ms);

/* Sends it once; its reply will be @f->reply, as soon as there is @f->replied. */
void fake_call_begin(struct fake *f, u32 blade, const struct weft_call *c);

/**
 * fake_call() - call a blade, repeat until it answers
 * @c: the call; becomes the reply
 *
 * Return: err of the reply, -1 after @ms milliseconds without one.
 */
int fake_call(struct fake *f, u32 blade, struct weft_call *c, int ms);

/* Some calls. */
int fake_join(struct fake *f);
int fake_leave(struct fake *f);

/* What it has open it has open in a new life, too.  Some of it may be gone. */
void fake_open_all(struct fake *f);
int fake_create(struct fake *f, const char *name, u64 size, u32 block, u32 *region);
int fake_open(struct fake *f, u32 region, u32 block);
int fake_set_size(struct fake *f, u32 region, u64 size);
u64 fake_stat(struct fake *f, u32 blade, const char *name);

/* A call of the catalog that has a name, or a region, and nothing else. */
int fake_call_named(struct fake *f, u16 op, const char *name, struct weft_call *c);
int fake_call_region(struct fake *f, u16 op, u32 region, struct weft_call *c);

/* The blade that a node takes for the home of a line. */
u32 fake_home(const struct fake *f, u64 key);

/* A region's lines are to have these homes: that is asked for; whether it has come so far. */
int fake_spread(struct fake *f, u32 region, u32 homes);
bool fake_moved(u32 region, u32 homes);

struct fake_line *fake_line(struct fake *f, u32 region, u32 index);

/* Ask for permission; true if it is there. */
bool fake_want(struct fake *f, struct fake_line *fl, u8 perm);

/* The same, and wait; false if the line failed.  Fails the test after 20 s. */
bool fake_get(struct fake *f, struct fake_line *fl, u8 perm);

/* Leave the line; false if it is busy. */
bool fake_evict(struct fake *f, struct fake_line *fl, bool quiet);
bool fake_clean(struct fake *f, struct fake_line *fl);

/*
 * A line that comes without being asked for: who expects it (the transaction, 0 if
 * it cannot), expects it no more, and passes it on.
 */
u32 fake_expect(struct fake *f, struct fake_line *fl, u8 perm);
void fake_unexpect(struct fake *f, struct fake_line *fl);
bool fake_pass(struct fake *f, struct fake_line *fl, u32 txn, bool excl);

/* Own a block and fill it; whether it is filled. */
void fake_fill(struct fake *f, struct fake_line *fl, u8 value);
bool fake_is_filled(const struct fake_line *fl, u32 size, u8 value);

/* Wait until nothing is outstanding; fails the test after 20 s. */
void fake_settle(void);

/* Give up all lines of all nodes, modified ones go home. */
void fake_evict_all(void);

#endif /* WEFT_TESTS_MEMD_FAKE_H */
