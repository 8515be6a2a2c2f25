// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls to memory blades and questions to the switch, repeated until they are answered.  Asked
 * by fs/, rack/ and control/ in process context; recv.c hands in the answers in softirq.
 * Believes no answer without the number and nonce of its question.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "base/stats.h"
#include "base/trace.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/peer.h"
#include "net/rpc.h"

#define REPEAT_MS_FIRST		20
#define REPEAT_MS_MAX		500
#define HURRY_MS		100	/* weft_rpc_hurry() at most so often */
#define TWIN_FROM		2	/* attempts for the blade alone, before its twin has turns */
#define COUNT_TRIES		5
#define COUNT_MS		50

/* A call that waits for its answer.  weft_node.calls_lock. */
struct weft_rpc {
	struct list_head list;	/* in weft_node.calls */
	u32 txn;		/* number, which the answer repeats */
	u32 nonce;		/* random number, which the answer repeats */
	u8 type;		/* message type of the answer */
	u8 from;		/* blade that is to answer; 0: the switch */
	struct weft_call *call;	/* out: the answer of a blade; NULL: of the switch */
	u32 count;		/* out: the answer of the switch */
	int err;		/* the answer makes no sense */
	bool twin;		/* the blade's twin was asked as well */
	bool again;		/* ask again at once, as the blade has moved, or may have */
	u32 nth;		/* with @again: as the @nth attempt */
	/*
	 * error of an answer without a valid tag, which may be forged, but tells why there is no
	 * other
	 */
	int hint;
	/* answered, or to be asked again; once answered, only the caller looks at this */
	struct completion done;
};

static void start(struct weft_node *node, struct weft_rpc *rpc, u8 type, u32 from,
		  struct weft_call *call)
{
	memset(rpc, 0, sizeof(*rpc));
	rpc->txn = weft_txn(node->id, weft_node_call_seq(node));
	rpc->nonce = get_random_u32();
	rpc->type = type;
	rpc->from = (u8)from;
	rpc->call = call;
	init_completion(&rpc->done);
	spin_lock_bh(&node->calls_lock);
	list_add(&rpc->list, &node->calls);
	spin_unlock_bh(&node->calls_lock);
}

static void finish(struct weft_node *node, struct weft_rpc *rpc)
{
	spin_lock_bh(&node->calls_lock);
	list_del_init(&rpc->list);
	spin_unlock_bh(&node->calls_lock);
}

static void send(struct weft_node *node, u32 to, u8 type, u32 txn, u32 nonce,
		 const void *payload, u32 len)
{
	struct weft_msg msg = {
		.type = type,
		.txn = txn,
		.nonce = nonce,
		.payload = payload,
		.len = len,
	};
	struct weft_outbox outbox;

	weft_outbox_init(&outbox, node);
	weft_outbox_put(&outbox, to, &msg);
	weft_outbox_send(&outbox);
}

static int wait_ms(struct weft_rpc *rpc, u32 ms)
{
	long left = wait_for_completion_killable_timeout(&rpc->done, msecs_to_jiffies(ms));

	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

/*
 * Was the caller only woken to ask again?  Then it asks as for the @nth time, and can be woken
 * again.
 */
static bool only_woken(struct weft_node *node, struct weft_rpc *rpc, u32 *nth)
{
	bool again;

	spin_lock_bh(&node->calls_lock);
	again = rpc->again && !list_empty(&rpc->list);
	if (again) {
		rpc->again = false;
		*nth = rpc->nth;
		reinit_completion(&rpc->done);
	}
	spin_unlock_bh(&node->calls_lock);
	return again;
}

/* Calls by which a node finds its rack: a twin that stands by answers these alone. */
static bool is_for_twin(u16 op)
{
	return op == WEFT_CALL_JOIN || op == WEFT_CALL_LEAVE || op == WEFT_CALL_PEERS;
}

/* The member that the @nth attempt goes to: the blade, or in turns its twin. */
static u32 whom(struct weft_node *node, struct weft_rpc *rpc, u32 blade, u16 op, u32 nth)
{
	if (nth < TWIN_FROM || (nth - TWIN_FROM) % 2 || !is_for_twin(op) ||
	    !weft_peer_twin(&node->peers, blade))
		return blade;
	spin_lock_bh(&node->calls_lock);
	rpc->twin = true;
	spin_unlock_bh(&node->calls_lock);
	return WEFT_PEER_STANDBY(blade);
}

/* SYNC of a blade that is no home of the region any more, and may be switched off. */
static bool is_void(const struct weft_node *node, u32 blade, u16 op, u32 region)
{
	return op == WEFT_CALL_SYNC && blade != WEFT_BLADE_MIN &&
	       !(weft_place_homes(&node->places, region) & 1u << (blade - WEFT_BLADE_MIN));
}

/* Call until there is an answer.  Return: 0; -EINTR; -ETIMEDOUT; -ESTALE (is_void()). */
static int call_once(struct weft_node *node, struct weft_rpc *rpc, u32 blade, u16 op, u32 region,
		     const void *buf, u32 len, unsigned long end)
{
	u32 interval = REPEAT_MS_FIRST, nth = 0;
	int err;

	for (;;) {
		send(node, whom(node, rpc, blade, op, nth++), WEFT_MSG_CALL, rpc->txn,
		     rpc->nonce, buf, len);
		err = wait_ms(rpc, interval);
		if (!err && only_woken(node, rpc, &nth)) {
			interval = REPEAT_MS_FIRST;
			continue;
		}
		if (err != -ETIMEDOUT || time_after(jiffies, end))
			return err;
		if (is_void(node, blade, op, region))
			return -ESTALE;
		weft_stat_inc(&node->counters, WEFT_STAT_CALL_REPEATS);
		interval = min_t(u32, interval * 2, REPEAT_MS_MAX);
	}
}

int weft_rpc_call(struct weft_node *node, u32 blade, struct weft_call *call, u32 timeout_ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(timeout_ms);
	u32 region = call->region;
	struct weft_rpc rpc;
	u16 op = call->op;
	int err, tries = 0;
	void *buf;
	u32 len;

	buf = kmalloc(WEFT_CALL_LEN_MAX, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	call->err = 0;
	len = weft_call_pack(call, buf);
	weft_stat_inc(&node->counters, WEFT_STAT_CALLS);
	do {
		start(node, &rpc, WEFT_MSG_REPLY, blade, call);
		err = call_once(node, &rpc, blade, op, region, buf, len, end);
		finish(node, &rpc);
		/* the node's clock was wrong, or the number too old: both are new now */
	} while (!err && !rpc.err && call->err == WEFT_CALL_WRONG_TIME &&
		 ++tries < WEFT_CALL_TRIES);
	kfree(buf);
	if (err == -ETIMEDOUT) {
		weft_stat_inc(&node->counters, WEFT_STAT_CALL_TIMEOUTS);
		if (rpc.hint)
			err = rpc.hint;
	}
	if (!err)
		err = rpc.err;
	if (!err && call->op != op)
		err = -EPROTO;
	if (!err && call->err == WEFT_CALL_WRONG_TIME)
		err = -ETIMEDOUT;
	if (!err && call->err)
		err = -(int)call->err;
	trace_weft_call(op, call->region, err);
	return err;
}

/* Ask the switch for counter @which (WEFT_COUNT_*).  Return: 0; -ETIMEDOUT; -EINTR. */
static int weft_rpc_count(struct weft_node *node, u32 which, u32 *value)
{
	struct weft_rpc rpc;
	int tries, err = 0;

	start(node, &rpc, WEFT_MSG_COUNT_ACK, 0, NULL);
	for (tries = 0; tries < COUNT_TRIES; tries++) {
		send(node, WEFT_PEER_GROUP, WEFT_MSG_COUNT, rpc.txn, which, NULL, 0);
		err = wait_ms(&rpc, COUNT_MS << tries);
		if (err != -ETIMEDOUT)
			break;
	}
	finish(node, &rpc);
	*value = rpc.count;
	return err;
}

static int ask(struct weft_node *node, u32 blade, struct weft_call *call, u32 timeout_ms)
{
	if (!READ_ONCE(node->up))
		return -ENOTCONN;
	if (!weft_is_blade(blade) || !weft_peer_addr(&node->peers, blade))
		return -EINVAL;
	return weft_rpc_call(node, blade, call, timeout_ms);
}

int weft_rpc_ask(struct weft_node *node, u32 blade, struct weft_call *call)
{
	return ask(node, blade, call, READ_ONCE(node->timeout_ms));
}

int weft_rpc_look(struct weft_node *node, u32 blade, struct weft_call *call)
{
	return ask(node, blade, call, min_t(u32, READ_ONCE(node->timeout_ms), WEFT_LOOK_MS));
}

int weft_rpc_catalog(struct weft_node *node, struct weft_call *call)
{
	return weft_rpc_ask(node, WEFT_BLADE_MIN, call);
}

int weft_rpc_switch_counts(struct weft_node *node, u64 count[WEFT_COUNTERS])
{
	u32 i, value;
	int err;

	if (!READ_ONCE(node->up))
		return -ENOTCONN;
	for (i = 0; i < WEFT_COUNTERS; i++) {
		err = weft_rpc_count(node, i, &value);
		if (err)
			return err == -ETIMEDOUT ? -ENXIO : err;
		count[i] = value;
	}
	return 0;
}

/* The call that @msg answers, or NULL. */
static struct weft_rpc *asked(struct weft_node *node, const struct weft_msg *msg)
{
	struct weft_rpc *rpc;

	lockdep_assert_held(&node->calls_lock);
	list_for_each_entry(rpc, &node->calls, list) {
		if (rpc->txn == msg->txn && rpc->type == msg->type &&
		    (!rpc->from || rpc->from == msg->src) &&
		    (!rpc->call || rpc->nonce == msg->nonce))
			return rpc;
	}
	return NULL;
}

/* Is @msg an answer; @twin: to a call that went to the blade's twin as well?  Softirq. */
static bool is_answer(struct weft_node *node, const struct weft_msg *msg, bool twin)
{
	struct weft_rpc *rpc;
	bool yes;

	spin_lock(&node->calls_lock);
	rpc = asked(node, msg);
	yes = rpc && (!twin || rpc->twin);
	spin_unlock(&node->calls_lock);
	return yes;
}

bool weft_rpc_asked_twin(struct weft_node *node, const struct weft_msg *msg)
{
	return is_answer(node, msg, true);
}

static void send_again(struct weft_node *node, u32 blade, u32 nth)
{
	struct weft_rpc *rpc;

	lockdep_assert_held(&node->calls_lock);
	list_for_each_entry(rpc, &node->calls, list) {
		if (rpc->from != blade || !rpc->call)
			continue;
		rpc->again = true;
		rpc->nth = nth;
		complete(&rpc->done);
	}
}

void weft_rpc_moved(struct weft_node *node, u32 blade)
{
	spin_lock_bh(&node->calls_lock);
	send_again(node, blade, 0);
	spin_unlock_bh(&node->calls_lock);
}

void weft_rpc_hurry(struct weft_node *node)
{
	spin_lock(&node->calls_lock);
	if (time_after(jiffies, node->hurried + msecs_to_jiffies(HURRY_MS))) {
		node->hurried = jiffies;
		send_again(node, WEFT_BLADE_MIN, TWIN_FROM);
	}
	spin_unlock(&node->calls_lock);
}

void weft_rpc_recv(struct weft_node *node, const struct weft_msg *msg)
{
	struct weft_rpc *rpc;

	spin_lock(&node->calls_lock);
	rpc = asked(node, msg);
	if (rpc) {
		list_del_init(&rpc->list);
		if (!rpc->call)
			rpc->count = msg->holder;
		else if (weft_call_read(rpc->call, msg))
			rpc->err = -EPROTO;
		if (rpc->err)
			weft_stat_inc(&node->counters, WEFT_STAT_MSG_BAD);
		complete(&rpc->done);
	}
	spin_unlock(&node->calls_lock);
}

bool weft_rpc_sets_clock(struct weft_node *node, const struct weft_msg *msg)
{
	return msg->type == WEFT_MSG_REPLY && msg->src == WEFT_BLADE_MIN &&
	       is_answer(node, msg, false);
}

void weft_rpc_refused(struct weft_node *node, const struct weft_msg *msg)
{
	struct weft_call *call;
	struct weft_rpc *rpc;

	if (msg->type != WEFT_MSG_REPLY || msg->src != WEFT_BLADE_MIN || !msg->payload)
		return;
	call = kmalloc(sizeof(*call), GFP_ATOMIC);
	if (!call || weft_call_read(call, msg) ||
	    (call->err != ENOKEY && call->err != EKEYREJECTED))
		goto out;
	spin_lock(&node->calls_lock);
	rpc = asked(node, msg);
	if (rpc)
		rpc->hint = -(int)call->err;
	spin_unlock(&node->calls_lock);
out:
	kfree(call);
}

void weft_rpc_reply(struct weft_node *node, u32 blade, u32 txn, u32 nonce,
		    const struct weft_call *call, gfp_t gfp)
{
	void *buf = kmalloc(WEFT_CALL_LEN_MAX, gfp);

	if (!buf)
		return; /* the blade repeats its call */
	send(node, blade, WEFT_MSG_REPLY, txn, nonce, buf, weft_call_pack(call, buf));
	kfree(buf);
}
