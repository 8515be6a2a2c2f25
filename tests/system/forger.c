// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends messages that it has no right to send, as a user without privileges (number
 * 65534), or as root, who may do what no other may.
 *
 *	system-forger user WHAT REGION NAME TO MEMBER=ADDRESS...
 *	system-forger root WHAT REGION NAME TO MEMBER=ADDRESS
 *
 * WHAT: "open" sets the mode of the region to 0666, "unlink" removes its name, "types" is
 * one message of each type about the region.  To TO, and for a user also to the group and
 * to this machine itself, each in the name of all the MEMBERs and, where the kernel lets
 * a user do so, from their addresses.
 *
 * A user tries all the ways there are to send from the rack's port: other addresses, other
 * devices, IPv6, sharing it.  One line says how many messages left this machine and how
 * many of them from that port.  Root makes the IP header, too.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
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
#include "types.h"
#include "weft_wire.h"
#include "wire.h"

#define NOBODY		65534
#define MEMBERS		8
#define BLOCK		4096
#define FRAGMENT	1024
#define LINES		4
#define LONGEST		(WEFT_WIRE_HDR_LEN + WEFT_CALL_LEN_MAX + FRAGMENT)
#define PAUSE_US	200	/* guests are slow */
#define TRIES		4	/* of a call, spread over all numbers there are */

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

static const u8 types[] = {
	WEFT_MSG_GETS, WEFT_MSG_GETM, WEFT_MSG_PUT, WEFT_MSG_COMMIT, WEFT_MSG_ABORT,
	WEFT_MSG_QUERY, WEFT_MSG_ADD, WEFT_MSG_REMOVE, WEFT_MSG_DROP, WEFT_MSG_MEMBERS,
	WEFT_MSG_COUNT, WEFT_MSG_ACQUIRE, WEFT_MSG_HAND, WEFT_MSG_PASS, WEFT_MSG_INV,
	WEFT_MSG_FWD, WEFT_MSG_READ, WEFT_MSG_GRANT, WEFT_MSG_NACK, WEFT_MSG_COMMIT_ACK,
	WEFT_MSG_INFO, WEFT_MSG_ADD_ACK, WEFT_MSG_REMOVE_ACK, WEFT_MSG_DROP_ACK,
	WEFT_MSG_MEMBERS_ACK, WEFT_MSG_COUNT_ACK, WEFT_MSG_ENQUEUE, WEFT_MSG_HANDED,
	WEFT_MSG_PASSED, WEFT_MSG_DATA, WEFT_MSG_INV_ACK, WEFT_MSG_WB, WEFT_MSG_WB_ACK,
	WEFT_MSG_DONE, WEFT_MSG_CHASE, WEFT_MSG_HAND_ACK, WEFT_MSG_CALL, WEFT_MSG_REPLY,
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
		.txn = weft_txn(member, turn << 24 | (u32)rand() % (1 << 24)),
		.line = weft_line_key(a->region, WEFT_KIND_PAGE, turn % LINES),
		.copyset = 7, .provider = 1, .version = 1000, .grant = (u32)rand(),
		.nonce = (u32)rand(), .size = BLOCK, .info = FRAGMENT,
	};

	if (weft_msg_has_data(type)) {
		m.len = FRAGMENT;
		memset(payload, 0x66, m.len);
	} else if (type == WEFT_MSG_CALL || type == WEFT_MSG_REPLY) {
		m.len = make_call(a, op, member, payload);
	}
	m.payload = m.len ? payload : NULL;
	return weft_wire_pack_plain(&m, buf);
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
	from_port += w->port == WEFT_WIRE_UDP_PORT;
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

static void by_root(const struct attack *a, const struct member *as, const void *buf,
		    size_t len)
{
	static u8 packet[sizeof(struct iphdr) + sizeof(struct udphdr) + LONGEST];
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = a->to };
	struct udphdr udp = {
		.source = htons(WEFT_WIRE_UDP_PORT), .dest = htons(WEFT_WIRE_UDP_PORT),
		.len = htons((u16)(sizeof(udp) + len)),
	};
	struct iphdr ip = {	/* the kernel fills in lengths and sum */
		.version = 4, .ihl = sizeof(ip) / 4, .ttl = 64, .protocol = IPPROTO_UDP,
		.frag_off = htons(IP_DF), .saddr = as->addr, .daddr = a->to,
	};
	static int fd;

	if (!fd)
		fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	memcpy(packet, &ip, sizeof(ip));
	memcpy(packet + sizeof(ip), &udp, sizeof(udp));
	memcpy(packet + sizeof(ip) + sizeof(udp), buf, len);
	len += sizeof(ip) + sizeof(udp);
	if (sendto(fd, packet, len, 0, (struct sockaddr *)&in, sizeof(in)) != (ssize_t)len) {
		perror("system-forger: cannot send as root");
		exit(1);
	}
	sent++;
	from_port++;
	usleep(PAUSE_US);
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
	fprintf(stderr, "usage: system-forger user|root open|unlink|types REGION NAME TO MEMBER=ADDRESS...\n");
	return 2;
}

int main(int argc, char **argv)
{
	bool root = argc > 1 && !strcmp(argv[1], "root");
	struct attack a = { 0 };

	if (argc < 7 || argc - 6 > MEMBERS || (!root && strcmp(argv[1], "user") != 0))
		return usage();
	a.what = argv[2];
	a.region = (u32)strtoul(argv[3], NULL, 0);
	a.name = argv[4];
	a.to = inet_addr(argv[5]);
	for (int i = 6; i < argc; i++) {
		char *addr = strchr(argv[i], '=');

		if (!addr)
			return usage();
		a.members[a.n].id = (u8)atoi(argv[i]);
		a.members[a.n++].addr = inet_addr(addr + 1);
	}
	srand((unsigned int)time(NULL));
	if (!root && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		      setresuid(NOBODY, NOBODY, NOBODY))) {
		perror("system-forger: cannot become a user without privileges");
		return 1;
	}
	run(&a, root);
	printf("%lu sent, %lu of them from the port\n", sent, from_port);
	return 0;
}
