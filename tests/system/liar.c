// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stands where the first memory blade was, in a rack without a key, and tells a node what no
 * blade tells.
 *
 *	system-liar names			the names that answers are wrong for
 *	system-liar answer			answers rightly but for these, until it is ended
 *	system-liar calls ADDRESS		calls that the node must not answer
 *	system-liar fuzz ADDRESS SEED	answers and calls at random, until it is ended
 *
 * "answer": whatever is looked up is there.  A name of "names" gets attributes of which one
 * field is outside of its bounds; "later" gets the right ones at first, then such ones.
 *
 * "calls": after each the node is called rightly.  It carries calls out in the order in
 * which they come: when it has answered that one, it has not answered the one before.
 *
 * "fuzz" prints how often the node has asked and answered which operation.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "call.h"
#include "tests/common/argument.h"
#include "tools/common/clock.h"
#include "tools/common/random.h"
#include "types.h"
#include "weft_wire.h"
#include "wire.h"

#define REGIONS		64
#define ROOM		(2 * (WEFT_WIRE_HDR_LEN + WEFT_CALL_LEN_MAX))
#define AGAIN_MS	200	/* until a call is repeated */
#define ANSWER_S	60	/* until it must have been answered */
#define CALL_MS		2	/* between two at random: guests are slow */

static int fd;
static u32 seq;
static u64 random_state;
static volatile sig_atomic_t ended;
static unsigned long asked[WEFT_CALL_MAX], answered[WEFT_CALL_MAX];
static u32 lookups;	/* of "later" */

/* --- what is outside ------------------------------------------------------------ */

#define OUTSIDE(field, v) { \
	#field, offsetof(struct weft_call, field), sizeof(((struct weft_call *)NULL)->field), v }

static const struct outside {
	const char *name;
	size_t at;
	size_t bytes;
	u64 value;
} outside[] = {
	OUTSIDE(homes, 1u << 31), OUTSIDE(homes, 1u << 16), OUTSIDE(region, WEFT_REGION_MAX + 1),
	OUTSIDE(region, 0), OUTSIDE(size, ~0ull), OUTSIDE(size, WEFT_REGION_SIZE_MAX + 1),
	OUTSIDE(block, 0), OUTSIDE(block, 2048), OUTSIDE(block, 12288), OUTSIDE(block, 1u << 17),
	OUTSIDE(policy, 0x8000), OUTSIDE(mode, 0100644), OUTSIDE(uid, ~0u), OUTSIDE(gid, ~0u),
	OUTSIDE(list_len, 8),
};

static void spoil(struct weft_call *c, const struct outside *o)
{
	memcpy((u8 *)c + o->at, &o->value, o->bytes);
}

static void print_names(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(outside); i++)
		printf("%s.%u\n", outside[i].name, i);
}

/* Of a name of print_names(). */
static const struct outside *named(const char *name)
{
	const char *dot = strchr(name, '.');
	uint64_t i;

	return dot && !number_u64(dot + 1, 0, ARRAY_SIZE(outside) - 1, &i) ? &outside[i] : NULL;
}

/* --- messages ---------------------------------------------------------------------- */

static void put(const struct sockaddr_in *to, const void *buf, size_t len)
{
	/* what is lost is repeated */
	(void)!sendto(fd, buf, len, 0, (const struct sockaddr *)to, sizeof(*to));
}

static size_t make(u8 *buf, u8 type, u32 txn, u32 nonce, const struct weft_call *c)
{
	struct weft_msg m = {
		.type = type, .src = WEFT_BLADE_MIN, .txn = txn, .nonce = nonce,
		.payload = buf + WEFT_WIRE_HDR_LEN,
	};

	m.len = weft_call_pack(c, buf + WEFT_WIRE_HDR_LEN);
	return weft_wire_pack_plain(&m, buf);
}

static u32 next_txn(void)
{
	return weft_txn(WEFT_BLADE_MIN, ++seq);
}

/* --- the truth --------------------------------------------------------------------- */

static void attributes(struct weft_call *c, u32 region)
{
	c->region = region;
	c->mode = 0666;
	c->block = WEFT_BLOCK_MIN;
	c->size = 1 << 20;
	c->homes = 1;
	c->policy = WEFT_POLICY_CHANGE;
}

static u32 region_of(const char *name)
{
	u32 n = 1;

	while (*name)
		n = n * 31 + (u8)*name++;
	return 1 + n % REGIONS;
}

static void list_entry(struct weft_call *c, const void *p, u32 len)
{
	memcpy(c->list + c->list_len, p, len);
	c->list_len += (u16)len;
}

static void answer(const struct weft_call *q, const struct sockaddr_in *from, u8 src,
		   struct weft_call *a)
{
	static const u8 dir[] = { 0, 0, 0, 1, 0, 0, 1, 0xB6, 1, 'a' };
	static const u8 counter[] = { 0, 0, 0, 0, 0, 0, 0, 1, 1, 'c' };
	static const u8 lost[WEFT_LOST_LEN] = { [3] = 1, [6] = 16, [23] = 1 };
	u8 blade[WEFT_BLADE_LEN] = { WEFT_BLADE_MIN, WEFT_BLADE_IN };
	u8 peer[WEFT_PEER_LEN] = { src };

	memset(a, 0, sizeof(*a));
	a->op = q->op;
	switch (q->op) {
	case WEFT_CALL_JOIN:
	case WEFT_CALL_PEERS:
		a->members = weft_node_bit(src);
		put_unaligned_be32(ntohl(from->sin_addr.s_addr), peer + 4);
		list_entry(a, peer, sizeof(peer));
		break;
	case WEFT_CALL_LOOKUP:
	case WEFT_CALL_CREATE:
		attributes(a, region_of(q->name));
		break;
	case WEFT_CALL_UNLINK:
		a->region = region_of(q->name);
		break;
	case WEFT_CALL_GETATTR:
	case WEFT_CALL_SETATTR:
	case WEFT_CALL_OPEN:
		attributes(a, q->region);
		break;
	case WEFT_CALL_READDIR:
		if (!q->cookie)
			list_entry(a, dir, sizeof(dir));
		a->size = 1;
		break;
	case WEFT_CALL_STATFS:
		a->size = ~0ull;
		break;
	case WEFT_CALL_STATS:
		list_entry(a, counter, sizeof(counter));
		break;
	case WEFT_CALL_LOST:
		list_entry(a, lost, sizeof(lost));
		break;
	case WEFT_CALL_BLADE:
		list_entry(a, blade, sizeof(blade));
		break;
	default:
		break;
	}
}

/* --- lies -------------------------------------------------------------------------- */

static void lie_by_name(const struct weft_call *q, struct weft_call *a)
{
	const struct outside *o = named(q->name);

	if (q->op != WEFT_CALL_LOOKUP)
		return;
	if (!strcmp(q->name, "later") && lookups++)
		o = &outside[0];
	if (o)
		spoil(a, o);
}

static u64 any(void)
{
	u64 v = random_u64(&random_state);

	switch (random_below(&random_state, 4)) {
	case 0:
		return v & 0xFF;
	case 1:
		return 1ull << (v & 63);
	case 2:
		return ~0ull >> (v & 63);
	default:
		return v;
	}
}

/* One field, or the list, is any. */
static void lie(struct weft_call *c)
{
	static const struct outside fields[] = {
		OUTSIDE(err, 0), OUTSIDE(node, 0), OUTSIDE(valid, 0), OUTSIDE(region, 0),
		OUTSIDE(mode, 0), OUTSIDE(uid, 0), OUTSIDE(gid, 0), OUTSIDE(block, 0),
		OUTSIDE(members, 0), OUTSIDE(addr, 0), OUTSIDE(life, 0), OUTSIDE(size, 0),
		OUTSIDE(used, 0), OUTSIDE(mtime, 0), OUTSIDE(cookie, 0), OUTSIDE(policy, 0),
		OUTSIDE(nodes, 0), OUTSIDE(homes, 0),
	};
	u32 which = (u32)random_below(&random_state, ARRAY_SIZE(fields) + 3), i;
	struct outside o;

	if (which < ARRAY_SIZE(fields)) {
		o = fields[which];
		o.value = any();
		spoil(c, &o);
		return;
	}
	if (which == ARRAY_SIZE(fields))
		c->list_len = (u16)random_below(&random_state, WEFT_CALL_LIST_MAX + 1);
	for (i = 0; which == ARRAY_SIZE(fields) && i < c->list_len; i++)
		c->list[i] = (u8)any();
	if (which > ARRAY_SIZE(fields) && c->list_len)
		c->list[random_below(&random_state, c->list_len)] = (u8)any();
}

static u16 to_nodes(void)
{
	static const u16 ops[] = {
		WEFT_CALL_RECALLED, WEFT_CALL_RENEW, WEFT_CALL_CHANGED, WEFT_CALL_FENCE,
		WEFT_CALL_TWIN, WEFT_CALL_MOVE,
	};

	return ops[random_below(&random_state, ARRAY_SIZE(ops))];
}

/* A call that makes sense. */
static void tell(struct weft_call *c, u16 op)
{
	memset(c, 0, sizeof(*c));
	attributes(c, 1 + (u32)random_below(&random_state, REGIONS));
	c->op = op;
	c->node = WEFT_BLADE_MIN;
	c->addr = 0x0A570065;
	c->policy = (u32)random_below(&random_state, 1 << 16) << WEFT_POLICY_CHANGE_SHIFT;
}

/* --- the conversation -------------------------------------------------------------- */

/* Return: the txn of a REPLY that came within @ms, or 0. */
static u32 converse(int ms, void (*lies)(const struct weft_call *q, struct weft_call *a))
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	struct weft_call q, a;
	struct weft_msg m;
	u8 buf[ROOM];
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return 0;
	n = recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&from, &len);
	if (n <= 0 || weft_wire_unpack(&m, buf, (size_t)n, NULL) ||
	    (m.type != WEFT_MSG_CALL && m.type != WEFT_MSG_REPLY) ||
	    weft_call_unpack(&q, m.payload, m.len))
		return 0;
	if (m.type == WEFT_MSG_REPLY) {
		answered[q.op]++;
		return m.txn;
	}
	asked[q.op]++;
	answer(&q, &from, m.src, &a);
	if (lies)
		lies(&q, &a);
	put(&from, buf, make(buf, WEFT_MSG_REPLY, m.txn, m.nonce, &a));
	return 0;
}

static void lie_at_random(const struct weft_call *q, struct weft_call *a)
{
	(void)q;
	/* now and then it hears who is a member, or it asks for nothing else any more */
	while (random_below(&random_state, 2))
		lie(a);
}

static void fuzz(const struct sockaddr_in *to)
{
	struct weft_call c;
	u8 buf[ROOM];
	u16 op;

	while (!ended) {
		converse(CALL_MS, lie_at_random);
		tell(&c, to_nodes());
		lie(&c);
		put(to, buf, make(buf, WEFT_MSG_CALL, next_txn(), random_u32(&random_state), &c));
	}
	for (op = 1; op < WEFT_CALL_MAX; op++)
		printf("%u asked %lu answered %lu\n", op, asked[op], answered[op]);
}

/* Sends @bad, then the truth.  Return: whether only that was answered, and was. */
static bool ignores(const struct sockaddr_in *to, const u8 *bad, size_t len, u32 bad_txn)
{
	double end = now_seconds() + ANSWER_S;
	u8 buf[ROOM];
	struct weft_call c;
	bool both = false;
	u32 txn = next_txn(), got;
	size_t n;

	tell(&c, WEFT_CALL_RECALLED);
	n = make(buf, WEFT_MSG_CALL, txn, 1, &c);
	while (now_seconds() < end) {
		put(to, bad, len);
		put(to, buf, n);
		do {
			got = converse(AGAIN_MS, NULL);
			both |= got == bad_txn;
		} while (got && got != txn);
		if (got == txn)
			return !both;
	}
	printf("the node does not answer at all\n");
	return false;
}

static int check_call(const struct sockaddr_in *to, u16 op, const struct outside *o)
{
	u32 txn = next_txn();
	struct weft_call c;
	u8 buf[ROOM];

	tell(&c, op);
	spoil(&c, o);
	if (ignores(to, buf, make(buf, WEFT_MSG_CALL, txn, 1, &c), txn))
		return 0;
	printf("operation %u with %s %#llx is answered\n", op, o->name,
	       (unsigned long long)o->value);
	return 1;
}

/* A call stands behind DATA in one datagram. */
static int check_joined(const struct sockaddr_in *to)
{
	struct weft_msg m = {
		.type = WEFT_MSG_DATA, .src = WEFT_BLADE_MIN, .txn = weft_txn(1, 1),
		.line = weft_line_key(REGIONS, WEFT_KIND_PAGE, 0), .size = WEFT_BLOCK_MIN,
		.info = 64, .len = 64, .status = WEFT_S,
	};
	u32 txn = next_txn();
	struct weft_call c;
	u8 buf[ROOM] = { 0 };
	size_t n;

	m.payload = buf + WEFT_WIRE_HDR_LEN;
	n = weft_wire_pack_plain(&m, buf);
	tell(&c, WEFT_CALL_RECALLED);
	n += make(buf + n, WEFT_MSG_CALL, txn, 1, &c);
	if (ignores(to, buf, n, txn))
		return 0;
	printf("a call behind DATA in one datagram is answered\n");
	return 1;
}

static int check_calls(const struct sockaddr_in *to)
{
	static const u16 ops[] = {
		WEFT_CALL_RECALLED, WEFT_CALL_RENEW, WEFT_CALL_CHANGED, WEFT_CALL_FENCE,
		WEFT_CALL_MOVE,
	};
	static const struct outside valid = OUTSIDE(valid, 1u << 31);
	int wrong = check_joined(to);
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		wrong += check_call(to, ops[i], &valid);
		for (k = 0; k < ARRAY_SIZE(outside); k++) {
			/* what does not concern the operation may be missing */
			if (outside[k].value || ops[i] == WEFT_CALL_CHANGED)
				wrong += check_call(to, ops[i], &outside[k]);
		}
	}
	printf("%d wrong\n", wrong);
	return wrong ? 1 : 0;
}

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static int usage(void)
{
	fprintf(stderr, "usage: system-liar names | answer | calls ADDRESS | fuzz ADDRESS SEED\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(WEFT_WIRE_UDP_PORT) };
	struct sockaddr_in to = own;
	struct sigaction on_end = { .sa_handler = end };
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "names")) {
		print_names();
		return 0;
	}
	if (strcmp(what, "answer") != 0 && (argc < 3 || inet_pton(AF_INET, argv[2], &to.sin_addr) != 1))
		return usage();
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof(own))) {
		perror("system-liar: cannot have the port of a blade");
		return 2;
	}
	sigaction(SIGTERM, &on_end, NULL);
	/* not those of an earlier one, which the node remembers */
	seq = (u32)clock_ns(CLOCK_REALTIME) & 0xFFFFF;
	if (!strcmp(what, "calls"))
		return check_calls(&to);
	if (!strcmp(what, "fuzz") && argc == 4) {
		random_state = argument(argv[3], 0, UINT64_MAX);
		fuzz(&to);
		return 0;
	}
	if (strcmp(what, "answer") != 0)
		return usage();
	while (!ended)
		converse(1000, lie_by_name);
	return 0;
}
