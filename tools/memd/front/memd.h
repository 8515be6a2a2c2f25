/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory blade as a whole: its layers are made and ended, messages go to their places.
 * front/main.c calls it, and tests do.
 */
#ifndef WEFT_MEMD_MEMD_H
#define WEFT_MEMD_MEMD_H

#include "base/blade.h"
#include "wire.h"

/**
 * memd_init() - set everything up but the socket
 * @key: of the rack; NULL, or one that is not set: it has none
 * @err: receives a sentence
 *
 * Return: 0 or -1.
 */
int memd_init(struct memd *m, const struct options *o, const struct weft_key *key,
	      char *err);

/* The socket is open: begin. */
void memd_start(struct memd *m);

void memd_exit(struct memd *m);

/* A datagram, from an address and a port. */
void memd_receive(struct memd *m, const void *buf, size_t len, u32 from, u16 port);

/* The same for LANDED, by a node's card, which has written the bytes of a block there before. */
void memd_receive_home(struct memd *m, const void *buf, size_t len, u32 from, const u8 *bytes);

/*
 * A datagram whose turn comes soon.  What it will be answered with is called into the
 * processor's cache meanwhile, else each page is waited for: first the description of the
 * block, then its contents.  Nothing is believed or changed.
 *
 * Return: the line, 0 if it asks for no block.
 */
u64 memd_far(struct memd *m, const void *buf, size_t len);
void memd_near(struct memd *m, u64 line);

#endif /* WEFT_MEMD_MEMD_H */
