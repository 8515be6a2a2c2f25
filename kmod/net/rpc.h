/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Questions and answers outside of the lines: calls of a memory blade, counters
 * of the switch.  The question is repeated until its answer comes.
 */
#ifndef WEFT_RPC_H
#define WEFT_RPC_H

#include "core/call.h"

struct weft_node;

/**
 * weft_rpc_call() - ask a memory blade
 * @blade: its id
 * @call: the question; overwritten by the answer
 * @timeout_ms: how long to wait
 *
 * JOIN, LEAVE and PEERS go to the blade's twin in turns, too, if there is no answer.  SYNC ends
 * with -ESTALE if the blade is no home of the region any more, and does not answer.
 *
 * Sleeps; killable.  Return: as weft_rpc_catalog().
 */
int weft_rpc_call(struct weft_node *node, u32 blade, struct weft_call *call, u32 timeout_ms);

/**
 * weft_rpc_catalog() - ask the first memory blade
 * @call: the question; overwritten by the answer
 *
 * Sleeps, can be killed.
 *
 * Return: 0; -EINTR; -ETIMEDOUT: no answer; -ENOTCONN: not up; the negative of
 * the errno that the blade answered; -EPROTO for an answer that makes no sense.
 */
int weft_rpc_catalog(struct weft_node *node, struct weft_call *call);

/**
 * weft_rpc_ask() - the same to any blade
 * @blade: WEFT_BLADE_MIN and up
 *
 * Return: as above; -EINVAL: this node has not heard of such a blade.
 */
int weft_rpc_ask(struct weft_node *node, u32 blade, struct weft_call *call);

/* Who only wants to see something does not wait longer for a blade that may be gone. */
#define WEFT_LOOK_MS	5000

/* weft_rpc_ask() for what changes nothing and is shown to people: WEFT_LOOK_MS at most. */
int weft_rpc_look(struct weft_node *node, u32 blade, struct weft_call *call);

/**
 * weft_rpc_switch_counts() - counters of the directory in the switch
 * @count: WEFT_COUNT_*
 *
 * Return: 0; -ENXIO: no P4 switch answers; -EINTR, -ENOTCONN.
 */
int weft_rpc_switch_counts(struct weft_node *node, u64 count[WEFT_COUNTERS]);

/* REPLY or COUNT_ACK.  Softirq. */
void weft_rpc_recv(struct weft_node *node, const struct weft_msg *msg);

/* Does a REPLY answer what the twin of the blade that it names was asked, too?  Softirq. */
bool weft_rpc_asked_twin(struct weft_node *node, const struct weft_msg *msg);

/* A blade is where its twin was: what it is asked goes there at once.  Any context. */
void weft_rpc_moved(struct weft_node *node, u32 blade);

/*
 * The first blade seems to keep another time than this node knows, or to be where its twin was:
 * what it is asked is sent again at once, first to the twin; every 100 ms at most, whoever makes
 * that seem so.  Softirq.
 */
void weft_rpc_hurry(struct weft_node *node);

/*
 * Is it the first blade's answer to what we ask?  Then its stamp is the time, whatever we
 * think that it is: it repeats a number that nobody could know before.  Softirq.
 */
bool weft_rpc_sets_clock(struct weft_node *node, const struct weft_msg *msg);

/*
 * An answer without a tag, or with a wrong one: nothing of it is believed, but if no other
 * comes, it may say why.  Softirq.
 */
void weft_rpc_refused(struct weft_node *node, const struct weft_msg *msg);

/* Answer a blade's call, whose @txn and @nonce are repeated.  Any context that @gfp is for. */
void weft_rpc_reply(struct weft_node *node, u32 blade, u32 txn, u32 nonce,
		    const struct weft_call *call, gfp_t gfp);

#endif /* WEFT_RPC_H */
