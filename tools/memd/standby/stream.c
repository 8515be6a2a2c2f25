// SPDX-License-Identifier: GPL-2.0-only
/* Records between blades and witness, see stream.h. */
#include "standby/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define IN_MAX	(4 * (STREAM_HDR_LEN + STREAM_BODY_MAX))

enum { H_LEN = 0, H_TYPE = 4, H_NUMBER = 8, H_TAG = 16 };

/* Body of HELLO. */
enum {
	B_VERSION = 0, B_RACK = 4, B_BLADE = 8, B_ROLE = 9, B_FLAGS = 10, B_VIEW = 12,
	B_LEASE = 16, B_NONCE = 20, B_HELLO_LEN = 28,
};

/* A tag covers: header without tag, random numbers, direction, hash of the body. */
enum { T_NONCE = H_TAG, T_SIDE = T_NONCE + 16, T_BODY = T_SIDE + 8, T_LEN = T_BODY + 8 };

void stream_init(struct stream *s, const struct weft_key *key)
{
	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->key = key;
}

static u64 tag_of(const struct stream *s, const u8 *rec, u32 len, bool of_called)
{
	u8 t[T_LEN] = { 0 };
	u64 tag;

	if (!s->key->set)
		return 0;
	memcpy(t, rec, H_TAG);
	put_unaligned_be64(s->nonce[0], t + T_NONCE);
	put_unaligned_be64(s->nonce[1], t + T_NONCE + 8);
	t[T_SIDE] = of_called;
	put_unaligned_be64(weft_key_payload(s->key, rec + STREAM_HDR_LEN, len), t + T_BODY);
	tag = weft_key_header(s->key, t, sizeof(t));
	/* 0 is what a side without a key says */
	return tag ? tag : 1;
}

/* --- connections ---------------------------------------------------------------- */

static struct sockaddr_in address(u32 addr, u16 port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(addr),
	};
}

static int begin(struct stream *s, int fd)
{
	const struct weft_key *key = s->key;
	int one = 1;

	stream_close(s);
	stream_init(s, key);
	s->in = malloc(IN_MAX);
	s->out = malloc(STREAM_OUT_MAX);
	s->fd = fd;
	/* beats are small, and are waited for */
	(void)!setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (s->in && s->out)
		return 0;
	stream_close(s);
	errno = ENOMEM;
	return -1;
}

/* Never 0. */
static u64 random_number(void)
{
	u64 n = 0;

	while (!n)
		if (getrandom(&n, sizeof(n), 0) != sizeof(n))
			n = 0;
	return n;
}

int stream_hello(struct stream *s, const struct hello *h)
{
	u8 b[B_HELLO_LEN] = { 0 };

	s->nonce[s->called] = random_number();
	put_unaligned_be32(STREAM_VERSION, b + B_VERSION);
	put_unaligned_be32(h->rack, b + B_RACK);
	b[B_BLADE] = h->blade;
	b[B_ROLE] = h->role;
	b[B_FLAGS] = h->flags;
	put_unaligned_be32(h->view, b + B_VIEW);
	put_unaligned_be32(h->lease, b + B_LEASE);
	put_unaligned_be64(s->nonce[s->called], b + B_NONCE);
	return stream_put(s, STREAM_HELLO, b, sizeof(b), NULL, 0);
}

int stream_begin(struct stream *s, int fd, const struct hello *h)
{
	return begin(s, fd) || stream_hello(s, h) ? -1 : 0;
}

int stream_take(struct stream *s, int fd)
{
	if (begin(s, fd))
		return -1;
	s->called = true;
	return 0;
}

int stream_call(struct stream *s, u32 from, u32 to, u16 port, const struct hello *h)
{
	struct sockaddr_in own = address(from, 0), peer = address(to, port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&own, sizeof(own)) ||
	    (connect(fd, (struct sockaddr *)&peer, sizeof(peer)) && errno != EINPROGRESS)) {
		close(fd);
		return -1;
	}
	return stream_begin(s, fd, h);
}

int stream_listen(u32 addr, u16 port)
{
	struct sockaddr_in own = address(addr, port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0)
		return -1;
	/* connections of an earlier life are no reason to wait */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&own, sizeof(own)) || listen(fd, 16)) {
		int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

int stream_accept(int fd, u32 *from)
{
	struct sockaddr_in peer = { 0 };
	socklen_t len = sizeof(peer);
	int new = accept4(fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	*from = ntohl(peer.sin_addr.s_addr);
	return new;
}

void stream_close(struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	free(s->in);
	free(s->out);
	s->in = NULL;
	s->out = NULL;
	s->have = s->used = s->from = s->to = 0;
	s->greeted = false;
}

/* --- out ------------------------------------------------------------------------ */

int stream_put(struct stream *s, u8 type, const void *head, u32 head_len, const void *rest,
	       u32 rest_len)
{
	u32 len = head_len + rest_len;
	u8 *rec;

	if (s->fd < 0)
		return -1;
	if (s->from && s->to + STREAM_HDR_LEN + len > STREAM_OUT_MAX) {
		memmove(s->out, s->out + s->from, s->to - s->from);
		s->to -= s->from;
		s->from = 0;
	}
	if (s->to + STREAM_HDR_LEN + len > STREAM_OUT_MAX)
		return -1;
	rec = s->out + s->to;
	put_unaligned_be32(len, rec + H_LEN);
	put_unaligned_be32((u32)type << 24, rec + H_TYPE);
	put_unaligned_be64(++s->sent, rec + H_NUMBER);
	if (head_len)
		memcpy(rec + STREAM_HDR_LEN, head, head_len);
	if (rest_len)
		memcpy(rec + STREAM_HDR_LEN + head_len, rest, rest_len);
	put_unaligned_be64(tag_of(s, rec, len, s->called), rec + H_TAG);
	s->to += STREAM_HDR_LEN + len;
	return 0;
}

bool stream_has_room(const struct stream *s)
{
	return s->fd >= 0 &&
	       STREAM_OUT_MAX - (s->to - s->from) >= STREAM_HDR_LEN + STREAM_BODY_MAX;
}

int stream_push(struct stream *s)
{
	ssize_t n;

	while (s->fd >= 0 && stream_is_behind(s)) {
		n = send(s->fd, s->out + s->from, s->to - s->from, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (n <= 0)
			return -1;
		s->from += (size_t)n;
		if (s->from == s->to)
			s->from = s->to = 0;
	}
	return s->fd >= 0 ? 0 : -1;
}

/* --- in ------------------------------------------------------------------------- */

int stream_pull(struct stream *s)
{
	ssize_t n;

	if (s->fd < 0)
		return -1;
	if (s->used) {
		memmove(s->in, s->in + s->used, s->have - s->used);
		s->have -= s->used;
		s->used = 0;
	}
	while (s->have < IN_MAX) {
		n = recv(s->fd, s->in + s->have, IN_MAX - s->have, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (n <= 0)
			return -1;
		s->have += (size_t)n;
	}
	return 0;
}

static int take_hello(struct stream *s, const u8 *b, u32 len)
{
	if (len != B_HELLO_LEN || get_unaligned_be32(b + B_VERSION) != STREAM_VERSION)
		return -1;
	s->peer = (struct hello){
		.rack = get_unaligned_be32(b + B_RACK),
		.blade = b[B_BLADE],
		.role = b[B_ROLE],
		.flags = b[B_FLAGS],
		.view = get_unaligned_be32(b + B_VIEW),
		.lease = get_unaligned_be32(b + B_LEASE),
	};
	s->nonce[!s->called] = get_unaligned_be64(b + B_NONCE);
	return s->nonce[!s->called] ? 0 : -1;
}

int stream_next(struct stream *s, struct record *r)
{
	const u8 *rec;
	size_t have;
	u32 len;

	errno = EPROTO;
	if (s->fd < 0)
		return -1;
	rec = s->in + s->used;
	have = s->have - s->used;
	if (have < STREAM_HDR_LEN)
		return 0;
	len = get_unaligned_be32(rec + H_LEN);
	if (len > STREAM_BODY_MAX || get_unaligned_be64(rec + H_NUMBER) != s->taken + 1 ||
	    get_unaligned_be32(rec + H_TYPE) & 0xFFFFFF ||
	    s->greeted == (rec[H_TYPE] == STREAM_HELLO))
		return -1;
	if (have < STREAM_HDR_LEN + len)
		return 0;
	/* a tag is made with the random number that comes in it */
	if (!s->greeted && take_hello(s, rec + STREAM_HDR_LEN, len))
		return -1;
	if (get_unaligned_be64(rec + H_TAG) != tag_of(s, rec, len, !s->called)) {
		errno = EKEYREJECTED;
		return -1;
	}
	s->greeted = true;
	s->taken++;
	s->used += STREAM_HDR_LEN + len;
	r->type = rec[H_TYPE];
	r->len = len;
	r->body = rec + STREAM_HDR_LEN;
	return 1;
}
