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
 * @may_list: the kernel lets it list what it reads
 * @lists: and it does
 * @words: of the locks
 * @holds: of this file
 */
struct user {
	int fd;
	uint32_t owner;
	bool may_list, lists;
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
	u->may_list = u->lists = false;
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
	u->may_list = o.flags & WEFT_LOCK_LISTS;
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

static inline bool user_died(const struct user *u, uint32_t slot)
{
	return atomic_load((_Atomic uint64_t *)&u->words[slot].word) & WEFT_WORD_DIED;
}

/* Return: 0 or errno. */
static inline int user_mend(const struct user *u, uint32_t slot)
{
	return ioctl(u->fd, WEFT_IOC_LOCK_MEND, &slot) ? errno : 0;
}

static inline int user_ask(const struct user *u, uint32_t slot, uint32_t mode,
			   uint32_t flags, int64_t deadline)
{
	return user_op(u, WEFT_IOC_LOCK_ACQUIRE, slot, mode, flags, deadline);
}

static inline _Atomic uint32_t *user_entry(const struct user *u, uint32_t cell,
					   unsigned int i)
{
	return (_Atomic uint32_t *)&u->holds->cell[cell].entry[i];
}

/* The entry of a thread that says so; with @value 0, one that is free.  NULL: none. */
static inline _Atomic uint32_t *user_find(const struct user *u, uint32_t cell,
					  uint32_t value)
{
	for (unsigned int i = 0; i < WEFT_HOLDS_ENTRIES - 1; i++)
		if (atomic_load(user_entry(u, cell, i)) == value)
			return user_entry(u, cell, i);
	return NULL;
}

static inline void user_wake(const struct user *u, uint32_t slot)
{
	if (ioctl(u->fd, WEFT_IOC_LOCK_WAKE, &slot))
		node_die("WAKE of slot %u: %s", slot, strerror(errno));
}

/* The entry is cleared; who looks for it has set SLOW before, or sees that. */
static inline void user_unlist(const struct user *u, _Atomic uint32_t *entry, uint32_t slot)
{
	atomic_exchange(entry, 0);
	if (atomic_load((_Atomic uint64_t *)&u->words[slot].word) &
	    (WEFT_WORD_SLOW | WEFT_WORD_TELL))
		user_wake(u, slot);
}

/* Take it without the kernel.  @cell: of struct weft_holds, the thread's own. */
static inline bool user_take(const struct user *u, uint32_t cell, uint32_t slot,
			     uint32_t mode)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)&u->words[slot].word;
	const uint64_t waits = WEFT_WORD_SLOW | WEFT_WORD_TELL | WEFT_WORD_DIED;
	_Atomic uint32_t *entry = user_find(u, cell, 0);
	uint64_t old = atomic_load(word), new;
	bool ok;

	if (!entry)
		return false;
	if (mode == WEFT_LOCK_WRITE) {
		while ((old & ~(WEFT_WORD_READS | WEFT_WORD_TELL)) == WEFT_LOCK_WRITE)
			if (atomic_compare_exchange_weak(word, &old, (old & ~WEFT_WORD_READS) |
						(uint64_t)u->owner << WEFT_WORD_OWNER_SHIFT))
				return true;
		return false;
	}
	if (old & WEFT_WORD_LISTED && u->lists && cell < WEFT_LIST_CELLS) {
		atomic_exchange(entry, (slot + 1) | WEFT_ENTRY_LISTED);
		old = atomic_load(word);
		if ((old & (WEFT_WORD_LISTED | waits)) == WEFT_WORD_LISTED)
			return true;
		user_unlist(u, entry, slot);
		return false;
	}
	atomic_store(entry, (slot + 1) | WEFT_ENTRY_CHANGING);
	do {
		ok = old & WEFT_WORD_PERM && !(old & (waits | WEFT_WORD_OWNER)) &&
		     (old & WEFT_WORD_READERS) != WEFT_WORD_READERS;
		new = old + WEFT_WORD_READER;
		/* far sooner than a program would */
		if (u->lists && slot % 2)
			new |= WEFT_WORD_LISTED;
	} while (ok && !atomic_compare_exchange_weak(word, &old, new));
	atomic_store(entry, ok ? (slot + 1) | WEFT_ENTRY_HELD : 0);
	return ok;
}

static inline void user_leave(const struct user *u, uint32_t cell, uint32_t slot,
			      uint32_t mode)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)&u->words[slot].word;
	_Atomic uint32_t *entry;
	uint64_t old;

	if (mode == WEFT_LOCK_WRITE) {
		old = atomic_fetch_and(word, ~WEFT_WORD_OWNER);
		if (old & (WEFT_WORD_SLOW | WEFT_WORD_TELL))
			user_wake(u, slot);
		return;
	}
	entry = user_find(u, cell, (slot + 1) | WEFT_ENTRY_LISTED);
	if (entry) {
		user_unlist(u, entry, slot);
		return;
	}
	entry = user_find(u, cell, (slot + 1) | WEFT_ENTRY_HELD);
	/* else the kernel has counted it */
	if (!entry)
		entry = user_entry(u, cell, WEFT_HOLDS_ENTRIES - 1);
	old = atomic_load(entry);
	atomic_store(entry, (slot + 1) | WEFT_ENTRY_CHANGING);
	if (old) {
		old = atomic_fetch_sub(word, WEFT_WORD_READER);
	} else {
		old = atomic_fetch_sub(word, WEFT_WORD_READER);
		atomic_fetch_sub((_Atomic uint32_t *)&u->holds->readers[slot], 1);
	}
	atomic_store(entry, 0);
	if (old & (WEFT_WORD_SLOW | WEFT_WORD_TELL) &&
	    (old & WEFT_WORD_READERS) == WEFT_WORD_READER)
		user_wake(u, slot);
}

/* Is it in an entry of the thread, so that the kernel cannot release it? */
static inline bool user_has(const struct user *u, uint32_t cell, uint32_t slot)
{
	return user_find(u, cell, (slot + 1) | WEFT_ENTRY_LISTED) ||
	       user_find(u, cell, (slot + 1) | WEFT_ENTRY_HELD);
}

#endif /* WEFT_TESTS_LOCKS_USER_H */
