/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls to memory blades and questions to the switch, apart from lines: repeated until answered.
 * For fs/, rack/, control/; the functions in softirq are for recv.c.
 */
#ifndef WEFT_RPC_H
#define WEFT_RPC_H

#include "core/call.h"

struct weft_node;

/**
 * weft_rpc_call() - call a memory blade
 * @blade: its id
 * @call: the question; overwritten by the answer
 * @timeout_ms: how long to wait
 *
 * Without an answer JOIN, LEAVE and PEERS go to the blade's twin in turns, too.  SYNC of a blade
 * that does not answer, and is no home of the region any more, ends with -ESTALE.
 *
 * Sleeps, killable.  Return: as weft_rpc_catalog().
 */
int weft_rpc_call(struct weft_node *node, u32 blade, struct weft_call *call, u32 timeout_ms);

/**
 * weft_rpc_catalog() - call the first memory blade
 * @call: the question; overwritten by the answer
 *
 * Sleeps, killable.
 *
 * Return: 0; -EINTR; -ETIMEDOUT: no answer; -ENOTCONN: not up; -EPROTO: the answer makes no
 * sense; the negative of the errno that the blade answered.
 */
int weft_rpc_catalog(struct weft_node *node, struct weft_call *call);

/*
 * Call any blade.  @blade: WEFT_BLADE_MIN and up.  Return: as above; -EINVAL: this node knows no
 * such blade.
 */
int weft_rpc_ask(struct weft_node *node, u32 blade, struct weft_call *call);

/* ms; a question for people does not wait longer for a blade that may be gone */
#define WEFT_LOOK_MS	5000

/* weft_rpc_ask() for a question that changes nothing: WEFT_LOOK_MS at most. */
int weft_rpc_look(struct weft_node *node, u32 blade, struct weft_call *call);

/*
 * Read the counters of the directory in the switch.  @count: out, by WEFT_COUNT_*.  Return: 0;
 * -ENXIO: no P4 switch answers; -EINTR, -ENOTCONN.
 */
int weft_rpc_switch_counts(struct weft_node *node, u64 count[WEFT_COUNTERS]);

/* Take in REPLY or COUNT_ACK.  Softirq. */
void weft_rpc_recv(struct weft_node *node, const struct weft_msg *msg);

/* Does a REPLY answer a call that went to the blade's twin as well?  Softirq. */
bool weft_rpc_asked_twin(struct weft_node *node, const struct weft_msg *msg);

/* A blade is where its twin was: repeat its calls at once.  Any context. */
void weft_rpc_moved(struct weft_node *node, u32 blade);

/*
 * The first blade may keep another time than this node knows, or be where its twin was: repeat
 * its calls at once, first to the twin.  Every 100 ms at most, whoever makes it seem so.
 * Softirq.
 */
void weft_rpc_hurry(struct weft_node *node);

/*
 * Is this the first blade's answer to a call of this node?  Then its stamp is the time, whatever
 * this node's clock says: it repeats a nonce that nobody could know before.  Softirq.
 */
bool weft_rpc_sets_clock(struct weft_node *node, const struct weft_msg *msg);

/*
 * Take in a REPLY without a valid tag: believed only as the reason why no other comes.  Softirq.
 */
void weft_rpc_refused(struct weft_node *node, const struct weft_msg *msg);

/* Answer a blade's call, repeating its @txn and @nonce.  Any context that @gfp allows. */
void weft_rpc_reply(struct weft_node *node, u32 blade, u32 txn, u32 nonce,
		    const struct weft_call *call, gfp_t gfp);

#endif /* WEFT_RPC_H */
