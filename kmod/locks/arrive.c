// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages for lines of kind lock: find the lock, let the core take the message in, carry out
 * what it decides (step.c).  Called by net/recv.c by way of struct weft_receivers, in softirq.
 * Sleeps nowhere, and allocates only for a lock about which the core has to ask something.
 */
#include <linux/ktime.h>

#include "base/stats.h"
#include "locks/arrive.h"
#include "locks/step.h"
#include "net/node.h"
#include "net/outbox.h"
#include "net/rtt.h"

#define STRAYS_MAX	4096	/* at most so many locks that exist for messages alone */

/*
 * Does the sender pass on the blocks that the lock guards?  The old holder (HANDED) lends them
 * to the readers at the head of the queue, and passes them on to the writer behind those.  A
 * reader that gives up the lock (INV_ACK) gives back what was lent to it.  A node that has nothing
 * to pass on, or no longer knows what the lock guards as its programs have closed the region, says
 * so: WEFT_F_ALONE.
 */
static bool comes_along(const struct weft_lockres *lr, const struct weft_msg *msg)
{
	struct weft_queue list;
	u32 i, n;

	if (msg->flags & WEFT_F_ALONE)
		return false;
	if (msg->type == WEFT_MSG_INV_ACK)
		return msg->txn == lr->core.txn;
	if (msg->type != WEFT_MSG_HANDED)
		return false;
	weft_queue_unpack(&list, msg);
	n = weft_queue_readers(&list);
	for (i = 0; i < list.n && i <= n; i++)
		if (list.txn[i] == lr->core.txn)
			return true;
	return false;
}

static void recv_known(struct weft_lockres *lr, const struct weft_msg *msg,
		       struct weft_outbox *outbox)
{
	u8 wanted = lr->core.want;
	struct weft_lock_out out;

	lockdep_assert_held(&lr->lock);
	if (comes_along(lr, msg))
		lr->passed = true;
	weft_lock_recv(&lr->core, msg, weft_node_seq(lr->locks->node), &out);
	/* answered by the directory alone, without a hand-over: a round trip */
	if (msg->type == WEFT_MSG_GRANT && wanted && !lr->core.want && !lr->repeated)
		weft_rtt_sample(&lr->locks->node->rtts, WEFT_RTT_ASK, ktime_get_ns() - lr->asked);
	if (out.effects & WEFT_DO_BACKOFF)
		weft_stat_inc(&lr->locks->node->counters, WEFT_STAT_NACKS);
	else if (out.effects & WEFT_DO_TIMER)
		lr->losses = 0;
	/* WHY_FULL: the region has no room for another lock; other failures are -EIO */
	if (out.effects & WEFT_DO_FAIL && msg->info == WEFT_WHY_FULL)
		weft_lockres_fail_all(lr, -ENOLCK);
	weft_lockres_act(lr, &out, outbox);
}

/*
 * Take in a message for a lock that is not in the table.  Mostly the core answers at once, and
 * nothing is kept.  If it has to ask something itself, the lock is made; without memory, or
 * beyond STRAYS_MAX, the message counts as lost.
 *
 * Return: false: the lock is in the table meanwhile, look it up again.
 */
static bool recv_unknown(struct weft_locks *locks, const struct weft_msg *msg,
			 struct weft_outbox *outbox)
{
	struct weft_lock_out out;
	struct weft_lockres *lr;
	struct weft_lock lock;
	u32 i;
	int err;

	weft_lock_init(&lock, msg->line, locks->node->id);
	weft_lock_recv(&lock, msg, weft_node_seq(locks->node), &out);
	if (lock.state == WEFT_I && !lock.tenured && weft_lock_idle(&lock)) {
		weft_stat_inc(&locks->node->counters, WEFT_STAT_MSG_UNKNOWN_LINE);
		for (i = 0; i < out.n; i++)
			weft_outbox_put(outbox, out.send[i].to ? out.send[i].to :
					weft_node_home(locks->node, msg->line),
					&out.send[i].msg);
		return true;
	}
	if (READ_ONCE(locks->mode) == WEFT_LOCKS_OFF)
		return true;
	if (atomic_inc_return(&locks->strays) > STRAYS_MAX) {
		atomic_dec(&locks->strays);
		return true;
	}
	lr = weft_lockres_alloc(locks, msg->line, GFP_ATOMIC);
	if (!lr) {
		atomic_dec(&locks->strays);
		weft_stat_inc(&locks->node->counters, WEFT_STAT_MSG_NO_MEMORY);
		return true;
	}
	lr->stray = true;
	lr->leaving = true;
	spin_lock_bh(&lr->lock);
	err = xa_insert_bh(&locks->table, msg->line, lr, GFP_ATOMIC);
	if (err) {
		spin_unlock_bh(&lr->lock);
		weft_lockres_discard(lr);
		atomic_dec(&locks->strays);
		return err != -EBUSY;
	}
	lr->core = lock;
	weft_lockres_act(lr, &out, outbox);
	weft_lockres_end(lr, outbox);
	weft_lockres_put(lr);
	return true;
}

void weft_lockres_recv(struct weft_locks *locks, const struct weft_msg *msg)
{
	struct weft_outbox outbox;
	struct weft_lockres *lr;
	bool done = false;

	if (weft_line_kind(msg->line) != WEFT_KIND_LOCK ||
	    weft_node_is_dead(locks->node, msg->src))
		return;
	weft_outbox_init(&outbox, locks->node);
	/* pairs with synchronize_rcu() of weft_locks_stop() */
	rcu_read_lock();
	while (!done) {
		lr = weft_lockres_find(&locks->table, msg->line);
		if (!lr) {
			done = recv_unknown(locks, msg, &outbox);
			continue;
		}
		spin_lock_bh(&lr->lock);
		done = !lr->dead;
		if (done)
			recv_known(lr, msg, &outbox);
		weft_lockres_end(lr, &outbox);
		weft_lockres_put(lr);
	}
	rcu_read_unlock();
	weft_outbox_send(&outbox);
}
