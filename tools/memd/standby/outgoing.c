// SPDX-License-Identifier: GPL-2.0-only
/* The queue to the standby, see outgoing.h. */
#include "standby/outgoing.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/backing.h"

struct piece {
	STAILQ_ENTRY(piece) next;
	u8 type;
	u32 len;
	u64 at;
	u8 data[];
};

void outgoing_init(struct outgoing *q)
{
	memset(q, 0, sizeof(*q));
	pthread_mutex_init(&q->lock, NULL);
	STAILQ_INIT(&q->pieces);
}

static void clear(struct outgoing *q)
{
	struct piece *p;

	while ((p = STAILQ_FIRST(&q->pieces))) {
		STAILQ_REMOVE_HEAD(&q->pieces, next);
		free(p);
	}
	q->bytes = 0;
}

/* Return: the position at which it is empty. */
static u64 begin(struct outgoing *q, bool attached)
{
	u64 position;

	pthread_mutex_lock(&q->lock);
	clear(q);
	q->attached = attached;
	q->over = false;
	q->sent_bytes = 0;
	q->acked_bytes = 0;
	q->acked = 0;
	position = q->position;
	pthread_mutex_unlock(&q->lock);
	return position;
}

u64 outgoing_attach(struct outgoing *q)
{
	return begin(q, true);
}

void outgoing_detach(struct outgoing *q)
{
	(void)begin(q, false);
}

/* --- in --------------------------------------------------------------------------- */

/* Locked.  @buf NULL: only its length. */
static void put(struct outgoing *q, u8 type, const void *buf, u64 len, u64 at)
{
	u32 bytes = buf ? (u32)len : 0;
	struct piece *p;

	q->position++;
	if (!q->attached || q->over)
		return;
	p = q->bytes + bytes + sizeof(*p) <= OUTGOING_MAX ? malloc(sizeof(*p) + 8 + bytes) :
		NULL;
	if (!p) {
		/* its successor would arrive without it */
		clear(q);
		q->over = true;
		return;
	}
	p->type = type;
	p->at = at;
	p->len = bytes;
	if (buf)
		memcpy(p->data, buf, bytes);
	if (type == STREAM_ZERO) {
		put_unaligned_be64(len, p->data);
		p->len = 8;
	}
	STAILQ_INSERT_TAIL(&q->pieces, p, next);
	q->bytes += sizeof(*p) + bytes;
	q->sent_bytes += bytes;
}

u64 outgoing_put(struct outgoing *q, u8 type, const void *buf, u32 len, u64 at)
{
	u64 position;

	pthread_mutex_lock(&q->lock);
	put(q, type, buf, len, at);
	position = q->position;
	pthread_mutex_unlock(&q->lock);
	return position;
}

/* Up to which byte from @at on, before @end, all is copied, or nothing is. */
static u64 border(u64 at, u64 end, bool *own)
{
	static const u64 sector[2] = { BACKING_USE_AT, BACKING_PAIR_AT };
	u32 i;

	*own = false;
	for (i = 0; i < 2; i++) {
		if (at >= sector[i] && at < sector[i] + BACKING_SECTOR) {
			*own = true;
			return end < sector[i] + BACKING_SECTOR ? end : sector[i] + BACKING_SECTOR;
		}
		if (at < sector[i] && end > sector[i])
			return sector[i];
	}
	return end;
}

/* Locked. */
static void put_range(struct outgoing *q, const u8 *buf, u64 len, u64 at)
{
	u64 end = at + len, to;
	bool own;

	for (; at < end; at = to) {
		to = border(at, end, &own);
		if (buf && to - at > STREAM_PIECE)
			to = at + STREAM_PIECE;
		if (!own)
			put(q, buf ? STREAM_WRITE : STREAM_ZERO, buf, to - at, at);
		if (buf)
			buf += to - at;
	}
}

void outgoing_write(struct outgoing *q, const void *buf, size_t len, u64 at)
{
	pthread_mutex_lock(&q->lock);
	put_range(q, buf, len, at);
	pthread_mutex_unlock(&q->lock);
}

int outgoing_copy(struct outgoing *q, int fd, u32 len, u64 at)
{
	u8 buf[STREAM_PIECE];
	ssize_t n;

	/* first without the lock, if it has to come from a disk */
	n = pread(fd, buf, len, (off_t)at);
	if (n < 0)
		return -1;
	pthread_mutex_lock(&q->lock);
	n = pread(fd, buf, len, (off_t)at);
	if (n > 0)
		put_range(q, buf, (u64)n, at);
	pthread_mutex_unlock(&q->lock);
	return n < 0 ? -1 : 0;
}

/* --- out -------------------------------------------------------------------------- */

static struct piece *pop(struct outgoing *q)
{
	struct piece *p;

	pthread_mutex_lock(&q->lock);
	p = STAILQ_FIRST(&q->pieces);
	if (p) {
		STAILQ_REMOVE_HEAD(&q->pieces, next);
		q->bytes -= sizeof(*p) + (p->type == STREAM_ZERO ? 0 : p->len);
	}
	pthread_mutex_unlock(&q->lock);
	return p;
}

int outgoing_pump(struct outgoing *q, struct stream *s)
{
	struct piece *p;
	int ret = 0;
	u8 at[8];

	while (!ret && stream_has_room(s) && (p = pop(q))) {
		put_unaligned_be64(p->at, at);
		ret = stream_put(s, p->type, at, p->type == STREAM_COMPLETE ? 0 : 8, p->data,
				 p->len);
		free(p);
		if (STREAM_OUT_MAX - (s->to - s->from) < STREAM_OUT_MAX / 2 && stream_push(s))
			ret = -1;
	}
	return ret;
}
