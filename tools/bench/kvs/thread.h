/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks of weft-lockbench, as the threads of a program have them that knows of each
 * lock only where it is mapped.
 */
#ifndef WEFT_TOOLS_BENCH_KVS_THREAD_H
#define WEFT_TOOLS_BENCH_KVS_THREAD_H

#include "tools/bench/locks/lock.h"

#define THREAD_CLIENTS	SERVICE_CLIENTS		/* of all nodes */

/**
 * struct known - a lock, the same for all threads
 * @kind: what it is
 * @name: at the lock service
 * @nodes: that it was made for
 * @threads: of each of them, at a time
 * @at: its memory
 */
struct known {
	const struct lock_kind *kind;
	uint64_t name;
	unsigned int nodes;
	unsigned int threads;
	void *at;
};

/**
 * thread_know() - say what the lock at @address is, before any thread uses it
 * @address: the program's name for it
 * @known: what is to be known; replaces what was there before
 *
 * Return: 0, or an error number.
 */
int thread_know(void *address, const struct known *known);

/**
 * thread_lock() - the lock at @address, for the calling thread only
 * @address: as it was made known
 *
 * The first time the thread gets a number that no other one on the machine has, and
 * keeps it until it ends.
 */
struct lock *thread_lock(void *address);

#endif /* WEFT_TOOLS_BENCH_KVS_THREAD_H */
