/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Questions and answers outside of the lines: calls of a memory blade, counters
 * of the switch.  The question is repeated until its answer comes.
 */
#ifndef WEFT_RPC_H
#define WEFT_RPC_H

#include "call.h"

struct sk_buff_head;

/**
 * weft_rpc_call() - ask a memory blade
 * @blade: its id
 * @call: the question; overwritten by the answer
 * @timeout_ms: how long to wait
 *
 * Sleeps; killable.  Return: as weft_node_call().
 */
int weft_rpc_call(u32 blade, struct weft_call *call, u32 timeout_ms);

/**
 * weft_rpc_count() - ask the switch for a counter
 * @which: WEFT_COUNT_*
 * @value: receives it
 *
 * Return: 0; -ETIMEDOUT, -EINTR, -ENOMEM.
 */
int weft_rpc_count(u32 which, u32 *value);

/* REPLY or COUNT_ACK.  Softirq. */
void weft_rpc_recv(const struct weft_msg *msg);

/* Answer a blade's call.  Any context that @gfp is for. */
void weft_rpc_reply(u32 blade, u32 txn, const struct weft_call *call, gfp_t gfp);

#endif /* WEFT_RPC_H */
