/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks of a region as a program uses them, by the letter of uapi/weft.h and no
 * cleverer: what the tests are about is the kernel.
 */
#ifndef WEFT_TESTS_LOCKS_USER_H
#define WEFT_TESTS_LOCKS_USER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "tools/demo/node.h"
#include "weft.h"

/**
 * struct user - an open file of a region, and what is shared with the kernel
 * @fd: the file
 * @owner: its number, after the first user_slot()
 * @words: of the locks
 * @holds: of this file
 */
struct user {
	int fd;
	uint32_t owner;
	struct weft_lock_word *words;
	struct weft_holds *holds;
};

static inline void *user_map(int fd, size_t size, uint64_t offset)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
}

/* For @locks locks at most. */
static inline void user_open(struct user *u, const char *path, uint32_t locks)
{
	u->owner = 0;
	u->fd = open(path, O_RDWR | O_CLOEXEC);
	if (u->fd < 0)
		node_die("cannot open %s: %s", path, strerror(errno));
	u->words = user_map(u->fd, WEFT_LOCKS_SIZE(locks), WEFT_LOCKS_WORDS);
	u->holds = user_map(u->fd, WEFT_HOLDS_SIZE(locks), WEFT_LOCKS_HOLDS);
	if (u->words == MAP_FAILED || u->holds == MAP_FAILED)
		node_die("cannot map the words of the locks of %s: %s", path,
			 strerror(errno));
}

static inline uint32_t user_slot(struct user *u, uint64_t offset)
{
	struct weft_lock_open o = { .offset = offset };

	if (ioctl(u->fd, WEFT_IOC_LOCK_OPEN, &o))
		node_die("cannot open the lock at %llu: %s",
			 (unsigned long long)offset, strerror(errno));
	u->owner = o.owner;
	return o.slot;
}

/* Return: 0 or errno. */
static inline int user_op(const struct user *u, unsigned long op, uint32_t slot,
			  uint32_t mode, uint32_t flags, int64_t deadline)
{
	struct weft_lock_op o = {
		.slot = slot, .mode = mode, .flags = flags,
		.clock = CLOCK_MONOTONIC, .deadline_ns = deadline,
	};

	while (ioctl(u->fd, op, &o))
		if (errno != EINTR)
			return errno;
	return 0;
}

static inline int user_ask(const struct user *u, uint32_t slot, uint32_t mode,
			   uint32_t flags, int64_t deadline)
{
	return user_op(u, WEFT_IOC_LOCK_ACQUIRE, slot, mode, flags, deadline);
}

/* Take it without the kernel.  @cell: of struct weft_holds, the thread's own. */
static inline bool user_take(const struct user *u, uint32_t cell, uint32_t slot,
			     uint32_t mode)
{
	_Atomic uint32_t *pending = (_Atomic uint32_t *)&u->holds->pending[cell];
	_Atomic uint64_t *word = (_Atomic uint64_t *)&u->words[slot].word;
	uint64_t old = atomic_load(word), new;
	bool ok;

	atomic_store(pending, slot + 1);
	do {
		if (mode == WEFT_LOCK_READ) {
			ok = old & WEFT_WORD_PERM &&
			     !(old & (WEFT_WORD_SLOW | WEFT_WORD_OWNER)) &&
			     (old & WEFT_WORD_READERS) != WEFT_WORD_READERS;
			new = old + WEFT_WORD_READER;
		} else {
			ok = old == WEFT_LOCK_WRITE;
			new = old | (uint64_t)u->owner << WEFT_WORD_OWNER_SHIFT;
		}
	} while (ok && !atomic_compare_exchange_weak(word, &old, new));
	if (ok && mode == WEFT_LOCK_READ)
		atomic_fetch_add((_Atomic uint32_t *)&u->holds->readers[slot], 1);
	atomic_store(pending, 0);
	return ok;
}

static inline void user_leave(const struct user *u, uint32_t cell, uint32_t slot,
			      uint32_t mode)
{
	_Atomic uint32_t *pending = (_Atomic uint32_t *)&u->holds->pending[cell];
	_Atomic uint64_t *word = (_Atomic uint64_t *)&u->words[slot].word;
	uint64_t old = atomic_load(word), new;

	atomic_store(pending, slot + 1);
	do {
		new = mode == WEFT_LOCK_READ ? old - WEFT_WORD_READER :
					       old & ~WEFT_WORD_OWNER;
	} while (!atomic_compare_exchange_weak(word, &old, new));
	if (mode == WEFT_LOCK_READ)
		atomic_fetch_sub((_Atomic uint32_t *)&u->holds->readers[slot], 1);
	atomic_store(pending, 0);
	if (new & WEFT_WORD_SLOW && !(new & (WEFT_WORD_READERS | WEFT_WORD_OWNER)) &&
	    ioctl(u->fd, WEFT_IOC_LOCK_WAKE, &slot))
		node_die("WAKE of slot %u: %s", slot, strerror(errno));
}

#endif /* WEFT_TESTS_LOCKS_USER_H */
