/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The UDP port: one kernel socket for each network namespace, which the racks of this
 * machine there share, each by an interface of its own.  It holds the port on all addresses
 * and interfaces; what did not come from that port by the interface of a rack is dropped.
 */
#ifndef WEFT_PORT_H
#define WEFT_PORT_H

struct netlink_ext_ack;
struct weft_config;
struct weft_node;

/**
 * weft_port_open() - receive and send for a rack
 * @cfg: complete: interface, addresses and mtu are known
 * @extack: receives a sentence in case of an error
 *
 * Joins the switch's group.  Return: 0; -EADDRINUSE: another program has the port, or
 * another rack the interface; what the network says.
 */
int weft_port_open(struct weft_node *node, const struct weft_config *cfg,
		   struct netlink_ext_ack *extack);

/* Afterwards nothing is received for this rack any more.  Sleeps. */
void weft_port_close(struct weft_node *node);

#endif /* WEFT_PORT_H */
