/* SPDX-License-Identifier: GPL-2.0-only */
/* The UDP transport: datagrams that leave, from any context.  How they come: port.h. */
#ifndef WEFT_DATAGRAM_H
#define WEFT_DATAGRAM_H

#include "net/transport.h"

extern const struct weft_transport weft_udp;

#endif /* WEFT_DATAGRAM_H */
