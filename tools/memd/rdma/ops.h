/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of layers above for the card.  front/main.c gives them, so that rdma/ calls nobody
 * above.
 */
#ifndef WEFT_MEMD_RDMA_OPS_H
#define WEFT_MEMD_RDMA_OPS_H

#include "types.h"

struct memd;

/* Given to rdma_start(). */
struct rdma_ops {
	/* Take a datagram that came by a card, from an address and the rack's port */
	void (*receive)(struct memd *m, const void *buf, size_t len, u32 from, u16 port);
	/* The same of LANDED: the bytes of a block are at @bytes */
	void (*receive_home)(struct memd *m, const void *buf, size_t len, u32 from,
			     const u8 *bytes);
	/* May nodes' cards read blocks?  Not while a region is for some nodes only */
	bool (*may_read)(const struct memd *m);
};

#endif /* WEFT_MEMD_RDMA_OPS_H */
