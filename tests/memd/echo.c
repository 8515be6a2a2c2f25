// SPDX-License-Identifier: GPL-2.0-only
/* A plain UDP server, see echo.h. */
#include "echo.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rig.h"

#define SOCKET_BUFFER	(8 << 20)	/* as weft-memd's */

static struct mmsghdr in[ECHO_BATCH_MAX], out[ECHO_BATCH_MAX];
static struct iovec in_iov[ECHO_BATCH_MAX], out_iov[ECHO_BATCH_MAX];
static struct sockaddr_in in_addr[ECHO_BATCH_MAX];
static u8 in_buf[ECHO_BATCH_MAX][ECHO_BYTES_MAX];
static u8 answer[ECHO_BYTES_MAX];

/* Some of that may be refused; then the buffer is smaller. */
static void tune(int fd)
{
	static const int names[] = { SO_RCVBUF, SO_RCVBUFFORCE, SO_SNDBUF, SO_SNDBUFFORCE };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		(void)!setsockopt(fd, SOL_SOCKET, names[i], &(int){ SOCKET_BUFFER }, sizeof(int));
	/* as all that belongs to weft */
	(void)!setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &(int){ 1 }, sizeof(int));
}

static int open_socket(const struct echo *e)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(e->port),
		.sin_addr.s_addr = htonl(e->addr),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)))
		CHECK_FAIL("port %u: %s", e->port, strerror(errno));
	tune(fd);
	return fd;
}

/* Answers to @n datagrams.  Return: how many. */
static int answer_all(const struct echo *e, int n)
{
	int i, answers = 0;
	u32 row = 0;

	for (i = 0; i < n; i++) {
		if (row && row < e->joined &&
		    in_addr[i].sin_addr.s_addr == in_addr[i - 1].sin_addr.s_addr) {
			out_iov[answers - 1].iov_len += e->page;
			row++;
			continue;
		}
		out_iov[answers].iov_len = e->page;
		out[answers].msg_hdr.msg_name = &in_addr[i];
		answers++;
		row = 1;
	}
	return answers;
}

static void serve(const struct echo *e, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int i, n, sent, answers;

	for (i = 0; i < ECHO_BATCH_MAX; i++) {
		in_iov[i] = (struct iovec){ in_buf[i], sizeof(in_buf[i]) };
		in[i].msg_hdr.msg_iov = &in_iov[i];
		in[i].msg_hdr.msg_iovlen = 1;
		in[i].msg_hdr.msg_name = &in_addr[i];
		out_iov[i].iov_base = answer;
		out[i].msg_hdr.msg_iov = &out_iov[i];
		out[i].msg_hdr.msg_iovlen = 1;
		out[i].msg_hdr.msg_namelen = sizeof(in_addr[i]);
	}
	for (;;) {
		for (i = 0; i < ECHO_BATCH_MAX; i++)
			in[i].msg_hdr.msg_namelen = sizeof(in_addr[i]);
		n = recvmmsg(fd, in, e->batch, MSG_WAITFORONE, NULL);
		if (n <= 0)
			_exit(1);
		answers = answer_all(e, n);
		for (i = 0; i < answers; i += sent) {
			sent = sendmmsg(fd, out + i, (unsigned int)(answers - i), MSG_DONTWAIT);
			if (sent > 0)
				continue;
			sent = 0;
			if (errno != EAGAIN || poll(&p, 1, -1) < 0)
				_exit(1);
		}
	}
}

pid_t echo_start(const struct echo *e)
{
	int fd = open_socket(e);
	pid_t pid = fork();

	CHECK(e->joined * e->page <= ECHO_BYTES_MAX && e->batch <= ECHO_BATCH_MAX);
	if (pid < 0)
		CHECK_FAIL("fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(e, fd);
	}
	close(fd);
	return pid;
}
