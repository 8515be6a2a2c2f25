/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: every message, and what becomes of each transaction.  Called by blocks/, locks/ and
 * net/; weftctl trace reads their text, so fields and formats stay.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM weft

#if !defined(WEFT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define WEFT_TRACE_H

#include <linux/tracepoint.h>

#include "base/stats.h"
#include "core/line.h"
#include "core/lock.h"

#ifndef WEFT_TRACE_TYPES
#define WEFT_TRACE_TYPE(t) { WEFT_MSG_##t, #t }
#define WEFT_TRACE_TYPES \
	WEFT_TRACE_TYPE(GETS), WEFT_TRACE_TYPE(GETM), WEFT_TRACE_TYPE(PUT), \
	WEFT_TRACE_TYPE(COMMIT), WEFT_TRACE_TYPE(ABORT), WEFT_TRACE_TYPE(QUERY), \
	WEFT_TRACE_TYPE(COUNT), WEFT_TRACE_TYPE(ACQUIRE), WEFT_TRACE_TYPE(HAND), \
	WEFT_TRACE_TYPE(ENQUEUE), WEFT_TRACE_TYPE(HANDED), WEFT_TRACE_TYPE(HAND_ACK), \
	WEFT_TRACE_TYPE(LANDED), WEFT_TRACE_TYPE(PASS), WEFT_TRACE_TYPE(PASSED), \
	WEFT_TRACE_TYPE(INV), WEFT_TRACE_TYPE(FWD), WEFT_TRACE_TYPE(READ), \
	WEFT_TRACE_TYPE(GRANT), WEFT_TRACE_TYPE(NACK), WEFT_TRACE_TYPE(COMMIT_ACK), \
	WEFT_TRACE_TYPE(INFO), WEFT_TRACE_TYPE(COUNT_ACK), WEFT_TRACE_TYPE(DATA), \
	WEFT_TRACE_TYPE(INV_ACK), WEFT_TRACE_TYPE(WB), WEFT_TRACE_TYPE(WB_ACK), \
	WEFT_TRACE_TYPE(CHASE), WEFT_TRACE_TYPE(CALL), WEFT_TRACE_TYPE(REPLY)
#define WEFT_TRACE_STATES \
	{ WEFT_I, "I" }, { WEFT_S, "S" }, { WEFT_M, "M" }
#define WEFT_TRACE_OPS \
	{ WEFT_OP_NONE, "-" }, { WEFT_OP_GETS, "GETS" }, \
	{ WEFT_OP_GETM, "GETM" }, { WEFT_OP_PUT, "PUT" }, \
	{ WEFT_OP_CLEAN, "CLEAN" }, { WEFT_OP_COMMIT, "COMMIT" }, \
	{ WEFT_OP_TAKE, "TAKE" }
#define WEFT_TRACE_KINDS \
	{ WEFT_STAT_MISS_READ_UNSHARED, "read_unshared" }, \
	{ WEFT_STAT_MISS_READ_SHARED, "read_shared" }, \
	{ WEFT_STAT_MISS_READ_MODIFIED, "read_modified" }, \
	{ WEFT_STAT_MISS_WRITE_UNSHARED, "write_unshared" }, \
	{ WEFT_STAT_MISS_WRITE_SHARED, "write_shared" }, \
	{ WEFT_STAT_MISS_WRITE_MODIFIED, "write_modified" }, \
	{ WEFT_STAT_MISS_UPGRADE, "upgrade" }
#endif

DECLARE_EVENT_CLASS(weft_message,
	TP_PROTO(const struct weft_msg *msg, u32 peer),
	TP_ARGS(msg, peer),
	TP_STRUCT__entry(
		__field(u8, type)
		__field(u8, flags)
		__field(u8, status)
		__field(u8, peer)
		__field(u16, info)
		__field(u32, txn)
		__field(u64, line)
		__field(u32, copyset)
		__field(u32, provider)
		__field(u32, grant)
		__field(u32, holder)
		__field(u32, nonce)
		__field(u64, version)
		__field(u32, offset)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->type = msg->type;
		__entry->flags = msg->flags;
		__entry->status = msg->status;
		__entry->peer = (u8)peer;
		__entry->info = msg->info;
		__entry->txn = msg->txn;
		__entry->line = msg->line;
		__entry->copyset = msg->copyset;
		__entry->provider = msg->provider;
		__entry->grant = msg->grant;
		__entry->holder = msg->holder;
		__entry->nonce = msg->nonce;
		__entry->version = msg->version;
		__entry->offset = msg->offset;
		__entry->len = msg->len;
	),
	TP_printk("%s peer=%u line=%u:%llu lock=%u txn=%u.%u flags=%02x status=%s copyset=%x provider=%x grant=%u holder=%08x nonce=%08x version=%llu info=%u offset=%u len=%u",
		  __print_symbolic(__entry->type, WEFT_TRACE_TYPES),
		  __entry->peer, weft_line_region(__entry->line),
		  weft_line_index(__entry->line),
		  weft_line_kind(__entry->line) == WEFT_KIND_LOCK,
		  weft_txn_member(__entry->txn),
		  __entry->txn & WEFT_TXN_SEQ_MASK, __entry->flags,
		  __print_symbolic(__entry->status, WEFT_TRACE_STATES),
		  __entry->copyset, __entry->provider, __entry->grant,
		  __entry->holder, __entry->nonce, __entry->version,
		  __entry->info, __entry->offset, __entry->len)
);

DEFINE_EVENT(weft_message, weft_send,
	TP_PROTO(const struct weft_msg *msg, u32 peer),
	TP_ARGS(msg, peer));

DEFINE_EVENT(weft_message, weft_recv,
	TP_PROTO(const struct weft_msg *msg, u32 peer),
	TP_ARGS(msg, peer));

DECLARE_EVENT_CLASS(weft_state,
	TP_PROTO(const struct weft_line *line),
	TP_ARGS(line),
	TP_STRUCT__entry(
		__field(u64, line)
		__field(u64, version)
		__field(u32, txn)
		__field(u8, state)
		__field(u8, op)
		__field(u8, held)
		__field(u8, revoking)
		__field(u8, nacks)
		__field(u8, tries)
	),
	TP_fast_assign(
		__entry->line = line->key;
		__entry->version = line->version;
		__entry->txn = line->txn;
		__entry->state = line->state;
		__entry->op = line->op;
		__entry->held = line->held;
		__entry->revoking = line->revoking;
		__entry->nacks = line->nacks;
		__entry->tries = line->tries;
	),
	TP_printk("line=%u:%llu state=%s op=%s held=%u revoking=%u txn=%u.%u version=%llu nacks=%u tries=%u",
		  weft_line_region(__entry->line),
		  weft_line_index(__entry->line),
		  __print_symbolic(__entry->state, WEFT_TRACE_STATES),
		  __print_symbolic(__entry->op, WEFT_TRACE_OPS),
		  __entry->held, __entry->revoking,
		  weft_txn_member(__entry->txn),
		  __entry->txn & WEFT_TXN_SEQ_MASK, __entry->version,
		  __entry->nacks, __entry->tries)
);

/*
 * The current process touches a block without the permission.  @offset: the byte in the region
 * that faulted, or the first that a system call copies.
 */
TRACE_EVENT(weft_miss,
	TP_PROTO(u64 line, u64 offset, bool write),
	TP_ARGS(line, offset, write),
	TP_STRUCT__entry(
		__field(u64, line)
		__field(u64, offset)
		__field(u8, write)
	),
	TP_fast_assign(
		__entry->line = line;
		__entry->offset = offset;
		__entry->write = write;
	),
	TP_printk("line=%u:%llu offset=%llu write=%u",
		  weft_line_region(__entry->line),
		  weft_line_index(__entry->line), __entry->offset,
		  __entry->write)
);

/* A request for a block goes out. */
DEFINE_EVENT(weft_state, weft_begin,
	TP_PROTO(const struct weft_line *line), TP_ARGS(line));

/* No answer came: the request is sent again. */
DEFINE_EVENT(weft_state, weft_retry,
	TP_PROTO(const struct weft_line *line), TP_ARGS(line));

/* Programs have lost the block, or the permission to write it. */
DEFINE_EVENT(weft_state, weft_revoked,
	TP_PROTO(const struct weft_line *line), TP_ARGS(line));

/* The eviction begins to give a block up. */
DEFINE_EVENT(weft_state, weft_evict,
	TP_PROTO(const struct weft_line *line), TP_ARGS(line));

/* A miss was served. */
TRACE_EVENT(weft_served,
	TP_PROTO(const struct weft_line *line, u32 kind, u32 rounds, u64 nsec),
	TP_ARGS(line, kind, rounds, nsec),
	TP_STRUCT__entry(
		__field(u64, line)
		__field(u64, nsec)
		__field(u32, kind)
		__field(u32, rounds)
		__field(u8, state)
	),
	TP_fast_assign(
		__entry->line = line->key;
		__entry->nsec = nsec;
		__entry->kind = kind;
		__entry->rounds = rounds;
		__entry->state = line->state;
	),
	TP_printk("line=%u:%llu state=%s kind=%s rounds=%u nsec=%llu",
		  weft_line_region(__entry->line),
		  weft_line_index(__entry->line),
		  __print_symbolic(__entry->state, WEFT_TRACE_STATES),
		  __print_symbolic(__entry->kind, WEFT_TRACE_KINDS),
		  __entry->rounds, __entry->nsec)
);

/* The permission of a lock has come that a program waits for. */
TRACE_EVENT(weft_lock_granted,
	TP_PROTO(const struct weft_lock *lock, u64 nsec),
	TP_ARGS(lock, nsec),
	TP_STRUCT__entry(
		__field(u64, line)
		__field(u64, nsec)
		__field(u32, txn)
		__field(u32, epoch)
		__field(u32, queue)
		__field(u8, state)
		__field(u8, revoking)
	),
	TP_fast_assign(
		__entry->line = lock->key;
		__entry->nsec = nsec;
		__entry->txn = lock->txn;
		__entry->epoch = lock->epoch;
		__entry->queue = lock->queue.n;
		__entry->state = lock->state;
		__entry->revoking = lock->revoking;
	),
	TP_printk("line=%u:%llu state=%s txn=%u.%u epoch=%u queue=%u revoking=%u nsec=%llu",
		  weft_line_region(__entry->line),
		  weft_line_index(__entry->line),
		  __print_symbolic(__entry->state, WEFT_TRACE_STATES),
		  weft_txn_member(__entry->txn),
		  __entry->txn & WEFT_TXN_SEQ_MASK, __entry->epoch,
		  __entry->queue, __entry->revoking, __entry->nsec)
);

/* A term as holder of the queue ends. */
TRACE_EVENT(weft_lock_handed,
	TP_PROTO(const struct weft_lock *lock),
	TP_ARGS(lock),
	TP_STRUCT__entry(
		__field(u64, line)
		__field(u32, epoch)
		__field(u32, to)
		__field(u32, readers)
		__field(u32, queue)
	),
	TP_fast_assign(
		__entry->line = lock->key;
		__entry->epoch = lock->handed_epoch;
		__entry->to = lock->handed_to;
		__entry->readers = lock->handed_readers;
		__entry->queue = lock->handed.n;
	),
	TP_printk("line=%u:%llu epoch=%u to=%x readers=%x queue=%u",
		  weft_line_region(__entry->line),
		  weft_line_index(__entry->line), __entry->epoch, __entry->to,
		  __entry->readers, __entry->queue)
);

TRACE_EVENT(weft_call,
	TP_PROTO(u16 op, u32 region, int err),
	TP_ARGS(op, region, err),
	TP_STRUCT__entry(
		__field(u16, op)
		__field(u32, region)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->op = op;
		__entry->region = region;
		__entry->err = err;
	),
	TP_printk("op=%u region=%u err=%d", __entry->op, __entry->region,
		  __entry->err)
);

#endif /* WEFT_TRACE_H */

/* Beside uapi/, which is in the include path. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../kmod/base
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
