/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The home's side of a line's directory: serves requests while the line is at
 * home, moves it into the switch (ADD) and takes it back (REMOVE, DROP).
 * Concordia 5.2; ours needs no shadow node, the home decides alone.
 *
 * At any time the line is served by one of the two.  Between the two it is
 * served by none: requests are refused with WEFT_WHY_MOVING.
 */
#ifndef WEFT_DIRECTORY_HOME_H
#define WEFT_DIRECTORY_HOME_H

#include "directory.h"

enum weft_place {
	WEFT_AT_HOME,
	WEFT_ADDING,		/* ADD is out */
	WEFT_IN_SWITCH,
	WEFT_REMOVING,		/* REMOVE is out: the switch locks the line for us */
	WEFT_DROPPING,		/* we have the entry, the switch must forget it */
};

/**
 * struct weft_home_line - a line at its home
 * @key: name of the line
 * @self: id of this blade
 * @place: enum weft_place
 * @full: requests to wait before the next ADD, because the slot was taken
 * @tries: time-outs in a row
 * @died: a lock whose holder died, maybe with the lock held: who has it next hears so,
 *	and it stays here until then
 * @died_at: grant of that moment
 * @orphan: a block that nobody owns since its owner died, and that was told as lost, or @saved
 * @saved: the home has what its dead owner had last, see weft_home_saved()
 * @fetched: a REMOVE is out, and maybe the switch never had the line: then it is as @e says
 * @e: the entry; valid if the line is not in the switch
 * @gen: last known generation of the line's slot
 * @txn: of the ADD, REMOVE or DROP under way
 */
struct weft_home_line {
	u64 key;
	u8 self;
	u8 place;
	u8 full;
	u8 tries;
	bool died;
	bool orphan;
	bool saved;
	bool fetched;
	u32 died_at;
	struct weft_dir_entry e;
	u32 gen;
	u32 txn;
};

/**
 * struct weft_home_out - what follows from one event
 * @dest: where @msg goes; WEFT_TO_HOME is a READ that this blade serves itself
 * @targets: nodes, for WEFT_TO_NODES
 * @msg: the answer
 * @to_switch: @sw is to be sent, addressed to the group
 * @sw: ADD, REMOVE, DROP or ABORT
 * @chase: 0, or the member to send @msg_chase to (holder of a lock in our way)
 * @msg_chase: a CHASE
 * @timer: call weft_home_timeout() if nothing is heard
 * @moved: the line arrived (in the switch, or back at home)
 * @lost: the switch did not have the line: it was restarted
 */
struct weft_home_out {
	enum weft_dir_dest dest;
	u32 targets;
	struct weft_msg msg;
	bool to_switch;
	struct weft_msg sw;
	u8 chase;
	struct weft_msg msg_chase;
	bool timer;
	bool moved;
	bool lost;
};

void weft_home_init(struct weft_home_line *l, u64 key, u8 self);

/**
 * weft_home_recv() - a request or an answer of the switch
 * @members: nodes of the rack
 * @use_switch: there is a P4 switch: move lines there when they are first used
 * @fresh: a transaction sequence number never used before by this blade
 *
 * Requests (GETS .. QUERY, ACQUIRE, HAND, PASS), CHASE, ADD_ACK, REMOVE_ACK,
 * DROP_ACK, and NACK of a REMOVE.
 * The caller serializes calls for a line.
 */
void weft_home_recv(struct weft_home_line *l, u32 members, bool use_switch,
		    const struct weft_msg *msg, u32 fresh,
		    struct weft_home_out *out);

/**
 * weft_home_recall() - take the line back from the switch
 *
 * Return: true if it is at home already.
 */
bool weft_home_recall(struct weft_home_line *l, u32 fresh,
		      struct weft_home_out *out);

/**
 * weft_home_fetch() - a line of which nothing is known here may be in the switch all the same
 *
 * The switch has outlived what this home knew of it.  The line is taken back, if it is there.
 * What nodes claim to have of a lock is only what they had when the home was restarted: it is
 * asked for as well, and the switch knows better.
 *
 * Return: true if it is certain already where the line is: nothing is done.
 */
bool weft_home_fetch(struct weft_home_line *l, u32 fresh, struct weft_home_out *out);

/* What became of a line when nodes had died, see weft_home_gone(). */
enum weft_gone {
	WEFT_GONE_NOTHING,	/* it did not need them */
	WEFT_GONE_ASKS,		/* the switch has it, and is asked (@out) */
	WEFT_GONE_LATER,	/* a transaction is under way, which looks after it */
	WEFT_GONE_LOST,		/* only a dead node had what it last was: now what the home has */
	WEFT_GONE_FREE,		/* a lock that a dead node had to write is free */
};

/**
 * weft_home_gone() - nodes have died; their part in the line is over
 * @members: nodes of the rack, without the dead ones, as the switch knows them, too
 * @died: a lock's next owner is to hear of it: no, if the nodes have only left
 *
 * All nodes have done weft_line_gone() before.
 */
enum weft_gone weft_home_gone(struct weft_home_line *l, u32 members, bool died, u32 fresh,
			      struct weft_home_out *out);

/*
 * A reader that a dead owner had lent the line to has written it home (WB with WEFT_F_LENT), in a
 * version that was newer than the home's.  Before weft_home_gone().
 */
static inline void weft_home_saved(struct weft_home_line *l)
{
	l->saved = true;
}

/**
 * weft_home_reads_lost() - is what a READ gets older than what a dead node had?
 * @l: NULL: nothing is known of the line
 *
 * The directory lets the home serve a line that has an owner only when that owner is no
 * member of the rack any more.
 */
static inline bool weft_home_reads_lost(const struct weft_home_line *l, u32 members,
					const struct weft_msg *read)
{
	return !(l && l->saved) && read->flags & WEFT_F_BUSY && read->status == WEFT_M &&
	       !(read->copyset & members);
}

/* The timer that out->timer asked for.  Spurious calls are harmless. */
void weft_home_timeout(struct weft_home_line *l, struct weft_home_out *out);

#endif /* WEFT_DIRECTORY_HOME_H */
