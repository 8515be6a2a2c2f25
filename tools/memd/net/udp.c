// SPDX-License-Identifier: GPL-2.0-only
/* Sockets, see udp.h. */
#include "net/udp.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/share.h"
#include "tools/common/clock.h"

#define HEADERS		28	/* IPv4 without options, UDP */
#define SOCKET_BUFFER	(8 << 20)
#define PATIENCE_MS	5	/* for a full send buffer */

/*
 * Messages wait in a buffer each, with one iov each: a datagram of several takes
 * the iovs of those, which stand in a row.
 */
struct udp_batch {
	struct mmsghdr msg[UDP_BATCH];
	u8 flow[UDP_BATCH];
	struct iovec iov[UDP_BATCH];
	struct sockaddr_in addr[UDP_BATCH];
	u8 buf[UDP_BATCH][WEFT_MTU_MAX];
};

/* --- which interface -------------------------------------------------------- */

static u32 addr_of(const struct sockaddr *sa)
{
	struct sockaddr_in in;

	memcpy(&in, sa, sizeof(in));
	return ntohl(in.sin_addr.s_addr);
}

/* True if the interface's address is the one wanted, or covers it on loopback. */
static bool fits(const struct ifaddrs *i, const struct options *o)
{
	if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET)
		return false;
	if (o->interface && strcmp(i->ifa_name, o->interface) != 0)
		return false;
	if (!o->address || addr_of(i->ifa_addr) == o->address)
		return true;
	return i->ifa_flags & IFF_LOOPBACK && i->ifa_netmask &&
	       !((addr_of(i->ifa_addr) ^ o->address) & addr_of(i->ifa_netmask));
}

static int find_interface(struct udp *udp, const struct options *o,
			  char *name, char *err)
{
	struct ifaddrs *all, *i;

	if (o->interface && !if_nametoindex(o->interface))
		return fail(err, "there is no interface %s: 'ip link' shows those that there are",
			    o->interface);
	if (getifaddrs(&all))
		return fail(err, "cannot list the interfaces: %s", strerror(errno));
	for (i = all; i; i = i->ifa_next)
		if (fits(i, o))
			break;
	if (i) {
		udp->addr = o->address ? o->address : addr_of(i->ifa_addr);
		snprintf(name, IF_NAMESIZE, "%s", i->ifa_name);
	}
	freeifaddrs(all);
	if (i)
		return 0;
	if (!o->address)
		return fail(err, "interface %s has no IPv4 address: give it one first (ip address add)",
			    o->interface);
	if (o->interface)
		return fail(err, "interface %s does not have the address %s",
			    o->interface, log_addr(o->address));
	return fail(err, "no interface of this machine has the address %s",
		    log_addr(o->address));
}

static int find_mtu(struct udp *udp, const char *name, const struct weft_key *key,
		    char *err)
{
	struct ifreq ifr;
	u32 mtu;

	memset(&ifr, 0, sizeof(ifr));
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (ioctl(udp->fd, SIOCGIFMTU, &ifr))
		return fail(err, "cannot ask for the MTU of %s: %s", name,
			    strerror(errno));
	if (ifr.ifr_mtu < WEFT_MTU_MIN)
		return fail(err, "interface %s has MTU %d: weft needs %d at least",
			    name, ifr.ifr_mtu, WEFT_MTU_MIN);
	mtu = ifr.ifr_mtu > WEFT_MTU_MAX ? WEFT_MTU_MAX : (u32)ifr.ifr_mtu;
	udp->longest = mtu - HEADERS;
	udp->fragment = weft_wire_fragment(udp->longest, key);
	return 0;
}

/* --- sockets ---------------------------------------------------------------- */

static void set_int(int fd, int level, int name, int value)
{
	/* none of them is needed to work */
	(void)!setsockopt(fd, level, name, &value, sizeof(value));
}

/* The receive buffers of all threads together are as large as that of one. */
static void tune(int fd, u32 threads)
{
	int receive = SOCKET_BUFFER / (threads ? (int)threads : 1);

	set_int(fd, SOL_SOCKET, SO_RCVBUF, receive);
	set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, receive);
	set_int(fd, SOL_SOCKET, SO_SNDBUF, SOCKET_BUFFER);
	set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, SOCKET_BUFFER);
}

static int set_up_one(int fd, const char *name, u32 threads, char *err)
{
	struct ip_mreqn group = { .imr_ifindex = (int)if_nametoindex(name) };
	int one = 1;

	/* messages carry their own sums, and the switch changes them */
	if (setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &one, sizeof(one)))
		return fail(err, "cannot switch UDP checksums off: %s",
			    strerror(errno));
	if (setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &group, sizeof(group)))
		return fail(err, "cannot send to a group on %s: %s", name,
			    strerror(errno));
	set_int(fd, IPPROTO_IP, IP_MULTICAST_TTL, 1);
	set_int(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 0);
	/* do not fragment, and do not believe who says that we should */
	set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	tune(fd, threads);
	return 0;
}

/* Nothing that comes to it is heard. */
static int deafen(int fd)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog deaf = { .len = 1, .filter = &nothing };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &deaf, sizeof(deaf));
}

static int set_up(struct udp *udp, const char *name, u32 threads, char *err)
{
	u32 i;

	for (i = 0; i < WEFT_FLOWS; i++)
		if (set_up_one(udp->flow[i], name, threads, err))
			return -1;
	for (i = 1; i < WEFT_FLOWS; i++)
		if (deafen(udp->flow[i]))
			return fail(err, "cannot open a socket: %s", strerror(errno));
	return 0;
}

static int bind_to(int fd, u32 addr, u16 port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(addr),
	};

	return bind(fd, (struct sockaddr *)&a, sizeof(a));
}

static bool share_port(int fd)
{
	int one = 1;

	return !setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
}

/*
 * How many sockets of this network namespace are bound to just that; -1: unknown.  One
 * stands there twice if others are made while it is read, hence the numbers.
 */
static int sockets_at(u32 addr, u16 port)
{
	FILE *f = fopen("/proc/net/udp", "re");
	unsigned long inode, seen = 0;
	unsigned int a, p;
	char line[256];
	int n = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*u: %8x:%4x %*s %*s %*s %*s %*s %*u %*u %lu", &a, &p,
			   &inode) != 3 || a != htonl(addr) || p != port)
			continue;
		n += !n || inode != seen;
		seen = inode;
	}
	fclose(f);
	return n;
}

#define COUNT_TRIES	8	/* /proc may be wrong once while others open sockets */
#define COUNT_PAUSE_US	20000

/* Is there no other one at our address? */
static bool is_only_one(const struct udp *udp)
{
	u32 i;

	for (i = 0; i < COUNT_TRIES; i++) {
		if (sockets_at(udp->addr, udp->port) == 1)
			return true;
		usleep(COUNT_PAUSE_US);
	}
	return false;
}

/*
 * Our address.  With SO_REUSEPORT sockets of one user, and of nobody else, may have the
 * same port: so the one of each blade gets along with the holders (below) of the other
 * blades of this machine.  It would with one of the same address, too, hence the count; of
 * the flows' ports none is needed then.
 */
static int bind_own(const struct udp *udp, u32 flow, char *err)
{
	u16 port = (u16)(udp->port + flow);
	int fd = udp->flow[flow];

	if (bind_to(fd, udp->addr, port)) {
		int why = errno;

		if (why == EADDRINUSE && share_port(fd) && !bind_to(fd, udp->addr, port) &&
		    (flow || is_only_one(udp)))
			return 0;
		if (why == EADDRINUSE)
			return fail(err, "UDP port %u at %s is in use: is another weft-memd running?",
				    port, log_addr(udp->addr));
		return fail(err, "cannot bind to UDP port %u at %s: %s",
			    port, log_addr(udp->addr), strerror(why));
	}
	if (!share_port(fd))
		return fail(err, "cannot share UDP port %u with other blades: %s",
			    port, strerror(errno));
	return 0;
}

/*
 * The port at all other addresses.  Nobody needs privileges to bind to another one, or
 * to another interface, and to choose our address as the source of each message
 * then: members hear what comes from this port.
 */
static int hold_port(struct udp *udp, u32 flow, char *err)
{
	u16 port = (u16)(udp->port + flow);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	udp->holder[flow] = fd;
	if (fd < 0 || deafen(fd) || !share_port(fd))
		return fail(err, "cannot open a socket: %s", strerror(errno));
	if (!bind_to(fd, INADDR_ANY, port))
		return 0;
	if (errno == EADDRINUSE)
		return fail(err, "another program has UDP port %u at another address of this machine, and could speak for this blade: 'ss -lunp sport = :%u' names it, end it first",
			    port, port);
	return fail(err, "cannot bind to UDP port %u: %s", port, strerror(errno));
}

static int bind_all(struct udp *udp, char *err)
{
	u32 i;

	/* our own first: whether they are in use says whether there is another one of us */
	for (i = 0; i < WEFT_FLOWS; i++)
		if (bind_own(udp, i, err))
			return -1;
	for (i = 0; i < WEFT_FLOWS; i++)
		if (hold_port(udp, i, err))
			return -1;
	return 0;
}

static struct udp_batch *new_batch(void)
{
	struct udp_batch *b = calloc(1, sizeof(*b));
	u32 i;

	if (!b)
		return NULL;
	for (i = 0; i < UDP_BATCH; i++) {
		b->iov[i].iov_base = b->buf[i];
		b->iov[i].iov_len = sizeof(b->buf[i]);
		b->addr[i].sin_family = AF_INET;
		b->msg[i].msg_hdr.msg_iov = &b->iov[i];
		b->msg[i].msg_hdr.msg_iovlen = 1;
		b->msg[i].msg_hdr.msg_name = &b->addr[i];
		b->msg[i].msg_hdr.msg_namelen = sizeof(b->addr[i]);
	}
	return b;
}

void udp_none(struct udp *udp)
{
	memset(udp, 0, sizeof(*udp));
	udp->fd = -1;
	memset(udp->flow, -1, sizeof(udp->flow));
	memset(udp->holder, -1, sizeof(udp->holder));
}

static int new_sockets(struct udp *udp, char *err)
{
	u32 i;

	udp_none(udp);
	udp->in = new_batch();
	udp->out = new_batch();
	if (!udp->in || !udp->out)
		return fail(err, "not enough memory");
	for (i = 0; i < WEFT_FLOWS; i++) {
		udp->flow[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (udp->flow[i] < 0)
			return fail(err, "cannot open a socket: %s", strerror(errno));
	}
	udp->fd = udp->flow[0];
	return 0;
}

int udp_open(struct udp *udp, const struct options *o, const struct weft_key *key,
	     char *err)
{
	char name[IF_NAMESIZE];

	if (new_sockets(udp, err))
		return -1;
	udp->port = o->port;
	return find_interface(udp, o, name, err) || find_mtu(udp, name, key, err) ||
	       set_up(udp, name, o->threads, err) || bind_all(udp, err) ? -1 : 0;
}

int udp_open_another(struct udp *udp, const struct udp *first, const struct options *o,
		     char *err)
{
	char name[IF_NAMESIZE];
	u32 i;

	if (new_sockets(udp, err))
		return -1;
	udp->port = first->port;
	udp->longest = first->longest;
	udp->fragment = first->fragment;
	if (find_interface(udp, o, name, err) || set_up(udp, name, o->threads, err))
		return -1;
	/* the first thread has made sure that no other blade is there */
	for (i = 0; i < WEFT_FLOWS; i++)
		if (!share_port(udp->flow[i]) ||
		    bind_to(udp->flow[i], udp->addr, (u16)(udp->port + i)))
			return fail(err, "cannot open UDP port %u at %s for one more thread: %s",
				    udp->port + i, log_addr(udp->addr), strerror(errno));
	return 0;
}

int udp_steer(const struct udp *first, const struct options *o, char *err)
{
	struct sock_filter code[SHARE_PROGRAM];
	struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

	if (o->threads < 2)
		return 0;
	share_program(code, o->threads);
	if (setsockopt(first->fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program,
		       sizeof(program)))
		return fail(err, "cannot tell the kernel which thread a message is for (%s): leave out --threads",
			    strerror(errno));
	return 0;
}

int udp_open_none(struct udp *udp)
{
	udp_none(udp);
	udp->out = new_batch();
	return udp->out ? 0 : -1;
}

void udp_close(struct udp *udp)
{
	u32 i;

	for (i = 0; i < WEFT_FLOWS; i++) {
		if (udp->flow[i] >= 0)
			close(udp->flow[i]);
		if (udp->holder[i] >= 0)
			close(udp->holder[i]);
	}
	free(udp->in);
	free(udp->out);
	udp->in = NULL;
	udp->out = NULL;
}

/* --- datagrams -------------------------------------------------------------- */

u8 *udp_buffer(struct udp *udp)
{
	if (udp->messages == UDP_BATCH)
		udp_flush(udp);
	return udp->out->buf[udp->messages];
}

/* Does a message of @len bytes fit behind what the last datagram has? */
static bool fits_last(const struct udp *udp, u32 addr, u32 flow, size_t len, bool joins)
{
	u32 last = udp->datagrams - 1;

	return joins && udp->datagrams && udp->last_joins && udp->last_flow == flow &&
	       udp->last_len + len <= udp->longest &&
	       udp->out->addr[last].sin_addr.s_addr == htonl(addr);
}

void udp_send(struct udp *udp, u32 addr, u32 flow, size_t len, bool joins)
{
	struct udp_batch *b = udp->out;
	u32 i = udp->messages++, d;

	b->iov[i].iov_len = len;
	if (fits_last(udp, addr, flow, len, joins)) {
		b->msg[udp->datagrams - 1].msg_hdr.msg_iovlen++;
		udp->last_len += len;
	} else {
		d = udp->datagrams++;
		b->msg[d].msg_hdr.msg_iov = &b->iov[i];
		b->msg[d].msg_hdr.msg_iovlen = 1;
		b->addr[d].sin_addr.s_addr = htonl(addr);
		b->addr[d].sin_port = htons(udp->port);
		b->flow[d] = (u8)flow;
		udp->last_len = len;
		udp->sent++;
	}
	udp->last_flow = flow;
	udp->last_joins = joins;
	udp->sent_bytes += len;
	if (udp->messages == UDP_BATCH)
		udp_flush(udp);
}

/* Any datagram may be lost, so what the kernel does not take is. */
static void flush_flow(struct udp *udp, int fd, struct mmsghdr *msg, u32 n)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	u32 i = 0;
	int sent;

	while (i < n) {
		sent = sendmmsg(fd, msg + i, n - i, MSG_DONTWAIT);
		if (sent > 0) {
			i += (u32)sent;
		} else if (errno == EAGAIN && poll(&p, 1, PATIENCE_MS) > 0) {
			continue;
		} else if (errno != EINTR) {
			udp->dropped++;
			i++;
		}
	}
}

/* By one flow after the other: a system call for each that is in use, mostly one or two. */
void udp_flush(struct udp *udp)
{
	struct udp_batch *b = udp->out;
	struct mmsghdr msg[UDP_BATCH];
	u32 i, n, flow, left = 0;

	/* drop answers that were decided on before this process stood still */
	if (udp->until && clock_ns(CLOCK_BOOTTIME) / NS_IN_MS >= *udp->until) {
		udp->dropped += udp->datagrams;
		udp->datagrams = 0;
	}
	for (i = 0; i < udp->datagrams; i++)
		left |= 1u << b->flow[i];
	for (flow = 0; udp->fd >= 0 && left; flow++, left >>= 1) {
		if (!(left & 1))
			continue;
		for (i = 0, n = 0; i < udp->datagrams; i++)
			if (b->flow[i] == flow)
				msg[n++] = b->msg[i];
		flush_flow(udp, udp->flow[flow], msg, n);
	}
	udp->messages = 0;
	udp->datagrams = 0;
}

u64 udp_not_received(const struct udp *udp)
{
	u32 info[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(info);

	if (udp->fd < 0 || getsockopt(udp->fd, SOL_SOCKET, SO_MEMINFO, info, &len))
		return 0;
	return info[SK_MEMINFO_DROPS];
}

int udp_receive(struct udp *udp, struct memd *m, const struct udp_taker *t)
{
	struct udp_batch *b = udp->in;
	u64 about[UDP_BATCH];
	int i, far, near, n;

	for (i = 0; i < UDP_BATCH; i++)
		b->msg[i].msg_hdr.msg_namelen = sizeof(b->addr[i]);
	n = recvmmsg(udp->fd, b->msg, UDP_BATCH, MSG_DONTWAIT, NULL);
	for (i = -UDP_FAR; i < n; i++) {
		far = i + UDP_FAR;
		if (far < n)
			about[far] = t->far(m, b->buf[far], b->msg[far].msg_len);
		near = i + UDP_NEAR;
		if (near >= 0 && near < n && about[near])
			t->near(m, about[near]);
		if (i >= 0 && !(b->msg[i].msg_hdr.msg_flags & MSG_TRUNC))
			t->take(m, b->buf[i], b->msg[i].msg_len,
				ntohl(b->addr[i].sin_addr.s_addr),
				ntohs(b->addr[i].sin_port));
	}
	return n > 0 ? n : 0;
}
