/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that are measured against each other, all over the same coherent pages.
 *
 * What the processors of one machine keep in cache lines of their own, these locks
 * keep in pages of their own (struct lock_line): a page is what nodes cache.  A
 * lock starts as zeros, and zeros are unlocked, so that it does not matter which
 * node comes first.
 */
#ifndef WEFT_TOOLS_BENCH_LOCKS_LOCK_H
#define WEFT_TOOLS_BENCH_LOCKS_LOCK_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/demo/node.h"

/**
 * struct lock_place - who uses a lock: one thread, and its place among all
 * @node: which node, from 0
 * @nodes: how many
 * @proc: which process of the node, from 0
 * @procs: how many on each node
 * @timeout: seconds that waiting may take before the process gives up
 * @service: where the lock service is, if there is one
 * @socket: to it, plus 1; 0: none yet.  One for all locks that share the place
 * @messages: datagrams that this thread has sent to the service, and got from it
 */
struct lock_place {
	unsigned int node;
	unsigned int nodes;
	unsigned int proc;
	unsigned int procs;
	unsigned int timeout;
	struct sockaddr_in service;
	int socket;
	uint64_t messages;
};

/**
 * struct lock - a lock as one thread sees it
 * @kind: what it is
 * @place: of the thread
 * @at: its memory, the same for all
 * @data: what it guards
 * @data_size: bytes of that, may be 0
 * @name: at the lock service: no other lock has it, the same for all
 * @writes: this thread has it to write
 * @state: what the kind keeps for the thread
 */
struct lock {
	const struct lock_kind *kind;
	struct lock_place *place;
	void *at;
	void *data;
	size_t data_size;
	uint64_t name;
	bool writes;
	uint64_t state;
};

/**
 * struct lock_kind - a kind of lock
 * @name: for the command line and the tables
 * @what: a line of explanation
 * @exclusive: readers exclude each other, too
 * @service: needs the lock service
 * @kernel: needs the lock interface of the kernel module
 * @size: bytes of memory, whole pages
 * @init: once in each process, before it uses the lock; may be NULL
 * @rdlock: others may read meanwhile
 * @wrlock: nobody else has it meanwhile
 * @unlock: what this thread took
 *
 * No function fails: a process that cannot go on ends (node_die()).
 */
struct lock_kind {
	const char *name;
	const char *what;
	bool exclusive;
	bool service;
	bool kernel;
	size_t (*size)(const struct lock_place *p);
	void (*init)(struct lock *l);
	void (*rdlock)(struct lock *l);
	void (*wrlock)(struct lock *l);
	void (*unlock)(struct lock *l);
};

extern const struct lock_kind lock_weft, lock_central, lock_mcs, lock_pernode,
	lock_cohort, lock_service, lock_bare, lock_glibc, lock_pthread, lock_dlm;

/* All that work between nodes by themselves, NULL at the end. */
extern const struct lock_kind *const lock_kinds[];

/* Those that need more: the preload library, DLM. */
extern const struct lock_kind *const lock_guests[];

/* NULL: there is none of this name. */
const struct lock_kind *lock_kind_of(const char *name);

/* address.c: ADDRESS[:PORT], given as @option; @port: unless that says another one. */
void lock_address(const char *option, const char *text, uint16_t port,
		  struct sockaddr_in *at);

#define LOCK_WORDS	(NODE_PAGE / 8 - 1)

/**
 * union lock_line - a page for each piece of a lock that others shall not be
 *	disturbed by
 * @value: all of it, mostly
 * @word: or several
 * @touched: see lock_own()
 */
union lock_line {
	_Atomic uint64_t value;
	struct {
		_Atomic uint64_t word[LOCK_WORDS];
		_Atomic uint64_t touched;
	};
};

/**
 * lock_own() - before an atomic operation
 * @at: in the first word of its page
 *
 * A processor asks for a page to write when it adds to a word there.  An emulator
 * that runs one processor at a time makes that a load and a store, and of a page
 * that is not here two misses.  A store before makes it one everywhere, so that no
 * lock costs more because it is emulated.
 */
static inline void lock_own(_Atomic uint64_t *at)
{
	atomic_store_explicit(&((union lock_line *)at)->touched, 0, memory_order_relaxed);
}

/* Number of this thread among all, from 0. */
static inline unsigned int lock_me(const struct lock_place *p)
{
	return p->node * p->procs + p->proc;
}

static inline unsigned int lock_all(const struct lock_place *p)
{
	return p->nodes * p->procs;
}

/**
 * struct lock_wait - waiting for memory that somebody will change
 * @looks: so far
 * @end: when to give up
 */
struct lock_wait {
	uint32_t looks;
	uint64_t end;
};

#define LOCK_SPIN	200	/* looks before the first pause */
#define LOCK_PAUSE_US	20

/**
 * lock_wait() - between two looks
 * @l: what is waited for
 * @w: zeros before the first
 *
 * Spins at first, on the copy that the node has.  Then sleeps between looks: where
 * one machine emulates several nodes, one that spins takes the processor from the
 * one it waits for.  The same for all kinds.
 */
static inline void lock_wait(const struct lock *l, struct lock_wait *w)
{
	if (w->looks++ < LOCK_SPIN) {
		__builtin_ia32_pause();
		return;
	}
	if (!w->end)
		w->end = now_ns() + l->place->timeout * 1000000000ull;
	else if (now_ns() > w->end)
		node_die("lock %s: waited %u s in vain", l->kind->name,
			 l->place->timeout);
	pause_us(LOCK_PAUSE_US);
}

/* server.c: the lock service. */
#define SERVICE_PORT	4810
#define SERVICE_CLIENTS	256	/* of one lock */

struct server_options {
	uint16_t port;		/* 0: any, see @bound */
	unsigned int seconds;	/* it ends after that */
	unsigned int loss;	/* of 1000 datagrams so many are lost, for tests */
	void (*bound)(uint16_t port, void *arg);
	void *arg;
};

int server_run(const struct server_options *o);

enum service_type {
	SERVICE_ACQUIRE = 1, SERVICE_RELEASE, SERVICE_GRANTED, SERVICE_WAIT,
	SERVICE_RELEASED,
};

#define SERVICE_MAGIC	0x574c4f43

/**
 * struct service_message - one datagram, between machines of the same kind
 * @magic: SERVICE_MAGIC
 * @type: enum service_type
 * @mode: 1: to write
 * @client: of all users of the lock, from 0
 * @lock: which
 * @sequence: of the acquisition, grows; an answer has that of its request.  It must
 *	grow for as long as the lock is used, also if the client is another process then
 */
struct service_message {
	uint32_t magic;
	uint8_t type;
	uint8_t mode;
	uint16_t client;
	uint64_t lock;
	uint64_t sequence;
};

#endif /* WEFT_TOOLS_BENCH_LOCKS_LOCK_H */
