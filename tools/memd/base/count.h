/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of the blade: one list gives the enum and the names that weftctl shows.  Messages
 * are counted by type besides.  Each thread counts for itself, front/stats.c adds them up.
 */
#ifndef WEFT_MEMD_COUNT_H
#define WEFT_MEMD_COUNT_H

#include "types.h"

#define MEMD_STATS(X) \
	/* datagrams not taken */ \
	X(BAD,				"bad_messages") \
	X(OTHER_VERSION,		"other_version") \
	X(OTHER_RACK,			"other_rack") \
	X(STRANGER,			"strangers") \
	X(WRONG_ADDRESS,		"wrong_address") \
	X(WRONG_PORT,			"wrong_port") \
	X(NO_KEY,			"no_key") \
	X(WRONG_KEY,			"wrong_key") \
	X(STALE,			"stale") \
	X(UNEXPECTED,			"unexpected") \
	X(NO_ADDRESS,			"no_address") \
	X(SUSPENDED,			"dropped_suspended") \
	/* threads */ \
	X(ALONE,			"threads_stopped") \
	X(OTHER_SHARE,			"other_share") \
	/* contents */ \
	X(READ,				"reads") \
	X(READ_ZEROS,			"reads_of_zeros") \
	X(READ_BYTES,			"read_bytes") \
	X(WRITE,			"write_backs") \
	X(WRITE_OLD,			"write_backs_old") \
	X(WRITE_LATE,			"write_backs_late") \
	X(WRITE_FAILED,			"write_backs_failed") \
	X(WRITE_BYTES,			"write_back_bytes") \
	X(STAGING_DROPPED,		"write_backs_dropped") \
	X(SYNC,				"syncs") \
	X(SYNC_FLUSH,			"sync_flushes") \
	X(ACK_HELD,			"acks_held") \
	X(ACK_DROPPED,			"acks_held_too_many") \
	/* by RDMA; what is not, and why */ \
	X(RDMA_LANDED,			"rdma_landed") \
	X(RDMA_LANDED_BYTES,		"rdma_landed_bytes") \
	X(RDMA_NO_CONNECTION,		"rdma_not_connected") \
	X(RDMA_FULL,			"rdma_queue_full") \
	X(RDMA_NO_MEMORY,		"rdma_not_registered") \
	X(RDMA_AGAIN,			"rdma_asked_again") \
	X(RDMA_DEEDS,			"rdma_deeds") \
	X(RDMA_HOME,			"rdma_home") \
	X(RDMA_HOME_BYTES,		"rdma_home_bytes") \
	X(RDMA_CONNECTED,		"rdma_connects") \
	X(RDMA_BROKEN,			"rdma_broken") \
	X(RDMA_REFUSED,			"rdma_refused") \
	/* directory */ \
	X(NO_LINE,			"no_such_line") \
	X(BUSY,				"refused_busy") \
	X(MOVING,			"refused_moving") \
	X(ADDED,			"lines_added") \
	X(ADD_REFUSED,			"adds_refused") \
	X(ADD_AGAIN,			"adds_again") \
	X(REMOVED,			"lines_removed") \
	X(LOST,				"lines_lost") \
	X(MOVE_REPEATED,		"moves_repeated") \
	X(CHASE,			"chases") \
	X(FETCHED,			"lines_fetched") \
	X(RENEW,			"renewals") \
	X(CLAIM,			"locks_claimed") \
	X(NO_LOCK,			"locks_refused") \
	X(NOT_OPENED,			"refused_not_opened") \
	X(REHOMED,			"dropped_rehomed") \
	X(MOVE,				"moves") \
	X(MOVE_FAILED,			"moves_failed") \
	X(NOT_ALLOWED,			"refused_not_allowed") \
	/* catalog */ \
	X(CALL,				"calls") \
	X(CALL_REPEATED,		"calls_repeated") \
	X(CALL_REFUSED,			"calls_refused") \
	X(CALL_OLD,			"calls_old") \
	X(OVER_QUOTA,			"calls_over_quota") \
	X(OPEN_REFUSED,			"opens_refused") \
	X(PUSH,				"pushes") \
	X(PUSH_REPEATED,		"pushes_repeated") \
	X(PUSH_FAILED,			"pushes_failed") \
	X(JOIN,				"joins") \
	X(LEAVE,			"leaves") \
	/* nodes that died */ \
	X(FENCED,			"nodes_fenced") \
	X(LOCK_FREED,			"locks_freed") \
	X(BLOCK_LOST,			"blocks_lost")

enum memd_stat {
#define MEMD_STAT(id, name)	STAT_##id,
	MEMD_STATS(MEMD_STAT)
#undef MEMD_STAT
	MEMD_STATS_N
};

#define MEMD_TYPES	128	/* message types that are counted */

/* Free running counters. */
struct stats {
	u64 count[MEMD_STATS_N];	/* enum memd_stat */
	u64 in[MEMD_TYPES];		/* messages by type */
	u64 out[MEMD_TYPES];		/* messages by type */
	/* When, in milliseconds, a message was last refused for who sent it; 0: never */
	u64 refused;
};

#define count(m, id)	((m)->stats.count[STAT_##id]++)

#endif /* WEFT_MEMD_COUNT_H */
