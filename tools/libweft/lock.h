/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libweft: reader-writer locks for all processes on all machines that map a
 * region.  Installed as <weft/lock.h>; cc `pkg-config --cflags --libs libweft`.
 *
 * A lock is named by where it stands: the region and the offset in it.  The
 * memory there is neither read nor written, so zeros, or anything else, are an
 * unlocked lock that nobody needs to initialise.  While this machine has the lock
 * cached, it is taken and left without a message and without a system call.
 *
 * All functions return 0 or an error number.
 */
#ifndef WEFT_LOCK_H
#define WEFT_LOCK_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct {
	uint64_t weft_unused;
} weft_rwlock_t;

#define WEFT_RWLOCK_INITIALIZER { 0 }

/**
 * struct weft_range - a piece of a region that a lock guards
 * @address: where it begins, in any mapping of the lock's region
 * @size: in bytes, 1 or more
 */
struct weft_range {
	void *address;
	size_t size;
};

/**
 * weft_rwlock_init() - say what a lock guards
 * @lock:	inside a region
 * @ranges:	what it guards, in the region of the lock; may be NULL if @n is 0
 * @n:		how many ranges
 *
 * Not needed for locks without ranges.  Each process that uses the lock says what
 * it guards; saying it again replaces what was said.  A block of a region (4 KiB
 * unless told) belongs to one lock: the ranges of two locks may not meet on one.
 *
 * The kernel gets these blocks together with the lock, so that whoever takes it
 * need not wait for each when it is touched: of a lock that guards up to 256
 * blocks, as far as there is room in the cache.  What exceeds that follows by
 * ordinary page faults, as does what a lock guards that nobody has told of.
 *
 * Errors: EINVAL @lock or a range is not inside a mapped region, or is empty;
 * EXDEV a range is in another region than @lock; EEXIST ranges of another lock, of
 * this process or another one of this machine, are on one of the blocks; ENOMEM.
 */
int weft_rwlock_init(weft_rwlock_t *lock, const struct weft_range *ranges, size_t n);

/**
 * weft_rwlock_destroy() - forget the ranges of a lock, on this machine
 *
 * Errors: EBUSY somebody on this machine holds it; EINVAL not in a region.
 */
int weft_rwlock_destroy(weft_rwlock_t *lock);

/*
 * Take the lock to read: many may, on all machines; or to write: one may.  Who
 * asked first gets it first.  A thread may read-lock again what it has
 * read-locked, also while writers wait.
 *
 * Errors: EDEADLK this thread has it write-locked; EBUSY (try) somebody else has
 * it; ETIMEDOUT (timed) not free by @deadline, on CLOCK_REALTIME; EINVAL @lock is
 * not inside a mapped region, or @deadline is no time; EACCES the region may not
 * be written; EAGAIN too many locks are open, or too many held; ENOMEM; EIO the
 * rack does not answer; ENOTSUP the kernel module has no locks.  And EOWNERDEAD, with
 * which it is taken: see below.
 */
int weft_rwlock_rdlock(weft_rwlock_t *lock);
int weft_rwlock_tryrdlock(weft_rwlock_t *lock);
int weft_rwlock_timedrdlock(weft_rwlock_t *lock, const struct timespec *deadline);
int weft_rwlock_wrlock(weft_rwlock_t *lock);
int weft_rwlock_trywrlock(weft_rwlock_t *lock);
int weft_rwlock_timedwrlock(weft_rwlock_t *lock, const struct timespec *deadline);

/*
 * EOWNERDEAD: the lock IS TAKEN, to read or to write as was asked for, and is to be left;
 * but the process that had it to write before died with it, or its machine died and may
 * have held it.  What it guards may be half changed; if the machine died, also be older than
 * it was.  Who has it to write can mend that, and then says weft_rwlock_consistent().  Until
 * somebody does, on whatever machine, each who takes the lock gets EOWNERDEAD; a lock is
 * never lost by that, but is taken by a system call each time.
 */

/**
 * weft_rwlock_consistent() - what the lock guards is right again, in spite of a death
 *
 * By the thread that has it to write and got EOWNERDEAD for it, or by one to which what is
 * half changed does not matter.
 *
 * Errors: EINVAL no owner of it has died, or this thread does not have it to write.
 */
int weft_rwlock_consistent(weft_rwlock_t *lock);

/*
 * Leave the lock.  A thread may leave a read lock that another one of the process took, but
 * not while that one leaves the same lock itself.
 *
 * Errors: EPERM this process does not hold it; EINVAL.
 */
int weft_rwlock_unlock(weft_rwlock_t *lock);

/**
 * weft_wait() - wait until a word of a region is no longer what it was, or weft_wake()
 * @word:	in a region, at a multiple of 4; no lock stands there
 * @expected:	what it was
 * @clock:	of @deadline: CLOCK_MONOTONIC or CLOCK_REALTIME
 * @deadline:	until when; NULL: for ever
 *
 * As futex() does on one machine: the kernel's FUTEX_WAIT is not woken by another machine, this
 * is.  While it waits it costs nothing.  It may return though nobody has called weft_wake(): look
 * again.
 *
 * Return: 0; ETIMEDOUT; EINTR a signal's handler has run, which was installed without SA_RESTART
 * or while there was a @deadline; EINVAL @word is not inside a mapped region, or @deadline is no
 * time; others from opening the file anew.
 */
int weft_wait(const uint32_t *word, uint32_t expected, clockid_t clock,
	      const struct timespec *deadline);

/**
 * weft_wake() - the word has changed: whoever waits for it looks again, on all machines
 * @word:	as it was given to weft_wait(), in whatever mapping
 *
 * One atomic load if nobody waits and this machine was the last to wake; else a system call,
 * which does not wait for others.  May be called by handlers of signals, if the mapping was found
 * before: weft_attach().
 *
 * Return: 0; EACCES the region was opened for reading only; EAGAIN too many locks are open;
 * EINVAL; ENOMEM.
 */
int weft_wake(const uint32_t *word);

/**
 * weft_attach() - tell of a mapping of a region
 * @address:	where it is, as mmap() returned it
 * @length:	in bytes
 * @fd:		the file that was mapped, or -1: look it up by its name
 * @offset:	in the file, as told to mmap(); of no meaning if @fd is -1
 *
 * Mappings are found by themselves when a lock in them is used first, unless neither
 * the directory of the file nor the file itself may be opened.  With libweft-preload.so none of this is needed.
 *
 * Errors: EINVAL no shared mapping of a region; others from opening the file anew.
 */
int weft_attach(void *address, size_t length, int fd, off_t offset);

/**
 * weft_detach() - forget mappings, before they are unmapped or replaced
 * @address:	where
 * @length:	in bytes
 *
 * A program that unmaps a region and later maps something else in its place would
 * otherwise lock what stood there before.  What it holds, it keeps holding.
 */
int weft_detach(void *address, size_t length);

#pragma GCC visibility pop

/**
 * WEFT_RWLOCK_OF() - a lock and the data it guards, as one type
 * @name:	of the struct, and the prefix of its functions
 * @type:	of the data
 *
 * The data is reached through the lock only, and a reader cannot change it:
 *
 *	struct money { long cents; };
 *	WEFT_RWLOCK_OF(account, struct money);
 *
 *	struct account *a = mmap(...);
 *	struct money *m;
 *	const struct money *look;
 *
 *	account_init(a);
 *	m = account_wrlock(a);
 *	m->cents += 100;
 *	account_unlock(a);
 *	look = account_rdlock(a);
 *
 * init, consistent and unlock return 0 or an error number; the others the data, or NULL
 * with the error in errno.  With EOWNERDEAD the lock is taken: they return the data, and
 * errno says EOWNERDEAD; if all is well errno stays as it was.  The struct begins on a page and fills whole pages.
 */
#define WEFT_RWLOCK_OF(name, type)					\
	struct name {							\
		weft_rwlock_t lock __attribute__((aligned(4096)));	\
		type guarded __attribute__((aligned(4096)));		\
	};								\
	WEFT_RWLOCK_OF_INIT_(name)					\
	WEFT_RWLOCK_OF_TAKE_(name, const type *, rdlock, (struct name *l), (&l->lock)) \
	WEFT_RWLOCK_OF_TAKE_(name, const type *, tryrdlock, (struct name *l), (&l->lock)) \
	WEFT_RWLOCK_OF_TAKE_(name, const type *, timedrdlock,		\
			     (struct name *l, const struct timespec *deadline), \
			     (&l->lock, deadline))			\
	WEFT_RWLOCK_OF_TAKE_(name, type *, wrlock, (struct name *l), (&l->lock)) \
	WEFT_RWLOCK_OF_TAKE_(name, type *, trywrlock, (struct name *l), (&l->lock)) \
	WEFT_RWLOCK_OF_TAKE_(name, type *, timedwrlock,			\
			     (struct name *l, const struct timespec *deadline), \
			     (&l->lock, deadline))			\
	struct name

#define WEFT_RWLOCK_OF_INIT_(name)					\
	static inline __attribute__((unused)) int name##_init(struct name *l) \
	{								\
		struct weft_range range = { &l->guarded, sizeof(l->guarded) }; \
									\
		return weft_rwlock_init(&l->lock, &range, 1);		\
	}								\
	static inline __attribute__((unused)) int name##_unlock(struct name *l) \
	{								\
		return weft_rwlock_unlock(&l->lock);			\
	}								\
	static inline __attribute__((unused)) int name##_consistent(struct name *l) \
	{								\
		return weft_rwlock_consistent(&l->lock);		\
	}

#define WEFT_RWLOCK_OF_TAKE_(name, pointer, how, parameters, arguments)	\
	static inline __attribute__((unused)) pointer name##_##how parameters \
	{								\
		int error = weft_rwlock_##how arguments;		\
									\
		if (error)						\
			errno = error;					\
		return error && error != EOWNERDEAD ? NULL : &l->guarded; \
	}

#ifdef __cplusplus
}
#endif

#endif /* WEFT_LOCK_H */
