/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records between a blade and its partner, and between both and the witness: a TCP connection on
 * which each side begins by HELLO.  Whatever is not right ends the connection.  In memory there is
 * one record that comes in, and STREAM_OUT_MAX bytes that go out.
 */
#ifndef WEFT_MEMD_STREAM_H
#define WEFT_MEMD_STREAM_H

#include <poll.h>

#include "tag.h"
#include "types.h"

/*
 * A record:
 *
 *	0	u32	bytes of the body
 *	4	u8	type; u8 0; u16 0
 *	8	u64	number, from 1, of this side's records
 *	16	u64	tag by the rack's key; without a key 0
 *	24		body
 *
 * All of it is big-endian.  The tag covers all but itself, the random numbers of both HELLOs
 * and which side sends: a record of another connection, another place in this one, or the
 * other direction has a wrong tag.  The HELLO of who calls is covered with its own number
 * only, so it may be an old one: whoever is called does nothing because of it before the next
 * record has come.
 */

#define STREAM_VERSION	1u
#define STREAM_HDR_LEN	24u
#define STREAM_PIECE	65536u	/* bytes of the file in one record, at most */
#define STREAM_BODY_MAX	(STREAM_PIECE + 8)
#define STREAM_OUT_MAX	(512u << 10)

/*
 * Who sends a record, and its body; u64 unless said otherwise:
 *
 *	HELLO		each, first: struct hello
 *	BEGIN		primary: forget all that you have of the file
 *	WRITE		primary: at, bytes
 *	ZERO		primary: at, length: zeros, or a hole
 *	COMPLETE	primary: that was all; from here on what is written follows
 *	BEAT		primary: stamp, u32 1: a P4 switch is in use
 *	ACK		standby: WRITE, ZERO and COMPLETE done since BEGIN, bytes of them, stamp
 *			of the last BEAT
 *	ASK		blade to witness, ANSWER back: see ask.h
 */
enum stream_type {
	STREAM_HELLO = 1,
	STREAM_BEGIN,
	STREAM_WRITE,
	STREAM_ZERO,
	STREAM_COMPLETE,
	STREAM_BEAT,
	STREAM_ACK,
	STREAM_ASK,
	STREAM_ANSWER,
};

/* The sender of HELLO. */
enum stream_role {
	STREAM_UNDECIDED,	/* a blade that does not know yet whether it serves */
	STREAM_STANDBY,
	STREAM_PRIMARY,
	STREAM_WITNESS,
};

#define HELLO_BLANK	0x01	/* there is nothing in its file */
#define HELLO_UNKNOWN	0x02	/* its file knows of no partner yet */

/* HELLO: the machine at the other end. */
struct hello {
	u32 rack;	/* number of the rack */
	u8 blade;	/* id of the blade; the witness repeats that of the blade */
	u8 role;	/* enum stream_role */
	u8 flags;	/* HELLO_* */
	u32 view;	/* of its file; 0: none */
	u32 lease;	/* milliseconds */
};

/* A record that has come; @body is good until the next call. */
struct record {
	u8 type;
	u32 len;
	const u8 *body;
};

/* One end of a connection. */
struct stream {
	int fd;		/* -1: closed */
	bool called;	/* the other side has connected to this one */
	const struct weft_key *key;	/* of the rack */
	u64 nonce[2];	/* random numbers of who called, and of who was called; 0: not known yet */
	u64 sent;	/* number of the last record of this side */
	u64 taken;	/* number of the last one of the other */
	bool greeted;	/* the other side's HELLO has come */
	struct hello peer;	/* what it says */
	u8 *in;		/* what has come of a record */
	size_t have;	/* bytes of it */
	size_t used;	/* bytes at its beginning that stream_next() has returned */
	u8 *out;	/* what is to go out */
	size_t from;	/* first byte of that */
	size_t to;	/* first byte after it */
};

void stream_init(struct stream *s, const struct weft_key *key);

/* Connect from one address to another, and say HELLO; does not wait.  Return: 0 or -1. */
int stream_call(struct stream *s, u32 from, u32 to, u16 port, const struct hello *h);

/* The same with a connection that is there already. */
int stream_begin(struct stream *s, int fd, const struct hello *h);

/* Somebody has called; stream_hello() is to follow when its HELLO is there. */
int stream_take(struct stream *s, int fd);
int stream_hello(struct stream *s, const struct hello *h);

void stream_close(struct stream *s);

/* Wait for connections at an address.  Return: a descriptor, or -1 with errno. */
int stream_listen(u32 addr, u16 port);

/* The next one, and where it comes from.  Return: a descriptor or -1. */
int stream_accept(int fd, u32 *from);

/**
 * stream_put() - a record of two parts, either of which may be empty
 *
 * Return: 0; -1: there is no room, or the connection is closed.
 */
int stream_put(struct stream *s, u8 type, const void *head, u32 head_len, const void *rest,
	       u32 rest_len);

/* Is there room for a record of the largest kind? */
bool stream_has_room(const struct stream *s);

/* Is something waiting to go out? */
static inline bool stream_is_behind(const struct stream *s)
{
	return s->from < s->to;
}

/* The stream for poll(), which leaves out a connection that is closed. */
static inline struct pollfd stream_pollfd(const struct stream *s)
{
	return (struct pollfd){
		.fd = s->fd, .events = POLLIN | (stream_is_behind(s) ? POLLOUT : 0),
	};
}

/* Hand to the kernel, and take from it, what goes without waiting.  Return: 0 or -1: it ended. */
int stream_push(struct stream *s);
int stream_pull(struct stream *s);

/**
 * stream_next() - the next record that has come
 *
 * The other side's HELLO comes out, too, once @greeted and @peer are set.
 *
 * Return: 1; 0: none yet, stream_pull(); -1: it is not right, and nothing can follow.
 */
int stream_next(struct stream *s, struct record *r);

#endif /* WEFT_MEMD_STREAM_H */
