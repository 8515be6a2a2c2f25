// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a thread keeps for the locks that it uses, see thread.h.
 *
 * Taking a lock is what is measured, so finding it must not cost: each thread has a
 * table of its own, which it looks up without any lock.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "thread.h"
#include "tools/common/clock.h"

#define ROOM	1024u		/* to begin with; a power of two */
#define TIMEOUT	100		/* seconds that waiting for a lock may take */

/**
 * struct shared - a lock that the process knows
 * @life: grows when there is another lock at the address
 * @address: where it is mapped
 * @known: changes with @life only
 * @link: of the same hash
 */
struct shared {
	_Atomic uint32_t life;
	void *address;
	struct known known;
	SLIST_ENTRY(shared) link;
};

/**
 * struct own - the same lock as a thread has it
 * @shared: what all know; stays where it is
 * @life: of @shared that @lock belongs to
 * @place: of the thread, for this lock
 * @lock: for the functions of its kind
 */
struct own {
	struct shared *shared;
	uint32_t life;
	struct lock_place place;
	struct lock lock;
};

/**
 * struct thread - what a thread has
 * @table: by a hash of the address, or the next place that was free
 * @room: of @table, a power of two
 * @used: of these
 * @node: of the machine, from 0
 * @number: of the thread, among those of the machine
 * @holds: the number: a socket, plus 1; 0: there is none yet
 * @service: the socket to the lock service, plus 1; 0: none yet
 */
struct thread {
	struct own **table;
	unsigned int room;
	unsigned int used;
	unsigned int node;
	unsigned int number;
	int holds;
	int service;
};

static _Thread_local struct thread self;
static pthread_key_t at_end;
static pthread_once_t begun = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static SLIST_HEAD(, shared) all[ROOM];	/* guarded by the mutex */

static unsigned int hash_of(const void *address)
{
	return (unsigned int)(((uintptr_t)address >> 6) * 0x9e3779b97f4a7c15ull >> 40);
}

static void *need(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		node_die("out of memory");
	return p;
}

/* --- What all threads know ----------------------------------------------------- */

static struct shared *find_shared(const void *address)
{
	struct shared *s;

	SLIST_FOREACH(s, &all[hash_of(address) % ROOM], link) {
		if (s->address == address)
			break;
	}
	return s;
}

int thread_know(void *address, const struct known *known)
{
	struct shared *s;
	int error = 0;

	pthread_mutex_lock(&mutex);
	s = find_shared(address);
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (s) {
			s->address = address;
			SLIST_INSERT_HEAD(&all[hash_of(address) % ROOM], s, link);
		}
	}
	if (s) {
		s->known = *known;
		atomic_fetch_add(&s->life, 1);
	} else {
		error = ENOMEM;
	}
	pthread_mutex_unlock(&mutex);
	return error;
}

/* --- Numbers --------------------------------------------------------------------- */

static void clear(void)
{
	unsigned int i;

	for (i = 0; i < self.room; i++)
		free(self.table[i]);
	free(self.table);
	if (self.service)
		close(self.service - 1);
	if (self.holds)
		close(self.holds - 1);
	memset(&self, 0, sizeof(self));
}

static void end_thread(void *unused)
{
	(void)unused;
	clear();
}

/*
 * The thread that has forked is there twice now.  Numbers of its process's other
 * threads stay taken for as long as this process lives, which is on the safe side.
 */
static void in_child(void)
{
	pthread_mutex_init(&mutex, NULL);
	clear();
}

static void begin(void)
{
	if (pthread_key_create(&at_end, end_thread) || pthread_atfork(NULL, NULL, in_child))
		node_die("locks: this process cannot have any");
}

/* Which machine this is, nobody but who started the program knows. */
static unsigned int this_node(void)
{
	const char *text = getenv("WEFT_LOCKS_NODE");

	if (!text)
		node_die("locks: which node is this? Set WEFT_LOCKS_NODE, from 1; another number on each machine");
	return (unsigned int)node_number_of("WEFT_LOCKS_NODE", text, 1, NODE_MAX) - 1;
}

/*
 * The lowest number that no thread of the machine has: a name that a socket is bound
 * to.  It becomes free with the socket, however the thread ends.
 */
static void take_number(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const char *name = getenv("WEFT_LOCKS_NAME");
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), len;

	if (fd < 0)
		node_die("locks: no socket: %s", strerror(errno));
	for (self.number = 0; self.number < THREAD_CLIENTS; self.number++) {
		/* The first byte stays 0: it is no name of a file. */
		len = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1,
			       "weft-locks-%.60s-%u-%u", name ? name : "", self.node, self.number);
		if (!bind(fd, (struct sockaddr *)&at,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len))) {
			self.holds = fd + 1;
			return;
		}
		if (errno != EADDRINUSE)
			node_die("locks: no number for a thread: %s", strerror(errno));
	}
	node_die("locks: %u threads use locks on this node already", THREAD_CLIENTS);
}

static void begin_thread(void)
{
	pthread_once(&begun, begin);
	/* Any value: it is called for threads that have one. */
	if (pthread_setspecific(at_end, &self))
		node_die("out of memory");
	self.node = this_node();
	take_number();
	self.room = ROOM;
	self.table = need(self.room, sizeof(struct own *));
	/* As weft-lockbench does: short pauses are to be short. */
	prctl(PR_SET_TIMERSLACK, 1000);
}

/* --- The thread's own ------------------------------------------------------------ */

/* Where that of the lock is, or would be. */
static inline struct own **find(const void *address)
{
	unsigned int i = hash_of(address);

	for (;; i++) {
		struct own **o = &self.table[i & (self.room - 1)];

		if (!*o || (*o)->shared->address == address)
			return o;
	}
}

static void make_room(void)
{
	unsigned int i, n = self.room;
	struct own **before = self.table;

	self.table = need(2 * n, sizeof(struct own *));
	self.room = 2 * n;
	for (i = 0; i < n; i++)
		if (before[i])
			*find(before[i]->shared->address) = before[i];
	free(before);
}

static void find_service(struct lock_place *p)
{
	const char *text = getenv("WEFT_LOCKS_SERVICE");

	if (!text)
		node_die("locks: where is the lock service? Set WEFT_LOCKS_SERVICE=ADDRESS[:PORT] to where weft-lockbench serve runs");
	lock_address("WEFT_LOCKS_SERVICE", text, SERVICE_PORT, &p->service);
}

/* Larger than any that a thread had before which had the same number. */
static uint64_t first_sequence(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* The lock is new to the thread, or is another one than before. */
static void attach(struct own *o)
{
	struct known k;

	pthread_mutex_lock(&mutex);
	k = o->shared->known;
	o->life = atomic_load(&o->shared->life);
	pthread_mutex_unlock(&mutex);
	if (self.node >= k.nodes)
		node_die("locks: this is node %u, these locks were made for %u nodes: set WEFT_LOCKS_NODES when they are made",
			 self.node + 1, k.nodes);
	if (self.number >= k.threads)
		node_die("locks: these locks were made for %u threads on each node at a time: set WEFT_LOCKS_THREADS when they are made",
			 k.threads);
	o->place = (struct lock_place){
		.node = self.node, .nodes = k.nodes, .proc = self.number,
		.procs = k.threads, .timeout = TIMEOUT, .socket = self.service,
	};
	o->lock = (struct lock){
		.kind = k.kind, .place = &o->place, .at = k.at, .name = k.name,
		.state = k.kind->service ? first_sequence() : 0,
	};
	if (k.kind->service && !self.service)
		find_service(&o->place);
	if (k.kind->init)
		k.kind->init(&o->lock);
	self.service = o->place.socket;
}

static struct lock *find_slowly(void *address)
{
	struct own **o;

	if (!self.holds)
		begin_thread();
	o = find(address);
	if (!*o) {
		if (2 * ++self.used > self.room) {
			make_room();
			o = find(address);
		}
		*o = need(1, sizeof(**o));
		pthread_mutex_lock(&mutex);
		(*o)->shared = find_shared(address);
		pthread_mutex_unlock(&mutex);
		if (!(*o)->shared)
			node_die("locks: there is none at %p", address);
	}
	attach(*o);
	return &(*o)->lock;
}

struct lock *thread_lock(void *address)
{
	struct own *o = self.table ? *find(address) : NULL;

	if (!o || o->life != atomic_load_explicit(&o->shared->life, memory_order_relaxed))
		return find_slowly(address);
	return &o->lock;
}
