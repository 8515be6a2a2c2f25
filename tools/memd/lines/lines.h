/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The directory at home: requests for lines, and their moves to the switch and back.  front/memd.c
 * hands them in.  tools/directory/home.h decides; this carries out what it says.
 */
#ifndef WEFT_MEMD_LINES_H
#define WEFT_MEMD_LINES_H

#include "home.h"

struct block;
struct memd;
struct region;

#define LINE_PLACES	(WEFT_DROPPING + 1)

/* What a thread knows of its lines. */
struct lines {
	u64 known;			/* how many were asked for */
	u64 at[LINE_PLACES];		/* by enum weft_place, how many are not at home */
	/*
	 * By slot of the switch, last known generation, 0: none is.  Then it is taken to be
	 * looks.first_gen; a line that is wrong about it has its first ADD refused
	 */
	u32 gen[WEFT_SWITCH_SLOTS];
};

/* Functions that hear of lines. */
struct line_ops {
	/*
	 * One that was asked back because of a dead node has come, or has just gone to the
	 * switch; set by sweep.c
	 */
	void (*arrived)(struct memd *m, struct region *r, struct block *b);
	/* Nothing is known of it any more; likewise */
	void (*forgotten)(struct memd *m, struct block *b);
	/* One that is to go has come and is forgotten; set by trim.c */
	void (*trimmed)(struct memd *m, struct region *r);
};

/* GETS .. QUERY, ACQUIRE, HAND. */
void lines_request(struct memd *m, const struct weft_msg *msg, u32 from);

/*
 * COMMIT while all is given back, to a blade's new life or to other homes of a region: the entry
 * that it is for is forgotten, and it is acknowledged, as the node that sent it waits for that
 * (weft_line_return()).  Return: whether it is that.
 */
bool lines_over(struct memd *m, const struct weft_msg *msg, u32 from);

/* ADD_ACK, REMOVE_ACK, DROP_ACK, and NACK to a REMOVE. */
void lines_answer(struct memd *m, const struct weft_msg *msg);

/*
 * Take a line back that may have come into the switch in a former life of this blade, of which
 * nothing is known, or of a lock what nodes claim.  Return: false: it is certain where it is.
 */
bool lines_fetch(struct memd *m, struct region *r, struct block *b);

/* CHASE: a transaction of ours is in a node's way; or nobody answers who waits for a lock. */
void lines_chase(struct memd *m, const struct weft_msg *msg);

/**
 * lines_recall() - a line is to come home and be forgotten
 *
 * Return: true if it is done; otherwise trim_arrived() follows.
 */
bool lines_recall(struct memd *m, struct region *r, struct block *b);

/* ... is to come home, if it is not, and is not forgotten.  Return: true if it is there. */
bool lines_bring_home(struct memd *m, struct block *b);

/* Stop waiting for a line and forget it. */
void lines_forget(struct memd *m, struct region *r, struct block *b);

/**
 * lines_concern_all() - whether only who is alone may handle a message about a line
 *
 * It is another thread's, or the blade may have to be told: nearly never, for a blade
 * that serves.
 */
bool lines_concern_all(struct memd *m, const struct weft_msg *msg);

/* Nodes have died, and are no members any more: see weft_home_gone(). */
enum weft_gone lines_gone(struct memd *m, struct region *r, struct block *b);

/* Nobody has any line: they begin with grant @grant. */
void lines_renew(struct memd *m, u32 grant);

/* The same for the lines of one region. */
void lines_renew_region(struct memd *m, struct region *r, u32 grant);

/* Locks of a region whose home is another blade now are forgotten. */
void lines_drop_strays(struct memd *m, struct region *r);

/* A program of @node holds this lock, as it was permitted to in this term. */
void lines_claim(struct memd *m, u8 node, u64 key, u32 epoch, u8 state);

#endif /* WEFT_MEMD_LINES_H */
