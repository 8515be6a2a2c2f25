// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a plain UDP message takes from one node to the other, in the rhythm of a
 * hand-over: each side rests before it answers, and tells for how long it did.  So
 * both wake from the same idleness, and no clock is compared with another.
 */
#include <poll.h>
#include <sys/socket.h>

#include "arena.h"

#define PING_MAGIC	0x50494e47
#define PATIENCE_MS	500
#define WARM_UP		5

struct ping {
	uint32_t magic;
	uint32_t rest_us;	/* asked for */
	uint64_t sequence;
	uint64_t rested_ns;
	char fill[40];		/* 64 bytes */
};

/**
 * bench_pong() - answer
 * @b: the options
 */
int bench_pong(const struct lockbench *b)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(b->port) }, from;
	uint64_t end = now_ns() + (uint64_t)(b->seconds * 1e9), came;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	socklen_t len;
	struct ping m;

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		node_die("pong: cannot use UDP port %u: %s", b->port, strerror(errno));
	while (now_ns() < end) {
		if (poll(&p, 1, 200) <= 0)
			continue;
		len = sizeof(from);
		if (recvfrom(fd, &m, sizeof(m), 0, (struct sockaddr *)&from, &len) !=
		    sizeof(m) || m.magic != PING_MAGIC || m.rest_us > 1000000)
			continue;
		came = now_ns();
		if (m.rest_us)
			pause_until_ns(came + m.rest_us * 1000ull);
		m.rested_ns = now_ns() - came;
		sendto(fd, &m, sizeof(m), 0, (struct sockaddr *)&from, len);
	}
	close(fd);
	return 0;
}

/* Its answer; false: lost, or too late. */
static bool answered(int fd, struct ping *m)
{
	uint64_t sequence = m->sequence;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while (poll(&p, 1, PATIENCE_MS) > 0)
		if (recv(fd, m, sizeof(*m), 0) == sizeof(*m) &&
		    m->magic == PING_MAGIC && m->sequence == sequence)
			return true;
	return false;
}

static void measure(const struct lockbench *b, int fd, unsigned int rest_us)
{
	static struct hist h;
	struct ping m = { .magic = PING_MAGIC };
	uint64_t sent, took, i, lost = 0;
	struct json j;

	memset(&h, 0, sizeof(h));
	for (i = 0; i < b->count + WARM_UP; i++) {
		if (rest_us)
			pause_until_ns(now_ns() + rest_us * 1000ull);
		m.sequence = i + 1;
		m.rest_us = rest_us;
		sent = now_ns();
		if (send(fd, &m, sizeof(m), 0) != sizeof(m) || !answered(fd, &m)) {
			m.magic = PING_MAGIC;
			lost++;
			if (lost > 20 && lost > b->count / 10)
				node_die("ping: no answer: is weft-lockbench pong running there?");
			continue;
		}
		took = now_ns() - sent;
		if (i >= WARM_UP && took > m.rested_ns)
			hist_add(&h, (took - m.rested_ns) / 2);
	}
	result_begin(&j, b, "ping", "udp");
	json_u64(&j, "rest_us", rest_us);
	json_u64(&j, "count", h.count);
	json_u64(&j, "lost", lost);
	times_json(&j, "one_way", &h);
	json_end(&j);
	fflush(stdout);
}

/**
 * bench_ping() - measure, once in the rhythm of hand-overs, once without rests
 * @b: the options
 */
int bench_ping(const struct lockbench *b)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (!b->peer.sin_port || !b->count)
		node_die("ping: give --peer ADDRESS[:PORT], and --count");
	if (fd < 0 || connect(fd, (const struct sockaddr *)&b->peer, sizeof(b->peer)))
		node_die("ping: no socket: %s", strerror(errno));
	measure(b, fd, b->hold_us);
	measure(b, fd, 0);
	close(fd);
	return 0;
}
