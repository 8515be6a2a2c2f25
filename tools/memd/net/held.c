// SPDX-License-Identifier: GPL-2.0-only
/* Answers that wait for the standby, see held.h. */
#include <sys/eventfd.h>
#include <unistd.h>

#include "net/held.h"
#include "base/blade.h"
#include "base/wake.h"
#include "net/send.h"
#include "standby/mirror.h"

int held_start(struct memd *m)
{
	struct held *h;
	u32 i;

	for (i = 0; i < m->b->threads; i++) {
		h = m->b->thread[i]->held;
		h->ack = calloc(HELD_MAX, sizeof(*h->ack));
		h->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (!h->ack || h->wake < 0)
			return -1;
	}
	return 0;
}

void held_exit(struct memd *m)
{
	struct held *h = m->held;

	if (h->ack && h->wake >= 0)
		close(h->wake);
	free(h->ack);
	h->ack = NULL;
	h->wake = -1;
}

void held_wake(struct memd *m)
{
	if (atomic_load(&m->held->waiting))
		wake_up(m->held->wake);
}

int held_fd(const struct memd *m)
{
	return m->held->ack ? m->held->wake : -1;
}

static void acknowledge(struct memd *m, const struct held_ack *a)
{
	struct weft_msg ack = {
		.type = WEFT_MSG_WB_ACK,
		.txn = a->txn,
		.line = a->line,
		.version = a->version,
	};

	send_to_member(m, &ack, a->to);
}

static void release_acks(struct memd *m)
{
	struct held *h = m->held;

	while (h->n && mirror_has(m, h->ack[h->first].position)) {
		acknowledge(m, &h->ack[h->first]);
		h->first = (h->first + 1) % HELD_MAX;
		h->n--;
	}
}

static void release_calls(struct memd *m)
{
	struct deferred_list list = m->held->calls, left = SLIST_HEAD_INITIALIZER(left);
	struct deferred *dc;

	/* calls that these queue when they end wait for the next look */
	SLIST_INIT(&m->held->calls);
	while ((dc = SLIST_FIRST(&list))) {
		SLIST_REMOVE_HEAD(&list, next_held);
		if (mirror_has(m, dc->position))
			SLIST_INSERT_HEAD(&left, dc, next_held);
		else
			SLIST_INSERT_HEAD(&m->held->calls, dc, next_held);
	}
	while ((dc = SLIST_FIRST(&left))) {
		SLIST_REMOVE_HEAD(&left, next_held);
		deferred_release(m, dc, 0);
	}
}

static bool look(struct memd *m)
{
	release_acks(m);
	if (!SLIST_EMPTY(&m->held->calls)) {
		turn_alone(m);
		release_calls(m);
		turn_together(m);
	}
	return m->held->n || !SLIST_EMPTY(&m->held->calls);
}

void held_work(struct memd *m)
{
	wake_heard(m->held->wake);
	/* nothing is sent then, and to be lost is not for those that wait */
	if (memd_suspended(m))
		return;
	atomic_store(&m->held->waiting, false);
	if (look(m))
		atomic_store(&m->held->waiting, true);
	/* the standby's answer may have come between both */
	(void)look(m);
}

void held_keep(struct memd *m, const struct weft_msg *msg)
{
	struct held *h = m->held;

	if (h->n == HELD_MAX) {
		count(m, ACK_DROPPED);
		return;
	}
	count(m, ACK_HELD);
	h->ack[(h->first + h->n++) % HELD_MAX] = (struct held_ack){
		.position = mirror_position(m),
		.to = weft_txn_member(msg->txn),
		.txn = msg->txn,
		.line = msg->line,
		.version = msg->version,
	};
	atomic_store(&h->waiting, true);
	/* the standby may have had it before somebody knew that we wait */
	if (mirror_has(m, h->ack[h->first].position))
		held_wake(m);
}

bool held_hold(struct memd *m, struct deferred *dc)
{
	struct memd *first = m->b->thread[0];

	if (!dc || mirror_has(m, mirror_position(m)))
		return false;
	deferred_hold(dc);
	dc->position = mirror_position(m);
	SLIST_INSERT_HEAD(&first->held->calls, dc, next_held);
	atomic_store(&first->held->waiting, true);
	if (mirror_has(m, dc->position))
		held_wake(first);
	return true;
}

static void no_answer(struct memd *m, struct deferred *dc)
{
	(void)m;
	(void)dc;
}

void held_drop(struct memd *m)
{
	struct deferred *dc;
	u32 i;

	for (i = 0; i < m->b->threads; i++)
		m->b->thread[i]->held->n = 0;
	while ((dc = SLIST_FIRST(&m->b->thread[0]->held->calls))) {
		SLIST_REMOVE_HEAD(&m->b->thread[0]->held->calls, next_held);
		dc->finish = no_answer;
		deferred_release(m, dc, 0);
	}
}
