// SPDX-License-Identifier: GPL-2.0-only
/* Giving all lines of a blade back, see renew.h. */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "bound.h"
#include "drive.h"
#include "inode.h"
#include "klock.h"
#include "node.h"
#include "renew.h"
#include "rpc.h"
#include "stats.h"
#include "udp.h"

#define CALL_MS		5000	/* for a CLAIM */
#define ALL_BLADES	0

/* --- blocks -------------------------------------------------------------------- */

static bool is_of(const struct weft_cline *cl, u8 blade)
{
	return blade == ALL_BLADES || weft_node_home(cl->line.key) == blade;
}

static bool live(struct weft_cline *cl)
{
	wait_event(cl->wait, READ_ONCE(cl->phase) == WEFT_CLINE_LIVE ||
			     READ_ONCE(cl->phase) == WEFT_CLINE_GONE);
	return READ_ONCE(cl->phase) == WEFT_CLINE_LIVE;
}

static void lock_unmapped(struct weft_cline *cl)
{
	u32 tries = WEFT_PIN_WAITS;

	for (;;) {
		weft_drive_lock_pages(cl);
		/* what programs write until here is in what goes home */
		weft_drive_unmap(cl);
		if (!weft_drive_pinned(cl) || !tries--)
			return;
		weft_drive_unlock_pages(cl);
		usleep_range(WEFT_PIN_WAIT_US, 2 * WEFT_PIN_WAIT_US);
	}
}

void weft_renew_give_back(struct weft_cline *cl)
{
	struct sk_buff_head queue;
	struct weft_out out;

	__skb_queue_head_init(&queue);
	if (!live(cl))
		return;
	lock_unmapped(cl);
	spin_lock_bh(&cl->lock);
	if (cl->phase == WEFT_CLINE_LIVE) {
		cl->backoff_at = 0;
		cl->waiting = false;
		cl->losses = 0;
		weft_bound_forget(cl);
		if (weft_line_return(&cl->line, weft_node_seq(), &out) &&
		    !cl->putting) {
			cl->putting = true;
			atomic_inc(&weft_cache.putting);
		}
		/* what came since they were unmapped may have set it again */
		weft_drive_clear_uptodate(cl);
		weft_drive(cl, &out, NULL, &queue);
	}
	spin_unlock_bh(&cl->lock);
	weft_drive_unlock_pages(cl);
	weft_udp_send(&queue);
	weft_cline_kill(cl);
}

bool weft_renew_lose(struct weft_cline *cl)
{
	bool modified;

	spin_lock_bh(&cl->lock);
	modified = cl->phase == WEFT_CLINE_LIVE &&
		   ((cl->line.state == WEFT_M && cl->dirty) ||
		    weft_line_returning(&cl->line));
	spin_unlock_bh(&cl->lock);
	weft_cline_forget(cl);
	return modified;
}

static bool is_returning(struct weft_cline *cl)
{
	bool ret;

	spin_lock_bh(&cl->lock);
	ret = cl->phase == WEFT_CLINE_LIVE && weft_line_returning(&cl->line);
	spin_unlock_bh(&cl->lock);
	return ret;
}

enum pass { PASS_GIVE_BACK, PASS_COUNT, PASS_LOSE };

/* Return: blocks that are on their way; or that were modified and are lost. */
static u64 pass_inode(struct weft_inode *wi, u8 blade, enum pass pass)
{
	struct weft_cline *cl;
	u64 index = 0, n = 0;

	for (; (cl = weft_cline_next(wi, &index)); index++) {
		if (!is_of(cl, blade)) {
			weft_cline_put(cl);
			continue;
		}
		if (pass == PASS_GIVE_BACK)
			weft_renew_give_back(cl);
		if (pass == PASS_LOSE)
			n += weft_renew_lose(cl);
		else
			n += is_returning(cl);
		weft_cline_put(cl);
		/* so many on their way are enough */
		if (pass == PASS_GIVE_BACK)
			wait_event_timeout(weft_cache.room,
					   atomic_read(&weft_cache.putting) <
					   WEFT_PUTTING_MAX, HZ / 10);
		cond_resched();
	}
	return n;
}

static void report(struct weft_inode *wi, u64 blocks)
{
	struct weft_node_event event = { .blocks = blocks };

	if (!blocks)
		return;
	WRITE_ONCE(wi->lost, true);
	pr_err("weft: region %u: %llu modified blocks are lost: the rack went on without this node; programs that have it open get errors, restart them\n",
	       wi->region, blocks);
	weft_stat_add(WEFT_STAT_BLOCKS_LOST, blocks);
	weft_node_event(WEFT_EVENT_BLOCKS_LOST, &event);
}

static u64 pass_all(u8 blade, enum pass pass)
{
	struct weft_inode *wi;
	u32 region = 0;
	u64 n = 0, some;

	while ((wi = weft_inode_grab_next(&region))) {
		some = pass_inode(wi, blade, pass);
		if (pass == PASS_LOSE)
			report(wi, some);
		n += some;
		iput(&wi->vfs);
	}
	return n;
}

static unsigned long wait_end(void)
{
	return jiffies + msecs_to_jiffies(READ_ONCE(weft_node.timeout_ms));
}

static u32 bits_of(u8 blade)
{
	return blade == ALL_BLADES ? ~0u : 1u << (blade - WEFT_BLADE_MIN);
}

static void wait_a_little(void)
{
	wait_event_timeout(weft_cache.room,
			   !atomic_read(&weft_cache.putting), HZ / 50);
}

static int return_blocks(u8 blade)
{
	unsigned long end = wait_end();
	int err = 0;

	weft_inode_leaving(bits_of(blade), false);
	pass_all(blade, PASS_GIVE_BACK);
	while (!err && (pass_all(blade, PASS_COUNT) ||
			weft_inode_leaving(bits_of(blade), false))) {
		if (time_after(jiffies, end))
			err = -ETIMEDOUT;
		wait_a_little();
	}
	weft_inode_renewed();
	return err;
}

static void lose_blocks(u8 blade)
{
	unsigned long end = wait_end();

	weft_inode_leaving(bits_of(blade), true);
	pass_all(blade, PASS_LOSE);
	while (weft_inode_leaving(bits_of(blade), true) &&
	       time_before(jiffies, end))
		wait_a_little();
	weft_inode_renewed();
}

/* --- locks ---------------------------------------------------------------------- */

static int claim(u8 blade, struct weft_call *call, u32 life)
{
	int err;

	if (!call->list_len)
		return 0;
	call->op = WEFT_CALL_CLAIM;
	call->life = life;
	err = weft_rpc_call(blade, call, CALL_MS);
	memset(call, 0, sizeof(*call));
	return err;
}

static int claim_locks(u8 blade, u32 life)
{
	struct weft_call *call = kzalloc(sizeof(*call), GFP_KERNEL);
	struct weft_held_lock held;
	int err = 0;
	u64 key = 0;
	u8 *p;

	if (!call)
		return -ENOMEM;
	while (!err && weft_klock_renew(blade, &key, false, &held)) {
		if (call->list_len + WEFT_CLAIM_LEN > WEFT_CALL_LIST_MAX)
			err = claim(blade, call, life);
		p = call->list + call->list_len;
		put_unaligned_be64(held.key, p);
		put_unaligned_be32(held.epoch, p + 8);
		p[12] = held.state;
		memset(p + 13, 0, 3);
		call->list_len += WEFT_CLAIM_LEN;
	}
	if (!err)
		err = claim(blade, call, life);
	kfree(call);
	return err;
}

/* Locks that programs hold are not safe any more: others may get them. */
static void lose_locks(u8 blade)
{
	struct weft_held_lock held;
	u64 key = 0, n = 0;

	while (weft_klock_renew(blade, &key, true, &held))
		n++;
	if (n)
		pr_err("weft: %llu locks that programs hold are lost: the rack went on without this node\n",
		       n);
}

/* --- a blade, or all ------------------------------------------------------------ */

void weft_renew_opens(void)
{
	struct weft_inode *wi;
	u32 region = 0;

	while ((wi = weft_inode_grab_next(&region))) {
		weft_inode_reopen(wi);
		iput(&wi->vfs);
	}
}

int weft_renew(u8 blade, u32 life, bool late)
{
	int err = 0;

	if (late) {
		pr_warn("weft: memory blade %u went on without this node: dropping all blocks of it\n",
			blade - WEFT_BLADE_MIN + 1);
		lose_locks(blade);
		lose_blocks(blade);
	} else {
		pr_info("weft: memory blade %u begins anew: all blocks of it go home\n",
			blade - WEFT_BLADE_MIN + 1);
		err = claim_locks(blade, life);
		if (!err)
			err = return_blocks(blade);
	}
	if (!err && blade == WEFT_BLADE_MIN)
		weft_renew_opens();
	return err;
}

int weft_renew_leaving(u8 blade)
{
	unsigned long end = jiffies + msecs_to_jiffies(CALL_MS);

	while (READ_ONCE(weft_cache.lines)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		weft_inode_leaving(bits_of(blade), false);
		wait_a_little();
	}
	return 0;
}

void weft_renew_all_lost(void)
{
	pr_warn("weft: the rack does not know this node any more: dropping all blocks\n");
	lose_locks(ALL_BLADES);
	lose_blocks(ALL_BLADES);
}
