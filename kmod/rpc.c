// SPDX-License-Identifier: GPL-2.0-only
/* Questions and answers, see rpc.h. */
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "node.h"
#include "peer.h"
#include "rpc.h"
#include "send.h"
#include "stats.h"
#include "trace.h"
#include "udp.h"

#define REPEAT_MS_FIRST		20
#define REPEAT_MS_MAX		500
#define COUNT_TRIES		5
#define COUNT_MS		50

/**
 * struct weft_rpc - a question that waits for its answer
 * @list: in pending
 * @txn: its number, which the answer repeats
 * @type: of the answer
 * @from: blade that shall answer; 0: the switch
 * @call: receives the answer, or NULL
 * @count: receives the answer
 * @err: what was wrong with it
 * @done: it is here; from then on nobody but the asker looks at this
 */
struct weft_rpc {
	struct list_head list;
	u32 txn;
	u8 type;
	u8 from;
	struct weft_call *call;
	u32 count;
	int err;
	struct completion done;
};

static LIST_HEAD(pending);
static DEFINE_SPINLOCK(pending_lock); /* pending; the answer in its entries */

static void start(struct weft_rpc *rpc, u8 type, u32 from,
		  struct weft_call *call)
{
	memset(rpc, 0, sizeof(*rpc));
	rpc->txn = weft_txn(weft_node.id, weft_node_seq());
	rpc->type = type;
	rpc->from = (u8)from;
	rpc->call = call;
	init_completion(&rpc->done);
	spin_lock_bh(&pending_lock);
	list_add(&rpc->list, &pending);
	spin_unlock_bh(&pending_lock);
}

static void finish(struct weft_rpc *rpc)
{
	spin_lock_bh(&pending_lock);
	list_del_init(&rpc->list);
	spin_unlock_bh(&pending_lock);
}

static void send(u32 to, u8 type, u32 txn, u32 nonce, const void *payload,
		 u32 len)
{
	struct weft_msg msg = {
		.type = type,
		.txn = txn,
		.nonce = nonce,
		.payload = payload,
		.len = len,
	};
	struct sk_buff_head queue;

	__skb_queue_head_init(&queue);
	weft_send(&queue, to, &msg);
	weft_udp_send(&queue);
}

static int wait_ms(struct weft_rpc *rpc, u32 ms)
{
	long left = wait_for_completion_killable_timeout(&rpc->done,
							 msecs_to_jiffies(ms));

	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

int weft_rpc_call(u32 blade, struct weft_call *call, u32 timeout_ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(timeout_ms);
	u32 interval = REPEAT_MS_FIRST;
	struct weft_rpc rpc;
	u16 op = call->op;
	void *buf;
	int err;
	u32 len;

	buf = kmalloc(WEFT_CALL_LEN_MAX, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	call->err = 0;
	len = weft_call_pack(call, buf);
	start(&rpc, WEFT_MSG_REPLY, blade, call);
	weft_stat_inc(WEFT_STAT_CALLS);
	for (;;) {
		send(blade, WEFT_MSG_CALL, rpc.txn, 0, buf, len);
		err = wait_ms(&rpc, interval);
		if (err != -ETIMEDOUT || time_after(jiffies, end))
			break;
		weft_stat_inc(WEFT_STAT_CALL_REPEATS);
		interval = min_t(u32, interval * 2, REPEAT_MS_MAX);
	}
	finish(&rpc);
	kfree(buf);
	if (err == -ETIMEDOUT)
		weft_stat_inc(WEFT_STAT_CALL_TIMEOUTS);
	if (!err)
		err = rpc.err;
	if (!err && call->op != op)
		err = -EPROTO;
	if (!err && call->err)
		err = call->err < MAX_ERRNO ? -(int)call->err : -EPROTO;
	trace_weft_call(op, call->region, err);
	return err;
}

int weft_rpc_count(u32 which, u32 *value)
{
	struct weft_rpc rpc;
	int tries, err = 0;

	start(&rpc, WEFT_MSG_COUNT_ACK, 0, NULL);
	for (tries = 0; tries < COUNT_TRIES; tries++) {
		send(WEFT_PEER_GROUP, WEFT_MSG_COUNT, rpc.txn, which, NULL, 0);
		err = wait_ms(&rpc, COUNT_MS << tries);
		if (err != -ETIMEDOUT)
			break;
	}
	finish(&rpc);
	*value = rpc.count;
	return err;
}

void weft_rpc_recv(const struct weft_msg *msg)
{
	struct weft_rpc *rpc;

	spin_lock(&pending_lock);
	list_for_each_entry(rpc, &pending, list) {
		if (rpc->txn != msg->txn || rpc->type != msg->type ||
		    (rpc->from && rpc->from != msg->src))
			continue;
		list_del_init(&rpc->list);
		if (!rpc->call)
			rpc->count = msg->holder;
		else if (weft_call_unpack(rpc->call, msg->payload, msg->len))
			rpc->err = -EPROTO;
		complete(&rpc->done);
		break;
	}
	spin_unlock(&pending_lock);
}

void weft_rpc_reply(u32 blade, u32 txn, const struct weft_call *call, gfp_t gfp)
{
	void *buf = kmalloc(WEFT_CALL_LEN_MAX, gfp);

	if (!buf)
		return; /* it asks again */
	send(blade, WEFT_MSG_REPLY, txn, 0, buf, weft_call_pack(call, buf));
	kfree(buf);
}
