/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside libweft, which the preload library contains too.
 *
 * From an address to its lock there are four steps, the quick ones first:
 *
 *	the thread's cache	struct weft_ref, by address; a hit is all that a
 *				cached lock costs besides changing its word
 *	the mappings		which region is mapped there (map.c)
 *	the file's slots	offset to slot, a hash (file.c)
 *	the kernel		WEFT_IOC_LOCK_OPEN
 *
 * What the kernel must know of who holds what is in the memory that it shares
 * with us (uapi/weft.h).  What only this process needs (which thread has a lock
 * write-locked, how often, who may read-lock again) is in its own memory.
 *
 * After fork() the child has none of it: threads and local states lie in memory
 * that the kernel wipes in the child, so that the first look finds nothing and
 * comes to weft_forked(), whatever way the child was made.
 */
#ifndef WEFT_LIBWEFT_INTERNAL_H
#define WEFT_LIBWEFT_INTERNAL_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/cdefs.h>
#include <sys/types.h>
#include <time.h>

#include "weft.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

/*
 * What is called for each lock stands together, so that it is on one page: jumps
 * from page to page cost in virtual machines.
 */
#define WEFT_HOT	__attribute__((section(".text.hot.weft")))
#define WEFT_HOT_FIRST	__attribute__((section(".text.hot.weft"), aligned(2048)))

/**
 * struct weft_local - a lock as this process sees it
 * @writer:	thread that has it write-locked, 0: none of ours
 * @depth:	how often that thread has locked it again
 * @robust:	it is a robust mutex, whose owner field has to be looked after
 * @foreign:	a thread left it to read which had not taken it, so that nobody
 *		can tell any more which threads have
 * @reads:	how often it is read-locked, if nothing of this is shared with the
 *		kernel; otherwise struct weft_holds has that
 *
 * @writer is written by who holds the lock; @depth and @robust only by @writer.
 */
struct weft_local {
	_Atomic uint32_t writer;
	uint32_t depth;
	bool robust;
	_Atomic bool foreign;
	_Atomic uint32_t reads;
};

/**
 * struct weft_file - a region that is mapped, or held locks of
 * @fd:		our own open file, -1: not in use
 * @by_ioctl:	nothing is shared with the kernel: the file may only be read, or
 *		it is shared with another process
 * @copied:	it is an open file of somebody else
 * @owner:	owner number, 0 until the first slot is open
 * @mappings:	pieces of the table of mappings that are of this file, and those who
 *		are about to put one there (weft_map_hold())
 * @block:	bytes of a block
 * @words:	of all locks of the node; NULL: not mapped yet, or by_ioctl
 * @holds:	of this file
 * @local:	by slot
 * @slots:	offset to slot
 * @next:	all that there ever were; they are used again, never freed
 *
 * Changed under weft_lock_table(), but what a thread's reference names is there
 * as long as one mapping is.
 */
struct weft_file {
	_Atomic int fd;
	dev_t dev;
	ino_t ino;
	bool by_ioctl;
	bool copied;
	uint32_t owner;
	unsigned int mappings;
	uint64_t block;
	struct weft_lock_word *words;
	struct weft_holds *holds;
	struct weft_local *local;
	struct weft_slots *_Atomic slots;
	struct weft_file *next;
};

/**
 * struct weft_ref - an address, and all that is needed to lock there
 * @quick:	the address, if it may be one step; else 0.  First, as all else
 *		is read only if it fits
 * @address:	0: nothing.  Both are cleared by whoever changes what is mapped
 * @word:	NULL: only the kernel can (read-only)
 * @cell:	of this thread in struct weft_holds; NULL: only the kernel can
 * @readers:	of this file, in struct weft_holds
 * @local:	what this process knows
 * @file:	NULL: nothing of weft is at @address
 * @pending:	what to write to @cell: the slot of the lock, plus 1
 * @owner:	the owner number of this file
 */
struct weft_ref {
	_Atomic uintptr_t quick;
	_Atomic uintptr_t address;
	_Atomic uint64_t *word;
	_Atomic uint32_t *cell;
	_Atomic uint32_t *readers;
	struct weft_local *local;
	struct weft_file *file;
	uint32_t pending;
	uint32_t owner;
};

#define WEFT_REFS	256	/* cached by each thread */
#define WEFT_READS	48	/* read locks remembered without more memory */

/**
 * struct weft_thread - a thread that has used a lock
 * @last:	the read lock that it has taken last, in @reads
 * @end:	the last place that there is
 * @tid:	0: wiped, this is another process than before
 * @cell:	index in @pending of struct weft_holds, -1: none was left
 * @reads:	read locks that it holds, the first at [1]: weft_key(); WEFT_AGAIN:
 *		that is not counted in the word, the thread had it already
 * @read_room:	elements of @reads
 * @n_robust:	robust mutexes held
 * @robust_room: elements of @robust
 * @robust:	which
 * @next:	of all threads, under weft_lock_table()
 * @previous:	what points here
 */
struct weft_thread {
	uintptr_t *last;
	uintptr_t *end;
	uint32_t tid;
	int32_t cell;
	uintptr_t *reads;
	uint32_t read_room;
	uint32_t n_robust;
	uint32_t robust_room;
	struct weft_ref *robust;
	struct weft_thread *next;
	struct weft_thread **previous;
	uintptr_t first_reads[WEFT_READS];
	struct weft_ref refs[WEFT_REFS] __attribute__((aligned(64)));
};

#define WEFT_AGAIN	1ul

#pragma GCC visibility push(hidden)

/*
 * Initial-exec: a load relative to the thread pointer, and no more.  A pointer is
 * small enough for what dlopen() has left of such memory.
 */
extern _Thread_local struct weft_thread *weft_self
	__attribute__((tls_model("initial-exec")));

/* Where that points at first: a thread that has found nothing. */
extern struct weft_thread weft_nobody;

/* Changes with each change of what is mapped. */
extern _Atomic uint32_t weft_generation;

/*
 * All mappings are within: the first in the lower half, how much in the upper
 * half, in units of 64 KiB.  One word, as it is read for each lock of the program
 * that is none of ours.
 */
extern _Atomic uint64_t weft_hull;

#define WEFT_HULL_SHIFT	16

/*
 * Points to whether nobody else changes the counts of our files: there is one
 * thread, and no child that had to go on with the same open files.
 */
extern const char *weft_alone;

/* map.c */
int weft_cancel_off(void);
void weft_cancel_restore(int state);
void weft_lock_table(void);
void weft_unlock_table(void);
struct weft_file *weft_mapped(uintptr_t address, uint64_t *offset);
int weft_map_add(int fd, uintptr_t address, size_t length, uint64_t offset);
void weft_map_remove(uintptr_t address, size_t length);
struct weft_file *weft_map_hold(uintptr_t address, size_t length, uint64_t *offset);
int weft_map_put(struct weft_file *f, uintptr_t address, size_t length, uint64_t offset);
void weft_map_let_go(struct weft_file *f);
int weft_map_scan(uintptr_t address);
void weft_maps_forked(void);

/* file.c */
struct weft_file *weft_file_get(int fd, int *error);
void weft_file_unused(struct weft_file *f);
int weft_slot(struct weft_file *f, uint64_t offset, uint32_t *slot);
bool weft_slot_known(struct weft_file *f, uint64_t offset, uint32_t *slot);
bool weft_is_region(int fd);
int weft_ioctl(struct weft_file *f, unsigned long request, void *argument);
bool weft_files_forked(void);
bool weft_fd_ours(int fd);
int weft_fd_move(int fd);
void *weft_private(size_t size, bool wiped_in_child);

/* system.c: the preload library, which stands before these, goes past itself. */
void *weft_sys_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset);
int weft_sys_munmap(void *address, size_t length);
int weft_sys_close(int fd);

/* thread.c */
int weft_thread_get(struct weft_thread **t);
void weft_threads_start(void);
bool weft_is_forked(void);
void weft_forked(void);
void weft_forget_refs(void);
int weft_find_slow(const void *address, struct weft_thread **t, struct weft_ref **r);
int weft_room(void *array, uint32_t *room, const void *first, uint32_t n, size_t size);

/* lock.c */
int weft_read(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
	      clockid_t clock, const struct timespec *deadline);
int weft_write(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
	       clockid_t clock, const struct timespec *deadline);
bool weft_write_now(struct weft_thread *t, struct weft_ref *r);
int weft_write_wait(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
		    clockid_t clock, const struct timespec *deadline);
int weft_write_leave(struct weft_ref *r);
int weft_unlock_slow(struct weft_thread *t, struct weft_ref *r);
void weft_forget_reads(struct weft_thread *t, struct weft_ref *r);
void weft_wake(struct weft_ref *r);
bool weft_held_here(const void *address);
bool weft_no_time(const struct timespec *t);
bool weft_is_clock(clockid_t clock);
int weft_take(const void *lock, uint32_t mode, unsigned int flags, clockid_t clock,
	      const struct timespec *deadline);
int weft_leave(const void *lock);

/* ranges.c */
void weft_ranges_forget(const struct weft_file *f);

/* One sentence to stderr, once for each @said. */
void weft_complain(_Atomic bool *said, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#pragma GCC visibility pop

/* Locks at the same place of many pages, and many locks on one page, spread. */
static inline unsigned int weft_ref_index(uintptr_t address)
{
	return (address >> 3 ^ address >> 12) & (WEFT_REFS - 1);
}

/* Could something of weft be there at all? */
static __always_inline bool weft_near(const void *address)
{
	uint64_t hull = atomic_load_explicit(&weft_hull, memory_order_relaxed);

	return ((uintptr_t)address >> WEFT_HULL_SHIFT) - (uint32_t)hull < hull >> 32;
}

/*
 * The lock at @address, if this thread has found it before and may take it in one
 * step; else NULL.  What is quick returns nothing through memory:
 * a store before a locked instruction is waited for.
 */
static __always_inline struct weft_ref *weft_cached(const void *address,
						    struct weft_thread *t)
{
	struct weft_ref *r;

	r = &t->refs[weft_ref_index((uintptr_t)address)];
	if (unlikely(atomic_load_explicit(&r->quick, memory_order_relaxed) !=
		     (uintptr_t)address))
		return NULL;
	return r;
}

/*
 * The lock at @address: 0; ENOENT: nothing of weft is there; or why not.  The
 * reference is the thread's, good until its next weft_find().
 */
static inline int weft_find(const void *address, struct weft_thread **t,
			    struct weft_ref **r)
{
	struct weft_thread *self = weft_self;
	struct weft_ref *ref = &self->refs[weft_ref_index((uintptr_t)address)];

	if (likely(atomic_load_explicit(&ref->address, memory_order_relaxed) ==
		   (uintptr_t)address && address)) {
		*t = self;
		*r = ref;
		return likely(ref->file) ? 0 : ENOENT;
	}
	return weft_find_slow(address, t, r);
}

/* By what a lock is known in a thread's list of read locks. */
static __always_inline uintptr_t weft_key(const struct weft_ref *r)
{
	return r->word ? (uintptr_t)r->word : (uintptr_t)r->local;
}

static __always_inline uint64_t weft_owned(const struct weft_ref *r)
{
	return (uint64_t)r->owner << WEFT_WORD_OWNER_SHIFT;
}

/*
 * The order that these stores stand in is what the kernel relies on; changing the
 * word is a barrier for the processor, the compiler is told.
 */
static __always_inline void weft_pending(_Atomic uint32_t *cell, uint32_t value)
{
	atomic_store_explicit(cell, value, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
}

static __always_inline void weft_count_readers(_Atomic uint32_t *readers, uint32_t by)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (*weft_alone) {
		uint32_t n = atomic_load_explicit(readers, memory_order_relaxed);

		atomic_store_explicit(readers, n + by, memory_order_release);
	} else {
		atomic_fetch_add(readers, by);
	}
	atomic_signal_fence(memory_order_seq_cst);
}

/* With half of all readers that there may be, the kernel is asked: no overflow. */
static __always_inline bool weft_read_allowed(uint64_t w)
{
	return (w & ~(WEFT_WORD_READERS >> 1 & WEFT_WORD_READERS)) - 1 < 2;
}

/*
 * Take it to read without the kernel, if that is possible now; only if r->cell is
 * there.  All that is needed is read first: after each barrier the compiler would
 * read it anew.
 */
static __always_inline bool weft_read_quick(struct weft_thread *t, struct weft_ref *r)
{
	_Atomic uint64_t *word = r->word;
	_Atomic uint32_t *cell = r->cell, *readers = r->readers;
	uintptr_t *last = t->last;
	uint64_t w;

	if (unlikely(last == t->end))
		return false;
	w = atomic_load_explicit(word, memory_order_relaxed);
	if (unlikely(!weft_read_allowed(w)))
		return false;
	weft_pending(cell, r->pending);
	while (unlikely(!atomic_compare_exchange_weak(word, &w, w + WEFT_WORD_READER))) {
		if (!weft_read_allowed(w)) {
			weft_pending(cell, 0);
			return false;
		}
	}
	weft_count_readers(readers, 1);
	weft_pending(cell, 0);
	*++last = (uintptr_t)word;
	t->last = last;
	return true;
}

/* The same to write. */
static __always_inline bool weft_write_quick(struct weft_thread *t, struct weft_ref *r)
{
	_Atomic uint64_t *word = r->word;
	_Atomic uint32_t *cell = r->cell;
	struct weft_local *local = r->local;
	uint64_t w = 2;

	if (unlikely(atomic_load_explicit(word, memory_order_relaxed) != 2))
		return false;
	weft_pending(cell, r->pending);
	if (unlikely(!atomic_compare_exchange_strong(word, &w, 2 | weft_owned(r)))) {
		weft_pending(cell, 0);
		return false;
	}
	weft_pending(cell, 0);
	atomic_store_explicit(&local->writer, t->tid, memory_order_relaxed);
	if (unlikely(atomic_load_explicit(&local->foreign, memory_order_relaxed)))
		weft_forget_reads(t, r);
	return true;
}

/* Does this process have it write-locked? */
static __always_inline bool weft_write_ours(struct weft_ref *r)
{
	if (likely(r->word))
		return (atomic_load_explicit(r->word, memory_order_relaxed) &
			WEFT_WORD_OWNER) == weft_owned(r);
	return atomic_load_explicit(&r->local->writer, memory_order_relaxed);
}

/* Only if weft_write_ours() and r->cell. */
static __always_inline int weft_write_left(struct weft_ref *r)
{
	_Atomic uint32_t *cell = r->cell;
	uint64_t w;

	atomic_store_explicit(&r->local->writer, 0, memory_order_relaxed);
	weft_pending(cell, r->pending);
	w = atomic_fetch_sub(r->word, weft_owned(r));
	weft_pending(cell, 0);
	if (unlikely(w & WEFT_WORD_SLOW))
		weft_wake(r);
	return 0;
}

/* The thread has read-locked it, last of all. */
static __always_inline bool weft_read_last(struct weft_thread *t, struct weft_ref *r)
{
	return *t->last == (uintptr_t)r->word;
}

/* Only if weft_read_last() and r->cell. */
static __always_inline int weft_read_left(struct weft_thread *t, struct weft_ref *r)
{
	_Atomic uint32_t *cell = r->cell, *readers = r->readers;
	uint64_t w;

	t->last--;
	weft_pending(cell, r->pending);
	w = atomic_fetch_sub(r->word, WEFT_WORD_READER);
	weft_count_readers(readers, -1u);
	weft_pending(cell, 0);
	if (unlikely((w & (WEFT_WORD_SLOW | WEFT_WORD_READERS)) ==
		     (WEFT_WORD_SLOW | WEFT_WORD_READER)))
		weft_wake(r);
	return 0;
}

/* Leave it, taken to read or to write, when it may be one step. */
static __always_inline int weft_unlock_quick(struct weft_thread *t, struct weft_ref *r)
{
	if (weft_read_last(t, r))
		return weft_read_left(t, r);
	if (likely(atomic_load_explicit(&r->local->writer, memory_order_relaxed) == t->tid))
		return weft_write_left(r);
	return weft_unlock_slow(t, r);
}

/* The same for a lock that the thread's cache has; false if it does not. */
static __always_inline bool weft_read_at_once(const void *lock)
{
	struct weft_thread *t = weft_self;
	struct weft_ref *r = weft_cached(lock, t);

	return likely(r) && likely(weft_read_quick(t, r));
}

static __always_inline bool weft_write_at_once(const void *lock)
{
	struct weft_thread *t = weft_self;
	struct weft_ref *r = weft_cached(lock, t);

	return likely(r) && likely(weft_write_quick(t, r));
}

#endif /* WEFT_LIBWEFT_INTERNAL_H */
