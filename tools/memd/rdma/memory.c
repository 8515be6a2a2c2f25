// SPDX-License-Identifier: GPL-2.0-only
/* Frames that a network card reads, see memory.h. */
#include "rdma/memory.h"

#include <stdlib.h>

#include "base/log.h"
#include "store/backing.h"

static size_t bytes_of(const struct rdma_memory *mem, u32 chunk)
{
	u32 before = chunk * FRAMES_PER_CHUNK;
	u32 n = mem->frames->total - before;

	return (size_t)(n < FRAMES_PER_CHUNK ? n : FRAMES_PER_CHUNK) * FRAME_SIZE;
}

static void deregister(struct rdma_memory *mem, u32 chunk)
{
	struct rdma_chunk *c = &mem->chunk[chunk];

	if (!c->registered)
		return;
	mem->ops->del(mem->arg, c->registered);
	c->registered = NULL;
	c->nodes = false;
	mem->bytes -= bytes_of(mem, chunk);
}

static bool let_go(struct frames_card *card, u32 from, u32 to)
{
	struct rdma_memory *mem = (struct rdma_memory *)
		((char *)card - offsetof(struct rdma_memory, card));
	struct rdma_chunk *c = &mem->chunk[frames_chunk(from)];
	bool can;

	(void)to;
	pthread_mutex_lock(&mem->lock);
	can = !c->users && !c->nodes;
	if (can)
		deregister(mem, frames_chunk(from));
	else
		c->late = true;
	pthread_mutex_unlock(&mem->lock);
	return can;
}

bool rdma_memory_init(struct rdma_memory *mem, struct frames *f,
		      const struct rdma_memory_ops *ops, void *arg)
{
	*mem = (struct rdma_memory){
		.card = { .let_go = let_go },
		.frames = f,
		.ops = ops,
		.arg = arg,
		.n = frames_chunk(f->total) + 1,
	};
	mem->chunk = calloc(mem->n, sizeof(*mem->chunk));
	if (!mem->chunk)
		return false;
	pthread_mutex_init(&mem->lock, NULL);
	if (frames_attach(f, &mem->card))
		return true;
	free(mem->chunk);
	mem->chunk = NULL;
	return false;
}

void rdma_memory_drop(struct rdma_memory *mem)
{
	u32 i;

	pthread_mutex_lock(&mem->lock);
	for (i = 0; i < mem->n; i++)
		deregister(mem, i);
	mem->refused = 0;
	pthread_mutex_unlock(&mem->lock);
	for (i = 0; i < mem->n; i++) {
		if (!mem->chunk[i].late)
			continue;
		mem->chunk[i].late = false;
		frames_back_late(mem->frames, i);
	}
}

void rdma_memory_exit(struct rdma_memory *mem)
{
	if (!mem->chunk)
		return;
	frames_detach(mem->frames);
	free(mem->chunk);
	mem->chunk = NULL;
	pthread_mutex_destroy(&mem->lock);
}

u32 rdma_memory_piece(const struct frames *f, u32 *frame)
{
	u32 first = *frame, n = 1, next;

	while ((next = frames_next(f, first + n - 1)) == first + n &&
	       frames_chunk(next) == frames_chunk(first))
		n++;
	*frame = next;
	return n;
}

/* Return: false: refused, or lately. */
static bool registered(struct rdma_memory *mem, u32 chunk, u64 now)
{
	struct rdma_chunk *c = &mem->chunk[chunk];

	/* a chunk in use is registered for nodes another time */
	if (c->registered && (c->nodes == mem->nodes || c->users))
		return true;
	deregister(mem, chunk);
	if (mem->refused && now - mem->refused < RDMA_MEMORY_AGAIN_MS)
		return false;
	c->registered = mem->ops->add(mem->arg,
				      frames_memory(mem->frames, chunk * FRAMES_PER_CHUNK + 1),
				      bytes_of(mem, chunk), mem->nodes, &c->keys);
	if (c->registered) {
		c->nodes = mem->nodes;
		mem->bytes += bytes_of(mem, chunk);
		mem->refused = 0;
		return true;
	}
	mem->refused = now ? now : 1;
	if (!mem->said)
		log_say("no more memory can be registered for RDMA: %s; what it has of blocks goes by UDP (see ulimit -l, LimitMEMLOCK= in systemd.exec(5))",
			strerror(errno));
	mem->said = true;
	return false;
}

bool rdma_memory_use(struct rdma_memory *mem, u32 frame, u64 now, struct rdma_keys *keys)
{
	struct rdma_chunk *c = &mem->chunk[frames_chunk(frame)];
	bool can;

	pthread_mutex_lock(&mem->lock);
	can = registered(mem, frames_chunk(frame), now);
	if (can) {
		c->users++;
		*keys = c->keys;
	}
	pthread_mutex_unlock(&mem->lock);
	return can;
}

void rdma_memory_unuse(struct rdma_memory *mem, u32 frame)
{
	u32 chunk = frames_chunk(frame);
	struct rdma_chunk *c = &mem->chunk[chunk];
	bool late;

	pthread_mutex_lock(&mem->lock);
	late = !--c->users && c->late && !c->nodes;
	if (late)
		c->late = false;
	pthread_mutex_unlock(&mem->lock);
	if (late)
		frames_back_late(mem->frames, chunk);
}
