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
#include <sys/queue.h>
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

/*
 * Who in this process has a lock write-locked (weft_holder()): the thread, how often it
 * has locked it again, and whether it is a robust mutex, whose owner field has to be
 * looked after.  All in one, as it is there as long as the lock is held; 0: none of ours.
 * Written by who holds the lock.
 */
#define WEFT_HOLDER_THREAD	0x00000000FFFFFFFFull
#define WEFT_HOLDER_AGAIN	0x0000000100000000ull
#define WEFT_HOLDER_DEPTH	0x7FFFFFFF00000000ull
#define WEFT_HOLDER_ROBUST	0x8000000000000000ull

/**
 * struct weft_local - a lock as this process sees it, where the word does not say it
 * @holder:	if nothing of this is shared with the kernel; otherwise struct
 *		weft_lock_word has that
 * @reads:	how often it is read-locked, in the same case
 * @foreign:	a thread left it to read which had not taken it, so that nobody
 *		can tell any more which threads have: of those in no entry
 */
struct weft_local {
	_Atomic uint64_t holder;
	_Atomic uint32_t reads;
	_Atomic bool foreign;
};

/**
 * struct weft_file - a region that is mapped, or held locks of
 * @fd:		our own open file, -1: not in use
 * @by_ioctl:	nothing is shared with the kernel: the file may only be read, or
 *		it is shared with another process
 * @reads:	the file may only be read
 * @lists:	read locks may be listed
 * @owner:	owner number, 0 until the first slot is open; where the word has it
 * @mappings:	pieces of the table of mappings that are of this file, and those who
 *		are about to put one there (weft_map_hold())
 * @block:	bytes of a block
 * @words:	of all locks of the node; NULL: not mapped yet, or by_ioctl
 * @holds:	of this file; there if @words is
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
	bool reads;
	bool lists;
	_Atomic bool foreign;
	uint64_t owner;
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
 * @key:	the address, if it may be one step; or with WEFT_REF_SLOW; 0: nothing.
 *		Written last
 * @generation:	of the mappings, when it was found: it holds as long as it is the same
 * @slot:	of the lock, plus 1; with WEFT_REF_LISTS
 * @word:	NULL: only the kernel can (read-only)
 * @file:	NULL: nothing of weft is at the address
 *
 * Half a cache line of the processor: two of them are neighbours.
 */
struct weft_ref {
	uintptr_t key;
	uint32_t generation;
	uint32_t slot;
	struct weft_lock_word *word;
	struct weft_file *file;
};

#define WEFT_REF_SLOW	(1ull << 63)	/* no address of a program */
#define WEFT_REF_LISTS	0x80000000u	/* this thread may list the lock */

/**
 * struct weft_reading - a read lock that a thread has
 * @key:	weft_key(); with WEFT_AGAIN: not counted anywhere else, the thread had it
 *		already
 * @entry:	in struct weft_holds, which says so as long as it is true; NULL: it is in
 *		the file's count
 */
struct weft_reading {
	uintptr_t key;
	_Atomic uint32_t *entry;
};

/**
 * struct weft_await - somebody waits until memory of a region changes
 * @clock:	of @deadline
 * @deadline:	NULL: none
 * @cancellable: the thread may be cancelled while it waits
 * @heard:	the last time it was woken: what is waited for may be there
 * @file:	of the region; NULL: this place has no eventcount to be had
 * @word:	where the count is; NULL: only the kernel knows
 * @slot:	of the place
 * @seen:	count before the last look, if @armed
 * @armed:	what happens after @seen ends the waiting
 * @deaf:	the kernel tells nothing: naps
 * @looks:	so far
 * @naps:	so far, at most 9
 *
 * Zeros, and what is said of the first three, before weft_await_begin().
 */
struct weft_await {
	clockid_t clock;
	const struct timespec *deadline;
	bool cancellable;
	bool heard;
	struct weft_file *file;
	struct weft_lock_word *word;
	uint32_t slot;
	uint32_t seen;
	bool armed;
	bool deaf;
	unsigned int looks;
	unsigned int naps;
};

#define WEFT_REFS	4096	/* cached by each thread: what is used takes memory */
#define WEFT_READS	48	/* read locks remembered without more memory */
#define WEFT_MARKER	(WEFT_HOLDS_ENTRIES - 1)	/* the entry that is always to spare */

/**
 * struct weft_thread - a thread that has used a lock
 * @last:	the read lock that it has taken last, in @reads
 * @end:	the last place that there is
 * @tid:	0: wiped, this is another process than before
 * @cell:	index of its cell in struct weft_holds, -1: none was left
 * @reads:	read locks that it holds, the first at [1]
 * @read_room:	elements of @reads
 * @n_robust:	robust mutexes held
 * @robust_room: elements of @robust
 * @robust:	which
 * @next:	of all threads, under weft_lock_table()
 * @previous:	what points here
 */
struct weft_thread {
	struct weft_reading *last;
	struct weft_reading *end;
	uint32_t tid;
	int32_t cell;
	struct weft_reading *reads;
	uint32_t read_room;
	uint32_t n_robust;
	uint32_t robust_room;
	struct weft_ref *robust;
	LIST_ENTRY(weft_thread) link;
	struct weft_reading first_reads[WEFT_READS];
	struct weft_ref refs[WEFT_REFS] __attribute__((aligned(64)));
};

#define WEFT_AGAIN	1ul

/* A piece of a region that was mapped. */
struct weft_piece {
	uintptr_t begin;
	uintptr_t end;
	uint64_t offset;
	struct weft_file *file;
};

/**
 * struct weft_taken - what a call that changes mappings is about to take away
 * @n:		pieces; 0: none is of weft
 * @pieces:	at @one if it is one
 */
struct weft_taken {
	unsigned int n;
	struct weft_piece *pieces;
	struct weft_piece one;
};

#pragma GCC visibility push(hidden)

/*
 * Initial-exec: a load relative to the thread pointer, and no more.  A pointer is
 * small enough for what dlopen() has left of such memory.
 */
extern _Thread_local struct weft_thread *weft_self
	__attribute__((tls_model("initial-exec")));

/* Where that points at first: a thread that has found nothing. */
extern struct weft_thread weft_nobody;

/* Changes with each change of what is mapped; never 0. */
extern _Atomic uint32_t weft_generation;

/*
 * All mappings are within: the first in the lower half, how much in the upper
 * half, in units of 64 KiB.  One word, as it is read for each lock of the program
 * that is none of ours.
 */
extern _Atomic uint64_t weft_hull;

#define WEFT_HULL_SHIFT	16

/* map.c */
int weft_cancel_off(void);
void weft_cancel_restore(int state);
void weft_lock_table(void);
void weft_unlock_table(void);
struct weft_file *weft_mapped(uintptr_t address, uint64_t *offset);
int weft_map_add(int fd, uintptr_t address, size_t length, uint64_t offset);
int weft_map_remove(uintptr_t address, size_t length);
int weft_map_take(uintptr_t address, size_t length, struct weft_taken *taken);
int weft_map_settle(struct weft_taken *taken, bool back);
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
void weft_threads_start(void);
bool weft_is_forked(void);
void weft_forked(void);
unsigned int weft_cells(void);
void weft_forget_refs(void);
int weft_find_slow(const void *address, struct weft_thread **t, struct weft_ref **r);
int weft_room(void *array, uint32_t *room, const void *first, uint32_t n, size_t size);

/*
 * POSIX knows no error for a rack that does not answer, and programs do not look for one:
 * the preload library sets this, and all locks are waited for.
 */
extern bool weft_patient;

/*
 * lock.c: what takes a lock returns EOWNERDEAD if who had it to write died with it: it is
 * taken all the same, and who takes it next gets that, too, until weft_mend().
 */
int weft_find_for(const void *address, struct weft_thread **t, struct weft_ref **r,
		  unsigned int flags, clockid_t clock, const struct timespec *deadline);
int weft_read(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
	      clockid_t clock, const struct timespec *deadline);
int weft_write(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
	       clockid_t clock, const struct timespec *deadline);
bool weft_write_now(struct weft_thread *t, struct weft_ref *r);
int weft_write_wait(struct weft_thread *t, struct weft_ref *r, unsigned int flags,
		    clockid_t clock, const struct timespec *deadline);
int weft_write_leave(struct weft_ref *r);
int weft_unlock_slow(struct weft_thread *t, struct weft_ref *r);
void weft_tell(struct weft_ref *r);
bool weft_held_here(const void *address);
bool weft_no_time(const struct timespec *t);
bool weft_is_clock(clockid_t clock);
int64_t weft_nanoseconds(const struct timespec *t);
int weft_take(const void *lock, uint32_t mode, unsigned int flags, clockid_t clock,
	      const struct timespec *deadline);
int weft_leave(const void *lock);
bool weft_is_over(clockid_t clock, const struct timespec *deadline);

/*
 * await.c: before the first look at what stands at @address, and after the last one; between
 * two looks that have not found it.  weft_await_begin(): 0, or why it has no eventcount: then it
 * is looked for from time to time.  weft_await(): 0: look again; ETIMEDOUT; EINTR.
 */
int weft_await_begin(struct weft_await *a, const void *address);
int weft_await(struct weft_await *a);
void weft_await_end(struct weft_await *a);

/* After a change of it: all who wait for it look again.  For handlers of signals, too. */
int weft_advance(const void *address);

/* died.c */
bool weft_died(const struct weft_ref *r);
int weft_mend(struct weft_ref *r);
int weft_pass(const void *lock, int error, uint32_t mode, unsigned int flags, clockid_t clock,
	      const struct timespec *deadline);

/* ranges.c */
void weft_ranges_forget(const struct weft_file *f);

/* One sentence to stderr, once for each @said. */
void weft_complain(_Atomic bool *said, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#pragma GCC visibility pop

/*
 * Locks at any usual distance from each other, up to 2000 of them, get places of their
 * own by this number: it was looked for.
 */
static __always_inline unsigned int weft_ref_index(uintptr_t address)
{
	return (unsigned int)((uint32_t)(address >> 3) * 0xADA3CDA7u >> 20);
}

_Static_assert(WEFT_REFS == 1 << (32 - 20), "the index fits");

/* Could something of weft be there at all? */
static __always_inline bool weft_near(const void *address)
{
	uint64_t hull = atomic_load_explicit(&weft_hull, memory_order_relaxed);

	return ((uintptr_t)address >> WEFT_HULL_SHIFT) - (uint32_t)hull < hull >> 32;
}

static __always_inline bool weft_ref_is(const struct weft_ref *r, uintptr_t key)
{
	return r->key == key && r->generation == atomic_load_explicit(&weft_generation,
								      memory_order_relaxed);
}

/*
 * The lock at @address, if this thread has found it before and may take it in one
 * step; else NULL.  What is quick returns nothing through memory:
 * a store before a locked instruction is waited for.
 */
static __always_inline struct weft_ref *weft_cached(const void *address,
						    struct weft_thread *t)
{
	struct weft_ref *r = &t->refs[weft_ref_index((uintptr_t)address)];

	return likely(weft_ref_is(r, (uintptr_t)address)) ? r : NULL;
}

/*
 * The lock at @address: 0; ENOENT: nothing of weft is there; or why not.  The
 * reference is the thread's, good until its next weft_find().
 */
static inline int weft_find(const void *address, struct weft_thread **t,
			    struct weft_ref **r)
{
	struct weft_thread *self = weft_self;
	struct weft_ref *ref = weft_cached(address, self);

	if (likely(ref) && address) {
		*t = self;
		*r = ref;
		return 0;
	}
	return weft_find_slow(address, t, r);
}

/* By what a lock is known in a thread's list of read locks. */
static __always_inline uintptr_t weft_key(const struct weft_ref *r)
{
	return r->word ? (uintptr_t)r->word :
			 (uintptr_t)&r->file->local[(r->slot & ~WEFT_REF_LISTS) - 1];
}

/* May it be one step? */
static __always_inline bool weft_is_quick(const struct weft_ref *r)
{
	return !(r->key & WEFT_REF_SLOW);
}

static __always_inline struct weft_local *weft_local(const struct weft_ref *r)
{
	return &r->file->local[(r->slot & ~WEFT_REF_LISTS) - 1];
}

static __always_inline _Atomic uint64_t *weft_word(const struct weft_ref *r)
{
	return (_Atomic uint64_t *)&r->word->word;
}

static __always_inline _Atomic uint64_t *weft_holder(const struct weft_ref *r)
{
	return r->word ? (_Atomic uint64_t *)&r->word->holder : &weft_local(r)->holder;
}

/* The entries of this thread; only if weft_is_quick(). */
static __always_inline _Atomic uint32_t *weft_entries(const struct weft_thread *t,
						      const struct weft_ref *r)
{
	return (_Atomic uint32_t *)r->file->holds->cell[t->cell].entry;
}

static __always_inline uint32_t weft_entry(const struct weft_ref *r, uint32_t kind)
{
	return (r->slot & ~WEFT_REF_LISTS) | kind;
}

/*
 * The order that these stores stand in is what the kernel relies on; changing the
 * word is a barrier for the processor, the compiler is told.
 */
static __always_inline void weft_put_entry(_Atomic uint32_t *entry, uint32_t value)
{
	atomic_store_explicit(entry, value, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
}

/*
 * The lock is listed no more: an entry was exchanged for 0 just now.  That exchange is
 * the barrier: who looks for the entry has set SLOW before, which is seen here, or sees
 * that it is gone.
 */
static __always_inline void weft_unlisted(struct weft_ref *r)
{
	if (unlikely(atomic_load_explicit(weft_word(r), memory_order_relaxed) &
		     (WEFT_WORD_SLOW | WEFT_WORD_TELL)))
		weft_tell(r);
}

/* With half of all readers that there may be, the kernel is asked: no overflow. */
static __always_inline bool weft_read_allowed(uint64_t w)
{
	return (w & ~(WEFT_WORD_READS | WEFT_WORD_LISTED |
		      (WEFT_WORD_READERS >> 1 & WEFT_WORD_READERS))) - 1 < 2;
}

/*
 * After so many reads without a write the readers of a lock are listed.  One that
 * meets others counts for many: they would draw the word from each other.
 */
#define WEFT_READS_MET		(64 * WEFT_WORD_READ)

/*
 * The word with a reader more, who may list what it reads.  LISTED may be there already:
 * the kernel sets it too, whatever READS says, so it is set and not added.
 */
static __always_inline uint64_t weft_with_reader(uint64_t w, bool met)
{
	uint64_t reads = met ? WEFT_READS_MET : WEFT_WORD_READ;

	if (unlikely((w & WEFT_WORD_READS) + reads > WEFT_WORD_READS))
		return ((w & ~WEFT_WORD_READS) | WEFT_WORD_LISTED) + WEFT_WORD_READER;
	return w + reads + WEFT_WORD_READER;
}

/*
 * Take it to read without the kernel, if that is possible now; only if
 * weft_is_quick().  All that is needed is read first: after each barrier the compiler
 * would read it anew.
 */
static __always_inline bool weft_read_quick(struct weft_thread *t, struct weft_ref *r)
{
	_Atomic uint64_t *word = weft_word(r);
	struct weft_reading *last = t->last;
	_Atomic uint32_t *entry = weft_entries(t, r) + ((uintptr_t)last / sizeof(*last) & 7);
	uint32_t changing = weft_entry(r, WEFT_ENTRY_CHANGING);
	uint32_t slot = r->slot;
	uint64_t w;

	w = atomic_load_explicit(word, memory_order_relaxed);
	if (unlikely(!weft_read_allowed(w)) || unlikely(last == t->end) ||
	    unlikely(atomic_load_explicit(entry, memory_order_relaxed)))
		return false;
	if (likely(w & WEFT_WORD_LISTED) && likely(slot & WEFT_REF_LISTS)) {
		/* The barrier that the kernel's weft_holds_listed() is the partner of. */
		atomic_exchange(entry, changing + (WEFT_ENTRY_LISTED - WEFT_ENTRY_CHANGING));
		w = atomic_load_explicit(word, memory_order_relaxed);
		if (unlikely((w & (WEFT_WORD_LISTED | WEFT_WORD_SLOW | WEFT_WORD_TELL |
				   WEFT_WORD_DIED)) != WEFT_WORD_LISTED)) {
			atomic_exchange(entry, 0);
			weft_unlisted(r);
			return false;
		}
	} else {
		bool met = w & WEFT_WORD_READERS, lists = slot & WEFT_REF_LISTS;

		weft_put_entry(entry, changing);
		while (unlikely(!atomic_compare_exchange_weak(word, &w, likely(lists) ?
							      weft_with_reader(w, met) :
							      w + WEFT_WORD_READER))) {
			met = true;
			if (!weft_read_allowed(w)) {
				weft_put_entry(entry, 0);
				return false;
			}
		}
		weft_put_entry(entry, changing + (WEFT_ENTRY_HELD - WEFT_ENTRY_CHANGING));
	}
	last++;
	last->key = (uintptr_t)word;
	last->entry = entry;
	t->last = last;
	return true;
}

/* What a word is that may be write-locked at once, whatever these are. */
#define WEFT_WORD_FREE		(~(WEFT_WORD_READS | WEFT_WORD_TELL))

/* The same to write. */
static __always_inline bool weft_write_quick(struct weft_thread *t, struct weft_ref *r)
{
	_Atomic uint64_t *word = weft_word(r), *holder = (_Atomic uint64_t *)&r->word->holder;
	uint64_t owner = r->file->owner, w;
	uint32_t tid = t->tid;

	w = atomic_load_explicit(word, memory_order_relaxed);
	if (unlikely((w & WEFT_WORD_FREE) != WEFT_LOCK_WRITE))
		return false;
	if (unlikely(!atomic_compare_exchange_strong(word, &w,
						     (w & ~WEFT_WORD_READS) | owner)))
		return false;
	atomic_store_explicit(holder, tid, memory_order_relaxed);
	return true;
}

/* Does this process have it write-locked? */
static __always_inline bool weft_write_ours(struct weft_ref *r)
{
	if (likely(r->word))
		return (atomic_load_explicit(weft_word(r), memory_order_relaxed) &
			WEFT_WORD_OWNER) == r->file->owner;
	return atomic_load_explicit(weft_holder(r), memory_order_relaxed);
}

/* Does this thread? */
static __always_inline bool weft_write_mine(struct weft_thread *t, struct weft_ref *r)
{
	return (uint32_t)atomic_load_explicit(weft_holder(r), memory_order_relaxed) == t->tid &&
	       weft_write_ours(r);
}

/* Only if weft_write_ours() and weft_is_quick(). */
static __always_inline int weft_write_left(struct weft_ref *r)
{
	_Atomic uint64_t *word = weft_word(r), *holder = (_Atomic uint64_t *)&r->word->holder;
	uint64_t owner = r->file->owner, w;

	atomic_store_explicit(holder, 0, memory_order_relaxed);
	w = atomic_fetch_sub(word, owner);
	if (unlikely(w & (WEFT_WORD_SLOW | WEFT_WORD_TELL)))
		weft_tell(r);
	return 0;
}

/* A reader is taken out of the word, which was in @entry. */
static __always_inline void weft_uncount(struct weft_ref *r, _Atomic uint32_t *entry)
{
	uint64_t w;

	weft_put_entry(entry, weft_entry(r, WEFT_ENTRY_CHANGING));
	w = atomic_fetch_sub(weft_word(r), WEFT_WORD_READER);
	weft_put_entry(entry, 0);
	if (unlikely(w & (WEFT_WORD_SLOW | WEFT_WORD_TELL)) &&
	    (w & WEFT_WORD_READERS) == WEFT_WORD_READER)
		weft_tell(r);
}

/* Leave what the thread has read-locked last, if that is this lock and one step. */
static __always_inline bool weft_read_left(struct weft_thread *t, struct weft_ref *r)
{
	struct weft_reading *last = t->last;
	_Atomic uint32_t *entry = last->entry;
	uint32_t value;

	if (last->key != (uintptr_t)r->word || unlikely(!entry))
		return false;
	value = atomic_load_explicit(entry, memory_order_relaxed);
	if (likely(value == weft_entry(r, WEFT_ENTRY_LISTED))) {
		/* else another thread has left this one meanwhile, in place of its own */
		if (unlikely(atomic_exchange(entry, 0) != value))
			return false;
		t->last = last - 1;
		weft_unlisted(r);
		return true;
	}
	if (unlikely(value != weft_entry(r, WEFT_ENTRY_HELD)))
		return false;
	t->last = last - 1;
	weft_uncount(r, entry);
	return true;
}

/* Leave it, taken to read or to write, when it may be one step. */
static __always_inline int weft_unlock_quick(struct weft_thread *t, struct weft_ref *r)
{
	if (weft_read_left(t, r))
		return 0;
	if (likely(atomic_load_explicit((_Atomic uint64_t *)&r->word->holder,
					memory_order_relaxed) == t->tid) &&
	    likely(weft_write_ours(r)))
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
