// SPDX-License-Identifier: GPL-2.0-only
/* A node that is played, see player.h. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "player.h"
#include "tests/common/check.h"
#include "tools/common/clock.h"
#include "tools/common/random.h"
#include "weft_netlink.h"

#define RUN		64u	/* blocks that have one home: weft_line_home() */
#define FRAGMENT	8192u
#define REPEAT_MS	300
#define SILENT_MS	(40000 * check_scale())	/* until a silent blade is given up, and more */
#define HEARD_MS	(4 * REPEAT_MS * check_scale())	/* one that is there is heard by then */

struct player player;
static struct weft_stamp stamp;
static u64 stamp_ms, state = 1, last_version = 1;
static u32 seq, blades;
static u32 start;			/* of our blocks, in the region */
static char name[32];
static int fd;

struct weft_stamp player_time(void)
{
	struct weft_stamp now = stamp;

	now.tick += (u32)((now_ms() - stamp_ms) * WEFT_TICK_HZ / 1000);
	return now;
}

u32 player_txn(void)
{
	return weft_txn(player.node, ++seq);
}

static size_t pack(struct weft_msg *m, u8 *buf)
{
	m->src = player.node;
	if (m->len)
		memcpy(buf + WEFT_WIRE_HDR_LEN, m->payload, m->len);
	return weft_wire_pack(m, buf, &player.key, player_time());
}

static void send_udp(struct weft_msg *m, u32 addr)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(WEFT_WIRE_UDP_PORT),
		.sin_addr.s_addr = htonl(addr),
	};
	static u8 buf[WEFT_MTU_MAX];
	size_t len = pack(m, buf);

	CHECK(sendto(fd, buf, len, 0, (struct sockaddr *)&to, sizeof(to)) == (ssize_t)len);
}

/* It is done, whatever it was. */
static void answer(const struct weft_msg *msg)
{
	static u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_msg reply = { .type = WEFT_MSG_REPLY, .txn = msg->txn, .payload = payload };
	struct weft_call c;

	CHECK(!weft_call_unpack(&c, msg->payload, msg->len));
	c = (struct weft_call){ .op = c.op, .region = c.region, .life = c.life };
	reply.len = weft_call_pack(&c, payload);
	send_udp(&reply, player.first);
}

/* The next datagram's first message.  Return: false: none came within @ms. */
static bool take_udp(struct weft_msg *m, int ms)
{
	static u8 buf[65536];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return false;
	n = recv(fd, buf, sizeof(buf), 0);
	CHECK(n > 0);
	if (weft_wire_unpack(m, buf, weft_wire_first(buf, (size_t)n), &player.key))
		return false;
	if (m->type == WEFT_MSG_CALL && player.answers)
		answer(m);
	return true;
}

/*
 * Of that blade, which may take @ms: so many attempts, so that a machine that stands still costs
 * one.  Return: what it answers; -1: nothing.
 */
static int try_call(struct weft_call *c, u32 addr, u32 ms)
{
	static u8 payload[WEFT_CALL_LEN_MAX];
	u32 tries, i;

	for (tries = 0; tries < WEFT_CALL_TRIES; tries++) {
		struct weft_msg m = {
			.type = WEFT_MSG_CALL, .txn = player_txn(),
			.nonce = random_u32(&state), .payload = payload,
		}, got;

		m.len = weft_call_pack(c, payload);
		for (i = 0; i < ms / REPEAT_MS; i++) {
			send_udp(&m, addr);
			while (take_udp(&got, REPEAT_MS)) {
				struct weft_call reply;

				if (got.type != WEFT_MSG_REPLY || got.txn != m.txn)
					continue;
				CHECK(!weft_call_unpack(&reply, got.payload, got.len));
				stamp = got.stamp;
				stamp_ms = now_ms();
				if (reply.err == WEFT_CALL_WRONG_TIME)
					goto again;
				*c = reply;
				return reply.err;
			}
		}
		return -1;
again:
		continue;
	}
	CHECK_FAIL("call %u: the time is always wrong", c->op);
}

/* The same, but it does answer. */
static u16 call(struct weft_call *c, u32 addr, u32 ms)
{
	int err = try_call(c, addr, ms);

	CHECK(err >= 0, "call %u is not answered", c->op);
	return (u16)err;
}

bool player_is_heard(void)
{
	struct weft_call c = { .op = WEFT_CALL_STATS };

	return try_call(&c, player.blade_addr, HEARD_MS) >= 0;
}

u64 counter(const char *name)
{
	struct weft_call c = { .op = WEFT_CALL_STATS };
	u32 at;

	do {
		c.op = WEFT_CALL_STATS;
		CHECK_EQ(call(&c, player.blade_addr, WAIT_MS), 0);
		for (at = 0; at < c.list_len; at += 9u + c.list[at + 8])
			if (c.list[at + 8] == strlen(name) &&
			    !memcmp(c.list + at + 9, name, strlen(name)))
				return get_unaligned_be64(c.list + at);
		c.list_len = 0;
	} while (c.cookie);
	CHECK_FAIL("there is no counter %s", name);
}

void counter_becomes(const char *name, u64 value)
{
	u64 end = now_ms() + WAIT_MS;

	while (counter(name) != value && now_ms() < end)
		usleep(20000);
	CHECK(counter(name) == value, "%s is %llu", name, (unsigned long long)counter(name));
}

/* The first blade does that. */
static void done(struct weft_call c, u32 ms)
{
	CHECK_EQ(call(&c, player.first, ms), 0);
}

/* As long as a blade is away nobody is let in. */
void player_join(void)
{
	u64 end = now_ms() + SILENT_MS;
	u16 err;

	do {
		struct weft_call c = { .op = WEFT_CALL_JOIN, .node = player.node,
				       .life = player.life, .addr = player.addr };

		err = call(&c, player.first, SILENT_MS);
		if (err == EHOSTDOWN)
			usleep(20000);
	} while (err == EHOSTDOWN && now_ms() < end);
	CHECK_EQ(err, 0);
}

void player_join_anew(void)
{
	player.life += 2;
	player_join();
}

void player_open(void)
{
	done((struct weft_call){ .op = WEFT_CALL_OPEN, .region = player.region }, WAIT_MS);
}

static u64 line_of(u32 index)
{
	return weft_line_key(player.region, WEFT_KIND_PAGE, start + index);
}

/* Its blocks are a run of those that the blade has. */
void player_create(void)
{
	struct weft_call c = { .op = WEFT_CALL_CREATE, .mode = 0600, .block = BLOCK };

	c.name_len = (u16)snprintf(name, sizeof(name), "land-%u", player.life);
	memcpy(c.name, name, c.name_len);
	CHECK_EQ(call(&c, player.first, WAIT_MS), 0);
	player.region = c.region;
	for (start = 0; weft_line_home(line_of(0), blades) != blades - 1; start += RUN)
		CHECK(start < RUN * 1000);
	CHECK_EQ(weft_line_home(line_of(BLOCKS - 1), blades), blades - 1);
	player_resize(BLOCKS);
}

void player_resize(u32 n)
{
	done((struct weft_call){ .op = WEFT_CALL_SETATTR, .region = player.region,
				 .valid = WEFT_SET_SIZE,
				 .size = (u64)(start + n) * BLOCK }, WAIT_MS);
}

void player_restrict(u32 nodes)
{
	done((struct weft_call){ .op = WEFT_CALL_SETATTR, .region = player.region,
				 .valid = WEFT_SET_NODES, .nodes = nodes }, WAIT_MS);
}

void player_leave(void)
{
	struct weft_call c = { .op = WEFT_CALL_UNLINK, .region = player.region };

	done((struct weft_call){ .op = WEFT_CALL_CLOSE, .region = player.region }, WAIT_MS);
	c.name_len = (u16)strlen(name);
	memcpy(c.name, name, c.name_len);
	done(c, WAIT_MS);
	done((struct weft_call){ .op = WEFT_CALL_LEAVE, .node = player.node,
				 .life = player.life }, SILENT_MS);
}

/* What a block has: 8 bytes with its version and its index, and again. */
u64 player_fill(u32 index, u8 *data)
{
	u32 at;

	last_version++;
	for (at = 0; at < BLOCK; at += 8)
		put_unaligned_be64(last_version << 16 | index, data + at);
	return last_version;
}

/* As of @last_version. */
static void write_home(u32 index, const u8 *data)
{
	u32 txn = player_txn(), at;

	for (at = 0; at < BLOCK; at += FRAGMENT) {
		struct weft_msg m = {
			.type = WEFT_MSG_WB, .txn = txn, .version = last_version,
			.line = line_of(index),
			.size = BLOCK, .info = FRAGMENT, .offset = at,
			.len = FRAGMENT, .payload = data + at,
		};

		send_udp(&m, player.blade_addr);
	}
}

u64 player_begin_write(u32 index)
{
	static u8 data[BLOCK];

	player_fill(index, data);
	write_home(index, data);
	return last_version;
}

u64 player_write(u32 index)
{
	static u8 data[BLOCK];
	struct weft_msg got;
	u32 tries;

	player_fill(index, data);
	for (tries = 0; tries < (u32)WAIT_MS / REPEAT_MS; tries++) {
		write_home(index, data);
		while (take_udp(&got, REPEAT_MS))
			if (got.type == WEFT_MSG_WB_ACK && got.version == last_version)
				return last_version;
	}
	CHECK_FAIL("block %u is not written back", index);
}

static struct weft_msg landed(u32 index, u64 version, u32 size, const struct weft_landing *room,
			      u8 payload[WEFT_LANDING_LEN])
{
	weft_landing_pack(room, payload);
	return (struct weft_msg){
		.type = WEFT_MSG_LANDED, .txn = player_txn(), .version = version,
		.line = line_of(index), .size = size, .len = WEFT_LANDING_LEN, .payload = payload,
	};
}

u32 player_home(u8 *buf, u32 index, u64 version, u32 size, const struct weft_landing *room)
{
	u8 payload[WEFT_LANDING_LEN];
	struct weft_msg m = landed(index, version, size, room, payload);

	return (u32)pack(&m, buf);
}

void player_home_udp(u32 index, u64 version, const struct weft_landing *room)
{
	u8 payload[WEFT_LANDING_LEN];
	struct weft_msg m = landed(index, version, BLOCK, room, payload);

	send_udp(&m, player.blade_addr);
}

bool player_acked(u64 version, int ms)
{
	u64 end = now_ms() + (u64)ms;
	struct weft_msg got;

	while (now_ms() < end)
		if (take_udp(&got, 20) && got.type == WEFT_MSG_WB_ACK && got.version == version)
			return true;
	return false;
}

void player_check_block(const u8 *data, u32 index, u64 version)
{
	u32 at;

	for (at = 0; at < BLOCK; at += 8)
		CHECK_EQ(get_unaligned_be64(data + at), version ? version << 16 | index : 0);
}

static void ask(struct weft_msg m, u32 index, const struct weft_landing *landing)
{
	u8 payload[WEFT_LANDING_LEN];

	m.line = line_of(index);
	if (landing) {
		weft_landing_pack(landing, payload);
		m.len = sizeof(payload);
		m.payload = payload;
	}
	send_udp(&m, player.blade_addr);
}

void player_ask(u32 index, u32 txn, const struct weft_landing *landing)
{
	ask((struct weft_msg){ .type = WEFT_MSG_GETS, .txn = txn }, index, landing);
}

void player_ask_of_dead(u32 index, u32 txn, const struct weft_landing *landing)
{
	ask((struct weft_msg){ .type = WEFT_MSG_READ, .txn = txn, .flags = WEFT_F_BUSY,
			       .status = WEFT_M, .copyset = weft_node_bit(WEFT_NODE_MAX) },
	    index, landing);
}

bool player_data_comes(u32 txn, int ms)
{
	u64 end = now_ms() + (u64)ms;
	struct weft_msg got;
	u32 bytes = 0;

	while (now_ms() < end) {
		if (!take_udp(&got, 20) || got.txn != txn)
			continue;
		CHECK(got.type == WEFT_MSG_DATA, "%s, %u", weft_msg_name(got.type), got.info);
		bytes += got.len;
		/* those that stand behind it in its datagram are not looked at */
		if (got.offset + got.len == BLOCK || bytes >= BLOCK)
			return true;
	}
	return false;
}

static void read_key(const char *path)
{
	u8 bytes[WEFT_KEY_LEN];
	char text[WEFT_KEY_TEXT + 1];
	int file;

	if (!strcmp(path, "none"))
		return;
	file = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0 && read(file, text, sizeof(text)) == sizeof(text));
	CHECK(!weft_key_parse(bytes, text, sizeof(text)));
	weft_key_init(&player.key, bytes);
	close(file);
}

void player_begin(const char *first, const char *own, const char *path, u32 count)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(WEFT_WIRE_UDP_PORT) };
	int size = 8 << 20;

	CHECK_EQ(getrandom(&player.life, sizeof(player.life), 0), sizeof(player.life));
	player.life |= 1;
	blades = count;
	player.first = ntohl(inet_addr(first));
	player.blade = WEFT_BLADE_MIN + blades - 1;
	player.blade_addr = player.first + blades - 1;
	player.addr = ntohl(inet_addr(own));
	player.node = player.addr & 0xff;
	read_key(path);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	at.sin_addr.s_addr = htonl(player.addr);
	CHECK(fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)));
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)));
}
