// SPDX-License-Identifier: GPL-2.0-only
/* Echoes and ports, see probe.h. */
#include "doctor/probe.h"

#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tools/common/clock.h"
#include "tools/common/random.h"

#ifndef IP_RECVFRAGSIZE
#define IP_RECVFRAGSIZE	25	/* Linux 4.10; not in all C libraries */
#endif

#define SIZE_MAX_IP	65535
#define KNOCKS		3	/* any of them, and what comes back, may be lost */
#define KNOCK_MS	200
#define KNOCK_ECHO_SIZE	84

int probe_open(void)
{
	int on = 1;
	/* Root may; else those whom net.ipv4.ping_group_range names. */
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);

	if (fd < 0)
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);
	if (fd < 0)
		return errno == EACCES ? -EPERM : -errno;
	if (setsockopt(fd, IPPROTO_IP, IP_RECVFRAGSIZE, &on, sizeof(on))) {
		on = -errno;
		close(fd);
		return on;
	}
	return fd;
}

static uint16_t checksum(const uint8_t *data, size_t len)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < len; i += 2)
		sum += (uint32_t)data[i] << 8 | (i + 1 < len ? data[i + 1] : 0);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static uint32_t fragment_of(struct msghdr *m)
{
	struct cmsghdr *c;
	int size = 0;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVFRAGSIZE)
			memcpy(&size, CMSG_DATA(c), sizeof(size));
	}
	return size > 0 ? (uint32_t)size : 0;
}

/* Whether one datagram that came is the echo of @sent; a raw socket gets all. */
static bool take_echo(int fd, struct in_addr a, const uint8_t *sent, size_t len,
		      uint8_t *buf, struct echo *e)
{
	struct sockaddr_in from = { 0 };
	struct iovec iov = { buf, SIZE_MAX_IP };
	char control[256];
	struct msghdr m = {
		.msg_name = &from, .msg_namelen = sizeof(from),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);
	const uint8_t *icmp = buf;
	int type = 0;
	socklen_t type_len = sizeof(type);

	if (n < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len))
		return false;
	if (type == SOCK_RAW) {
		size_t header = (size_t)(buf[0] & 15) * 4;

		if ((size_t)n < header)
			return false;
		icmp += header;
		n -= (ssize_t)header;
	}
	/* All behind the header is random, so it is ours if it is the same. */
	if (from.sin_addr.s_addr != a.s_addr || (size_t)n != len || icmp[0] != ICMP_ECHOREPLY ||
	    memcmp(icmp + sizeof(struct icmphdr), sent + sizeof(struct icmphdr),
		   len - sizeof(struct icmphdr)))
		return false;
	e->fragment = fragment_of(&m);
	return true;
}

static void fill(uint8_t *packet, size_t len)
{
	struct icmphdr h = { .type = ICMP_ECHO };
	uint64_t random = random_stream(now_us(), (uint64_t)getpid());
	size_t i;

	for (i = sizeof(h); i < len; i++)
		packet[i] = (uint8_t)random_u64(&random);
	h.un.echo.id = htons((uint16_t)getpid());
	h.un.echo.sequence = (uint16_t)random_u64(&random);
	memcpy(packet, &h, sizeof(h));
	h.checksum = checksum(packet, len);
	memcpy(packet, &h, sizeof(h));
}

int probe_echo(int fd, struct in_addr a, uint32_t size, bool whole, int ms, struct echo *e)
{
	/* Whatever was learnt of the path before. */
	int discover = whole ? IP_PMTUDISC_PROBE : IP_PMTUDISC_DONT;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = a };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = size - sizeof(struct iphdr);
	uint8_t *packet = malloc(len), *buf = malloc(SIZE_MAX_IP);
	uint64_t begin, passed = 0;
	int err = -ENOMEM;

	*e = (struct echo){ 0 };
	if (!packet || !buf)
		goto out;
	fill(packet, len);
	begin = now_us();
	err = 0;
	if (setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover)) ||
	    sendto(fd, packet, len, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		err = -errno;
	while (!err) {
		if (passed >= (uint64_t)ms * 1000)
			err = -ETIMEDOUT;
		else if (poll(&p, 1, ms - (int)(passed / 1000)) > 0 &&
			 take_echo(fd, a, packet, len, buf, e))
			break;
		passed = now_us() - begin;
	}
	e->usec = now_us() - begin;
out:
	free(packet);
	free(buf);
	return err;
}

/* --- Ports ---------------------------------------------------------------------- */

static bool waits(const struct knock *k)
{
	return k->fd >= 0 && !k->refused;
}

void knock_open(struct knock *k, struct in_addr a, uint16_t port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_addr = a, .sin_port = htons(port),
	};

	*k = (struct knock){ .address = a };
	k->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (k->fd >= 0 && connect(k->fd, (struct sockaddr *)&to, sizeof(to)))
		knock_close(k);
}

void knock_close(struct knock *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

bool knock_refused(struct knock *k)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (waits(k) && !getsockopt(k->fd, SOL_SOCKET, SO_ERROR, &err, &len))
		k->refused = err == ECONNREFUSED;
	return k->refused;
}

/*
 * The same kernel refuses a datagram and answers an echo, at once, so when the echo of a
 * request that was sent after the datagram is there, so is the refusal, or nearly.
 */
static void wait_for_echo(struct knock *k, int echo_fd)
{
	struct pollfd p = { .fd = k->fd };
	struct echo e;
	int err = probe_echo(echo_fd, k->address, KNOCK_ECHO_SIZE, true, KNOCK_MS, &e);

	if (!err)
		poll(&p, 1, 1 + (int)(e.usec / 1000));
	else if (err != -ETIMEDOUT)
		poll(&p, 1, KNOCK_MS);
}

/* Nobody tells how long it may take: all of them get the same time. */
static void wait_for_all(struct knock *list, unsigned int n)
{
	uint64_t end = now_us() + KNOCK_MS * 1000, now;
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct pollfd p = { .fd = list[i].fd };

		now = now_us();
		if (waits(&list[i]) && now < end)
			poll(&p, 1, 1 + (int)((end - now) / 1000));
	}
}

void knock_all(struct knock *list, unsigned int n, int echo_fd)
{
	unsigned int try, i;

	for (try = 0; try < KNOCKS; try++) {
		for (i = 0; i < n; i++) {
			/* An empty datagram is thrown away by who listens. */
			if (waits(&list[i]) && send(list[i].fd, "", 0, 0) < 0)
				list[i].refused = errno == ECONNREFUSED;
		}
		if (echo_fd < 0)
			wait_for_all(list, n);
		for (i = 0; i < n; i++) {
			if (echo_fd >= 0 && waits(&list[i]))
				wait_for_echo(&list[i], echo_fd);
			knock_refused(&list[i]);
		}
	}
}
