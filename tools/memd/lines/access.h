/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access to lines: a request is answered if there is such a line, this blade is its home, and the
 * node may have it.  It counts refusals, and changes nothing else.  catalog/allow.c decides who
 * may open a region, and for which nodes it is.
 */
#ifndef WEFT_MEMD_ACCESS_H
#define WEFT_MEMD_ACCESS_H

#include "lines/region.h"

/**
 * access_line() - the region of a line that may be served
 *
 * Return: NULL if there is none, or the line is beyond its end, or not homed here.
 */
struct region *access_line(struct memd *m, u64 key);

/* The same, NULL also if it is a lock. */
struct region *access_block(struct memd *m, u64 key);

/* Refuse: there is no such line.  To the member that the transaction is of. */
void access_refuse(struct memd *m, const struct weft_msg *msg, u16 why, u32 to);

/*
 * Is it for this node?  Or does it have the region open: then it is one that is to lose it, and
 * goes on until it has given all back, or everything stays as it was.
 */
static inline bool access_node(const struct region *r, u32 node)
{
	return !r->nodes || (r->nodes | r->opens) & weft_node_bit(node);
}

/**
 * access_request() - a request for a line: does the node that asks get an answer to it?
 *
 * Those that only give something back always do.  What is refused is counted.
 *
 * Return: 0; WEFT_WHY_NO_LINE: it may not use the region; WEFT_WHY_MOVING: it has not opened it
 * (yet: a node that the rack had forgotten may be about to say so).
 */
u16 access_request(struct memd *m, const struct region *r, const struct weft_msg *msg);

/* ... for @node to have contents */
u16 access_contents(struct memd *m, const struct region *r, u32 node);

/* May what this node writes home stay here? */
bool access_write(struct memd *m, const struct region *r, u32 node);

#endif /* WEFT_MEMD_ACCESS_H */
