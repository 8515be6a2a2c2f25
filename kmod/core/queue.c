// SPDX-License-Identifier: GPL-2.0-only
/* Nodes that wait for a lock, see queue.h. */
#include "queue.h"

int weft_queue_find(const struct weft_queue *q, u32 member)
{
	u32 i;

	for (i = 0; i < q->n; i++)
		if (weft_txn_member(q->txn[i]) == member)
			return (int)i;
	return -1;
}

void weft_queue_append(struct weft_queue *q, u32 txn, bool writer)
{
	u32 member = weft_txn_member(txn), bit = weft_node_bit(member);
	int at = weft_queue_find(q, member);

	if (!bit)
		return;
	if (at < 0)
		at = (int)q->n++;
	q->txn[at] = txn;
	q->writers = writer ? q->writers | bit : q->writers & ~bit;
}

bool weft_queue_is_writer(const struct weft_queue *q, u32 i)
{
	return q->writers & weft_node_bit(weft_txn_member(q->txn[i]));
}

u32 weft_queue_readers(const struct weft_queue *q)
{
	u32 n = 0;

	while (n < q->n && !weft_queue_is_writer(q, n))
		n++;
	return n;
}

void weft_queue_append_all(struct weft_queue *q, const struct weft_queue *from,
			   u32 but)
{
	u32 i;

	for (i = 0; i < from->n; i++)
		if (!(weft_node_bit(weft_txn_member(from->txn[i])) & but))
			weft_queue_append(q, from->txn[i],
					  weft_queue_is_writer(from, i));
}

void weft_queue_keep(struct weft_queue *q, u32 members)
{
	struct weft_queue old = *q;

	memset(q, 0, sizeof(*q));
	weft_queue_append_all(q, &old, ~members);
}

void weft_queue_unpack(struct weft_queue *q, const struct weft_msg *msg)
{
	u32 i, n = msg->payload ? msg->len / 4 : 0;

	memset(q, 0, sizeof(*q));
	for (i = 0; i < n && i < WEFT_QUEUE_MAX; i++) {
		u32 txn = get_unaligned_be32((const u8 *)msg->payload + 4 * i);

		weft_queue_append(q, txn,
				  msg->nonce & weft_node_bit(weft_txn_member(txn)));
	}
}
