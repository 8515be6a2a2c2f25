// SPDX-License-Identifier: GPL-2.0-only
/* Nodes that wait at the owner of a line, see waiters.h. */
#include "waiters.h"

static u32 count(const struct weft_line *l)
{
	u32 n = 0;

	while (n < WEFT_WAITERS_MAX && l->waiters[n])
		n++;
	return n;
}

static void resize(struct weft_line *l, u32 n)
{
	if (n < WEFT_WAITERS_MAX)
		memset(&l->waiters[n], 0, (WEFT_WAITERS_MAX - n) * sizeof(l->waiters[0]));
}

/* A node waits once: what it asked before is over. */
static void leave_out(struct weft_line *l, u32 member)
{
	u32 i, k = 0, n = count(l);

	for (i = 0; i < n; i++)
		if (weft_txn_member(l->waiters[i]) != member)
			l->waiters[k++] = l->waiters[i];
	resize(l, k);
}

/* One that is there already keeps its place. */
static void append(struct weft_line *l, u32 txn)
{
	u32 i, n = count(l), member = weft_txn_member(txn);

	if (!weft_node_bit(member) || member == l->self)
		return;
	for (i = 0; i < n; i++) {
		if (weft_txn_member(l->waiters[i]) == member) {
			l->waiters[i] = txn;
			return;
		}
	}
	if (n < WEFT_WAITERS_MAX)
		l->waiters[n] = txn;
}

void weft_waiters_note(struct weft_line *l, const struct weft_msg *msg)
{
	const u8 *list = msg->payload;
	u32 i;

	append(l, msg->txn);
	for (i = 0; i < WEFT_WAITERS_MAX && msg->len >= 4 * (i + 1); i++)
		append(l, get_unaligned_be32(list + 4 * i));
}

void weft_waiters_first(struct weft_line *l, u32 txn)
{
	u32 n;

	leave_out(l, weft_txn_member(txn));
	n = count(l);
	if (n == WEFT_WAITERS_MAX)
		n--;
	memmove(&l->waiters[1], &l->waiters[0], n * sizeof(l->waiters[0]));
	l->waiters[0] = txn;
}

u32 weft_waiters_take(struct weft_line *l)
{
	u32 first = l->waiters[0];

	if (first)
		leave_out(l, weft_txn_member(first));
	return first;
}

void weft_waiters_move(struct weft_line *l, u32 txn, u32 grant, struct weft_out *out)
{
	u32 i, n, first;
	struct weft_msg *m;

	leave_out(l, weft_txn_member(txn));
	first = weft_waiters_take(l);
	if (!first)
		return;
	m = weft_line_send(l, out, (u8)weft_txn_member(txn), WEFT_MSG_CHASE, first);
	m->flags = WEFT_F_EXCL;
	m->holder = txn;
	m->grant = grant;
	n = count(l);
	for (i = 0; i < n; i++)
		put_unaligned_be32(l->waiters[i], out->list + 4 * i);
	m->len = 4 * n;
	m->payload = n ? out->list : NULL;
	resize(l, 0);
}
