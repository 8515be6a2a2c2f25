/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the protocol core decided, done: contents, mappings, messages, waiters,
 * timers of one block in the cache.
 */
#ifndef WEFT_DRIVE_H
#define WEFT_DRIVE_H

#include "cache.h"
#include "rtt.h"

/* Ready for use by the functions below; called for a new line. */
void weft_drive_init(struct weft_cline *cl);

/**
 * weft_drive() - carry out what follows from one event
 * @out: from the core
 * @packet: the message that it came from, or NULL
 * @queue: receives the messages; sent by the caller when it has let go of the
 *	line's lock
 *
 * The line is LIVE and its lock is held.
 */
void weft_drive(struct weft_cline *cl, struct weft_out *out,
		const struct weft_packet *packet, struct sk_buff_head *queue)
	__must_hold(&cl->lock);

/* A transaction that programs wait for begins: out has its request. */
void weft_drive_begin(struct weft_cline *cl) __must_hold(&cl->lock);

/* Which of the usual times holds for this operation, see rtt.h. */
static inline enum weft_rtt_what weft_drive_rtt(const struct weft_cline *cl, u8 op)
{
	/* a line that has left: its COMMIT comes after all that is written home */
	if (op == WEFT_OP_PUT || op == WEFT_OP_CLEAN ||
	    (op == WEFT_OP_COMMIT && cl->line.state == WEFT_I))
		return WEFT_RTT_HOME;
	return op == WEFT_OP_GETS && cl->early ? WEFT_RTT_AHEAD : WEFT_RTT_ASK;
}

/* Ask (again), though no time-out says so. */
void weft_drive_again(struct weft_cline *cl, struct sk_buff_head *queue)
	__must_hold(&cl->lock);

/* There is something new to wait for a short time for. */
void weft_drive_soon(struct weft_cline *cl) __must_hold(&cl->lock);

/* Somebody waits from now on for what was asked for early. */
void weft_drive_hurry(struct weft_cline *cl) __must_hold(&cl->lock);

/* @keep changed: a revocation that waits for it may be due earlier. */
void weft_drive_keep(struct weft_cline *cl, u64 keep) __must_hold(&cl->lock);

/* No timer starts any more: the line is DEAD. */
void weft_drive_stop(struct weft_cline *cl) __must_hold(&cl->lock);

/*
 * Do the revocation that is due, if any is, without waiting for the work queue.
 * Process context, no page locked; the caller has a reference.
 */
void weft_drive_revoke_now(struct weft_cline *cl);

/* Page locks of all pages of the block. */
void weft_drive_lock_pages(struct weft_cline *cl);
void weft_drive_unlock_pages(struct weft_cline *cl);

/*
 * Has a device pinned any of it (O_DIRECT from Linux 6.5 on, RDMA)?  Of use if no mapping
 * is left, or none to write: then none begins.  Its pages are locked.
 */
bool weft_drive_pinned(struct weft_cline *cl);

/*
 * filemap_map_pages() maps none of its pages any more.  They are locked.  To be called
 * (again) under @lock, where the permission goes: until then a message may set the flag.
 */
void weft_drive_clear_uptodate(struct weft_cline *cl);

/* Take all mappings of the block away.  Its pages are locked. */
void weft_drive_unmap(struct weft_cline *cl);

/* Take write permission from all mappings.  Its pages are locked. */
void weft_drive_protect(struct weft_cline *cl);

#endif /* WEFT_DRIVE_H */
