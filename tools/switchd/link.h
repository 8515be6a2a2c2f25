/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Links: what a port is connected to.
 *
 * A pair of unix datagram sockets (one frame a datagram, as QEMU's "-netdev
 * dgram" speaks), a unix socket to connect to (one frame a packet, as the transport
 * "bess" of user-mode kernels speaks), a TAP device, a network interface (AF_PACKET),
 * or nothing but the queues of the port (tests and benchmarks).  No call ever waits.
 */
#ifndef WEFT_SWITCHD_LINK_H
#define WEFT_SWITCHD_LINK_H

#include <stdbool.h>

#include "frame.h"

struct link;
struct port_counters;

/**
 * link_open() - open what a port description names
 * @link: the new link; NULL for a sink
 * @name: name of the port, for messages
 * @spec: unix:LOCAL:REMOTE, seq:SOCKET, tap:INTERFACE, packet:INTERFACE, mem: or null:
 * @err: reason of a failure
 *
 * Return: 0 or a negative errno.
 */
int link_open(struct link **link, const char *name, const char *spec, char *err);
void link_close(struct link *link);

/** link_kind() - "unix", "tap", ... */
const char *link_kind(const struct link *link);

/*
 * File descriptors to wait for (EPOLLIN, EPOLLOUT), or -1.  link_receive() may change
 * them: another end has come, or this one has gone.
 */
int link_rx_fd(const struct link *link);
int link_tx_fd(const struct link *link);

/** link_blocked() - frames are left until link_tx_fd() can be written to */
bool link_blocked(const struct link *link);

/**
 * link_receive() - receive what is there
 * @link: the link
 * @batch: the frames; the caller owns them
 * @max: room in @batch, PORT_BATCH at most
 * @n: counts what had to be dropped
 *
 * Return: number of frames.
 */
unsigned int link_receive(struct link *link, struct rte_mbuf **batch,
			  unsigned int max, struct port_counters *n);

/**
 * link_send() - send what the link takes now
 * @link: the link
 * @q: the frames; what cannot be sent now stays, what can never be is dropped
 * @n: counts what was sent and dropped
 */
void link_send(struct link *link, struct frameq *q, struct port_counters *n);

#endif /* WEFT_SWITCHD_LINK_H */
