// SPDX-License-Identifier: GPL-2.0-only
/* The lock calls of the kernel; see lock.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"
#include "owner.h"
#include "tools/common/clock.h"

#define REAP_MS		20
#define KERNELS_CELL	(WEFT_HOLDS_THREADS - 1)
#define STRICT_NS	1000000	/* who waits longer is not overtaken any more */

static int lock_open(struct fake_region *r, int fd, struct weft_lock_open *o)
{
	struct fake_head *h = r->head;
	int error = ENOSPC;
	uint32_t *entry;
	struct stat st;

	if (fstat(fd, &st) || o->offset >= (uint64_t)st.st_size)
		return EINVAL;
	fake_lock(h);
	h->counts.opens++;
	if (!fake_owner_of(fd))
		fake_reap(r, fd, 0);
	o->owner = fake_make_owner(r, fd);
	entry = fake_slot(h, o->offset);
	if (!*entry && h->n_slots < FAKE_SLOTS) {
		h->slots[h->n_slots].offset = o->offset;
		*fake_word_at(r, h->n_slots) = 2;
		*entry = ++h->n_slots;
	}
	if (*entry && o->owner) {
		o->slot = *entry - 1;
		o->flags = o->owner <= WEFT_LIST_FILES ? WEFT_LOCK_LISTS : 0;
		o->unused = 0;
		error = 0;
	}
	fake_unlock(h);
	return error;
}

static bool may_have(uint64_t w, unsigned int mode)
{
	return !(w & WEFT_WORD_OWNER) &&
	       (mode == WEFT_LOCK_READ || !(w & (WEFT_WORD_READERS | WEFT_WORD_LISTED)));
}

/* What is to be in the word while somebody waits: may others be faster? */
static uint64_t waiting_bits(const struct fake_slot *s, unsigned int waiters, uint64_t w)
{
	if (!waiters)
		return 0;
	if ((w & WEFT_WORD_PERM) != WEFT_LOCK_WRITE || w & WEFT_WORD_LISTED ||
	    now_ns() >= s->since + STRICT_NS)
		return WEFT_WORD_SLOW;
	return WEFT_WORD_TELL;
}

/* Nobody who is in a list is in the way of who wants to write. */
static void look_at_lists(struct fake_region *r, uint32_t slot)
{
	_Atomic uint64_t *word = fake_word_at(r, slot);

	if (!(*word & WEFT_WORD_LISTED))
		return;
	/* The partner of the barriers of who lists it. */
	atomic_fetch_or(word, WEFT_WORD_SLOW);
	if (!fake_listed(r, slot))
		atomic_fetch_and(word, ~WEFT_WORD_LISTED);
}

/* One attempt, under the head's lock.  What this node lacks comes at once. */
static bool attempt(struct fake_region *r, unsigned int owner, uint32_t slot, unsigned int mode,
		    bool waiting)
{
	_Atomic uint32_t *entry = fake_entry_at(r, owner, KERNELS_CELL, 0);
	_Atomic uint64_t *word = fake_word_at(r, slot);
	struct fake_slot *s = &r->head->slots[slot];
	uint64_t w, new;
	bool may;

	*entry = (slot + 1) | WEFT_ENTRY_CHANGING;
	if (mode == WEFT_LOCK_WRITE)
		look_at_lists(r, slot);
	w = *word;
	do {
		may = may_have(w, mode);
		new = w & ~(WEFT_WORD_SLOW | WEFT_WORD_TELL);
		new |= waiting_bits(s, s->waiters - (may && waiting), w);
		if (may) {
			new &= ~WEFT_WORD_PERM;
			new |= mode == WEFT_LOCK_WRITE || (w & WEFT_WORD_PERM) == 2 ? 2 : 1;
			new += mode == WEFT_LOCK_READ ? WEFT_WORD_READER :
			       (uint64_t)owner << WEFT_WORD_OWNER_SHIFT;
		}
	} while (!atomic_compare_exchange_weak(word, &w, new));
	if (may && mode == WEFT_LOCK_READ)
		atomic_fetch_add(fake_readers_at(r, owner, slot), 1);
	*entry = 0;
	return may;
}

static uint32_t begin_to_wait(struct fake_slot *s)
{
	if (!s->waiters++)
		s->since = now_ns();
	return s->recount;
}

static int lock_acquire(struct fake_region *r, int fd, const struct weft_lock_op *op)
{
	unsigned int owner = fake_owner_of(fd);
	struct fake_head *h = r->head;
	struct fake_slot *s = &h->slots[op->slot];
	uint32_t seen, timed_out = 0, recount;
	int error = 0;

	if (op->slot >= h->n_slots || owner >= FAKE_OWNERS)
		return EBADF;
	if (op->mode != WEFT_LOCK_READ && op->mode != WEFT_LOCK_WRITE)
		return EINVAL;
	if (op->mode == WEFT_LOCK_WRITE && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return EACCES;
	h->counts.acquires++;
	fake_lock(h);
	if (attempt(r, owner, op->slot, op->mode, false))
		goto out;
	fake_reap(r, fd, owner);
	error = EBUSY;
	if (op->flags & WEFT_LOCK_TRY) {
		if (attempt(r, owner, op->slot, op->mode, false))
			error = 0;
		goto out;
	}
	h->counts.waits++;
	recount = begin_to_wait(s);
	for (;;) {
		struct timespec wait = { .tv_nsec = REAP_MS * 1000000 };
		uint64_t reaped = h->counts.reaped;

		if (recount != s->recount)
			recount = begin_to_wait(s);
		seen = s->events;
		if (attempt(r, owner, op->slot, op->mode, true)) {
			if (timed_out == seen + 1)
				h->counts.late++;
			s->since = now_ns();
			error = 0;
			break;
		}
		error = ETIMEDOUT;
		if (op->flags & WEFT_LOCK_UNTIL &&
		    (int64_t)clock_ns((clockid_t)op->clock) >= op->deadline_ns)
			break;
		if (op->flags & WEFT_LOCK_UNTIL) {
			int64_t left = op->deadline_ns - (int64_t)clock_ns((clockid_t)op->clock);

			if (left < wait.tv_nsec)
				wait.tv_nsec = left > 0 ? left : 1;
		}
		fake_unlock(h);
		error = syscall(SYS_futex, &s->events, FUTEX_WAIT, seen, &wait, NULL, 0) ?
			errno : 0;
		fake_lock(h);
		if (error == EINTR)
			break;
		fake_reap(r, fd, owner);
		/* Nothing was said, and nobody died: then it cannot have become free. */
		timed_out = error == ETIMEDOUT && reaped == h->counts.reaped ? seen + 1 : 0;
	}
	if (recount == s->recount)
		s->waiters--;
	/* Who was told of it, and gives up, tells another. */
	if (error && s->waiters)
		fake_tell(s, 1);
	if (error && !s->waiters)
		atomic_fetch_and(fake_word_at(r, op->slot), ~(WEFT_WORD_SLOW | WEFT_WORD_TELL));
out:
	fake_unlock(h);
	return error;
}

static int lock_release(struct fake_region *r, int fd, const struct weft_lock_op *op)
{
	unsigned int owner = fake_owner_of(fd);
	struct fake_head *h = r->head;
	int error = EPERM;

	if (op->slot >= h->n_slots || owner >= FAKE_OWNERS)
		return EBADF;
	fake_lock(h);
	h->counts.releases++;
	if (op->mode == WEFT_LOCK_READ && *fake_readers_at(r, owner, op->slot)) {
		*fake_entry_at(r, owner, KERNELS_CELL, 0) = (op->slot + 1) | WEFT_ENTRY_CHANGING;
		atomic_fetch_sub(fake_word_at(r, op->slot), WEFT_WORD_READER);
		atomic_fetch_sub(fake_readers_at(r, owner, op->slot), 1);
		*fake_entry_at(r, owner, KERNELS_CELL, 0) = 0;
		error = 0;
	} else if (op->mode == WEFT_LOCK_WRITE &&
		   (*fake_word_at(r, op->slot) & WEFT_WORD_OWNER) >> WEFT_WORD_OWNER_SHIFT == owner) {
		atomic_fetch_and(fake_word_at(r, op->slot), ~WEFT_WORD_OWNER);
		error = 0;
	}
	if (!error)
		fake_tell(&h->slots[op->slot], INT_MAX);
	fake_unlock(h);
	return error;
}

static int lock_wake(struct fake_region *r, uint32_t slot)
{
	uint64_t w;

	if (slot >= r->head->n_slots)
		return EBADF;
	r->head->counts.wakes++;
	/* Until that one has looked nobody else needs to tell. */
	w = atomic_fetch_and(fake_word_at(r, slot), ~WEFT_WORD_TELL);
	fake_tell(&r->head->slots[slot], w & WEFT_WORD_SLOW ? INT_MAX : 1);
	return 0;
}

/* Its word is what it begins with. */
static struct weft_lock_word *place(struct fake_region *r, uint32_t slot)
{
	return (struct weft_lock_word *)fake_word_at(r, slot);
}

/* One node: whoever reads the count has the place, and hears of all that happens. */
static int event_read(struct fake_region *r, struct weft_eventcount *e)
{
	if (e->slot >= r->head->n_slots)
		return EBADF;
	if (e->flags & WEFT_EVENT_UNCOUNTED)
		atomic_fetch_add((_Atomic uint32_t *)&place(r, e->slot)->waiting, 1);
	e->count = atomic_load((_Atomic uint32_t *)&place(r, e->slot)->event);
	return 0;
}

static int event_await(struct fake_region *r, const struct weft_eventcount *e)
{
	int op = FUTEX_WAIT_BITSET |
		 (e->flags & WEFT_LOCK_UNTIL && e->clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
	struct timespec deadline = {
		.tv_sec = e->deadline_ns / 1000000000, .tv_nsec = e->deadline_ns % 1000000000,
	};
	long rc;

	if (e->slot >= r->head->n_slots)
		return EBADF;
	rc = syscall(SYS_futex, &place(r, e->slot)->event, op, e->count,
		     e->flags & WEFT_LOCK_UNTIL ? &deadline : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
	return rc && errno != EAGAIN ? errno : 0;
}

static void event(struct fake_region *r, uint32_t slot)
{
	struct weft_lock_word *word = place(r, slot);

	atomic_fetch_add((_Atomic uint32_t *)&word->event, 1);
	syscall(SYS_futex, &word->event, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static int event_advance(struct fake_region *r, int fd, uint32_t slot)
{
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return EACCES;
	if (slot >= r->head->n_slots)
		return EBADF;
	event(r, slot);
	return 0;
}

void fake_shrunk(struct fake_region *r, uint64_t size)
{
	uint32_t slot;

	for (slot = 0; slot < r->head->n_slots; slot++)
		if (r->head->slots[slot].offset >= size)
			event(r, slot);
}

static int lock_mend(struct fake_region *r, int fd, uint32_t slot)
{
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return EACCES;
	if (slot >= r->head->n_slots)
		return EBADF;
	r->head->counts.mended++;
	atomic_fetch_and(fake_word_at(r, slot), ~WEFT_WORD_DIED);
	return 0;
}

/* How much that is, no more: whose blocks they are is the kernel's own business. */
static int lock_bind(struct fake_region *r, const struct weft_lock_bind *b)
{
	const struct weft_lock_range *range = (const void *)(uintptr_t)b->ranges;
	uint64_t bytes = 0;
	uint32_t i;

	if (b->slot >= r->head->n_slots)
		return EBADF;
	if (b->n > WEFT_BIND_MAX)
		return E2BIG;
	for (i = 0; i < b->n; i++) {
		if (!range[i].length || range[i].offset % 4096 || range[i].length % 4096)
			return EINVAL;
		bytes += range[i].length;
	}
	if (bytes > WEFT_BIND_MAX * 4096ull)
		return E2BIG;
	r->head->slots[b->slot].bound = bytes;
	return 0;
}

/*
 * As a rack that is silent at first: so many calls of the process that cannot do without
 * it fail, as WEFT_FAKE_SILENT says.
 */
static bool is_silent(void)
{
	static _Atomic int left = -1;
	const char *calls;

	if (left < 0) {
		calls = getenv("WEFT_FAKE_SILENT");
		left = calls ? atoi(calls) : 0;
	}
	return left > 0 && left-- > 0;
}

int fake_ioctl(struct fake_region *r, int fd, unsigned long request, void *argument)
{
	switch (request) {
	case WEFT_IOC_LOCK_OPEN:
		if (is_silent())
			return ETIMEDOUT;
		return lock_open(r, fd, argument);
	case WEFT_IOC_LOCK_ACQUIRE:
		if (is_silent())
			return EIO;
		return lock_acquire(r, fd, argument);
	case WEFT_IOC_LOCK_RELEASE:
		return lock_release(r, fd, argument);
	case WEFT_IOC_LOCK_WAKE:
		return lock_wake(r, *(__u32 *)argument);
	case WEFT_IOC_EVENT_READ:
		return event_read(r, argument);
	case WEFT_IOC_EVENT_AWAIT:
		return event_await(r, argument);
	case WEFT_IOC_EVENT_ADVANCE:
		return event_advance(r, fd, *(__u32 *)argument);
	case WEFT_IOC_LOCK_MEND:
		return lock_mend(r, fd, *(__u32 *)argument);
	case WEFT_IOC_POLICY_GET:
		*(struct weft_policy *)argument = (struct weft_policy){
			.policy = r->head->policy, .which = WEFT_POLICY_ALL,
		};
		return 0;
	case WEFT_IOC_LOCK_BIND:
		return fake_old ? ENOTTY : lock_bind(r, argument);
	default:
		return ENOTTY;
	}
}

bool fake_hears(struct fake_region *r, const struct weft_lock_op *op)
{
	return op->flags & WEFT_LOCK_HEAR && *fake_word_at(r, op->slot) & WEFT_WORD_DIED;
}
