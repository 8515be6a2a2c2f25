// SPDX-License-Identifier: GPL-2.0-only
/* Remote handles of what nodes' cards read by themselves, see handle.h. */
#include "rdma/handle.h"

#include <endian.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/blade.h"
#include "base/log.h"
#include "rdma/card.h"
#include "store/frames.h"

static size_t bytes_of_marks(const struct frames *f)
{
	return ((size_t)f->total + 1) * sizeof(*f->mark);
}

void rdma_handles_init(struct rdma_handles *d, bool wanted)
{
	/* without a number that no former life had, none are given */
	d->wanted = wanted && getrandom(&d->last, sizeof(d->last), GRND_NONBLOCK) ==
			      (ssize_t)sizeof(d->last);
}

void rdma_handles_open(struct rdma *r)
{
	struct frames *f = r->memory.frames;
	size_t len = bytes_of_marks(f);
	void *marks;

	if (!r->handles.wanted)
		return;
	marks = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (marks != MAP_FAILED)
		r->handles.mr = ibv_reg_mr(r->pd, marks, len, IBV_ACCESS_REMOTE_READ);
	if (r->handles.mr) {
		f->mark = marks;
		return;
	}
	log_note("nodes do not read blocks by themselves: no memory can be registered for marks (see ulimit -l)");
	if (marks != MAP_FAILED)
		(void)munmap(marks, len);
}

void rdma_handles_close(struct rdma *r)
{
	struct frames *f = r->memory.frames;

	r->memory.nodes = false;
	if (!r->handles.mr)
		return;
	/* if it fails the card is gone, and so is what it had */
	(void)ibv_dereg_mr(r->handles.mr);
	r->handles.mr = NULL;
	(void)munmap(f->mark, bytes_of_marks(f));
	f->mark = NULL;
}

bool rdma_handles_allowed(const struct memd *m)
{
	/* with the key of a chunk every connected node can read all of it */
	return m->b->rdma->handles.mr && m->b->rdma->ops->may_read(m);
}

void rdma_handles_end(struct rdma *r)
{
	struct frames *f = r->memory.frames;
	u32 i, first, n;

	/* look only at chunks that nodes may read: the marks of all frames may be many */
	for (i = 0; f->mark && i < r->memory.n; i++) {
		if (!r->memory.chunk[i].nodes)
			continue;
		first = i * FRAMES_PER_CHUNK + 1;
		n = f->total + 1 - first;
		memset(&f->mark[first], 0,
		       (n < FRAMES_PER_CHUNK ? n : FRAMES_PER_CHUNK) * sizeof(*f->mark));
	}
}

static u64 new_number(struct rdma_handles *d)
{
	if (!++d->last)
		d->last++;
	return d->last;
}

bool rdma_handle_give(struct memd *m, struct weft_deed *handle, u32 frame, u32 key)
{
	struct rdma *r = m->b->rdma;
	u64 *mark;

	if (!key || !r->memory.nodes || !rdma_handles_allowed(m))
		return false;
	mark = &m->b->frames->mark[frame];
	/* others may have the remote handle, too: it is as good as ever */
	if (!*mark)
		__atomic_store_n(mark, htobe64(new_number(&r->handles)), __ATOMIC_RELEASE);
	handle->block.addr = (uintptr_t)frames_memory(m->b->frames, frame);
	handle->block.key = key;
	handle->mark.addr = (uintptr_t)mark;
	handle->mark.key = r->handles.mr->rkey;
	handle->number = be64toh(*mark);
	return true;
}
