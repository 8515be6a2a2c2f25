/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ports of the switch.  A port has two queues: frames that came in and wait
 * for the switch (rxq), frames that leave and wait for the link (txq).  The
 * switch itself - the P4 pipeline or the plain one - only works on queues;
 * what moves frames between them and the world is a link (link.h).
 *
 *	link -> port_receive() -> faults -> rxq -> switch -> txq -> link
 */
#ifndef WEFT_SWITCHD_PORT_H
#define WEFT_SWITCHD_PORT_H

#include <rte_swx_port.h>

#include "ahead.h"
#include "fault.h"
#include "frame.h"

#define PORT_NAME_MAX	32
/* A batch from every fault stage at once has room in the queue. */
#define PORT_RXQ_SIZE	4096
/* Output buffer: unix sockets take 10 datagrams only until their reader runs. */
#define PORT_TXQ_SIZE	1024
/* Frames moved by one system call. */
#define PORT_BATCH	64

struct link;

/**
 * struct port_counters - what a port has seen
 * @rx: frames received by the switch proper (after faults)
 * @rx_bytes: their bytes
 * @tx: frames sent
 * @tx_bytes: their bytes
 * @rx_drop: received frames dropped: too short, too long, no buffer, no room
 * @tx_drop: frames to be sent dropped: peer gone, its buffer full, bad length
 * @cut: frames dropped in either direction because the port is cut off
 */
struct port_counters {
	uint64_t rx;
	uint64_t rx_bytes;
	uint64_t tx;
	uint64_t tx_bytes;
	uint64_t rx_drop;
	uint64_t tx_drop;
	uint64_t cut;
};

/**
 * struct port_flow - what is where, shared by the ports of one switch
 * @waiting: frames in all rxq together
 * @taken: frames that the pipeline has taken, ever
 * @given: frames that the pipeline has given to ports, ever, without copies
 * @ahead: what is read ahead for frames that the pipeline takes
 */
struct port_flow {
	uint64_t waiting;
	uint64_t taken;
	uint64_t given;
	struct ahead ahead;
};

/**
 * struct port - one port
 * @name: for people
 * @number: for the P4 program
 * @link: what it is connected to; NULL: a sink without input
 * @n_errors: how often it woke us up only to report an error, in a row
 * @is_cut: everything is dropped, in both directions
 * @rxq: frames waiting for the switch
 * @txq: frames waiting for the link
 * @flow: see struct port_flow
 * @fault: faults of what comes in
 * @n: counters
 */
struct port {
	char name[PORT_NAME_MAX];
	unsigned int number;
	struct link *link;
	unsigned int n_errors;
	bool is_cut;
	struct frameq rxq;
	struct frameq txq;
	struct port_flow *flow;
	struct fault fault;
	struct port_counters n;
};

/**
 * port_create() - a port
 * @spec: NAME=unix:LOCAL:REMOTE, NAME=seq:SOCKET, NAME=tap:INTERFACE,
 *	NAME=packet:INTERFACE, NAME=mem: (frames by function calls) or NAME=null: (a sink)
 * @number: its number
 * @seed: seed of the faults
 * @flow: of the switch that it belongs to
 * @err: reason of a failure
 *
 * Return: the port, or NULL.
 */
struct port *port_create(const char *spec, unsigned int number, uint64_t seed,
			 struct port_flow *flow, char *err);
void port_destroy(struct port *port);

/**
 * port_receive() - a frame has come in from the link
 * @port: the port
 * @m: the frame; belongs to the port from now on
 * @now: time in ns
 */
void port_receive(struct port *port, struct rte_mbuf *m, uint64_t now);

/**
 * port_fill() - receive what the link has now, a batch at most; never waits
 * @port: the port
 * @now: time in ns
 *
 * Return: number of frames received.
 */
unsigned int port_fill(struct port *port, uint64_t now);

/** port_take() - the next frame for the switch, or NULL */
struct rte_mbuf *port_take(struct port *port);

/**
 * port_send() - the switch has a frame for the link
 * @port: the port
 * @m: the frame; belongs to the port from now on; may be shared
 */
void port_send(struct port *port, struct rte_mbuf *m);

/** port_flush() - give the link what it takes now; never waits */
void port_flush(struct port *port);

/** port_cut() - drop everything from now on, and what is in the queues */
void port_cut(struct port *port);
void port_heal(struct port *port);

/**
 * port_put_bytes() - for tests: a frame has come in at a port "mem:"
 * @port: the port
 * @bytes: the frame
 * @len: its length
 * @now: time in ns
 *
 * Return: 0, -ENOMEM or -EMSGSIZE.
 */
int port_put_bytes(struct port *port, const void *bytes, size_t len, uint64_t now);

/** port_get() - for tests: the next frame that left by a port "mem:", or NULL */
static inline struct rte_mbuf *port_get(struct port *port)
{
	struct rte_mbuf *m = frameq_get(&port->txq);

	if (m) {
		port->n.tx++;
		port->n.tx_bytes += frame_len(m);
	}
	return m;
}

/* The port as the pipeline sees it; the argument for "create" is the port. */
extern struct rte_swx_port_in_ops port_swx_in_ops;
extern struct rte_swx_port_out_ops port_swx_out_ops;

#endif /* WEFT_SWITCHD_PORT_H */
