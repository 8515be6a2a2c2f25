// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records between blades and witness: what goes in comes out; what is cut off, changed,
 * repeated, of another connection or direction, or without the key, ends the connection and
 * does nothing.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "tests/common/argument.h"
#include "tests/common/check.h"
#include "tools/common/random.h"
#include "tools/memd/standby/stream.h"

#define RECORDS	200u

static struct weft_key key, other_key, none;
static uint64_t seed = 1;

/* Two ends, and what is between them: nothing goes on by itself. */
struct pair {
	struct stream a;	/* calls */
	struct stream b;	/* is called */
	int wire_a;
	int wire_b;
};

static int wire(int *far)
{
	int fd[2], size = 1 << 20;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd));
	setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(fd[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	*far = fd[1];
	return fd[0];
}

/* What one side has sent.  Return: bytes. */
static size_t catch(struct stream *from, int wire, u8 *buf, size_t room)
{
	ssize_t n;

	CHECK(!stream_push(from));
	n = recv(wire, buf, room, MSG_DONTWAIT);
	return n > 0 ? (size_t)n : 0;
}

static void throw(int wire, const u8 *buf, size_t len)
{
	CHECK_EQ(send(wire, buf, len, MSG_DONTWAIT), (ssize_t)len);
}

static u8 buffer[1 << 20];

static void pass(struct stream *from, int wire_from, int wire_to)
{
	size_t n = catch(from, wire_from, buffer, sizeof(buffer));

	throw(wire_to, buffer, n);
}

static void open_pair(struct pair *p, const struct weft_key *key_a, const struct weft_key *key_b)
{
	const struct hello h = { .rack = 5, .blade = 33, .role = STREAM_PRIMARY, .view = 7,
				 .lease = 20000 };

	stream_init(&p->a, key_a);
	stream_init(&p->b, key_b);
	CHECK(!stream_begin(&p->a, wire(&p->wire_a), &h));
	CHECK(!stream_take(&p->b, wire(&p->wire_b)));
}

static void close_pair(struct pair *p)
{
	stream_close(&p->a);
	stream_close(&p->b);
	close(p->wire_a);
	close(p->wire_b);
}

/* Both have said HELLO. */
static void greet(struct pair *p)
{
	const struct hello h = { .rack = 5, .blade = 33, .role = STREAM_STANDBY, .view = 6 };
	struct record r;

	pass(&p->a, p->wire_a, p->wire_b);
	CHECK(!stream_pull(&p->b));
	CHECK_EQ(stream_next(&p->b, &r), 1);
	CHECK_EQ(r.type, STREAM_HELLO);
	CHECK(p->b.greeted && p->b.peer.rack == 5 && p->b.peer.blade == 33 &&
	      p->b.peer.role == STREAM_PRIMARY && p->b.peer.view == 7 &&
	      p->b.peer.lease == 20000);
	CHECK(!stream_hello(&p->b, &h));
	pass(&p->b, p->wire_b, p->wire_a);
	CHECK(!stream_pull(&p->a));
	CHECK_EQ(stream_next(&p->a, &r), 1);
	CHECK(p->a.greeted && p->a.peer.role == STREAM_STANDBY && p->a.peer.view == 6);
	CHECK_EQ(stream_next(&p->a, &r), 0);
}

/* Does the next record of @s come, and is it this one? */
static int comes(struct stream *s, u8 type, const u8 *body, u32 len)
{
	struct record r;
	int rc;

	stream_pull(s);
	rc = stream_next(s, &r);
	if (rc > 0)
		CHECK(r.type == type && r.len == len && (!len || !memcmp(r.body, body, len)));
	return rc;
}

/* --- what goes in comes out ------------------------------------------------------------ */

static void whole(const struct weft_key *k)
{
	static u8 body[STREAM_BODY_MAX];
	struct pair p;
	u32 i, n, at;
	size_t len, cut;

	open_pair(&p, k, k);
	greet(&p);
	for (i = 0; i < RECORDS; i++) {
		n = random_below(&seed, 4) ? (u32)random_below(&seed, 200) :
		    (u32)random_below(&seed, STREAM_BODY_MAX + 1);
		for (at = 0; at < n; at++)
			body[at] = (u8)random_below(&seed, 256);
		at = n < 8 ? n : 8;
		CHECK(!stream_put(&p.a, STREAM_WRITE, body, at, body + at, n - at));
		/* in two parts, the first one cut anywhere */
		len = catch(&p.a, p.wire_a, buffer, sizeof(buffer));
		CHECK_EQ(len, STREAM_HDR_LEN + n);
		cut = random_below(&seed, (u32)len);
		throw(p.wire_b, buffer, cut);
		CHECK_EQ(comes(&p.b, 0, NULL, 0), 0);
		throw(p.wire_b, buffer + cut, len - cut);
		CHECK_EQ(comes(&p.b, STREAM_WRITE, body, n), 1);
		/* and an answer */
		CHECK(!stream_put(&p.b, STREAM_ACK, body, at, NULL, 0));
		pass(&p.b, p.wire_b, p.wire_a);
		CHECK_EQ(comes(&p.a, STREAM_ACK, body, at), 1);
	}
	/* what is cut off for good is none */
	CHECK(!stream_put(&p.a, STREAM_BEGIN, NULL, 0, NULL, 0));
	len = catch(&p.a, p.wire_a, buffer, sizeof(buffer));
	throw(p.wire_b, buffer, len - 1);
	CHECK(!shutdown(p.wire_b, SHUT_WR));
	CHECK(stream_pull(&p.b));
	CHECK_EQ(comes(&p.b, 0, NULL, 0), 0);
	close_pair(&p);
}

/* There is no room for more than is kept. */
static void full(void)
{
	static u8 body[STREAM_PIECE];
	struct pair p;
	u32 n = 0;

	open_pair(&p, &key, &key);
	greet(&p);
	while (stream_has_room(&p.a)) {
		CHECK(!stream_put(&p.a, STREAM_WRITE, body, 8, body, sizeof(body)));
		CHECK(++n < 100);
	}
	CHECK(n >= 4);
	CHECK(stream_put(&p.a, STREAM_WRITE, body, 8, body, sizeof(body)));
	close_pair(&p);
}

/* --- what is not right ------------------------------------------------------------------- */

/* Any byte of a record is another one. */
static void changed(const struct weft_key *k)
{
	u8 body[40] = { 1, 2, 3 }, rec[STREAM_HDR_LEN + sizeof(body)];
	struct pair p;
	u32 i;

	for (i = 0; i < sizeof(rec); i++) {
		/* without a key contents, type and a smaller length are believed */
		if (!k->set && (i >= STREAM_HDR_LEN || i <= 4))
			continue;
		open_pair(&p, k, k);
		greet(&p);
		CHECK(!stream_put(&p.a, STREAM_WRITE, body, 8, body + 8, sizeof(body) - 8));
		CHECK_EQ(catch(&p.a, p.wire_a, rec, sizeof(rec)), sizeof(rec));
		rec[i] ^= (u8)(1 + random_below(&seed, 255));
		throw(p.wire_b, rec, sizeof(rec));
		/* another length may be one of which not all is there */
		CHECK(comes(&p.b, 0, NULL, 0) < (i < 4 ? 1 : 0));
		close_pair(&p);
	}
}

static void repeated(void)
{
	u8 body[16] = { 9 }, first[64], second[64], hello[128];
	size_t n_first, n_second, n_hello;
	const struct hello h = { .rack = 5, .blade = 33, .role = STREAM_PRIMARY, .view = 7 };
	struct pair p, q;
	struct record r;

	/* twice */
	open_pair(&p, &key, &key);
	greet(&p);
	CHECK(!stream_put(&p.a, STREAM_WRITE, body, 16, NULL, 0));
	n_first = catch(&p.a, p.wire_a, first, sizeof(first));
	throw(p.wire_b, first, n_first);
	CHECK_EQ(comes(&p.b, STREAM_WRITE, body, 16), 1);
	throw(p.wire_b, first, n_first);
	CHECK_EQ(comes(&p.b, 0, NULL, 0), -1);
	/* left out */
	open_pair(&q, &key, &key);
	greet(&q);
	CHECK(!stream_put(&q.a, STREAM_WRITE, body, 16, NULL, 0));
	CHECK(catch(&q.a, q.wire_a, second, sizeof(second)));
	CHECK(!stream_put(&q.a, STREAM_WRITE, body, 16, NULL, 0));
	n_second = catch(&q.a, q.wire_a, second, sizeof(second));
	throw(q.wire_b, second, n_second);
	CHECK_EQ(comes(&q.b, 0, NULL, 0), -1);
	close_pair(&q);
	/* of another connection, at the same place of it */
	open_pair(&q, &key, &key);
	greet(&q);
	throw(q.wire_b, first, n_first);
	CHECK_EQ(comes(&q.b, 0, NULL, 0), -1);
	close_pair(&q);
	/* back to who sent it */
	open_pair(&q, &key, &key);
	greet(&q);
	CHECK(!stream_put(&q.a, STREAM_WRITE, body, 16, NULL, 0));
	n_first = catch(&q.a, q.wire_a, first, sizeof(first));
	throw(q.wire_a, first, n_first);
	CHECK_EQ(comes(&q.a, 0, NULL, 0), -1);
	close_pair(&q);
	/* an old HELLO is answered, and what followed it is not believed */
	open_pair(&q, &key, &key);
	n_hello = catch(&q.a, q.wire_a, hello, sizeof(hello));
	throw(q.wire_b, hello, n_hello);
	stream_pull(&q.b);
	CHECK_EQ(stream_next(&q.b, &r), 1);
	CHECK(!stream_hello(&q.b, &h));
	pass(&q.b, q.wire_b, q.wire_a);
	stream_pull(&q.a);
	CHECK_EQ(stream_next(&q.a, &r), 1);
	CHECK(!stream_put(&q.a, STREAM_BEGIN, NULL, 0, NULL, 0));
	n_first = catch(&q.a, q.wire_a, first, sizeof(first));
	close_pair(&p);
	open_pair(&p, &key, &key);
	throw(p.wire_b, hello, n_hello);
	stream_pull(&p.b);
	CHECK_EQ(stream_next(&p.b, &r), 1);
	CHECK(!stream_hello(&p.b, &h));
	throw(p.wire_b, first, n_first);
	CHECK_EQ(comes(&p.b, 0, NULL, 0), -1);
	close_pair(&p);
	close_pair(&q);
}

/* A second HELLO, or something before the first. */
static void disorder(void)
{
	const struct hello h = { .rack = 5, .blade = 33 };
	u8 first[128], second[128];
	struct pair p;
	size_t n;

	open_pair(&p, &none, &none);
	greet(&p);
	CHECK(!stream_hello(&p.a, &h));
	n = catch(&p.a, p.wire_a, first, sizeof(first));
	throw(p.wire_b, first, n);
	CHECK_EQ(comes(&p.b, 0, NULL, 0), -1);
	close_pair(&p);
	open_pair(&p, &none, &none);
	CHECK(catch(&p.a, p.wire_a, first, sizeof(first)));
	p.a.sent = 0;
	CHECK(!stream_put(&p.a, STREAM_BEGIN, NULL, 0, NULL, 0));
	n = catch(&p.a, p.wire_a, second, sizeof(second));
	throw(p.wire_b, second, n);
	CHECK_EQ(comes(&p.b, 0, NULL, 0), -1);
	close_pair(&p);
}

static void keys(const struct weft_key *a, const struct weft_key *b)
{
	struct record r;
	struct pair p;

	open_pair(&p, a, b);
	pass(&p.a, p.wire_a, p.wire_b);
	CHECK(!stream_pull(&p.b));
	CHECK_EQ(stream_next(&p.b, &r), -1);
	CHECK_EQ(errno, EKEYREJECTED);
	close_pair(&p);
}

/* Anything at all. */
static void noise(void)
{
	u8 buf[512];
	struct pair p;
	u32 i, n, k;

	for (i = 0; i < 2000; i++) {
		open_pair(&p, i & 1 ? &key : &none, i & 1 ? &key : &none);
		if (i & 2)
			greet(&p);
		n = (u32)random_below(&seed, sizeof(buf));
		for (k = 0; k < n; k++)
			buf[k] = (u8)random_below(&seed, 256);
		throw(p.wire_b, buf, n);
		CHECK(comes(&p.b, 0, NULL, 0) < 1);
		close_pair(&p);
	}
}

int main(int argc, char **argv)
{
	u8 bytes[WEFT_KEY_LEN] = { 1, 2, 3 };

	if (argc > 1)
		seed = argument(argv[1], 1, UINT32_MAX);
	weft_key_init(&key, bytes);
	bytes[20] = 4;
	bytes[5] = 4;
	weft_key_init(&other_key, bytes);
	whole(&key);
	whole(&none);
	full();
	changed(&key);
	changed(&none);
	repeated();
	disorder();
	keys(&key, &other_key);
	keys(&key, &none);
	keys(&none, &key);
	noise();
	return check_result();
}
