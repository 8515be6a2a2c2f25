/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages that somebody forges: random bytes, and what a member could have sent, with
 * some of it wrong, from any address and port.  What is meant to get behind the filter of
 * senders at a blade does: it comes from the address and the port of the member that it
 * names.
 */
#ifndef WEFT_TESTS_MEMD_FORGE_H
#define WEFT_TESTS_MEMD_FORGE_H

#include "call.h"
#include "rig.h"

#define FORGE_PAYLOAD	1408
#define FORGE_MAX	(WEFT_WIRE_HDR_LEN + FORGE_PAYLOAD + WEFT_WIRE_TRAILER_LEN)

/**
 * struct forge - what messages are about
 * @victim: region whose lines are attacked
 * @spared: region that no message is about: who can send as a member of a rack can
 *	change data there
 * @spared_name: its name
 * @lines: blocks of the victim
 * @blade: id of the blade that gets them
 * @life: of each member
 * @key: what tags are made with; NULL: there are none
 * @stamp: the time in them
 */
struct forge {
	u32 victim;
	u32 spared;
	const char *spared_name;
	u32 lines;
	u32 blade;
	u32 life[64];
	const struct weft_key *key;
	struct weft_stamp stamp;
};

/* One message; @len bytes are on the wire, whatever its header says. */
struct forged {
	u8 buf[FORGE_MAX];
	size_t len;
};

/* Anything; half of it begins like a message, half of that has right sums. */
void forge_random(struct forged *f);

/* A message of @type, of a member that is a node, all sums right. */
void forge_node(const struct forge *about, u8 type, u8 src, struct forged *f);

/* What a switch could answer to @asked, a message of the blade; all sums right. */
void forge_switch(const struct forge *about, const struct weft_msg *asked,
		  struct forged *f);

/* Up to three bits flip, the end may be missing; mostly all sums are right after it. */
void forge_mutate(struct forged *f);

/* Is it about something that is spared?  Then it is not for the wire. */
bool forge_spares(const struct forge *about, const struct forged *f);

#endif /* WEFT_TESTS_MEMD_FORGE_H */
