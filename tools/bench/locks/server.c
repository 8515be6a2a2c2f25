// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lock service: one process that keeps a queue for each lock.
 *
 * A client asks, until it is told that it has the lock; and tells that it has left
 * it, until that is confirmed.  Each acquisition has a number: whatever comes twice,
 * or late, is known by it and changes nothing.  So no lock is forgotten, however long
 * nobody has asked for it.
 */
#include <sys/socket.h>
#include <sys/time.h>

#include "lock.h"
#include "tools/common/random.h"

#define LOCKS_MIN	1024u		/* room to begin with; powers of two */
#define LOCKS_MAX	(1u << 20)

enum phase { IDLE, WAITS, HAS };

/**
 * struct client - of one lock
 * @phase: of the acquisition @sequence
 * @writes: wants it, or has it, to write
 * @sequence: of its last acquisition, 0: never came
 * @turn: its place in the queue, while it waits
 * @from: its address
 */
struct client {
	enum phase phase;
	bool writes;
	uint64_t sequence;
	uint64_t turn;
	struct sockaddr_in from;
};

/**
 * struct served - a lock
 * @name: of the lock
 * @turns: of clients that have waited for it so far
 * @readers: that have it
 * @writers: that have it
 * @clients: that have come so far are below this
 * @client: by number
 */
struct served {
	uint64_t name;
	uint64_t turns;
	unsigned int readers;
	unsigned int writers;
	unsigned int clients;
	struct client *client;
};

static struct {
	int fd;
	unsigned int loss;
	uint64_t random;
	unsigned int locks;
	unsigned int room;
	struct served **lock;	/* by a hash of its name, or the next place that was free */
} server;

static bool lost(void)
{
	return server.loss && random_below(&server.random, 1000) < server.loss;
}

static void tell(const struct served *s, unsigned int client, enum service_type type)
{
	const struct client *c = &s->client[client];
	struct service_message m = {
		.magic = SERVICE_MAGIC, .type = type, .mode = c->writes,
		.client = client, .lock = s->name, .sequence = c->sequence,
	};

	/* One that is not delivered is asked for again. */
	if (!lost())
		sendto(server.fd, &m, sizeof(m), 0, (const struct sockaddr *)&c->from,
		       sizeof(c->from));
}

static void *need(void *p)
{
	if (!p)
		node_die("serve: out of memory");
	return p;
}

/* Where the lock of this name is, or would be. */
static struct served **place_of(uint64_t name)
{
	uint64_t i = name * 0x9e3779b97f4a7c15ull >> 32;

	for (;; i++) {
		struct served **s = &server.lock[i & (server.room - 1)];

		if (!*s || (*s)->name == name)
			return s;
	}
}

static void make_room(unsigned int room)
{
	struct served **before = server.lock;
	unsigned int i, n = server.room;

	server.lock = need(calloc(room, sizeof(struct served *)));
	server.room = room;
	for (i = 0; i < n; i++)
		if (before[i])
			*place_of(before[i]->name) = before[i];
	free(before);
}

/* NULL: there are too many. */
static struct served *find(uint64_t name)
{
	struct served **s = place_of(name);

	if (*s)
		return *s;
	if (server.locks == LOCKS_MAX) {
		fprintf(stderr, "%s: serve: more than %u locks: start another one for what is new\n",
			node.program, LOCKS_MAX);
		return NULL;
	}
	if (2 * ++server.locks > server.room) {
		make_room(2 * server.room);
		s = place_of(name);
	}
	*s = need(calloc(1, sizeof(**s)));
	(*s)->name = name;
	return *s;
}

static struct client *client_of(struct served *s, unsigned int number)
{
	unsigned int i = s->clients;

	if (i <= number) {
		s->clients = number + 1;
		s->client = need(realloc(s->client, s->clients * sizeof(*s->client)));
		memset(s->client + i, 0, (s->clients - i) * sizeof(*s->client));
	}
	return s->client + number;
}

/* Whoever is first in the queue, as long as those that have the lock allow it. */
static void serve_queue(struct served *s)
{
	for (;;) {
		struct client *first = NULL, *c;

		for (c = s->client; c < s->client + s->clients; c++)
			if (c->phase == WAITS && (!first || c->turn < first->turn))
				first = c;
		if (!first || s->writers || (first->writes && s->readers))
			return;
		if (first->writes)
			s->writers++;
		else
			s->readers++;
		first->phase = HAS;
		tell(s, (unsigned int)(first - s->client), SERVICE_GRANTED);
	}
}

static void serve(const struct service_message *m, const struct sockaddr_in *from)
{
	struct served *s = find(m->lock);
	struct client *c;

	if (!s)
		return;
	c = client_of(s, m->client);
	if (m->type == SERVICE_ACQUIRE && m->sequence > c->sequence && c->phase == IDLE) {
		*c = (struct client){
			.phase = WAITS, .writes = m->mode, .sequence = m->sequence,
			.turn = ++s->turns, .from = *from,
		};
		serve_queue(s);
		return;
	}
	if (m->sequence != c->sequence)
		return;
	if (m->type == SERVICE_ACQUIRE) {
		/* A repetition; late ones, of what was left already, say nothing. */
		if (c->phase != IDLE)
			tell(s, m->client, c->phase == HAS ? SERVICE_GRANTED : SERVICE_WAIT);
		return;
	}
	if (c->phase == WAITS)
		return;
	if (c->phase == HAS) {
		c->phase = IDLE;
		if (c->writes)
			s->writers--;
		else
			s->readers--;
		/* Who waits is told first. */
		serve_queue(s);
	}
	tell(s, m->client, SERVICE_RELEASED);
}

/**
 * server_run() - serve locks
 * @o: the options
 *
 * Return: 0 when the time is over.
 */
int server_run(const struct server_options *o)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(o->port) }, from;
	uint64_t end = now_ns() + o->seconds * 1000000000ull;
	struct timeval look = { .tv_usec = 200000 };
	struct service_message m;
	socklen_t len = sizeof(at);

	server.loss = o->loss;
	server.random = random_stream(1, 4794);
	make_room(LOCKS_MIN);
	server.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (server.fd < 0 || bind(server.fd, (struct sockaddr *)&at, sizeof(at)) ||
	    setsockopt(server.fd, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look)) ||
	    getsockname(server.fd, (struct sockaddr *)&at, &len))
		node_die("serve: cannot use UDP port %u: %s", o->port, strerror(errno));
	if (o->bound)
		o->bound(ntohs(at.sin_port), o->arg);
	while (now_ns() < end) {
		len = sizeof(from);
		if (recvfrom(server.fd, &m, sizeof(m), 0, (struct sockaddr *)&from,
			     &len) != sizeof(m))
			continue;
		if (m.magic != SERVICE_MAGIC || m.client >= SERVICE_CLIENTS || !m.sequence ||
		    (m.type != SERVICE_ACQUIRE && m.type != SERVICE_RELEASE) || lost())
			continue;
		serve(&m, &from);
	}
	close(server.fd);
	return 0;
}
