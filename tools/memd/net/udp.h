/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The blade's sockets: datagrams in and out, in batches.  front/main.c has them received,
 * net/send.c writes what goes out.  It does not look into them.
 */
#ifndef WEFT_MEMD_UDP_H
#define WEFT_MEMD_UDP_H

#include <stdatomic.h>

#include "flow.h"
#include "base/options.h"
#include "weft_netlink.h"
#include "wire.h"

#define UDP_BATCH	64
#define UDP_FAR		8
#define UDP_NEAR	2

struct memd;
struct udp_batch;

/* The sockets of a thread: one for each flow. */
struct udp {
	int fd;			/* UDP, -1 if there is none (then nothing is sent: fuzzing) */
	/* By flow, by which contents are sent; the first is @fd.  The others hear nothing */
	int flow[WEFT_FLOWS];
	/*
	 * By flow: holds the port at all other addresses of this machine, and hears nothing: who
	 * had it could speak for us.  All -1: this is not the first thread's
	 */
	int holder[WEFT_FLOWS];
	u32 addr;		/* own address */
	u16 port;		/* own and everybody's port */
	u32 longest;		/* bytes of the longest datagram, UDP payload */
	u32 fragment;	/* bytes of payload in a full fragment, a multiple of WEFT_WIRE_UNIT */
	u64 dropped;		/* datagrams that the kernel did not take */
	u64 sent;
	u64 sent_bytes;		/* their bytes, UDP payload */
	struct udp_batch *in;	/* buffers for receiving */
	struct udp_batch *out;	/* buffers for sending */
	u32 messages;		/* how many wait in @out for udp_flush() */
	u32 datagrams;		/* that they will be */
	u32 last_flow;		/* by which the last of these goes */
	size_t last_len;	/* bytes of it */
	bool last_joins;	/* another message may follow in it */
	/* Millisecond of CLOCK_BOOTTIME from which on nothing is sent; NULL: for ever */
	const atomic_ullong *until;
};

/**
 * udp_open() - find the interface, open and bind the socket
 * @key: of the rack, which decides how much fits into a message
 * @err: receives a sentence
 *
 * Return: 0 or -1.
 */
int udp_open(struct udp *udp, const struct options *o,
	     const struct weft_key *key, char *err);

/* The socket of the next thread, at the address and port of the first one's. */
int udp_open_another(struct udp *udp, const struct udp *first, const struct options *o,
		     char *err);

/* All are open: each thread's datagrams are to come to its own, see share.h. */
int udp_steer(const struct udp *first, const struct options *o, char *err);

/* Not open yet: udp_close() is harmless. */
void udp_none(struct udp *udp);

/* No socket: what is sent goes nowhere.  For fuzzing.  Return: 0 or -1. */
int udp_open_none(struct udp *udp);

void udp_close(struct udp *udp);

/* Where the next message is to be written, WEFT_MTU_MAX bytes. */
u8 *udp_buffer(struct udp *udp);

/**
 * udp_send() - queue what was written to udp_buffer()
 * @addr: IPv4 address, host byte order
 * @flow: below WEFT_FLOWS
 * @len: bytes of the message
 * @joins: it may stand in a datagram with others like it, see weft_wire_first()
 */
void udp_send(struct udp *udp, u32 addr, u32 flow, size_t len, bool joins);

/* Hand all that is queued to the kernel. */
void udp_flush(struct udp *udp);

/* Datagrams that came when the kernel's buffer was full; wraps at 32 bits. */
u64 udp_not_received(const struct udp *udp);

/* Functions that each datagram goes through, in this order. */
struct udp_taker {
	/* UDP_FAR datagrams before it is taken; says what it is about, 0: nothing */
	u64 (*far)(struct memd *m, const void *buf, size_t len);
	/* UDP_NEAR datagrams before it is taken, with that, unless it is 0 */
	void (*near)(struct memd *m, u64 about);
	/* It is taken, from an address and a port */
	void (*take)(struct memd *m, const void *buf, size_t len, u32 from, u16 port);
};

/**
 * udp_receive() - read one batch
 *
 * Return: datagrams read; UDP_BATCH means that there may be more.
 */
int udp_receive(struct udp *udp, struct memd *m, const struct udp_taker *t);

#endif /* WEFT_MEMD_UDP_H */
