// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that use locks, and what a fork leaves of them.
 */
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

_Thread_local struct weft_thread *weft_self __attribute__((tls_model("initial-exec")));

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool have_key;

/* Which cells of struct weft_holds are in use: by the same thread in all files. */
static _Atomic uint64_t cells[WEFT_HOLDS_THREADS / 64];

/* 1 in the process that has set it, 0 in its children. */
static _Atomic uint32_t *alive;

static int32_t take_cell(void)
{
	unsigned int i;

	for (i = 0; i < WEFT_HOLDS_THREADS / 64; i++) {
		uint64_t used = atomic_load(&cells[i]);

		while (~used) {
			unsigned int bit = (unsigned int)__builtin_ctzll(~used);

			if (atomic_compare_exchange_weak(&cells[i], &used,
							 used | 1ull << bit))
				return (int32_t)(i * 64 + bit);
		}
	}
	return -1;
}

static void give_cell(int32_t cell)
{
	if (cell >= 0)
		atomic_fetch_and(&cells[cell / 64], ~(1ull << cell % 64));
}

static void begin(struct weft_thread *t)
{
	t->cell = take_cell();
	t->read = t->first_read;
	t->read_room = WEFT_READS;
	t->tid = (uint32_t)syscall(SYS_gettid);
}

/*
 * A thread ends.  Its read and write locks stay, as POSIX has it; of the robust
 * mutexes the next one learns that this owner has died, as their memory still
 * says that they are owned.
 */
static void end(void *arg)
{
	struct weft_thread *t = arg;

	if (t->tid) {
		while (t->n_robust)
			weft_write_left(&t->robust[--t->n_robust]);
		give_cell(t->cell);
	}
	if (t->robust)
		weft_sys_munmap(t->robust, t->robust_room * sizeof(*t->robust));
	if (t->tid && t->read != t->first_read)
		weft_sys_munmap(t->read, t->read_room * sizeof(*t->read));
	weft_self = NULL;
	weft_sys_munmap(t, sizeof(*t));
}

/*
 * Other destructors of the thread may still use locks, and leave robust mutexes:
 * ours waits for the last round of them.
 */
static void end_later(void *arg)
{
	static _Thread_local int rounds __attribute__((tls_model("initial-exec")));

	if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS && !pthread_setspecific(key, arg))
		return;
	end(arg);
}

static void start(void)
{
	have_key = !pthread_key_create(&key, end_later);
	alive = weft_private(sizeof(*alive), true);
	if (alive)
		*alive = 1;
}

/* This process is a child: nothing is held, no file is its own, one thread is left. */
void weft_forked(void)
{
	struct weft_thread *t = weft_self;

	weft_maps_forked();
	memset(cells, 0, sizeof(cells));
	if (t) {
		memset(t, 0, sizeof(*t));
		begin(t);
	}
	weft_files_forked();
	if (alive)
		*alive = 1;
}

/* The thread that calls; its first time it becomes one that uses locks. */
int weft_thread_get(struct weft_thread **thread)
{
	struct weft_thread *t = weft_self;

	pthread_once(&once, start);
	if (!have_key || !alive)
		return EAGAIN;
	if (unlikely(!*alive))
		weft_forked();
	if (!t) {
		t = weft_private(sizeof(*t), true);
		if (!t)
			return ENOMEM;
		begin(t);
		weft_self = t;
		pthread_setspecific(key, t);
	}
	*thread = t;
	return 0;
}

/* The lock at @address, when the cache does not know. */
int weft_find_slow(const void *address, struct weft_thread **thread, struct weft_ref **ref)
{
	uint32_t generation = atomic_load(&weft_generation), slot;
	struct weft_thread *t;
	struct weft_file *f;
	struct weft_ref *r;
	uint64_t offset;
	int error;

	error = weft_thread_get(&t);
	if (error)
		return error;
	r = &t->refs[weft_ref_index((uintptr_t)address)];
	memset(r, 0, sizeof(*r));
	*thread = t;
	*ref = r;
	f = weft_mapped((uintptr_t)address, &offset);
	if (f) {
		error = weft_slot(f, offset, &slot);
		if (error)
			return error;
		r->file = f;
		r->slot = slot;
		r->local = &f->local[slot];
		r->owned = (uint64_t)f->owner << WEFT_WORD_OWNER_SHIFT;
		if (f->words) {
			r->word = (_Atomic uint64_t *)&f->words[slot].word;
			r->readers = (_Atomic uint32_t *)&f->holds->readers[slot];
			if (t->cell >= 0)
				r->cell = (_Atomic uint32_t *)&f->holds->pending[t->cell];
		}
	}
	r->generation = generation;
	r->address = (uintptr_t)address;
	return f ? 0 : ENOENT;
}

/*
 * Twice the room for an array of elements of @size, of which @n are in use.
 * @array points to the pointer to it; @first is where it lies as long as it is
 * no memory of its own, NULL if that is never.
 */
int weft_room(void *array, uint32_t *room, const void *first, uint32_t n, size_t size)
{
	uint32_t more = *room ? *room * 2 : 16;
	void *old, *p;

	memcpy(&old, array, sizeof(old));
	if (more > 1u << 20)
		return EAGAIN;
	p = weft_private(more * size, false);
	if (!p)
		return ENOMEM;
	if (old)
		memcpy(p, old, n * size);
	if (old && old != first)
		weft_sys_munmap(old, *room * size);
	memcpy(array, &p, sizeof(p));
	*room = more;
	return 0;
}
