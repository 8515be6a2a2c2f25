/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of the blade.  One list gives the enum and the names in the answer to
 * WEFT_CALL_STATS; messages are counted by type besides.
 */
#ifndef WEFT_MEMD_STATS_H
#define WEFT_MEMD_STATS_H

#include "types.h"

#define MEMD_STATS(X) \
	/* datagrams not taken */ \
	X(BAD,			"bad_messages") \
	X(OTHER_VERSION,	"other_version") \
	X(OTHER_RACK,		"other_rack") \
	X(STRANGER,		"strangers") \
	X(UNEXPECTED,		"unexpected") \
	X(NO_ADDRESS,		"no_address") \
	/* contents */ \
	X(READ,			"reads") \
	X(READ_ZEROS,		"reads_of_zeros") \
	X(READ_BYTES,		"read_bytes") \
	X(WRITE,		"write_backs") \
	X(WRITE_OLD,		"write_backs_old") \
	X(WRITE_FAILED,		"write_backs_failed") \
	X(WRITE_BYTES,		"write_back_bytes") \
	X(STAGING_DROPPED,	"write_backs_dropped") \
	/* directory */ \
	X(NO_LINE,		"no_such_line") \
	X(BUSY,			"refused_busy") \
	X(MOVING,		"refused_moving") \
	X(ADDED,		"lines_added") \
	X(ADD_REFUSED,		"adds_refused") \
	X(REMOVED,		"lines_removed") \
	X(LOST,			"lines_lost") \
	X(MOVE_REPEATED,	"moves_repeated") \
	X(CHASE,		"chases") \
	/* catalog */ \
	X(CALL,			"calls") \
	X(CALL_REPEATED,	"calls_repeated") \
	X(CALL_REFUSED,		"calls_refused") \
	X(PUSH,			"pushes") \
	X(PUSH_REPEATED,	"pushes_repeated") \
	X(PUSH_FAILED,		"pushes_failed") \
	X(JOIN,			"joins") \
	X(LEAVE,		"leaves")

#define MEMD_STAT_ENUM(id, name)	STAT_##id,
enum memd_stat {
	MEMD_STATS(MEMD_STAT_ENUM)
	MEMD_STATS_N
};

#define MEMD_TYPES	128	/* message types that are counted */

struct memd;
struct weft_call;

/**
 * struct stats - free running counters
 * @count: enum memd_stat
 * @in: messages by type
 * @out: messages by type
 */
struct stats {
	u64 count[MEMD_STATS_N];
	u64 in[MEMD_TYPES];
	u64 out[MEMD_TYPES];
};

/**
 * stats_list() - a page of the list of counters
 * @reply: list and cookie are filled in
 * @from: cookie of the question: number of the first
 */
void stats_list(struct memd *m, struct weft_call *reply, u64 from);

#endif /* WEFT_MEMD_STATS_H */
