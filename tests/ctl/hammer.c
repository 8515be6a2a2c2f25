// SPDX-License-Identifier: GPL-2.0-only
/*
 * Throws requests at the netlink family that make no sense, and some that nearly
 * do.  Uses no library, so that nothing in between sets them right.
 *
 *	ctl-hammer COUNT SEED
 *
 * Every request that can have an answer must get one, and a good request between
 * them must always be served.  That nothing else happens the kernel log has to
 * say.  Exit status 0 if all is well.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/common/argument.h"
#include "tools/common/random.h"
#include "weft_netlink.h"

#define WAIT_SECONDS	20
#define CHECK_EVERY	64	/* requests between two good ones */

/* A request being put together. */
struct request {
	union {
		struct nlmsghdr h;
		uint8_t bytes[2048];
	};
};

static int sock;
static uint16_t family;
static uint32_t seq;
static uint64_t state;

/* The racks that the machine is in, as RACK_GET said last. */
static uint32_t racks[WEFT_RACKS_MAX];
static uint32_t n_racks, most_racks;

static uint64_t accepted, lists, refused[256];

static void die(const char *what)
{
	fprintf(stderr, "ctl-hammer: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint32_t draw(uint32_t below)
{
	return (uint32_t)random_below(&state, below);
}

static bool chance(uint32_t percent)
{
	return draw(100) < percent;
}

/* --- Putting requests together ------------------------------------------- */

static void begin(struct request *r, uint16_t type, uint8_t cmd, uint16_t flags)
{
	struct genlmsghdr g = { .cmd = cmd, .version = WEFT_GENL_VERSION };

	memset(r, 0, sizeof(*r));
	r->h.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	r->h.nlmsg_type = type;
	r->h.nlmsg_flags = NLM_F_REQUEST | flags;
	r->h.nlmsg_seq = ++seq;
	memcpy(NLMSG_DATA(&r->h), &g, sizeof(g));
}

static void put(struct request *r, uint16_t type, const void *data, uint16_t len)
{
	struct nlattr a = { .nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type };

	if (r->h.nlmsg_len + NLA_ALIGN(a.nla_len) > sizeof(r->bytes))
		return;
	memcpy(r->bytes + r->h.nlmsg_len, &a, sizeof(a));
	memcpy(r->bytes + r->h.nlmsg_len + NLA_HDRLEN, data, len);
	r->h.nlmsg_len += NLA_ALIGN(a.nla_len);
}

static void put_u32(struct request *r, uint16_t type, uint32_t value)
{
	put(r, type, &value, sizeof(value));
}

/* Values at the borders more often than others. */
static uint32_t draw_u32(void)
{
	static const uint32_t borders[] = {
		0, 1, 32, 33, 34, 48, 49, 99, 100, 1499, 1500, 9000, 9001, 10000,
		10001, 3600000, 3600001, 0x7fffffff, 0x80000000, 0xffffffff,
		0x0100007f, 0xe0000000, 0x000000e0,
	};

	return chance(70) ? borders[draw(sizeof(borders) / sizeof(borders[0]))] :
	       draw(UINT32_MAX);
}

static void put_random(struct request *r)
{
	uint8_t data[300];
	/* the greatest that a request may have is RACK of a lock */
	uint16_t type = (uint16_t)draw(WEFT_A_LOCK_RACK + 3), len;
	uint32_t i;

	if (chance(5))
		type |= NLA_F_NESTED;
	if (chance(5))
		type |= NLA_F_NET_BYTEORDER;
	if (chance(2))
		type = (uint16_t)draw(UINT16_MAX);
	if (chance(60)) {
		put_u32(r, type, draw_u32());
		return;
	}
	len = (uint16_t)draw(chance(10) ? sizeof(data) : 20);
	for (i = 0; i < len; i++)
		data[i] = (uint8_t)draw(256);
	if (chance(20))
		len = (uint16_t)snprintf((char *)data, sizeof(data), "lo") + 1;
	put(r, type, data, len);
}

/* CONFIG_SET as it should be, before it is spoilt. */
static void put_config(struct request *r)
{
	put_u32(r, WEFT_A_CONFIG_ID, 1 + draw(32));
	put(r, WEFT_A_CONFIG_IFNAME, "lo", 3);
	put_u32(r, WEFT_A_CONFIG_HOME, 0x6500000a);
}

static void spoil(struct request *r)
{
	uint32_t i, flips = 1 + draw(4);
	struct nlattr *first = (void *)(r->bytes + NLMSG_HDRLEN + GENL_HDRLEN);

	if (chance(30) && r->h.nlmsg_len > NLMSG_HDRLEN + GENL_HDRLEN)
		first->nla_len = (uint16_t)draw(chance(50) ? 12 : UINT16_MAX);
	if (chance(30)) {
		/* The header stays, so that there is an answer to wait for. */
		for (i = 0; i < flips; i++)
			r->bytes[NLMSG_HDRLEN + draw(r->h.nlmsg_len - NLMSG_HDRLEN)] ^=
				(uint8_t)(1u << draw(8));
	}
	if (chance(10))
		r->h.nlmsg_len = NLMSG_HDRLEN + draw(r->h.nlmsg_len - NLMSG_HDRLEN);
}

static void make_random(struct request *r)
{
	uint8_t cmd = (uint8_t)draw(chance(95) ? WEFT_CMD_MAX + 2 : 256);
	uint16_t flags = NLM_F_ACK;
	uint32_t i, n = chance(30) ? 0 : draw(5);

	/* Lists are asked for as lists, mostly. */
	if ((cmd >= WEFT_CMD_STATS_GET) != chance(10))
		flags |= NLM_F_DUMP;
	if (chance(5))
		flags |= (uint16_t)(draw(16) << 8);
	begin(r, family, cmd, flags);
	if (chance(cmd == WEFT_CMD_CONFIG_SET ? 80 : 5))
		put_config(r);
	for (i = 0; i < n; i++)
		put_random(r);
	if (chance(40))
		spoil(r);
}

/* --- Asking -------------------------------------------------------------- */

static void send_request(const struct request *r)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	if (sendto(sock, r, r->h.nlmsg_len, 0, (struct sockaddr *)&kernel,
		   sizeof(kernel)) < 0)
		die("cannot send");
}

static void note_rack(const struct nlmsghdr *h)
{
	const uint8_t *p = (const uint8_t *)h;
	uint32_t at = NLMSG_HDRLEN + GENL_HDRLEN;
	struct nlattr a;

	for (; at + sizeof(a) <= h->nlmsg_len; at += NLA_ALIGN(a.nla_len)) {
		memcpy(&a, p + at, sizeof(a));
		if (a.nla_len < sizeof(a))
			break;
		if (a.nla_type == WEFT_A_CONFIG_RACK && n_racks < WEFT_RACKS_MAX)
			memcpy(&racks[n_racks++], p + at + NLA_HDRLEN, sizeof(racks[0]));
	}
}

/* One message of an answer.  Return: whether it is the last; result in *err. */
static bool take(struct nlmsghdr *h, int *err)
{
	if (h->nlmsg_seq != seq)
		return false;
	if (h->nlmsg_type != NLMSG_ERROR && h->nlmsg_type != NLMSG_DONE) {
		if (((struct genlmsghdr *)NLMSG_DATA(h))->cmd == WEFT_CMD_RACK_GET)
			note_rack(h);
		return false;
	}
	memcpy(err, NLMSG_DATA(h), sizeof(*err));
	if (h->nlmsg_type == NLMSG_DONE)
		lists++;
	return true;
}

/* Waits for the end of the answer to the last request.  Return: its errno. */
static int receive(void)
{
	static union {
		struct nlmsghdr h;
		uint8_t bytes[65536];
	} buf;
	struct nlmsghdr *h;
	ssize_t n;
	int err = 0;

	for (;;) {
		n = recv(sock, &buf, sizeof(buf), 0);
		if (n < 0)
			die("no answer");
		for (h = &buf.h; n >= (ssize_t)sizeof(*h) && NLMSG_OK(h, n);
		     h = NLMSG_NEXT(h, n)) {
			if (take(h, &err))
				return err;
		}
	}
}

static void find_family(void)
{
	struct request r;
	uint8_t bytes[4096];
	struct nlmsghdr *h = (void *)bytes;
	uint32_t at = NLMSG_HDRLEN + GENL_HDRLEN;
	struct nlattr a;
	ssize_t n;

	begin(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	put(&r, CTRL_ATTR_FAMILY_NAME, WEFT_GENL_NAME, sizeof(WEFT_GENL_NAME));
	send_request(&r);
	n = recv(sock, bytes, sizeof(bytes), 0);
	if (n < (ssize_t)NLMSG_HDRLEN || h->nlmsg_type == NLMSG_ERROR) {
		errno = ENOENT;
		die("no family " WEFT_GENL_NAME);
	}
	for (; at + sizeof(a) <= (size_t)n; at += NLA_ALIGN(a.nla_len)) {
		memcpy(&a, bytes + at, sizeof(a));
		if (a.nla_type == CTRL_ATTR_FAMILY_ID)
			memcpy(&family, bytes + at + NLA_HDRLEN, sizeof(family));
		if (a.nla_len < sizeof(a))
			break;
	}
	if (!family)
		die("no id of the family");
}

static void ask_served(const struct request *r)
{
	int err;

	send_request(r);
	err = receive();
	if (err) {
		errno = -err;
		die("a good request was refused");
	}
}

/* A good request is served whatever came before; of several racks it says which. */
static void check_served(void)
{
	struct request r;

	n_racks = 0;
	begin(&r, family, WEFT_CMD_RACK_GET, NLM_F_DUMP);
	ask_served(&r);
	if (n_racks > most_racks)
		most_racks = n_racks;
	begin(&r, family, WEFT_CMD_STATS_GET, NLM_F_DUMP);
	if (n_racks)
		put_u32(&r, WEFT_A_COUNTER_RACK, racks[draw(n_racks)]);
	ask_served(&r);
}

/*
 * What is just outside the limits of an attribute is refused for that, what is
 * just inside is not.  Only who may change the node gets that far.
 */
static void check_limits(void)
{
	static const struct {
		uint16_t attr;
		uint32_t inside, outside;
	} limits[] = {
		{ WEFT_A_CONFIG_ID, 1, 0 }, { WEFT_A_CONFIG_ID, 32, 33 },
		{ WEFT_A_CONFIG_TIMEOUT_MS, WEFT_TIMEOUT_MS_MIN, WEFT_TIMEOUT_MS_MIN - 1 },
		{ WEFT_A_CONFIG_TIMEOUT_MS, WEFT_TIMEOUT_MS_MAX, WEFT_TIMEOUT_MS_MAX + 1 },
		{ WEFT_A_CONFIG_HOLD_US, WEFT_HOLD_US_MAX, WEFT_HOLD_US_MAX + 1 },
		{ WEFT_A_CONFIG_MTU, 1500, 1499 }, { WEFT_A_CONFIG_MTU, 9000, 9001 },
		{ WEFT_A_CONFIG_MTU, 1500, 1280 }, { WEFT_A_CONFIG_MTU, 9000, 9216 },
	};
	struct request r;
	size_t i;
	int err;

	for (i = 0; i < 2 * sizeof(limits) / sizeof(limits[0]); i++) {
		bool outside = i & 1;

		begin(&r, family, WEFT_CMD_CONFIG_SET, NLM_F_ACK);
		put_config(&r);
		put_u32(&r, limits[i / 2].attr,
			outside ? limits[i / 2].outside : limits[i / 2].inside);
		send_request(&r);
		err = receive();
		if (err == -EPERM)
			return;
		if ((err == -ERANGE) != outside) {
			fprintf(stderr, "ctl-hammer: attribute %u: %u is answered by '%s'\n",
				limits[i / 2].attr,
				outside ? limits[i / 2].outside : limits[i / 2].inside,
				strerror(-err));
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	const struct timeval limit = { .tv_sec = WAIT_SECONDS };
	uint64_t count, i;
	struct request r;
	int err;

	if (argc != 3) {
		fputs("usage: ctl-hammer COUNT SEED\n", stderr);
		return 1;
	}
	count = argument(argv[1], 1, UINT64_MAX);
	state = argument(argv[2], 0, UINT64_MAX);
	sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		die("cannot open a socket");
	find_family();
	check_limits();
	for (i = 0; i < count; i++) {
		make_random(&r);
		send_request(&r);
		err = receive();
		if (err < 0 && err > -256)
			refused[-err]++;
		else
			accepted++;
		if (i % CHECK_EVERY == 0)
			check_served();
	}
	printf("%" PRIu64 " requests, %" PRIu64 " accepted, %" PRIu64 " lists, up to %u racks\n",
	       count, accepted, lists, most_racks);
	for (i = 0; i < 256; i++) {
		if (refused[i])
			printf("%" PRIu64 " refused: %s\n", refused[i], strerror((int)i));
	}
	/* Requests of no use test nothing. */
	if (!accepted || !lists || !refused[EINVAL] || !refused[ERANGE] ||
	    !refused[EOPNOTSUPP]) {
		puts("the requests are not a good mixture");
		return 1;
	}
	close(sock);
	return 0;
}
