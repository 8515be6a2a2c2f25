/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The node's connection to the blade that is tested, and what lands by it.  Whatever fails
 * here ends the program.
 */
#ifndef WEFT_TEST_LINK_H
#define WEFT_TEST_LINK_H

#include "card.h"
#include "player.h"

extern struct card card;

/* Versions of blocks: what lands is that, or later. */
extern u64 written[BLOCKS];

/**
 * struct told - what LANDED said last
 * @deed: its key is 0: none
 * @flags: WEFT_F_*
 */
struct told {
	struct weft_deed deed;
	u8 flags;
};

extern struct told told;

/* Who we are, as is right to say to the blade. */
struct weft_hello right(void);

/* It becomes the one that the blade has. */
void link_up(void);

/*
 * LANDED comes.  That a key is closed by it rxe does not tell programs, so it is seen by
 * what a second write does.  Return: for which transaction, 0: none came within @ms.
 */
u32 landed_within(u64 *version, int ms);
u32 landed(u64 *version);

/* One block, while nothing else is under way. */
void lands_one(u32 index);

#endif
