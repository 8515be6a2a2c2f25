// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lock service, as TreadMarks has: a server grants locks in the order in which
 * they are asked for; the memory knows nothing of it.  Datagrams, that are repeated
 * until they are answered.
 */
#include <poll.h>
#include <sys/socket.h>

#include "lock.h"

#define PATIENCE_MS	50	/* before a request is repeated; doubles */
#define PATIENCE_MAX_MS	400

/* l->state: sequence of the last acquisition. */
static int socket_of(const struct lock *l)
{
	return l->place->socket - 1;
}

static size_t service_size(const struct lock_place *p)
{
	(void)p;
	return 0;
}

static void service_init(struct lock *l)
{
	int fd;

	if (l->place->socket)
		return;
	if (!l->place->service.sin_port)
		node_die("lock service: where is it? Give --service ADDRESS[:PORT]");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&l->place->service,
			      sizeof(l->place->service)))
		node_die("lock service: no socket: %s", strerror(errno));
	l->place->socket = fd + 1;
}

/* A datagram that can be an answer to @m within @ms milliseconds; its type, or 0. */
static int answer(struct lock *l, const struct service_message *m, int ms)
{
	uint64_t end = now_ns() + ms * 1000000ull, now;
	struct pollfd p = { .fd = socket_of(l), .events = POLLIN };
	struct service_message got;
	ssize_t n;

	for (;;) {
		n = recv(socket_of(l), &got, sizeof(got), MSG_DONTWAIT);
		if (n == sizeof(got) && got.magic == SERVICE_MAGIC) {
			l->place->messages++;
			if (got.lock == m->lock && got.client == m->client &&
			    got.sequence == m->sequence)
				return got.type;
			continue;
		}
		/* Nobody listens there (yet): as if it were lost. */
		if (n >= 0 || errno == ECONNREFUSED || errno == EINTR)
			continue;
		if (errno != EAGAIN)
			node_die("lock service: %s", strerror(errno));
		now = now_ns();
		if (now >= end)
			return 0;
		poll(&p, 1, (int)((end - now) / 1000000) + 1);
	}
}

/* Sends @m until the answer @wanted is there. */
static void ask(struct lock *l, const struct service_message *m, int wanted)
{
	uint64_t end = now_ns() + l->place->timeout * 1000000000ull;
	int patience = PATIENCE_MS, type;

	for (;;) {
		if (send(socket_of(l), m, sizeof(*m), 0) == sizeof(*m))
			l->place->messages++;
		do {
			type = answer(l, m, patience);
			if (type == wanted)
				return;
		} while (type);
		if (now_ns() > end)
			node_die("lock service: no answer for %u s: is weft-lockbench serve running there?",
				 l->place->timeout);
		if (patience < PATIENCE_MAX_MS)
			patience *= 2;
	}
}

static void acquire(struct lock *l, bool writes)
{
	struct service_message m = {
		.magic = SERVICE_MAGIC, .type = SERVICE_ACQUIRE, .mode = writes,
		.client = lock_me(l->place), .lock = l->name,
		.sequence = ++l->state,
	};

	ask(l, &m, SERVICE_GRANTED);
	atomic_thread_fence(memory_order_acquire);
}

static void service_rdlock(struct lock *l)
{
	acquire(l, false);
}

static void service_wrlock(struct lock *l)
{
	acquire(l, true);
}

/*
 * Waits for the answer: a release that was lost would keep the others waiting for
 * as long as this thread has nothing to ask.
 */
static void service_unlock(struct lock *l)
{
	struct service_message m = {
		.magic = SERVICE_MAGIC, .type = SERVICE_RELEASE, .mode = l->writes,
		.client = lock_me(l->place), .lock = l->name,
		.sequence = l->state,
	};

	atomic_thread_fence(memory_order_release);
	ask(l, &m, SERVICE_RELEASED);
}

const struct lock_kind lock_service = {
	.name = "service",
	.what = "a server grants it, by UDP (as TreadMarks)",
	.service = true,
	.size = service_size,
	.init = service_init,
	.rdlock = service_rdlock,
	.wrlock = service_wrlock,
	.unlock = service_unlock,
};
