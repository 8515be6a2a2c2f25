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
#include <sys/single_threaded.h>
#include <sys/types.h>
#include <time.h>

#include "weft.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

/* statfs(): f_type of a mounted weft. */
#define WEFT_SUPER_MAGIC	0x57656674

/**
 * struct weft_local - a lock as this process sees it
 * @writer:	thread that has it write-locked, 0: none of ours
 * @depth:	how often that thread has locked it again
 * @robust:	it is a robust mutex, whose owner field has to be looked after
 * @foreign:	a thread left it to read which had not taken it, so that nobody
 *		can tell any more which threads have
 *
 * @writer is written by who holds the lock; @depth and @robust only by @writer.
 */
struct weft_local {
	_Atomic uint32_t writer;
	uint32_t depth;
	bool robust;
	_Atomic bool foreign;
};

/**
 * struct weft_file - a region that is mapped, or held locks of
 * @fd:		our own open file, -1: not in use
 * @by_ioctl:	nothing is shared with the kernel: the file may only be read, or
 *		it is shared with another process
 * @owner:	owner number, 0 until the first slot is open
 * @mappings:	pieces of the table of mappings that are of this file
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
 * @address:	0: nothing
 * @word:	NULL: only the kernel can (read-only)
 * @cell:	of this thread in struct weft_holds; NULL: only the kernel can
 * @readers:	of this file, in struct weft_holds
 * @local:	what this process knows
 * @file:	NULL: nothing of weft is at @address
 * @owned:	the owner number, where it stands in the word
 * @slot:	of the lock
 * @generation:	valid as long as this is weft_generation
 */
struct weft_ref {
	uintptr_t address;
	_Atomic uint64_t *word;
	_Atomic uint32_t *cell;
	_Atomic uint32_t *readers;
	struct weft_local *local;
	struct weft_file *file;
	uint64_t owned;
	uint32_t slot;
	uint32_t generation;
};

#define WEFT_REFS	256	/* cached by each thread */
#define WEFT_READS	48	/* read locks remembered without more memory */

/**
 * struct weft_thread - a thread that has used a lock
 * @tid:	0: wiped, this is another process than before
 * @cell:	index in @pending of struct weft_holds, -1: none was left
 * @n_read:	read locks held, the last one last
 * @read_room:	that @read has room for
 * @read:	which: pointers to struct weft_local; WEFT_AGAIN: that is not
 *		counted in the word, the thread had it already
 * @n_robust:	robust mutexes held
 * @robust_room: that @robust has room for
 * @robust:	which
 */
struct weft_thread {
	uint32_t tid;
	int32_t cell;
	uint32_t n_read;
	uint32_t read_room;
	uintptr_t *read;
	uint32_t n_robust;
	uint32_t robust_room;
	struct weft_ref *robust;
	uintptr_t first_read[WEFT_READS];
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

/* Changes with each change of what is mapped. */
extern _Atomic uint32_t weft_generation;

/* All mappings are within: addresses outside are none of ours.  One address and a
 * size, so that one comparison says so; a torn view of both is that of a program
 * which locks while it maps.
 */
struct weft_hull {
	_Atomic uintptr_t begin;
	_Atomic size_t size;
};

extern struct weft_hull weft_hull;

/* map.c */
void weft_lock_table(void);
void weft_unlock_table(void);
struct weft_file *weft_mapped(uintptr_t address, uint64_t *offset);
int weft_map_add(int fd, uintptr_t address, size_t length, uint64_t offset);
void weft_map_remove(uintptr_t address, size_t length);
bool weft_map_find(uintptr_t address, size_t length, int *fd, uint64_t *offset);
int weft_map_scan(uintptr_t address);
void weft_maps_forked(void);

/* file.c */
struct weft_file *weft_file_get(int fd, int *error);
void weft_file_unused(struct weft_file *f);
int weft_slot(struct weft_file *f, uint64_t offset, uint32_t *slot);
bool weft_slot_known(struct weft_file *f, uint64_t offset, uint32_t *slot);
bool weft_is_region(int fd);
int weft_ioctl(struct weft_file *f, unsigned long request, void *argument);
void weft_files_forked(void);
bool weft_fd_ours(int fd);
int weft_fd_move(int fd);
void *weft_private(size_t size, bool wiped_in_child);

/* system.c: the preload library, which stands before these, goes past itself. */
void *weft_sys_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset);
int weft_sys_munmap(void *address, size_t length);
int weft_sys_close(int fd);

/* thread.c */
int weft_thread_get(struct weft_thread **t);
void weft_forked(void);
int weft_find_slow(const void *address, struct weft_thread **t, struct weft_ref **r);
int weft_room(void *array, uint32_t *room, const void *first, uint32_t n, size_t size);

/* lock.c */
int weft_read_slow(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
		   clockid_t clock, const struct timespec *deadline);
int weft_write_slow(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
		    clockid_t clock, const struct timespec *deadline);
void weft_forget_reads(struct weft_thread *t, struct weft_ref *r);
int weft_read_left(struct weft_thread *t, struct weft_ref *r);
int weft_write_wait(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
		    clockid_t clock, const struct timespec *deadline);
int weft_left_by_ioctl(struct weft_ref *r, unsigned int mode);
void weft_wake(struct weft_ref *r);
bool weft_held_here(const void *address);
bool weft_no_time(const struct timespec *t);

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
static inline bool weft_near(const void *address)
{
	return (uintptr_t)address -
	       atomic_load_explicit(&weft_hull.begin, memory_order_relaxed) <
	       atomic_load_explicit(&weft_hull.size, memory_order_relaxed);
}

/*
 * The lock at @address, if this thread has found it before; else NULL.  @t may be
 * NULL.  What is quick returns nothing through memory: a store before a locked
 * instruction is waited for.
 */
static __always_inline struct weft_ref *weft_cached(const void *address,
						    struct weft_thread *t)
{
	struct weft_ref *r;

	if (unlikely(!t))
		return NULL;
	r = &t->refs[weft_ref_index((uintptr_t)address)];
	if (unlikely(r->address != (uintptr_t)address || !r->file ||
		     r->generation != atomic_load_explicit(&weft_generation,
							   memory_order_relaxed)))
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

	if (likely(self)) {
		struct weft_ref *ref = &self->refs[weft_ref_index((uintptr_t)address)];

		if (likely(ref->address == (uintptr_t)address &&
			   ref->generation == atomic_load_explicit(&weft_generation,
							memory_order_relaxed))) {
			*t = self;
			*r = ref;
			return likely(ref->file) ? 0 : ENOENT;
		}
	}
	return weft_find_slow(address, t, r);
}

/* The order that these stores stand in is what the kernel relies on; changing the
 * word is a barrier for the processor, the compiler is told.
 */
static __always_inline void weft_pending(struct weft_ref *r, uint32_t value)
{
	atomic_store_explicit(r->cell, value, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
}

static __always_inline void weft_count_readers(struct weft_ref *r, uint32_t by)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (__libc_single_threaded) {
		uint32_t n = atomic_load_explicit(r->readers, memory_order_relaxed);

		atomic_store_explicit(r->readers, n + by, memory_order_release);
	} else {
		atomic_fetch_add(r->readers, by);
	}
	atomic_signal_fence(memory_order_seq_cst);
}

static __always_inline bool weft_read_allowed(uint64_t w)
{
	return (w & ~WEFT_WORD_READERS) - 1 < 2 && w < WEFT_WORD_READERS;
}

/* Take it to read without the kernel, if that is possible now. */
static __always_inline bool weft_read_quick(struct weft_thread *t, struct weft_ref *r)
{
	uint64_t w;

	if (unlikely(!r->cell || t->n_read == t->read_room))
		return false;
	w = atomic_load_explicit(r->word, memory_order_relaxed);
	if (unlikely(!weft_read_allowed(w)))
		return false;
	weft_pending(r, r->slot + 1);
	while (unlikely(!atomic_compare_exchange_weak(r->word, &w, w + WEFT_WORD_READER))) {
		if (!weft_read_allowed(w)) {
			weft_pending(r, 0);
			return false;
		}
	}
	weft_count_readers(r, 1);
	weft_pending(r, 0);
	t->read[t->n_read++] = (uintptr_t)r->local;
	return true;
}

/* The same to write. */
static __always_inline bool weft_write_quick(struct weft_thread *t, struct weft_ref *r)
{
	uint64_t w = 2;

	if (unlikely(!r->cell ||
		     atomic_load_explicit(r->word, memory_order_relaxed) != 2))
		return false;
	weft_pending(r, r->slot + 1);
	if (unlikely(!atomic_compare_exchange_strong(r->word, &w, 2 | r->owned))) {
		weft_pending(r, 0);
		return false;
	}
	weft_pending(r, 0);
	atomic_store_explicit(&r->local->writer, t->tid, memory_order_relaxed);
	if (unlikely(atomic_load_explicit(&r->local->foreign, memory_order_relaxed)))
		weft_forget_reads(t, r);
	return true;
}

/* Does this process have it write-locked? */
static __always_inline bool weft_write_ours(struct weft_ref *r)
{
	if (likely(r->word))
		return (atomic_load_explicit(r->word, memory_order_relaxed) &
			WEFT_WORD_OWNER) == r->owned;
	return atomic_load_explicit(&r->local->writer, memory_order_relaxed);
}

/* Only if weft_write_ours(). */
static __always_inline int weft_write_left(struct weft_ref *r)
{
	uint64_t w;

	atomic_store_explicit(&r->local->writer, 0, memory_order_relaxed);
	if (unlikely(!r->cell))
		return weft_left_by_ioctl(r, WEFT_LOCK_WRITE);
	weft_pending(r, r->slot + 1);
	w = atomic_fetch_sub(r->word, r->owned);
	weft_pending(r, 0);
	if (unlikely(w & WEFT_WORD_SLOW))
		weft_wake(r);
	return 0;
}

/* Leave it, taken to read or to write. */
static __always_inline int weft_unlock(struct weft_thread *t, struct weft_ref *r)
{
	uint64_t w;

	if (unlikely(!t->n_read || t->read[t->n_read - 1] != (uintptr_t)r->local ||
		     !r->cell))
		return weft_write_ours(r) ? weft_write_left(r) : weft_read_left(t, r);
	t->n_read--;
	weft_pending(r, r->slot + 1);
	w = atomic_fetch_sub(r->word, WEFT_WORD_READER);
	weft_count_readers(r, -1u);
	weft_pending(r, 0);
	if (unlikely((w & (WEFT_WORD_SLOW | WEFT_WORD_READERS)) ==
		     (WEFT_WORD_SLOW | WEFT_WORD_READER)))
		weft_wake(r);
	return 0;
}

#endif /* WEFT_LIBWEFT_INTERNAL_H */
