/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the processes of a benchmark on one node have in common, in memory of the
 * one that has started them.
 */
#ifndef WEFT_KVS_SHARED_H
#define WEFT_KVS_SHARED_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/common/hist.h"


enum { READ, UPDATE, KINDS };

/**
 * struct worker - what a thread has done; only it writes here
 * @done:	operations
 * @warmed:	operations before those
 * @ended_ns:	when, 0: not yet
 * @drawn:	its draws are there; who takes its place goes on with them
 * @times:	nanoseconds of those that were timed
 */
struct worker {
	_Atomic uint64_t done[KINDS];
	_Atomic uint64_t warmed;
	_Atomic uint64_t ended_ns;
	_Atomic int drawn;
	struct hist times[KINDS];
};

/**
 * struct client - a process
 * @pid:	0: it has ended
 * @session:	of the store, -1: none yet
 * @ready:	it waits for the start
 * @user_us, @system_us: processor time from the start to the end
 */
struct client {
	pid_t pid;
	_Atomic int session;
	_Atomic int ready;
	_Atomic uint64_t user_us;
	_Atomic uint64_t system_us;
};

/**
 * struct shared - all of it
 * @go:		start
 * @count:	what is done from now on counts
 * @stop:	the time is over
 * @generation:	counts processes that have been started
 * @clients:	by number
 * @workers:	threads of client 0, then those of client 1, ...
 * @draws:	of records, DRAWS for each worker, made before the start: drawing is not
 *		what is measured
 */
struct shared {
	_Atomic int go;
	_Atomic int count;
	_Atomic int stop;
	unsigned int generation;
	struct client *clients;
	struct worker *workers;
	uint32_t *draws;
};

#define DRAWS	65536

#endif /* WEFT_KVS_SHARED_H */
