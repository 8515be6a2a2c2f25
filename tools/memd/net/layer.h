/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layer as a whole: messages to and from others, and calls that wait for them.  front/memd.c
 * makes and frees it.
 */
#ifndef WEFT_MEMD_NET_LAYER_H
#define WEFT_MEMD_NET_LAYER_H

struct memd;

/* Make it, without sockets.  Return: 0 or -1 without memory. */
int net_make(struct memd *m);
void net_free(struct memd *m);

#endif /* WEFT_MEMD_NET_LAYER_H */
