/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The UDP transport, which leads to all members.  One kernel socket for each network namespace,
 * which the racks of this machine there share, each by an interface of its own.  It holds the
 * port on all addresses and interfaces; what did not come from that port by the interface of a
 * rack is dropped.
 */
#ifndef WEFT_DATAGRAM_H
#define WEFT_DATAGRAM_H

#include "net/transport.h"

extern const struct weft_transport weft_udp;

#endif /* WEFT_DATAGRAM_H */
