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

struct weft_thread weft_nobody;
_Thread_local struct weft_thread *weft_self
	__attribute__((tls_model("initial-exec"))) = &weft_nobody;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool have_key;

/*
 * Which cells of struct weft_holds are in use: by the same thread in all files.  What a
 * thread that has ended still holds stays in its cell, and whoever gets that has entries
 * less.
 */
static _Atomic uint64_t cells[WEFT_HOLDS_THREADS / 64];

/* None from this one on was ever in use. */
static _Atomic unsigned int first_unused;

unsigned int weft_cells(void)
{
	return atomic_load(&first_unused);
}

static int32_t note_cell(unsigned int cell)
{
	unsigned int n = atomic_load(&first_unused);

	while (n <= cell && !atomic_compare_exchange_weak(&first_unused, &n, cell + 1))
		;
	return (int32_t)cell;
}

static LIST_HEAD(, weft_thread) threads = LIST_HEAD_INITIALIZER(threads);

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
				return note_cell(i * 64 + bit);
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
	t->reads = t->first_reads;
	t->read_room = WEFT_READS;
	t->last = t->reads;
	t->end = t->reads + WEFT_READS - 1;
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
		while (t->n_robust) {
			struct weft_ref *r = &t->robust[--t->n_robust];

			weft_write_leave(r);
		}
		give_cell(t->cell);
		weft_lock_table();
		LIST_REMOVE(t, link);
		weft_unlock_table();
	}
	if (t->robust)
		weft_sys_munmap(t->robust, t->robust_room * sizeof(*t->robust));
	if (t->tid && t->reads != t->first_reads)
		weft_sys_munmap(t->reads, t->read_room * sizeof(*t->reads));
	weft_self = &weft_nobody;
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

static void begin_process(void)
{
	have_key = !pthread_key_create(&key, end_later);
	alive = weft_private(sizeof(*alive), true);
	if (alive)
		*alive = 1;
}

/* Before any region is mapped, so that a child knows that it is one. */
void weft_threads_start(void)
{
	pthread_once(&once, begin_process);
}

/* Is this a child that has not been through weft_forked() yet? */
bool weft_is_forked(void)
{
	return !alive || !*alive;
}

/* This process is a child: nothing is held, no file is its own, one thread is left. */
void weft_forked(void)
{
	struct weft_thread *t = weft_self;
	int cancel_state = weft_cancel_off();

	weft_maps_forked();
	memset(cells, 0, sizeof(cells));
	first_unused = 0;
	LIST_INIT(&threads);
	if (t != &weft_nobody) {
		/* All of it was wiped, but for what has been found since. */
		memset(t, 0, offsetof(struct weft_thread, refs));
		begin(t);
		LIST_INSERT_HEAD(&threads, t, link);
	}
	weft_files_forked();
	if (alive)
		*alive = 1;
	weft_cancel_restore(cancel_state);
}

/* The thread that calls; its first time it becomes one that uses locks. */
int weft_thread_get(struct weft_thread **thread)
{
	struct weft_thread *t = weft_self;

	weft_threads_start();
	if (!have_key || !alive)
		return EAGAIN;
	if (unlikely(weft_is_forked()))
		weft_forked();
	if (t == &weft_nobody) {
		t = weft_private(sizeof(*t), true);
		if (!t)
			return ENOMEM;
		begin(t);
		weft_lock_table();
		LIST_INSERT_HEAD(&threads, t, link);
		weft_unlock_table();
		weft_self = t;
		pthread_setspecific(key, t);
	}
	*thread = t;
	return 0;
}

/*
 * The generation begins anew: what was found in one of the same number long ago must not
 * be there any more.  Under weft_lock_table().
 */
void weft_forget_refs(void)
{
	struct weft_thread *t;
	int i;

	LIST_FOREACH(t, &threads, link) {
		for (i = 0; i < WEFT_REFS; i++)
			__atomic_store_n(&t->refs[i].key, 0, __ATOMIC_RELAXED);
	}
}

/*
 * What is mapped may change meanwhile: then the generation does, after that, and what
 * was found holds for none that is to come.
 */
static int fill(struct weft_thread *t, struct weft_ref *r, uintptr_t address)
{
	uint32_t generation = atomic_load_explicit(&weft_generation, memory_order_acquire);
	uintptr_t key = address | WEFT_REF_SLOW;
	struct weft_file *f;
	uint64_t offset;
	uint32_t slot;
	int error;

	/* A signal handler may look, too. */
	r->key = 0;
	atomic_signal_fence(memory_order_seq_cst);
	r->word = NULL;
	r->slot = 0;
	f = weft_mapped(address, &offset);
	r->file = f;
	if (f) {
		error = weft_slot(f, offset, &slot);
		if (error)
			return error;
		r->slot = slot + 1;
		if (f->words) {
			r->word = &f->words[slot];
			if (t->cell >= 0)
				key = address;
			if (f->lists && t->cell >= 0 && t->cell < WEFT_LIST_CELLS)
				r->slot |= WEFT_REF_LISTS;
		}
	}
	r->generation = generation;
	atomic_signal_fence(memory_order_seq_cst);
	r->key = key;
	return f ? 0 : ENOENT;
}

/* At no time is it half of each: a signal handler may look. */
static void put_ref(struct weft_ref *to, const struct weft_ref *from)
{
	to->key = 0;
	atomic_signal_fence(memory_order_seq_cst);
	to->generation = from->generation;
	to->slot = from->slot;
	to->word = from->word;
	to->file = from->file;
	atomic_signal_fence(memory_order_seq_cst);
	to->key = from->key;
}

static bool has(const struct weft_ref *r, uintptr_t address)
{
	return weft_ref_is(r, address) || weft_ref_is(r, address | WEFT_REF_SLOW);
}

/* The lock at @address, when it is not where it is looked for first. */
int weft_find_slow(const void *address, struct weft_thread **thread, struct weft_ref **ref)
{
	struct weft_ref *r, *other, between;
	struct weft_thread *t;
	uint64_t offset;
	unsigned int i;
	int error;

	/*
	 * Nothing is noted for what is no lock of ours: it may be one of the program's malloc(),
	 * which is taken while this thread forks and has the table.
	 */
	if (weft_self == &weft_nobody && !weft_mapped((uintptr_t)address, &offset))
		return ENOENT;
	error = weft_thread_get(&t);
	if (error)
		return error;
	i = weft_ref_index((uintptr_t)address);
	r = &t->refs[i];
	other = &t->refs[i ^ 1];
	*thread = t;
	*ref = r;
	if (has(r, (uintptr_t)address) && address)
		return r->file ? 0 : ENOENT;
	/* What is here goes to the place beside it. */
	between = *other;
	if (weft_ref_is(r, r->key))
		put_ref(other, r);
	if (has(&between, (uintptr_t)address) && address) {
		put_ref(r, &between);
		return r->file ? 0 : ENOENT;
	}
	do {
		error = fill(t, r, (uintptr_t)address);
	} while (unlikely(!error && r->generation != atomic_load(&weft_generation)));
	return error;
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
