// SPDX-License-Identifier: GPL-2.0-only
/* The send queue of a connection, see sendq.h. */
#include "rdma/sendq.h"

static bool is_used(const struct rdma_sendq *l, u32 key, u32 txn)
{
	u32 n = l->used < RDMA_RECENT ? l->used : RDMA_RECENT, i;

	for (i = 0; i < n; i++)
		if (l->recent[i].key == key && l->recent[i].txn == txn)
			return true;
	return false;
}

enum rdma_way rdma_sendq_choose(const struct rdma_sendq *l, u32 addr, u32 key, u32 txn,
			       u32 work)
{
	if (!l->up || l->broken || l->over || l->addr != addr)
		return RDMA_NO_CONNECTION;
	/* its key may be invalid by now: that would cost the connection */
	if (is_used(l, key, txn))
		return RDMA_AGAIN;
	return l->busy + work > RDMA_DEPTH ? RDMA_FULL : RDMA_LANDS;
}

void rdma_sendq_went(struct rdma_sendq *l, u32 key, u32 txn, u32 work)
{
	l->busy += work;
	l->recent[l->used % RDMA_RECENT].key = key;
	l->recent[l->used % RDMA_RECENT].txn = txn;
	/* never small again: else what is remembered would be forgotten */
	if (++l->used == 2 * RDMA_RECENT)
		l->used = RDMA_RECENT;
}

void rdma_writes_init(struct rdma_writes *fs)
{
	u32 i;

	memset(fs, 0, sizeof(*fs));
	for (i = 0; i < RDMA_WRITES; i++) {
		fs->of[i].name = RDMA_WRITES + i;
		fs->free[fs->n_free++] = (u16)i;
	}
}

struct rdma_transfer *rdma_writes_take(struct rdma_writes *fs, u8 node)
{
	struct rdma_transfer *f;

	if (!fs->n_free)
		return NULL;
	f = &fs->of[fs->free[--fs->n_free]];
	f->node = node;
	return f;
}

void rdma_writes_put(struct rdma_writes *fs, struct rdma_transfer *f)
{
	f->node = 0;
	f->name += RDMA_WRITES;
	fs->free[fs->n_free++] = (u16)rdma_writes_index(fs, f);
}

struct rdma_transfer *rdma_writes_find(struct rdma_writes *fs, u64 name)
{
	struct rdma_transfer *f = &fs->of[name % RDMA_WRITES];

	return f->node && f->name == name ? f : NULL;
}
