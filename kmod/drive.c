// SPDX-License-Identifier: GPL-2.0-only
/* What the protocol core decided, done; see drive.h. */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>

#include "bound.h"
#include "compat.h"
#include "drive.h"
#include "hist.h"
#include "inode.h"
#include "netlink_event.h"
#include "node.h"
#include "packet.h"
#include "rtt.h"
#include "send.h"
#include "stats.h"
#include "trace.h"
#include "udp.h"

#define EARLY_MS	200	/* more patience while nobody waits */
#define SUSPECT_LOSSES	8	/* so many in a row are told: a second or more */

/* --- pages ------------------------------------------------------------------ */

void weft_drive_lock_pages(struct weft_cline *cl)
{
	u32 i;

	/* ascending, as everybody who locks several pages of a file */
	for (i = 0; i < cl->nr_pages; i++)
		lock_page(cl->pages[i]);
}

void weft_drive_unlock_pages(struct weft_cline *cl)
{
	u32 i;

	for (i = 0; i < cl->nr_pages; i++)
		unlock_page(cl->pages[i]);
}

bool weft_drive_pinned(struct weft_cline *cl)
{
	u32 i;

	for (i = 0; i < cl->nr_pages; i++)
		if (folio_maybe_dma_pinned(page_folio(cl->pages[i])))
			return true;
	return false;
}

/*
 * A device may be writing into the block, mapped or not any more: what it writes after
 * the contents have gone out would be lost.  Such pins are short.  They are made through
 * mappings that allow writing, so no page gets a new one while all are locked and none
 * is mapped.  Who only has references (O_DIRECT before Linux 6.5) cannot be told from
 * others that do, and is not waited for.
 */
static bool device_may_write(struct weft_cline *cl)
{
	lockdep_assert_held(&cl->lock);
	return cl->line.state == WEFT_M && weft_drive_pinned(cl);
}

/*
 * The locks of all pages, if none is mapped and none has to be waited for: a page can
 * be mapped only under its lock, so that nothing is left to take away.  Does not sleep.
 */
static bool try_lock_unmapped(struct weft_cline *cl)
{
	u32 i;

	for (i = 0; i < cl->nr_pages; i++) {
		if (!trylock_page(cl->pages[i]))
			break;
		if (folio_mapped(page_folio(cl->pages[i]))) {
			unlock_page(cl->pages[i]);
			break;
		}
	}
	/* pairs with the atomic_add of a pin, before its maker looks at the mapping again */
	smp_rmb();
	if (i == cl->nr_pages && !device_may_write(cl))
		return true;
	while (i--)
		unlock_page(cl->pages[i]);
	return false;
}

void weft_drive_clear_uptodate(struct weft_cline *cl)
{
	u32 i;

	for (i = 0; i < cl->nr_pages; i++)
		ClearPageUptodate(cl->pages[i]);
}

static void set_uptodate(struct weft_cline *cl)
{
	u32 i;

	lockdep_assert_held(&cl->lock);
	if (weft_line_perm(&cl->line) < WEFT_S)
		return;
	for (i = 0; i < cl->nr_pages; i++)
		if (!PageUptodate(cl->pages[i]))
			SetPageUptodate(cl->pages[i]);
}

/* Is any of its pages mapped?  With their locks: none can be mapped meanwhile. */
static bool mapped(struct weft_cline *cl)
{
	u32 i;

	for (i = 0; i < cl->nr_pages; i++)
		if (folio_mapped(page_folio(cl->pages[i])))
			return true;
	return false;
}

void weft_drive_unmap(struct weft_cline *cl)
{
	struct weft_inode *wi = cl->wi;
	u64 index = weft_line_index(cl->line.key);

	/* first, so that filemap_map_pages() maps no page again */
	weft_drive_clear_uptodate(cl);
	/* many blocks go at a time when a home begins anew, most of them mapped nowhere */
	if (!mapped(cl))
		return;
	unmap_mapping_pages(wi->vfs.i_mapping, index * cl->nr_pages,
			    cl->nr_pages, false);
}

void weft_drive_protect(struct weft_cline *cl)
{
	u32 i;

	for (i = 0; i < cl->nr_pages; i++)
		folio_mkclean(page_folio(cl->pages[i]));
}

static void install(struct weft_cline *cl, const struct weft_packet *packet)
{
	u32 at = packet->msg.offset, left = packet->msg.len, from = 0;

	while (left) {
		u32 in_page = at & ~PAGE_MASK;
		u32 n = min_t(u32, left, PAGE_SIZE - in_page);
		struct page *page = cl->pages[at >> PAGE_SHIFT];
		void *dst = kmap_local_page(page);

		weft_packet_copy(packet, from, dst + in_page, n);
		flush_dcache_page(page);
		kunmap_local(dst);
		from += n;
		at += n;
		left -= n;
	}
}

/* --- timers ------------------------------------------------------------------ */

/*
 * An armed timer has a reference.  @retry_armed and @soon_armed say that it is
 * armed, or that its function is about to run and to see this.
 */
static void arm_retry(struct weft_cline *cl, unsigned long at)
{
	lockdep_assert_held(&cl->lock);
	cl->retry_at = at;
	if (!cl->retry_armed) {
		cl->retry_armed = true;
		refcount_inc(&cl->ref);
		mod_timer(&cl->retry, at);
	} else if (timer_pending(&cl->retry) &&
		   time_before(at, cl->retry.expires)) {
		mod_timer(&cl->retry, at);
	}
}

static void arm_soon(struct weft_cline *cl)
{
	u64 at = U64_MAX;

	lockdep_assert_held(&cl->lock);
	if (cl->backoff_at)
		at = cl->backoff_at;
	if (cl->waiting)
		at = min(at, cl->keep);
	if (cl->bound.patience)
		at = min(at, cl->bound.patience);
	if (at == U64_MAX)
		return;
	if (!cl->soon_armed) {
		cl->soon_armed = true;
		refcount_inc(&cl->ref);
	}
	hrtimer_start(&cl->soon, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

static void arm(struct weft_cline *cl, u32 effects)
{
	enum weft_rtt_what what = weft_drive_rtt(cl, cl->line.op);
	unsigned long wait;

	if (weft_bound_silent(cl))
		return;
	if (effects & WEFT_DO_BACKOFF) {
		cl->backoff_at = ktime_get_ns() +
				 weft_rtt_backoff(cl->line.nacks);
		arm_soon(cl);
	} else if (cl->line.op == WEFT_OP_NONE || cl->line.expecting) {
		arm_retry(cl, jiffies + weft_rtt_query(cl->losses));
	} else {
		wait = weft_rtt_timeout(what, cl->losses);
		/* the last of a batch takes many times as long as the first */
		if (what == WEFT_RTT_AHEAD && !cl->pins)
			wait += msecs_to_jiffies(EARLY_MS);
		arm_retry(cl, jiffies + wait);
	}
}

void weft_drive_hurry(struct weft_cline *cl)
{
	lockdep_assert_held(&cl->lock);
	if (weft_drive_rtt(cl, cl->line.op) == WEFT_RTT_AHEAD && cl->retry_armed)
		arm_retry(cl, jiffies + weft_rtt_timeout(WEFT_RTT_AHEAD, 0));
}

/* --- revocation -------------------------------------------------------------- */

static void carry_out(struct weft_cline *cl, struct weft_out *out,
		      const struct weft_packet *packet,
		      struct sk_buff_head *queue);

static void queue_revoke(struct weft_cline *cl)
{
	refcount_inc(&cl->ref);
	if (!queue_work(weft_cache.wq, &cl->revoke))
		weft_cline_put(cl);
}

/* The programs have what revoking leaves them; all pages are locked. */
static void revoked(struct weft_cline *cl, struct sk_buff_head *queue)
{
	enum weft_hist hist = cl->line.revoking == 2 ? WEFT_HIST_INVALIDATION :
						       WEFT_HIST_DOWNGRADE;
	/* what came while it was to be lent is not obeyed yet */
	bool asked = cl->line.rq.type && !cl->line.lending;
	struct weft_out out;

	lockdep_assert_held(&cl->lock);
	cl->pin_waits = 0;
	if (cl->line.revoking == 2) {
		weft_drive_clear_uptodate(cl);
		if (asked)
			weft_stat_inc(WEFT_STAT_INVALIDATED);
	} else {
		weft_stat_inc(WEFT_STAT_DOWNGRADED);
	}
	weft_line_revoked(&cl->line, weft_node_seq(), &out);
	trace_weft_revoked(&cl->line);
	carry_out(cl, &out, NULL, queue);
	/* ... and may need more than that: when the pages are unlocked */
	if (cl->line.revoking)
		queue_revoke(cl);
	if (asked) {
		weft_hist_add(hist, ktime_get_ns() - cl->heard);
		cl->revocations++;
	}
	if (cl->line.state != WEFT_M)
		cl->dirty = false;
	set_uptodate(cl);
	weft_bound_follow(cl, queue);
}

static void begin_revoke(struct weft_cline *cl, u64 now,
			 struct sk_buff_head *queue)
{
	if (cl->keep > now) {
		weft_stat_inc(WEFT_STAT_HELD_BACK);
		cl->waiting = true;
		arm_soon(cl);
	} else if (try_lock_unmapped(cl)) {
		weft_stat_inc(WEFT_STAT_REVOKED_UNMAPPED);
		revoked(cl, queue);
		weft_drive_unlock_pages(cl);
	} else {
		queue_revoke(cl);
	}
}

/* May sleep. */
static void revoke_mapped(struct weft_cline *cl)
{
	struct sk_buff_head queue;
	u8 mode;

	__skb_queue_head_init(&queue);
	weft_drive_lock_pages(cl);
	spin_lock_bh(&cl->lock);
	mode = cl->phase == WEFT_CLINE_LIVE && !cl->waiting ?
	       cl->line.revoking : 0;
	spin_unlock_bh(&cl->lock);
	if (!mode)
		goto out;
	if (mode == 2)
		weft_drive_unmap(cl);
	else
		weft_drive_protect(cl);
	spin_lock_bh(&cl->lock);
	if (cl->line.revoking == mode) {
		if (device_may_write(cl) &&
		    cl->pin_waits < WEFT_PIN_WAITS) {
			cl->pin_waits++;
			cl->keep = ktime_get_ns() + WEFT_PIN_WAIT_US * NSEC_PER_USEC;
			cl->waiting = true;
			arm_soon(cl);
		} else {
			weft_stat_inc(WEFT_STAT_REVOKED_MAPPED);
			revoked(cl, &queue);
		}
	}
	spin_unlock_bh(&cl->lock);
out:
	weft_drive_unlock_pages(cl);
	weft_udp_send(&queue);
}

static void revoke_work(struct work_struct *work)
{
	struct weft_cline *cl = container_of(work, struct weft_cline, revoke);

	revoke_mapped(cl);
	weft_cline_put(cl);
}

void weft_drive_revoke_now(struct weft_cline *cl)
{
	if (READ_ONCE(cl->phase) != WEFT_CLINE_LIVE ||
	    !READ_ONCE(cl->line.revoking))
		return;
	/* it may be running: the page locks keep the two apart */
	if (cancel_work(&cl->revoke))
		weft_cline_put(cl);
	revoke_mapped(cl);
}

void weft_drive_keep(struct weft_cline *cl, u64 keep)
{
	lockdep_assert_held(&cl->lock);
	cl->keep = keep;
	if (cl->waiting)
		arm_soon(cl);
}

/* --- effects ------------------------------------------------------------------ */

/* Requests of the transaction under way: @rounds, and when the last one went. */
static void count_sent(struct weft_cline *cl, const struct weft_msg *msg)
{
	bool resending = cl->resending;

	switch (msg->type) {
	case WEFT_MSG_READ:
		if (msg->flags & WEFT_F_RELAY)
			return;
		fallthrough;
	case WEFT_MSG_GETS:
	case WEFT_MSG_GETM:
		if (cl->bound.expected)
			resending = false; /* the rest of what was passed on */
		weft_bound_asked(cl);
		if (!resending)
			cl->rounds++;
		break;
	case WEFT_MSG_WB:
		weft_stat_inc(WEFT_STAT_WRITE_BACKS);
		break;
	case WEFT_MSG_PUT:
		if (cl->line.op == WEFT_OP_TAKE && !resending)
			cl->rounds++;
		break;
	case WEFT_MSG_INV:
		/* to those who were lent the line, which was to come by itself */
		weft_bound_asked(cl);
		break;
	case WEFT_MSG_COMMIT:
		break;
	case WEFT_MSG_CHASE:
		weft_stat_inc(WEFT_STAT_CHASES);
		return;
	default:
		return;
	}
	if (resending)
		cl->repeated = ktime_get_ns();
	else
		cl->asked = ktime_get_ns();
}

static void send_all(struct weft_cline *cl, struct weft_out *out,
		     struct sk_buff_head *queue)
{
	bool dunned = false;
	u32 i;

	for (i = 0; i < out->n; i++) {
		struct weft_send *s = &out->send[i];
		u32 to = s->to ? s->to : weft_node_home(cl->line.key);

		dunned |= s->msg.type == WEFT_MSG_INV;

		count_sent(cl, &s->msg);
		if (s->with_data)
			weft_send_block(queue, to, &s->msg, cl->pages,
					cl->nr_pages * PAGE_SIZE,
					weft_line_perm(&cl->line) != WEFT_M);
		else
			weft_send(queue, to, &s->msg);
	}
	/* all of them in one round trip */
	if (dunned && !cl->resending)
		cl->rounds++;
	if (dunned && !cl->dunned)
		cl->dunned = ktime_get_ns();
}

static void wake(struct weft_cline *cl)
{
	WRITE_ONCE(cl->wakes, cl->wakes + 1);
	/* pairs with prepare_to_wait() of weft_cline_wait() */
	if (wq_has_sleeper(&cl->wait))
		wake_up_all(&cl->wait);
}

static void carry_out(struct weft_cline *cl, struct weft_out *out,
		      const struct weft_packet *packet,
		      struct sk_buff_head *queue)
{
	if (out->effects & WEFT_DO_INSTALL && packet)
		install(cl, packet);
	send_all(cl, out, queue);
	if (out->effects & WEFT_DO_FAIL) {
		WRITE_ONCE(cl->fails, cl->fails + 1);
		WRITE_ONCE(cl->nowhere, true);
		weft_stat_inc(WEFT_STAT_MISS_FAILED);
	}
	if (out->effects & WEFT_DO_FREE) {
		/* who gives a block up has taken it away from the programs before */
		WARN_ON_ONCE(mapped(cl));
		cl->dirty = false;
		cl->free = true;
		weft_cache_move(cl);
	}
	if (out->effects & WEFT_DO_WAKE) {
		set_uptodate(cl);
		wake(cl);
	}
	if (out->effects & WEFT_DO_TIMER)
		arm(cl, out->effects);
	if (cl->putting && weft_line_idle(&cl->line)) {
		weft_cache_put_ends(cl);
	}
}

void weft_drive(struct weft_cline *cl, struct weft_out *out,
		const struct weft_packet *packet,
		      struct sk_buff_head *queue)
{
	lockdep_assert_held(&cl->lock);
	carry_out(cl, out, packet, queue);
	/* only now: all that it sends comes after the above */
	if (out->effects & (WEFT_DO_PROTECT | WEFT_DO_REVOKE)) {
		cl->heard = ktime_get_ns();
		begin_revoke(cl, cl->heard, queue);
	}
	weft_bound_follow(cl, queue);
}

void weft_drive_begin(struct weft_cline *cl)
{
	lockdep_assert_held(&cl->lock);
	cl->began = ktime_get_ns();
	cl->upgrade = cl->line.state == WEFT_S;
	cl->rounds = 0;
	cl->dunned = 0;
	cl->losses = 0;
	cl->backoff_at = 0;
	cl->early = false;
	if (cl->free) {
		cl->free = false;
		weft_cache_move(cl);
	}
	trace_weft_begin(&cl->line);
}

/* Sends again; @lost: because no answer came, not because of a refusal. */
static void send_again(struct weft_cline *cl, bool lost,
		       struct sk_buff_head *queue)
{
	struct weft_out out;

	trace_weft_retry(&cl->line);
	if (cl->line.dunned)
		weft_line_members(&cl->line, weft_node_members(cl->dunned));
	weft_line_timeout(&cl->line, &out);
	if (lost && out.n) {
		weft_stat_inc(WEFT_STAT_RETRANSMISSIONS);
		if (cl->losses < 255)
			cl->losses++;
		if (cl->losses == SUSPECT_LOSSES)
			weft_event_unanswered(cl->wi->region,
					      weft_line_index(cl->line.key) <<
					      cl->wi->block_shift, cl->losses);
	}
	cl->resending = lost;
	weft_drive(cl, &out, NULL, queue);
	cl->resending = false;
}

void weft_drive_again(struct weft_cline *cl, struct sk_buff_head *queue)
{
	lockdep_assert_held(&cl->lock);
	send_again(cl, false, queue);
}

void weft_drive_soon(struct weft_cline *cl)
{
	arm_soon(cl);
}

static void retry_fire(struct timer_list *timer)
{
	struct weft_cline *cl = container_of(timer, struct weft_cline, retry);
	struct sk_buff_head queue;

	__skb_queue_head_init(&queue);
	spin_lock(&cl->lock);
	if (timer_pending(timer)) {
		/* armed again before we came here: the reference is its */
		spin_unlock(&cl->lock);
		return;
	}
	cl->retry_armed = false;
	if (cl->phase != WEFT_CLINE_LIVE || weft_line_idle(&cl->line) ||
	    cl->backoff_at || weft_bound_silent(cl)) {
		/* answered meanwhile, or the other timer is in charge */
	} else if (time_before(jiffies, cl->retry_at)) {
		arm_retry(cl, cl->retry_at);
	} else {
		send_again(cl, true, &queue);
	}
	spin_unlock(&cl->lock);
	weft_udp_send(&queue);
	weft_cline_put(cl);
}

static enum hrtimer_restart soon_fire(struct hrtimer *timer)
{
	struct weft_cline *cl = container_of(timer, struct weft_cline, soon);
	struct sk_buff_head queue;
	u64 now = ktime_get_ns();

	__skb_queue_head_init(&queue);
	spin_lock(&cl->lock);
	if (hrtimer_is_queued(timer)) {
		spin_unlock(&cl->lock);
		return HRTIMER_NORESTART;
	}
	cl->soon_armed = false;
	if (cl->phase == WEFT_CLINE_LIVE) {
		if (cl->backoff_at && cl->backoff_at <= now) {
			cl->backoff_at = 0;
			send_again(cl, false, &queue);
		}
		if (cl->waiting && cl->keep <= now) {
			cl->waiting = false;
			if (cl->line.revoking)
				begin_revoke(cl, now, &queue);
		}
		if (cl->bound.patience && cl->bound.patience <= now) {
			weft_bound_urge(cl, &queue);
			/* who waited for the same looks for itself */
			wake(cl);
		}
		if (!cl->soon_armed)
			arm_soon(cl);
	}
	spin_unlock(&cl->lock);
	weft_udp_send(&queue);
	weft_cline_put(cl);
	return HRTIMER_NORESTART;
}

void weft_drive_stop(struct weft_cline *cl)
{
	lockdep_assert_held(&cl->lock);
	cl->backoff_at = 0;
	cl->waiting = false;
	weft_bound_forget(cl);
	/* a function that is running sees DEAD and gives its reference back */
	if (cl->retry_armed && timer_delete(&cl->retry)) {
		cl->retry_armed = false;
		weft_cline_put(cl);
	}
	if (cl->soon_armed && hrtimer_try_to_cancel(&cl->soon) == 1) {
		cl->soon_armed = false;
		weft_cline_put(cl);
	}
}

void weft_drive_init(struct weft_cline *cl)
{
	timer_setup(&cl->retry, retry_fire, 0);
	weft_hrtimer_setup(&cl->soon, soon_fire, CLOCK_MONOTONIC,
			   HRTIMER_MODE_ABS_SOFT);
	INIT_WORK(&cl->revoke, revoke_work);
}
