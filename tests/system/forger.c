// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends messages that it has no right to send, as a user without privileges (number
 * 65534), or as root, who may do what no other may.
 *
 *	system-forger user WHAT REGION NAME TO MEMBER=ADDRESS...
 *	system-forger [--key FILE] root WHAT REGION NAME TO MEMBER=ADDRESS...
 *	system-forger record SECONDS MESSAGES >RECORD
 *	system-forger replay <RECORD
 *
 * WHAT: "open" sets the mode of the region to 0666, "unlink" removes its name, "types" is
 * one message of each type about the region.  To TO, and for a user also to the group and
 * to this machine itself, each in the name of all the MEMBERs and, where the kernel lets
 * a user do so, from their addresses.
 *
 * A user tries all the ways there are to send from the rack's port: other addresses, other
 * devices, IPv6, sharing it.  One line says how many messages left this machine and how
 * many of them from that port.  Root makes the IP header, too, and with --key a tag: what
 * time it is in the rack, the first tagged message says that passes here; 0 if there is none.
 *
 * "record" keeps what this machine sends to and gets at the rack's port for some seconds,
 * up to so many messages, and "replay" sends it once more, from and to the same addresses.
 * Each says which types of messages it has seen.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "call.h"
#include "flow.h"
#include "tests/common/argument.h"
#include "tools/common/clock.h"
#include "tools/common/random.h"
#include "types.h"
#include "weft_wire.h"
#include "wire.h"

#define NOBODY		65534
#define MEMBERS		8
#define BLOCK		4096
#define FRAGMENT	1024
#define LINES		4
#define LONGEST		(WEFT_WIRE_HDR_LEN + WEFT_CALL_LEN_MAX + FRAGMENT + \
			 WEFT_WIRE_TRAILER_LEN)
#define PAUSE_US	200	/* guests are slow */
#define TRIES		4	/* of a call, spread over all numbers there are */
#define HEARD_MAX	9000	/* bytes of a datagram */
#define HEAR_MS		3000	/* for the first tagged message: members call each second */

struct member {
	u8 id;
	in_addr_t addr;
};

/* What is sent, and in whose name. */
struct attack {
	const char *what;
	u32 region;
	const char *name;
	in_addr_t to;
	struct member members[MEMBERS];
	int n;
};

static unsigned long sent, from_port;
static uint64_t random_state;
static struct weft_key key;
static struct weft_stamp now;

static const u8 types[] = {
	WEFT_MSG_GETS, WEFT_MSG_GETM, WEFT_MSG_PUT, WEFT_MSG_COMMIT, WEFT_MSG_ABORT,
	WEFT_MSG_QUERY, WEFT_MSG_ADD, WEFT_MSG_REMOVE, WEFT_MSG_DROP, WEFT_MSG_MEMBERS,
	WEFT_MSG_COUNT, WEFT_MSG_ACQUIRE, WEFT_MSG_HAND, WEFT_MSG_PASS, WEFT_MSG_INV,
	WEFT_MSG_FWD, WEFT_MSG_READ, WEFT_MSG_GRANT, WEFT_MSG_NACK, WEFT_MSG_COMMIT_ACK,
	WEFT_MSG_INFO, WEFT_MSG_ADD_ACK, WEFT_MSG_REMOVE_ACK, WEFT_MSG_DROP_ACK,
	WEFT_MSG_MEMBERS_ACK, WEFT_MSG_COUNT_ACK, WEFT_MSG_ENQUEUE, WEFT_MSG_HANDED,
	WEFT_MSG_PASSED, WEFT_MSG_DATA, WEFT_MSG_INV_ACK, WEFT_MSG_WB, WEFT_MSG_WB_ACK,
	WEFT_MSG_CHASE, WEFT_MSG_HAND_ACK, WEFT_MSG_CALL, WEFT_MSG_REPLY,
};

/* --- messages ---------------------------------------------------------------- */

static u32 make_call(const struct attack *a, u16 op, u8 member, u8 *payload)
{
	static struct weft_call call;

	memset(&call, 0, sizeof(call));
	call.op = op;
	call.node = member;
	call.region = a->region;
	call.valid = WEFT_SET_MODE;
	call.mode = 0666;
	if (op == WEFT_CALL_UNLINK) {
		call.name_len = (u16)strlen(a->name);
		memcpy(call.name, a->name, call.name_len);
	}
	return weft_call_pack(&call, payload);
}

static size_t make(const struct attack *a, u8 type, u16 op, u8 member, u32 turn, u8 *buf)
{
	u8 *payload = buf + WEFT_WIRE_HDR_LEN;
	struct weft_msg m = {
		.type = type, .src = member, .status = WEFT_M,
		.txn = weft_txn(member, turn << 24 | (u32)random_below(&random_state, 1 << 24)),
		.line = weft_line_key(a->region, WEFT_KIND_PAGE, turn % LINES),
		.copyset = 7, .provider = 1, .version = 1000, .grant = random_u32(&random_state),
		.nonce = random_u32(&random_state), .size = BLOCK, .info = FRAGMENT,
	};

	if (weft_msg_has_data(type)) {
		m.len = FRAGMENT;
		memset(payload, 0x66, m.len);
	} else if (type == WEFT_MSG_CALL || type == WEFT_MSG_REPLY) {
		m.len = make_call(a, op, member, payload);
	}
	m.payload = m.len ? payload : NULL;
	return weft_wire_pack(&m, buf, &key, now);
}

/* --- a user ------------------------------------------------------------------ */

/* How a socket is made. */
static const struct way {
	const char *name;
	bool v6, share;
	in_addr_t bind;		/* network byte order */
	u16 port;
	const char *device;
} ways[] = {
	{ "any port", .port = 0 },
	{ "the port", .port = WEFT_WIRE_UDP_PORT },
	{ "the port, shared", .port = WEFT_WIRE_UDP_PORT, .share = true },
	{ "the port of 127.0.0.1", .port = WEFT_WIRE_UDP_PORT, .share = true, .bind = 1 },
	{ "the port of lo", .port = WEFT_WIRE_UDP_PORT, .share = true, .device = "lo" },
	{ "the port of IPv6", .port = WEFT_WIRE_UDP_PORT, .share = true, .v6 = true },
	{ "a flow's port", .port = WEFT_WIRE_UDP_PORT + 1, .share = true },
	{ "the last flow's, of lo", .port = WEFT_WIRE_UDP_PORT + WEFT_FLOWS - 1, .share = true,
	  .device = "lo" },
	{ "a flow's, of IPv6", .port = WEFT_WIRE_UDP_PORT + 4, .share = true, .v6 = true },
};

static int open_way(const struct way *w)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(w->port),
		.sin_addr.s_addr = htonl(w->bind ? INADDR_LOOPBACK : INADDR_ANY) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(w->port) };
	int fd = socket(w->v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0), one = 1, zero = 0;

	if (fd < 0)
		return -1;
	if (w->share) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	}
	if (w->v6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if ((w->device && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, w->device,
				     (socklen_t)strlen(w->device) + 1)) ||
	    (w->v6 ? bind(fd, (struct sockaddr *)&in6, sizeof(in6)) :
		     bind(fd, (struct sockaddr *)&in, sizeof(in)))) {
		fprintf(stderr, "%s: %s\n", w->name, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

/* From @from by interface @ifindex, if the kernel lets us; 0: as it likes. */
static void send_user(int fd, const struct way *w, in_addr_t from, unsigned int ifindex,
		      in_addr_t to, const void *buf, size_t len)
{
	union {
		char room[CMSG_SPACE(sizeof(struct in_pktinfo))];
		struct cmsghdr align;
	} control = { .room = { 0 } };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = to,
		.sin_port = htons(WEFT_WIRE_UDP_PORT) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		.sin6_port = htons(WEFT_WIRE_UDP_PORT) };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
	struct msghdr m = { .msg_name = &in, .msg_namelen = sizeof(in), .msg_iov = &iov,
		.msg_iovlen = 1 };
	struct in_pktinfo info = { .ipi_ifindex = (int)ifindex, .ipi_spec_dst.s_addr = from };
	struct cmsghdr *c;

	if (w->v6) {
		in6.sin6_addr.s6_addr[10] = in6.sin6_addr.s6_addr[11] = 0xFF;
		memcpy(in6.sin6_addr.s6_addr + 12, &to, sizeof(to));
		m.msg_name = &in6;
		m.msg_namelen = sizeof(in6);
	} else if (from || ifindex) {
		m.msg_control = control.room;
		m.msg_controllen = sizeof(control.room);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = IPPROTO_IP;
		c->cmsg_type = IP_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(c), &info, sizeof(info));
	}
	if (sendmsg(fd, &m, 0) != (ssize_t)len)
		return;
	sent++;
	from_port += !!w->port;
}

static void by_user(const struct attack *a, const struct member *as, const void *buf,
		    size_t len)
{
	static int fds[sizeof(ways) / sizeof(*ways)];
	in_addr_t to[] = { a->to, htonl(WEFT_WIRE_GROUP), htonl(INADDR_LOOPBACK) };
	in_addr_t from[] = { 0, as->addr };
	unsigned int devices[] = { 0, if_nametoindex("eth0"), if_nametoindex("lo") };

	for (size_t w = 0; w < sizeof(ways) / sizeof(*ways); w++) {
		if (!fds[w])
			fds[w] = open_way(&ways[w]);
		for (size_t i = 0; i < 3 * 2 * 3 && fds[w] > 0; i++)
			send_user(fds[w], &ways[w], from[i / 3 % 2], devices[i % 3], to[i / 6],
				  buf, len);
	}
	usleep(PAUSE_US);
}

/* --- root -------------------------------------------------------------------- */

static void fatal(const char *what)
{
	fprintf(stderr, "system-forger: cannot %s: %s\n", what, strerror(errno));
	exit(1);
}

static void send_raw(in_addr_t from, in_addr_t to, const void *buf, size_t len)
{
	static u8 packet[sizeof(struct iphdr) + sizeof(struct udphdr) + HEARD_MAX];
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = to };
	struct udphdr udp = {
		.source = htons(WEFT_WIRE_UDP_PORT), .dest = htons(WEFT_WIRE_UDP_PORT),
		.len = htons((u16)(sizeof(udp) + len)),
	};
	struct iphdr ip = {	/* the kernel fills in lengths and sum */
		.version = 4, .ihl = sizeof(ip) / 4, .ttl = 64, .protocol = IPPROTO_UDP,
		.frag_off = htons(IP_DF), .saddr = from, .daddr = to,
	};
	static int fd;

	if (!fd) {
		struct ip_mreqn group = { .imr_ifindex = (int)if_nametoindex("eth0") };

		fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
		setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &group, sizeof(group));
	}
	memcpy(packet, &ip, sizeof(ip));
	memcpy(packet + sizeof(ip), &udp, sizeof(udp));
	memcpy(packet + sizeof(ip) + sizeof(udp), buf, len);
	len += sizeof(ip) + sizeof(udp);
	if (sendto(fd, packet, len, 0, (struct sockaddr *)&in, sizeof(in)) != (ssize_t)len)
		fatal("send as root");
	sent++;
	from_port++;
	usleep(PAUSE_US);
}

static void by_root(const struct attack *a, const struct member *as, const void *buf,
		    size_t len)
{
	send_raw(as->addr, a->to, buf, len);
}

/* --- what others send -------------------------------------------------------- */

/* One datagram; its bytes follow it in a record. */
struct heard {
	in_addr_t from, to;
	u32 len;
};

/* All packets that come and go. */
static int open_tap(void)
{
	struct timeval limit = { .tv_usec = 100000 };
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL)), room = 32 << 20;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		fatal("listen as root");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	return fd;
}

/* Return: whether the next packet is a datagram to the rack's port, whole. */
static bool hear(int fd, struct heard *h, u8 data[HEARD_MAX])
{
	static u8 packet[1 << 16];
	ssize_t n = recv(fd, packet, sizeof(packet), 0);
	struct udphdr udp;
	struct iphdr ip;

	if (n < (ssize_t)(sizeof(ip) + sizeof(udp)))
		return false;
	memcpy(&ip, packet, sizeof(ip));
	memcpy(&udp, packet + sizeof(ip), sizeof(udp));
	if (ip.version != 4 || ip.ihl != sizeof(ip) / 4 || ip.protocol != IPPROTO_UDP ||
	    ip.frag_off & htons(IP_MF | IP_OFFMASK) ||
	    udp.dest != htons(WEFT_WIRE_UDP_PORT) || (u16)(ntohs(udp.source) - WEFT_WIRE_UDP_PORT) >= WEFT_FLOWS)
		return false;
	h->from = ip.saddr;
	h->to = ip.daddr;
	h->len = ntohs(udp.len) - (u32)sizeof(udp);
	if (ntohs(udp.len) < sizeof(udp) + WEFT_WIRE_HDR_LEN || h->len > HEARD_MAX ||
	    sizeof(ip) + sizeof(udp) + h->len > (size_t)n)
		return false;
	memcpy(data, packet + sizeof(ip) + sizeof(udp), h->len);
	return true;
}

/* By the rack's clock: whoever has no key, or another one, can read that, too. */
static void hear_time(void)
{
	u64 end = now_ms() + HEAR_MS;
	static u8 data[HEARD_MAX];
	int fd = open_tap();
	struct weft_msg m;
	struct heard h;

	while (now_ms() < end) {
		if (hear(fd, &h, data) &&
		    weft_wire_unpack(&m, data, h.len, NULL) == -EKEYREJECTED &&
		    m.stamp.epoch) {
			now = m.stamp;
			close(fd);
			return;
		}
	}
	fprintf(stderr, "nobody says what time it is in the rack\n");
	close(fd);
}

static void read_key(const char *path, struct weft_key *k)
{
	char text[WEFT_KEY_TEXT + 1];
	u8 bytes[WEFT_KEY_LEN];
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text)) != sizeof(text) ||
	    weft_key_parse(bytes, text, sizeof(text)))
		fatal("read the key");
	close(fd);
	weft_key_init(k, bytes);
}

static void print_seen(const unsigned long *seen)
{
	for (unsigned int i = 0; i < 256; i++)
		if (seen[i])
			fprintf(stderr, " %s %lu", weft_msg_name((u8)i), seen[i]);
	fprintf(stderr, "\n");
}

static int record(unsigned int seconds, unsigned long most)
{
	u64 end = now_ms() + seconds * 1000ull;
	unsigned long seen[256] = { 0 };
	static u8 data[HEARD_MAX];
	int fd = open_tap();
	struct heard h;

	for (unsigned long n = 0; n < most && now_ms() < end; ) {
		if (!hear(fd, &h, data))
			continue;
		if (!fwrite(&h, sizeof(h), 1, stdout) || !fwrite(data, h.len, 1, stdout))
			fatal("write the record");
		seen[data[2]]++;
		n++;
	}
	if (fflush(stdout))
		fatal("write the record");
	print_seen(seen);
	return 0;
}

static int replay(void)
{
	unsigned long seen[256] = { 0 };
	static u8 data[HEARD_MAX];
	struct heard h;

	while (fread(&h, sizeof(h), 1, stdin)) {
		if (h.len > sizeof(data) || !fread(data, h.len, 1, stdin))
			fatal("read the record");
		send_raw(h.from, h.to, data, h.len);
		seen[data[2]]++;
	}
	print_seen(seen);
	return 0;
}

/* --- */

static void run(const struct attack *a, bool root)
{
	bool all = !strcmp(a->what, "types");
	u16 op = !strcmp(a->what, "unlink") ? WEFT_CALL_UNLINK : WEFT_CALL_SETATTR;
	static u8 buf[LONGEST];

	for (size_t t = 0; t < sizeof(types); t++) {
		if (!all && types[t] != WEFT_MSG_CALL)
			continue;
		for (u32 i = 0; i < (u32)a->n * TRIES; i++) {
			const struct member *as = &a->members[i / TRIES];
			size_t len = make(a, types[t], op, as->id, i % TRIES, buf);

			(root ? by_root : by_user)(a, as, buf, len);
		}
	}
}

static int usage(void)
{
	fprintf(stderr, "usage: system-forger [--key FILE] user|root open|unlink|types REGION NAME TO MEMBER=ADDRESS...\n"
		"       system-forger record SECONDS MESSAGES >RECORD\n"
		"       system-forger replay <RECORD\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct attack a = { 0 };
	bool root;

	if (argc == 4 && !strcmp(argv[1], "record"))
		return record(argument_u32(argv[2]), argument(argv[3], 1, UINT64_MAX));
	if (argc == 2 && !strcmp(argv[1], "replay"))
		return replay();
	if (argc > 3 && !strcmp(argv[1], "--key")) {
		read_key(argv[2], &key);
		argv += 2;
		argc -= 2;
	}
	root = argc > 1 && !strcmp(argv[1], "root");
	if (argc < 7 || argc - 6 > MEMBERS || (!root && strcmp(argv[1], "user") != 0))
		return usage();
	a.what = argv[2];
	a.region = argument_u32(argv[3]);
	a.name = argv[4];
	a.to = inet_addr(argv[5]);
	for (int i = 6; i < argc; i++) {
		char *addr = strchr(argv[i], '=');

		if (!addr)
			return usage();
		*addr = '\0';
		a.members[a.n].id = (u8)argument(argv[i], 1, WEFT_BLADE_MAX);
		a.members[a.n++].addr = inet_addr(addr + 1);
	}
	random_state = clock_ns(CLOCK_REALTIME);
	if (key.set)
		hear_time();
	if (!root && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		      setresuid(NOBODY, NOBODY, NOBODY))) {
		perror("system-forger: cannot become a user without privileges");
		return 1;
	}
	run(&a, root);
	printf("%lu sent, %lu of them from the port\n", sent, from_port);
	return 0;
}
