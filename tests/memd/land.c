// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node whose network card connects to a memory blade's, played: blocks land where it
 * says, each key once, and whatever goes wrong costs the connection and nothing else.
 * For a guest of a rack with RDMA, on which nothing else has the rack's port.
 *
 *	memd-land BLADE OWN KEY TEST...		addresses, the last byte of OWN is the node's
 *						number; KEY: a file, "none"
 *
 * TEST: "lands": everything but the others.
 *	"udp": a blade without a card answers a request with a landing by UDP
 *	"unlocked": one that may lock little memory, and not its frames, does as well
 *	"removed": says "connected" and waits until somebody takes the blade's card away, then
 *	says "gone" and waits until it is there again
 *	"dead": blocks land all the time; says "connected", and when no more come "cut off"; waits
 *	until /run/land-healed is there, and the blade has taken the node out meanwhile: it joins
 *	anew, and what landed for its former life does not change any more
 *	"silent": lands one block, says "connected" and nothing more until /run/land-healed is there:
 *	its connection is whole, and no sign of life; then it joins anew
 *	"stays": a member, without a card, until /run/land-healed is there
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "call.h"
#include "card.h"
#include "tests/common/check.h"
#include "tools/common/clock.h"
#include "tools/common/random.h"
#include "weft_netlink.h"

#define BLADE		WEFT_BLADE_MIN
#define BLOCK		CARD_BLOCK
#define BLOCKS		48u
#define WRITTEN		32u	/* of these; others are zeros */
#define FRAGMENT	8192u
#define WINDOW		CARD_LANDINGS
#define READS		600u
#define CONNECTIONS	100u
#define WAIT_MS		CARD_WAIT_MS
#define REPEAT_MS	300
#define LIMIT_S		120
#define LATER		(WEFT_TICK_HZ * 12)
#define QUIET_MS	500	/* without a block: it is cut off */
#define HEALED		"/run/land-healed"

static int fd;
static u32 blade_addr, own_addr, node, region, seq, life;
static u64 state = 1, version = 1;
static struct weft_key key;
static struct weft_stamp stamp;
static u64 stamp_ms;

static struct weft_stamp rack_time(void)
{
	struct weft_stamp now = stamp;

	now.tick += (u32)((now_ms() - stamp_ms) * WEFT_TICK_HZ / 1000);
	return now;
}

/* --- by UDP ----------------------------------------------------------------- */

static void send_udp(struct weft_msg *m)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(WEFT_WIRE_UDP_PORT),
		.sin_addr.s_addr = htonl(blade_addr),
	};
	static u8 buf[WEFT_MTU_MAX];
	size_t len;

	m->src = node;
	if (m->len)
		memcpy(buf + WEFT_WIRE_HDR_LEN, m->payload, m->len);
	len = weft_wire_pack(m, buf, &key, rack_time());
	CHECK(sendto(fd, buf, len, 0, (struct sockaddr *)&to, sizeof(to)) == (ssize_t)len);
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
	return !weft_wire_unpack(m, buf, weft_wire_first(buf, (size_t)n), &key);
}

static u16 call(struct weft_call *c)
{
	static u8 payload[WEFT_CALL_LEN_MAX];
	u32 tries, i;

	for (tries = 0; tries < WEFT_CALL_TRIES; tries++) {
		struct weft_msg m = {
			.type = WEFT_MSG_CALL, .txn = weft_txn(node, ++seq),
			.nonce = random_u32(&state), .payload = payload,
		}, got;

		m.len = weft_call_pack(c, payload);
		for (i = 0; i < WAIT_MS / REPEAT_MS; i++) {
			send_udp(&m);
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
		CHECK_FAIL("call %u is not answered", c->op);
again:
		continue;
	}
	CHECK_FAIL("call %u: the time is always wrong", c->op);
}

static u64 counter(const char *name)
{
	struct weft_call c = { .op = WEFT_CALL_STATS };
	u32 at;

	do {
		c.op = WEFT_CALL_STATS;
		CHECK_EQ(call(&c), 0);
		for (at = 0; at < c.list_len; at += 9u + c.list[at + 8])
			if (c.list[at + 8] == strlen(name) &&
			    !memcmp(c.list + at + 9, name, strlen(name)))
				return get_unaligned_be64(c.list + at);
		c.list_len = 0;
	} while (c.cookie);
	CHECK_FAIL("there is no counter %s", name);
}

/* One that soon has that value. */
static void counter_becomes(const char *name, u64 value)
{
	u64 end = now_ms() + WAIT_MS;

	while (counter(name) != value && now_ms() < end)
		usleep(20000);
	CHECK(counter(name) == value, "%s is %llu", name, (unsigned long long)counter(name));
}

/* What a block has: 4 bytes of a pattern that begins with its version, 0 for none. */
static void write_home(u32 index)
{
	static u8 data[BLOCK];
	struct weft_msg got;
	u32 at, tries;

	version++;
	for (at = 0; at < BLOCK; at += 8)
		put_unaligned_be64(version << 16 | index, data + at);
	for (tries = 0; tries < WAIT_MS / REPEAT_MS; tries++) {
		u32 txn = weft_txn(node, ++seq);

		for (at = 0; at < BLOCK; at += FRAGMENT) {
			struct weft_msg m = {
				.type = WEFT_MSG_WB, .txn = txn, .version = version,
				.line = weft_line_key(region, WEFT_KIND_PAGE, index),
				.size = BLOCK, .info = FRAGMENT, .offset = at,
				.len = FRAGMENT, .payload = data + at,
			};

			send_udp(&m);
		}
		while (take_udp(&got, REPEAT_MS))
			if (got.type == WEFT_MSG_WB_ACK && got.version == version)
				return;
	}
	CHECK_FAIL("block %u is not written back", index);
}

static void ask(u32 index, u32 txn, const struct weft_landing *landing)
{
	u8 payload[WEFT_LANDING_LEN];
	struct weft_msg m = {
		.type = WEFT_MSG_GETS, .txn = txn,
		.line = weft_line_key(region, WEFT_KIND_PAGE, index),
	};

	if (landing) {
		weft_landing_pack(landing, payload);
		m.len = sizeof(payload);
		m.payload = payload;
	}
	send_udp(&m);
}

/* The whole of a block comes by UDP as answer to that.  Return: false: not within @ms. */
static bool data_comes(u32 txn, int ms)
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

/* --- the card --------------------------------------------------------------- */

static struct card card;

static struct weft_hello right(void)
{
	return (struct weft_hello){ .from = node, .to = BLADE, .stamp = rack_time() };
}

static void connect_it(void)
{
	struct weft_hello hello = right(), back;
	const struct rdma_cm_event *told;

	CHECK(card_connect(&card, blade_addr, &hello, &key));
	/* what accepts says who it is, too */
	told = card.id->event;
	CHECK(told && told->param.conn.private_data_len >= WEFT_HELLO_LEN);
	CHECK(!weft_hello_unpack(&back, told->param.conn.private_data,
				 told->param.conn.private_data_len, &key));
	CHECK_EQ(back.from, BLADE);
	CHECK_EQ(back.to, node);
	CHECK(!key.set || weft_stamp_fresh(rack_time(), back.stamp));
	counter_becomes("rdma_connections", 1);
}

/*
 * LANDED comes.  That a key is closed by it rxe does not tell programs, so it is seen by
 * what a second write does (closed_key()).  Return: for which transaction, 0: none came
 * within @ms.
 */
static u32 landed_within(u64 *got_version, int ms)
{
	u8 buf[CARD_MESSAGE];
	struct weft_msg m;
	u32 len = card_take(&card, buf, ms);

	if (!len)
		return 0;
	CHECK(!weft_wire_unpack(&m, buf, len, &key));
	CHECK_EQ(m.type, WEFT_MSG_LANDED);
	CHECK_EQ(m.src, BLADE);
	CHECK_EQ(m.size, BLOCK);
	CHECK_EQ(m.info, 0);
	CHECK_EQ(m.offset, 0);
	CHECK_EQ(m.len, 0);
	CHECK(!key.set || weft_stamp_fresh(rack_time(), m.stamp));
	*got_version = m.version;
	return m.txn;
}

static u32 landed(u64 *got_version)
{
	u32 txn = landed_within(got_version, WAIT_MS);

	CHECK(txn);
	return txn;
}

/* All of what has landed is of that block and that version. */
static void check_block(u32 i, u32 index, u64 of)
{
	u32 at;

	for (at = 0; at < BLOCK; at += 8)
		CHECK_EQ(get_unaligned_be64(card_memory[i] + at), of ? of << 16 | index : 0);
}

static u64 written[BLOCKS];

/* One that nothing else is under way with. */
static void lands_one(u32 index)
{
	struct weft_landing landing = card_open(&card, 0);
	u32 txn = weft_txn(node, ++seq);
	u64 of;

	ask(index, txn, &landing);
	CHECK_EQ(landed(&of), txn);
	CHECK_EQ(of, written[index]);
	check_block(0, index, of);
}

/* --- tests ------------------------------------------------------------------ */

static void contents(void)
{
	u64 before = counter("rdma_landed"), bytes = counter("rdma_landed_bytes");
	u64 data = counter("out_data");
	u32 i;

	for (i = 0; i < BLOCKS; i++)
		lands_one(i);
	/* its card tells the blade after it has told us */
	counter_becomes("rdma_landed", before + BLOCKS);
	CHECK_EQ(counter("rdma_landed_bytes"), bytes + (u64)BLOCKS * BLOCK);
	CHECK_EQ(counter("out_data"), data);
	counter_becomes("rdma_under_way", 0);
	CHECK(counter("rdma_registered_bytes") > 0);
}

/* Many at a time, of blocks that get new contents meanwhile. */
static void many(void)
{
	u32 txn[WINDOW], index[WINDOW], i, n;
	u64 of, least[WINDOW];

	for (n = 0; n < READS; n += WINDOW) {
		for (i = 0; i < WINDOW; i++) {
			struct weft_landing landing = card_open(&card, i);

			index[i] = random_u32(&state) % WRITTEN;
			least[i] = written[index[i]];
			txn[i] = weft_txn(node, ++seq);
			ask(index[i], txn[i], &landing);
		}
		for (i = 0; i < 2; i++) {
			u32 which = random_u32(&state) % WINDOW;

			write_home(index[which]);
			written[index[which]] = version;
		}
		for (i = 0; i < WINDOW; i++) {
			u32 got = landed(&of), k = 0;

			while (k < WINDOW && txn[k] != got)
				k++;
			CHECK(k < WINDOW);
			CHECK(of >= least[k]);
			check_block(k, index[k], of);
			txn[k] = 0;
		}
	}
	counter_becomes("rdma_under_way", 0);
}

/* A request that has come twice is not written twice: the second time it is told by UDP. */
static void twice(void)
{
	struct weft_landing landing = card_open(&card, 0);
	u32 txn = weft_txn(node, ++seq);
	u64 of, again = counter("rdma_asked_again"), broken = counter("rdma_broken");

	ask(1, txn, &landing);
	CHECK_EQ(landed(&of), txn);
	ask(1, txn, &landing);
	CHECK(data_comes(txn, WAIT_MS));
	CHECK_EQ(counter("rdma_asked_again"), again + 1);
	CHECK_EQ(counter("rdma_broken"), broken);
	lands_one(2);
}

/* With a key that is closed, or never was one, the connection ends, and nothing else. */
static void closed_key(bool never)
{
	struct weft_landing landing = card_open(&card, 0);
	u64 of, broken = counter("rdma_broken");
	u32 txn = weft_txn(node, ++seq);

	if (never) {
		landing.key ^= 0x5A00;
	} else {
		ask(1, txn, &landing);
		CHECK_EQ(landed(&of), txn);
		txn = weft_txn(node, ++seq);
	}
	memset(card_memory, 0x77, sizeof(card_memory));
	ask(1, txn, &landing);
	counter_becomes("rdma_broken", broken + 1);
	counter_becomes("rdma_connections", 0);
	counter_becomes("rdma_under_way", 0);
	CHECK(card_memory[0][0] == 0x77 && card_memory[0][BLOCK - 1] == 0x77);
	/* the request is repeated, with or without a landing */
	ask(1, txn, &landing);
	CHECK(data_comes(txn, WAIT_MS));
	txn = weft_txn(node, ++seq);
	ask(2, txn, NULL);
	CHECK(data_comes(txn, WAIT_MS));
	card_disconnect(&card);
	connect_it();
	lands_one(3);
}

static void refused(struct weft_hello hello, const struct weft_key *with)
{
	u64 before = counter("rdma_refused"), there = counter("rdma_connections");

	CHECK(!card_connect(&card, blade_addr, &hello, with));
	CHECK_EQ(counter("rdma_refused"), before + 1);
	CHECK_EQ(counter("rdma_connections"), there);
}

static void wrong_hellos(void)
{
	struct weft_hello hello = right();
	struct weft_key other;

	hello.rack = 7;
	refused(hello, &key);
	hello = right();
	hello.to = BLADE + 1;
	refused(hello, &key);
	hello = right();
	/* a node that is not there; and none */
	hello.from = 2;
	refused(hello, &key);
	hello.from = BLADE + 1;
	refused(hello, &key);
	weft_key_init(&other, (const u8 *)"this is another key than the rack's");
	refused(right(), &other);
	if (!key.set)
		return;
	refused(right(), NULL);
	hello = right();
	hello.stamp.tick -= LATER;
	refused(hello, &key);
	hello = right();
	hello.stamp.epoch++;
	refused(hello, &key);
}

static void connections(void)
{
	struct card first;
	u32 i;

	for (i = 0; i < CONNECTIONS; i++) {
		card_disconnect(&card);
		/* as if the node had ended without saying so, which a second one tells */
		connect_it();
		if (i % 10 == 0)
			lands_one(i % BLOCKS);
	}
	first = card;
	card = (struct card){ 0 };
	connect_it();
	CHECK_EQ(counter("rdma_connections"), 1);
	lands_one(5);
	card_disconnect(&card);
	card_disconnect(&first);
	counter_becomes("rdma_connections", 0);
	connect_it();
	lands_one(6);
}

static void lands(void)
{
	connect_it();
	contents();
	many();
	twice();
	closed_key(false);
	closed_key(true);
	card_disconnect(&card);
	counter_becomes("rdma_connections", 0);
	wrong_hellos();
	connect_it();
	connections();
	card_disconnect(&card);
}

static void udp(void)
{
	struct weft_landing landing = { .addr = 4096, .key = 1 };
	u64 before = counter("rdma_not_connected");
	u32 i, txn;

	CHECK_EQ(counter("rdma"), 0);
	CHECK_EQ(counter("rdma_connections"), 0);
	CHECK_EQ(counter("rdma_registered_bytes"), 0);
	for (i = 0; i < BLOCKS; i++) {
		txn = weft_txn(node, ++seq);
		ask(i, txn, &landing);
		CHECK(data_comes(txn, WAIT_MS));
	}
	CHECK_EQ(counter("rdma_not_connected"), before + BLOCKS);
}

static void unlocked(void)
{
	u64 refused_before = counter("rdma_not_registered");
	struct weft_landing landing;
	u32 txn = weft_txn(node, ++seq);

	connect_it();
	landing = card_open(&card, 0);
	ask(1, txn, &landing);
	CHECK(data_comes(txn, WAIT_MS));
	CHECK_EQ(counter("rdma_not_registered"), refused_before + 1);
	CHECK_EQ(counter("rdma_registered_bytes"), 0);
	card_close(&card);
	/* the same connection brings what needs no frame */
	lands_one(WRITTEN);
	CHECK_EQ(counter("rdma_connections"), 1);
	card_disconnect(&card);
}

static void removed(void)
{
	struct weft_landing landing;
	u32 txn = weft_txn(node, ++seq);

	connect_it();
	lands_one(1);
	landing = card_open(&card, 0);
	puts("connected");
	fflush(stdout);
	counter_becomes("rdma", 0);
	counter_becomes("rdma_connections", 0);
	CHECK_EQ(counter("rdma_registered_bytes"), 0);
	ask(1, txn, &landing);
	CHECK(data_comes(txn, WAIT_MS));
	card_disconnect(&card);
	puts("gone");
	fflush(stdout);
	counter_becomes("rdma", 1);
	connect_it();
	lands_one(1);
	card_disconnect(&card);
}

static void join(void)
{
	struct weft_call c = { .op = WEFT_CALL_JOIN, .node = node, .life = life,
			       .addr = own_addr };

	CHECK_EQ(call(&c), 0);
}

static void open_region(void)
{
	struct weft_call c = { .op = WEFT_CALL_OPEN, .region = region };

	CHECK_EQ(call(&c), 0);
}

/* As many blocks as there are landings are under way.  Return: false: it is cut off. */
static bool lands_some(void)
{
	u32 txn[WINDOW], i, got, k;
	u64 of;

	for (i = 0; i < WINDOW; i++) {
		struct weft_landing landing = card_open(&card, i);

		txn[i] = weft_txn(node, ++seq);
		ask(random_u32(&state) % WRITTEN, txn[i], &landing);
	}
	for (i = 0; i < WINDOW; i++) {
		got = landed_within(&of, QUIET_MS);
		if (!got)
			return false;
		for (k = 0; k < WINDOW && txn[k] != got; k++)
			;
		CHECK(k < WINDOW);
	}
	return true;
}

static void wait_for_healed(void)
{
	u64 end = now_ms() + LIMIT_S * 1000;	/* a blade that stands still gives nodes time */

	while (access(HEALED, F_OK) && now_ms() < end)
		usleep(20000);
	CHECK(now_ms() < end);
}

/* In another life.  What the former one had under way has ended with it. */
static void join_anew(void)
{
	life += 2;
	join();
	CHECK_EQ(counter("rdma_connections"), 0);
	CHECK_EQ(counter("rdma_under_way"), 0);
}

static void dead(void)
{
	static u8 found[WINDOW][BLOCK];
	u32 rounds = 0;

	connect_it();
	puts("connected");
	fflush(stdout);
	while (lands_some())
		rounds++;
	CHECK(rounds);
	puts("cut off");
	fflush(stdout);
	wait_for_healed();
	/* for the blade it was another node that had these landings */
	join_anew();
	memcpy(found, card_memory, sizeof(found));
	open_region();
	usleep(QUIET_MS * 1000);
	CHECK(!memcmp(found, card_memory, sizeof(found)));
	card_disconnect(&card);
	connect_it();
	lands_one(2);
	card_disconnect(&card);
}

static void silent(void)
{
	connect_it();
	lands_one(1);
	puts("connected");
	fflush(stdout);
	wait_for_healed();
	join_anew();
	open_region();
	card_disconnect(&card);
	connect_it();
	lands_one(2);
	card_disconnect(&card);
}

/* Another node, by which the blade knows that it is not cut off itself. */
static void stays(void)
{
	u64 end = now_ms() + LIMIT_S * 1000;

	while (access(HEALED, F_OK) && now_ms() < end) {
		CHECK_EQ(counter("rdma_refused"), 0);
		usleep(100000);
	}
	CHECK(now_ms() < end);
}

/* --- begin ------------------------------------------------------------------ */

static char name[32];

static void create(void)
{
	struct weft_call c = { .op = WEFT_CALL_CREATE, .mode = 0600, .block = BLOCK };

	c.name_len = (u16)snprintf(name, sizeof(name), "land-%u", life);
	memcpy(c.name, name, c.name_len);
	CHECK_EQ(call(&c), 0);
	region = c.region;
	c = (struct weft_call){
		.op = WEFT_CALL_SETATTR, .region = region, .valid = WEFT_SET_SIZE,
		.size = (u64)BLOCKS * BLOCK,
	};
	CHECK_EQ(call(&c), 0);
}

static void leave(void)
{
	struct weft_call c = { .op = WEFT_CALL_CLOSE, .region = region };

	CHECK_EQ(call(&c), 0);
	c = (struct weft_call){ .op = WEFT_CALL_UNLINK, .region = region };
	c.name_len = (u16)strlen(name);
	memcpy(c.name, name, c.name_len);
	CHECK_EQ(call(&c), 0);
	c = (struct weft_call){ .op = WEFT_CALL_LEAVE, .node = node, .life = life };
	CHECK_EQ(call(&c), 0);
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
	weft_key_init(&key, bytes);
	close(file);
}

int main(int argc, char **argv)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(WEFT_WIRE_UDP_PORT) };
	int i, size = 8 << 20;

	if (argc < 5) {
		fputs("usage: memd-land BLADE OWN KEY|none TEST...: lands udp unlocked removed dead silent stays\n", stderr);
		return 2;
	}
	alarm(LIMIT_S);
	CHECK_EQ(getrandom(&life, sizeof(life), 0), sizeof(life));
	life |= 1;
	blade_addr = ntohl(inet_addr(argv[1]));
	own_addr = ntohl(inet_addr(argv[2]));
	node = own_addr & 0xff;
	read_key(argv[3]);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	own.sin_addr.s_addr = htonl(own_addr);
	CHECK(fd >= 0 && !bind(fd, (struct sockaddr *)&own, sizeof(own)));
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)));
	join();
	create();
	open_region();
	for (i = 0; i < (int)WRITTEN; i++) {
		write_home((u32)i);
		written[i] = version;
	}
	for (i = 4; i < argc; i++) {
		if (!strcmp(argv[i], "lands"))
			lands();
		else if (!strcmp(argv[i], "udp"))
			udp();
		else if (!strcmp(argv[i], "unlocked"))
			unlocked();
		else if (!strcmp(argv[i], "removed"))
			removed();
		else if (!strcmp(argv[i], "dead"))
			dead();
		else if (!strcmp(argv[i], "silent"))
			silent();
		else if (!strcmp(argv[i], "stays"))
			stays();
		else
			CHECK_FAIL("what is %s?", argv[i]);
	}
	leave();
	return check_result();
}
