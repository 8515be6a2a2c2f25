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
 * reader that gives up the lock (INV_ACK) gives back what was lent to it.
 */
static bool comes_along(const struct weft_klock *kl, const struct weft_msg *msg)
{
	struct weft_queue list;
	u32 i, n;

	if (msg->type == WEFT_MSG_INV_ACK)
		return msg->txn == kl->core.txn;
	if (msg->type != WEFT_MSG_HANDED)
		return false;
	weft_queue_unpack(&list, msg);
	n = weft_queue_readers(&list);
	for (i = 0; i < list.n && i <= n; i++)
		if (list.txn[i] == kl->core.txn)
			return true;
	return false;
}

static void recv_known(struct weft_klock *kl, const struct weft_msg *msg,
		       struct weft_outbox *outbox)
{
	u8 wanted = kl->core.want;
	struct weft_lock_out out;

	lockdep_assert_held(&kl->lock);
	if (comes_along(kl, msg))
		kl->passed = true;
	weft_lock_recv(&kl->core, msg, weft_node_seq(kl->locks->node), &out);
	/* answered by the directory alone, without a hand-over: a round trip */
	if (msg->type == WEFT_MSG_GRANT && wanted && !kl->core.want && !kl->repeated)
		weft_rtt_sample(&kl->locks->node->rtts, WEFT_RTT_ASK, ktime_get_ns() - kl->asked);
	if (out.effects & WEFT_DO_BACKOFF)
		weft_stat_inc(&kl->locks->node->counters, WEFT_STAT_NACKS);
	else if (out.effects & WEFT_DO_TIMER)
		kl->losses = 0;
	/* WHY_FULL: the region has no room for another lock; other failures are -EIO */
	if (out.effects & WEFT_DO_FAIL && msg->info == WEFT_WHY_FULL)
		weft_klock_fail_all(kl, -ENOLCK);
	weft_klock_act(kl, &out, outbox);
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
	struct weft_klock *kl;
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
	if (READ_ONCE(locks->mode) == WEFT_KLOCKS_OFF)
		return true;
	if (atomic_inc_return(&locks->strays) > STRAYS_MAX) {
		atomic_dec(&locks->strays);
		return true;
	}
	kl = weft_klock_alloc(locks, msg->line, GFP_ATOMIC);
	if (!kl) {
		atomic_dec(&locks->strays);
		weft_stat_inc(&locks->node->counters, WEFT_STAT_MSG_NO_MEMORY);
		return true;
	}
	kl->stray = true;
	kl->leaving = true;
	spin_lock_bh(&kl->lock);
	err = xa_insert_bh(&locks->table, msg->line, kl, GFP_ATOMIC);
	if (err) {
		spin_unlock_bh(&kl->lock);
		weft_klock_discard(kl);
		atomic_dec(&locks->strays);
		return err != -EBUSY;
	}
	kl->core = lock;
	weft_klock_act(kl, &out, outbox);
	weft_klock_end(kl, outbox);
	weft_klock_put(kl);
	return true;
}

void weft_klock_recv(struct weft_locks *locks, const struct weft_msg *msg)
{
	struct weft_outbox outbox;
	struct weft_klock *kl;
	bool done = false;

	if (weft_line_kind(msg->line) != WEFT_KIND_LOCK ||
	    weft_node_is_dead(locks->node, msg->src))
		return;
	weft_outbox_init(&outbox, locks->node);
	/* pairs with synchronize_rcu() of weft_locks_stop() */
	rcu_read_lock();
	while (!done) {
		kl = weft_klock_find(&locks->table, msg->line);
		if (!kl) {
			done = recv_unknown(locks, msg, &outbox);
			continue;
		}
		spin_lock_bh(&kl->lock);
		done = !kl->dead;
		if (done)
			recv_known(kl, msg, &outbox);
		weft_klock_end(kl, &outbox);
		weft_klock_put(kl);
	}
	rcu_read_unlock();
	weft_outbox_send(&outbox);
}
