// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links: unix sockets (of datagrams, or of a connection), TAP devices, network interfaces.
 */
#include "link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "port.h"
#include "tools/common/clock.h"

#define SOCKET_BUFFER	(8 << 20)
/* How soon after a failure to try again to reach the other end of a socket. */
#define RETRY_NS	10000000ull

enum kind { KIND_UNIX, KIND_TAP, KIND_PACKET, KIND_SEQ, KIND_MEM };

static const char *const kind_names[] = { "unix", "tap", "packet", "seq", "mem" };

/**
 * struct link - one link
 * @kind: what it is
 * @listen_fd: for KIND_SEQ, where the other end connects to; else -1
 * @rx_fd: to receive from; @listen_fd while a KIND_SEQ is not connected
 * @tx_fd: to send to.  For KIND_UNIX a socket of its own: it is connected, so
 *	that one can wait for room at the other end, but a connected socket
 *	would refuse frames of a peer that has been restarted
 * @blocked: the last frame could not be sent because of a full buffer
 * @connected: @tx_fd is connected to @remote
 * @retry_at: not before that time try to connect again
 * @remote: where @tx_fd sends to
 * @local: name of @rx_fd in the file system, to be removed
 * @stash: empty frames to receive into; those from 0 on until the first NULL
 */
struct link {
	enum kind kind;
	int listen_fd;
	int rx_fd;
	int tx_fd;
	bool blocked;
	bool connected;
	uint64_t retry_at;
	struct sockaddr_un remote;
	struct sockaddr_un local;
	struct rte_mbuf *stash[PORT_BATCH];
};

/* --- Opening --- */

static int unix_address(struct sockaddr_un *a, const char *name,
			const char *path, size_t len, char *err)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (!len || len >= sizeof(a->sun_path))
		return fail(err, -ENAMETOOLONG,
			    "port %s: the path of a socket has 1 to %zu letters, '%.*s' has %zu",
			    name, sizeof(a->sun_path) - 1, (int)RTE_MIN(len, 128u),
			    path, len);
	memcpy(a->sun_path, path, len);
	return 0;
}

/* Makes way for a socket: what an earlier run left goes, nothing else does. */
static int remove_stale(int fd, const struct sockaddr_un *a, const char *name,
			char *err)
{
	struct stat st;

	if (lstat(a->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return fail(err, -EEXIST, "port %s: %s exists and is not a socket",
			    name, a->sun_path);
	if (!connect(fd, (const struct sockaddr *)a, sizeof(*a)) ||
	    errno != ECONNREFUSED)
		return fail(err, -EADDRINUSE,
			    "port %s: %s is in use: is another switch running?",
			    name, a->sun_path);
	unlink(a->sun_path);
	return 0;
}

static int open_unix(struct link *link, const char *name, const char *args, char *err)
{
	const char *colon = strchr(args, ':');
	int size = SOCKET_BUFFER, code;

	if (!colon)
		return fail(err, -EINVAL, "port %s: expected unix:LOCAL:REMOTE", name);
	code = unix_address(&link->local, name, args, (size_t)(colon - args), err);
	if (!code)
		code = unix_address(&link->remote, name, colon + 1,
				    strlen(colon + 1), err);
	if (code) {
		link->local.sun_path[0] = 0;
		return code;
	}

	link->rx_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	link->tx_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (link->rx_fd < 0 || link->tx_fd < 0) {
		code = fail(err, -errno, "port %s: no socket: %s", name, strerror(errno));
		link->local.sun_path[0] = 0;
		return code;
	}
	/* As much as we may: only root gets past the system's limit. */
	if (setsockopt(link->tx_fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		setsockopt(link->tx_fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));

	code = remove_stale(link->tx_fd, &link->local, name, err);
	if (!code && bind(link->rx_fd, (struct sockaddr *)&link->local,
			  sizeof(link->local)))
		code = fail(err, -errno, "port %s: cannot create %s: %s", name,
			    link->local.sun_path, strerror(errno));
	if (code)
		link->local.sun_path[0] = 0;	/* not ours to remove */
	return code;
}

static int open_tap(struct link *link, const char *name, const char *args, char *err)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };

	if (!args[0] || strlen(args) >= IFNAMSIZ)
		return fail(err, -EINVAL, "port %s: expected tap:INTERFACE", name);
	link->rx_fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (link->rx_fd < 0)
		return fail(err, -errno, "port %s: cannot open /dev/net/tun: %s",
			    name, strerror(errno));
	strcpy(ifr.ifr_name, args);
	if (ioctl(link->rx_fd, TUNSETIFF, &ifr))
		return fail(err, -errno, "port %s: cannot attach to TAP device %s: %s",
			    name, args, strerror(errno));
	link->tx_fd = fcntl(link->rx_fd, F_DUPFD_CLOEXEC, 0);
	if (link->tx_fd < 0)
		return fail(err, -errno, "port %s: %s", name, strerror(errno));
	return 0;
}

static int open_packet(struct link *link, const char *name, const char *args, char *err)
{
	struct sockaddr_ll a = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
	};
	struct packet_mreq promiscuous = { .mr_type = PACKET_MR_PROMISC };
	int one = 1, size = SOCKET_BUFFER;

	a.sll_ifindex = (int)if_nametoindex(args);
	if (!a.sll_ifindex)
		return fail(err, -ENODEV, "port %s: there is no interface '%s'", name, args);
	/* Protocol 0: nothing comes in before it is bound to the interface. */
	link->rx_fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (link->rx_fd < 0)
		return fail(err, -errno,
			    "port %s: no packet socket: %s: root (CAP_NET_RAW) can",
			    name, strerror(errno));
	promiscuous.mr_ifindex = a.sll_ifindex;
	setsockopt(link->rx_fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	/* Without this, what we send comes in again. */
	if (setsockopt(link->rx_fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) ||
	    setsockopt(link->rx_fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
		       sizeof(promiscuous)) ||
	    bind(link->rx_fd, (struct sockaddr *)&a, sizeof(a)))
		return fail(err, -errno, "port %s: cannot use interface %s: %s",
			    name, args, strerror(errno));
	link->tx_fd = fcntl(link->rx_fd, F_DUPFD_CLOEXEC, 0);
	if (link->tx_fd < 0)
		return fail(err, -errno, "port %s: %s", name, strerror(errno));
	return 0;
}

/* One other end at a time: a user-mode kernel's "transport=bess" connects like this. */
static int open_seq(struct link *link, const char *name, const char *args, char *err)
{
	int probe, code = unix_address(&link->local, name, args, strlen(args), err);

	if (!code) {
		link->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (link->listen_fd < 0 || probe < 0)
			code = fail(err, -errno, "port %s: no socket: %s", name,
				    strerror(errno));
		else
			code = remove_stale(probe, &link->local, name, err);
		if (probe >= 0)
			close(probe);
	}
	if (!code && (bind(link->listen_fd, (struct sockaddr *)&link->local,
			   sizeof(link->local)) || listen(link->listen_fd, 1)))
		code = fail(err, -errno, "port %s: cannot create %s: %s", name,
			    link->local.sun_path, strerror(errno));
	if (code)
		link->local.sun_path[0] = 0;	/* not ours to remove */
	link->rx_fd = link->listen_fd;
	return code;
}

int link_open(struct link **out, const char *name, const char *spec, char *err)
{
	const char *colon = strchr(spec, ':');
	const char *args = colon ? colon + 1 : "";
	size_t len = colon ? (size_t)(colon - spec) : strlen(spec);
	struct link *link;
	unsigned int kind;
	int code = 0;

	*out = NULL;
	if (len == 4 && !strncmp(spec, "null", len))
		return 0;
	for (kind = 0; kind < RTE_DIM(kind_names); kind++)
		if (strlen(kind_names[kind]) == len &&
		    !strncmp(spec, kind_names[kind], len))
			break;
	if (kind == RTE_DIM(kind_names))
		return fail(err, -EINVAL,
			    "port %s: '%s' is no kind of port: unix:LOCAL:REMOTE, seq:SOCKET, tap:INTERFACE or packet:INTERFACE are",
			    name, spec);

	link = calloc(1, sizeof(*link));
	if (!link)
		return fail(err, -ENOMEM, "port %s: out of memory", name);
	link->kind = (enum kind)kind;
	link->listen_fd = -1;
	link->rx_fd = -1;
	link->tx_fd = -1;
	if (link->kind == KIND_UNIX)
		code = open_unix(link, name, args, err);
	else if (link->kind == KIND_TAP)
		code = open_tap(link, name, args, err);
	else if (link->kind == KIND_PACKET)
		code = open_packet(link, name, args, err);
	else if (link->kind == KIND_SEQ)
		code = open_seq(link, name, args, err);
	if (code)
		link_close(link);
	else
		*out = link;
	return code;
}

void link_close(struct link *link)
{
	unsigned int i;

	if (!link)
		return;
	if (link->listen_fd >= 0 && link->listen_fd != link->rx_fd)
		close(link->listen_fd);
	if (link->rx_fd >= 0)
		close(link->rx_fd);
	if (link->tx_fd >= 0)
		close(link->tx_fd);
	if (link->local.sun_path[0])
		unlink(link->local.sun_path);
	for (i = 0; i < PORT_BATCH; i++)
		if (link->stash[i])
			frame_free(link->stash[i]);
	free(link);
}

const char *link_kind(const struct link *link)
{
	return link ? kind_names[link->kind] : "null";
}

int link_rx_fd(const struct link *link)
{
	return link ? link->rx_fd : -1;
}

int link_tx_fd(const struct link *link)
{
	return link ? link->tx_fd : -1;
}

bool link_blocked(const struct link *link)
{
	return link && link->blocked;
}

/* --- The other end of a connection --- */

static void seq_accept(struct link *link)
{
	int size = SOCKET_BUFFER;
	int fd = accept4(link->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	/* What is waited for must be another file than what is received from. */
	link->tx_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (link->tx_fd < 0) {
		close(fd);
		return;
	}
	link->rx_fd = fd;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

/* The other end has gone; the next one may come. */
static void seq_end(struct link *link)
{
	close(link->rx_fd);
	close(link->tx_fd);
	link->rx_fd = link->listen_fd;
	link->tx_fd = -1;
	link->blocked = false;
}

/* --- Receiving --- */

/* No buffers: still take the frames, or we would be woken up for ever. */
static void discard(struct link *link, struct port_counters *n)
{
	unsigned int i;
	char c[64];

	for (i = 0; i < PORT_BATCH; i++) {
		if (read(link->rx_fd, c, sizeof(c)) < 0)
			return;
		n->rx_drop++;
	}
}

static unsigned int receive_sockets(struct link *link, unsigned int max,
				    uint32_t *len, struct port_counters *n)
{
	struct mmsghdr msg[PORT_BATCH];
	struct iovec iov[PORT_BATCH];
	unsigned int i;
	int got;

	memset(msg, 0, max * sizeof(msg[0]));
	for (i = 0; i < max; i++) {
		iov[i].iov_base = frame_data(link->stash[i]);
		iov[i].iov_len = FRAME_MAX;
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	got = recvmmsg(link->rx_fd, msg, max, MSG_DONTWAIT, NULL);
	if (got < 0) {
		if (link->kind == KIND_SEQ && errno == ECONNRESET)
			seq_end(link);
		return 0;
	}
	for (i = 0; i < (unsigned int)got; i++) {
		len[i] = msg[i].msg_len;
		/* No frame is empty: that is the end of the connection. */
		if (link->kind == KIND_SEQ && !len[i]) {
			seq_end(link);
			return i;
		}
		if (msg[i].msg_hdr.msg_flags & MSG_TRUNC) {
			n->rx_drop++;
			len[i] = UINT32_MAX;
		}
	}
	return (unsigned int)got;
}

static unsigned int receive_tap(struct link *link, unsigned int max,
				uint32_t *len, struct port_counters *n)
{
	unsigned int i;

	for (i = 0; i < max; i++) {
		ssize_t got = read(link->rx_fd, frame_data(link->stash[i]),
				   FRAME_MAX + 1);

		if (got < 0)
			break;
		len[i] = (uint32_t)got;
		if (got > FRAME_MAX) {
			n->rx_drop++;
			len[i] = UINT32_MAX;
		}
	}
	return i;
}

unsigned int link_receive(struct link *link, struct rte_mbuf **batch,
			  unsigned int max, struct port_counters *n)
{
	uint32_t len[PORT_BATCH];
	unsigned int i, ready, got, used = 0;

	if (link->rx_fd < 0)
		return 0;
	if (link->rx_fd == link->listen_fd) {
		seq_accept(link);
		if (link->tx_fd < 0)
			return 0;
	}
	for (ready = 0; ready < max; ready++) {
		if (!link->stash[ready])
			link->stash[ready] = frame_alloc();
		if (!link->stash[ready])
			break;
	}
	if (!ready) {
		discard(link, n);
		return 0;
	}
	if (link->kind == KIND_TAP)
		got = receive_tap(link, ready, len, n);
	else
		got = receive_sockets(link, ready, len, n);
	for (i = 0; i < got; i++) {
		struct rte_mbuf *m = link->stash[i];

		if (!m || len[i] > FRAME_MAX)
			continue;	/* the buffer stays in the stash */
		frame_set_len(m, len[i]);
		batch[used++] = m;
		link->stash[i] = NULL;
	}
	return used;
}

/* --- Sending --- */

static bool unix_connect(struct link *link)
{
	uint64_t now = now_ns();

	if (now < link->retry_at)
		return false;
	link->connected = !connect(link->tx_fd, (struct sockaddr *)&link->remote,
				   sizeof(link->remote));
	if (!link->connected)
		link->retry_at = now + RETRY_NS;
	return link->connected;
}

/* The first @count frames are gone. */
static void sent(struct frameq *q, unsigned int count, struct port_counters *n)
{
	struct rte_mbuf *m;

	while (count-- && (m = frameq_get(q))) {
		n->tx++;
		n->tx_bytes += frame_len(m);
		frame_free(m);
	}
}

static void drop(struct frameq *q, unsigned int count, struct port_counters *n)
{
	struct rte_mbuf *m;

	while (count-- && (m = frameq_get(q))) {
		n->tx_drop++;
		frame_free(m);
	}
}

static int send_sockets(struct link *link, const struct frameq *q)
{
	struct mmsghdr msg[PORT_BATCH];
	struct iovec iov[PORT_BATCH];
	unsigned int i, count = RTE_MIN(frameq_count(q), (uint32_t)PORT_BATCH);
	int done;

	memset(msg, 0, count * sizeof(msg[0]));
	for (i = 0; i < count; i++) {
		const struct rte_mbuf *m = frameq_peek(q, i);

		iov[i].iov_base = frame_data(m);
		iov[i].iov_len = frame_len(m);
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	done = sendmmsg(link->tx_fd, msg, count, MSG_DONTWAIT | MSG_NOSIGNAL);
	return done < 0 ? -errno : done;
}

static int send_tap(struct link *link, const struct frameq *q)
{
	const struct rte_mbuf *m = frameq_peek(q, 0);

	return write(link->tx_fd, frame_data(m), frame_len(m)) < 0 ? -errno : 1;
}

void link_send(struct link *link, struct frameq *q, struct port_counters *n)
{
	bool again = true;

	if (link->tx_fd < 0) {
		if (link->kind == KIND_SEQ)
			drop(q, frameq_count(q), n);
		return;
	}
	link->blocked = false;
	while (frameq_count(q)) {
		int done;

		if (link->kind == KIND_UNIX && !link->connected &&
		    !unix_connect(link)) {
			drop(q, frameq_count(q), n);
			return;
		}
		if (link->kind == KIND_TAP)
			done = send_tap(link, q);
		else
			done = send_sockets(link, q);

		if (done >= 0) {
			sent(q, (unsigned int)done, n);
		} else if (done == -EAGAIN) {
			link->blocked = true;
			return;
		} else if (link->kind == KIND_UNIX && again &&
			   (done == -ECONNREFUSED || done == -ENOTCONN ||
			    done == -EPERM)) {
			/* The peer has gone; another one may have come. */
			link->connected = false;
			again = false;
		} else if (done != -EINTR) {
			drop(q, 1, n);
		}
	}
}

