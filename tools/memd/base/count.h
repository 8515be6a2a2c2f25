/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of the blade; messages are counted by type besides.  Each thread counts for itself,
 * front/stats.c has their names and adds them up.
 */
#ifndef WEFT_MEMD_COUNT_H
#define WEFT_MEMD_COUNT_H

#include "types.h"

enum memd_stat {
	/* datagrams not taken */
	STAT_BAD,
	STAT_OTHER_VERSION,
	STAT_OTHER_RACK,
	STAT_STRANGER,
	STAT_WRONG_ADDRESS,
	STAT_WRONG_PORT,
	STAT_NO_KEY,
	STAT_WRONG_KEY,
	STAT_STALE,
	STAT_UNEXPECTED,
	STAT_NO_ADDRESS,
	STAT_SUSPENDED,
	/* threads */
	STAT_ALONE,
	STAT_OTHER_SHARE,
	/* contents */
	STAT_READ,
	STAT_READ_ZEROS,
	STAT_READ_BYTES,
	STAT_WRITE,
	STAT_WRITE_OLD,
	STAT_WRITE_LATE,
	STAT_WRITE_FAILED,
	STAT_WRITE_BYTES,
	STAT_STAGING_DROPPED,
	STAT_SYNC,
	STAT_SYNC_FLUSH,
	STAT_ACK_HELD,
	STAT_ACK_DROPPED,
	/* by RDMA; what is not, and why */
	STAT_RDMA_LANDED,
	STAT_RDMA_LANDED_BYTES,
	STAT_RDMA_NO_CONNECTION,
	STAT_RDMA_FULL,
	STAT_RDMA_NO_MEMORY,
	STAT_RDMA_AGAIN,
	STAT_RDMA_DEEDS,
	STAT_RDMA_HOME,
	STAT_RDMA_HOME_BYTES,
	STAT_RDMA_CONNECTED,
	STAT_RDMA_BROKEN,
	STAT_RDMA_REFUSED,
	/* directory */
	STAT_NO_LINE,
	STAT_BUSY,
	STAT_MOVING,
	STAT_ADDED,
	STAT_ADD_REFUSED,
	STAT_REMOVED,
	STAT_LOST,
	STAT_MOVE_REPEATED,
	STAT_CHASE,
	STAT_FETCHED,
	STAT_RENEW,
	STAT_CLAIM,
	STAT_NO_LOCK,
	STAT_NOT_OPENED,
	STAT_REHOMED,
	STAT_MOVE,
	STAT_MOVE_FAILED,
	STAT_NOT_ALLOWED,
	/* catalog */
	STAT_CALL,
	STAT_CALL_REPEATED,
	STAT_CALL_REFUSED,
	STAT_CALL_OLD,
	STAT_OVER_QUOTA,
	STAT_OPEN_REFUSED,
	STAT_PUSH,
	STAT_PUSH_REPEATED,
	STAT_PUSH_FAILED,
	STAT_JOIN,
	STAT_LEAVE,
	/* nodes that died */
	STAT_FENCED,
	STAT_LOCK_FREED,
	STAT_BLOCK_LOST,
	MEMD_STATS_N
};

#define MEMD_TYPES	128	/* message types that are counted */

/**
 * struct stats - free running counters
 * @count: enum memd_stat
 * @in: messages by type
 * @out: messages by type
 * @refused: when, in milliseconds, a message was last refused for who sent it; 0: never
 */
struct stats {
	u64 count[MEMD_STATS_N];
	u64 in[MEMD_TYPES];
	u64 out[MEMD_TYPES];
	u64 refused;
};

#define count(m, id)	((m)->stats.count[STAT_##id]++)

#endif /* WEFT_MEMD_COUNT_H */
