/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The locks that a store runs on, as a table of functions, so that kinds of locks
 * can be compared on the same store.
 *
 * More kinds come from a shared object (weft-kvs --lock-library FILE) that defines
 *
 *	const struct kvs_lock_ops *const kvs_locks[] = { &one, &another, NULL };
 *
 * and needs nothing of this program but this header.  tools/bench/kvs/ is one.
 */
#ifndef WEFT_KVS_LOCKS_H
#define WEFT_KVS_LOCKS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct kvs_lock_ops - a kind of reader-writer lock
 * @name:	as given to --locks; up to 31 characters, in the file's header
 * @about:	a few words for the help
 * @size:	bytes of shared memory that a lock takes, aligned to 64.  Up to
 *		KVS_LOCK_ROOM it stands in front of what it guards, else in an area
 *		of its own; 0: only its address counts
 * @robust:	what a process held that was killed becomes free again
 * @format:	makes a lock in memory of zeros, once, before anybody uses the
 *		store; NULL: zeros will do
 * @init:	in each process, before its first use of the lock: which memory
 *		it guards; NULL: does not matter
 * @rdlock:	take it to read
 * @wrlock:	take it to write
 * @unlock:	leave it, by the thread that took it
 *
 * All return 0 or an error number.  No lock is taken again by its holder.  A thread
 * holds two at most: that of a bucket first, then that of an allocator.
 */
struct kvs_lock_ops {
	const char *name;
	const char *about;
	size_t size;
	bool robust;
	int (*format)(void *lock);
	int (*init)(void *lock, void *guarded, size_t size);
	int (*rdlock)(void *lock);
	int (*wrlock)(void *lock);
	int (*unlock)(void *lock);
};

#define KVS_LOCK_ROOM	128

extern const struct kvs_lock_ops kvs_locks_weft;
extern const struct kvs_lock_ops kvs_locks_pthread;
extern const struct kvs_lock_ops kvs_locks_spin;

/* The kind of this name, NULL: there is none. */
const struct kvs_lock_ops *kvs_locks_find(const char *name);

/* The kind number @i, NULL: no more. */
const struct kvs_lock_ops *kvs_locks_list(unsigned int i);

/* Adds the kinds of a shared object; NULL, or a sentence why not. */
const char *kvs_locks_load(const char *file);

#endif /* WEFT_KVS_LOCKS_H */
