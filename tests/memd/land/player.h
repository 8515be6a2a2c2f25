/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node that is played, by UDP: a member of a rack with one region, whose blocks lie at the
 * blade that is tested.  That may be the first one, which has the catalog, or another one.
 * Whatever fails here ends the program.
 */
#ifndef WEFT_TEST_PLAYER_H
#define WEFT_TEST_PLAYER_H

#include <stdbool.h>

#include "call.h"
#include "landing.h"
#include "tag.h"
#include "tests/common/check.h"
#include "wire.h"

#define BLOCK		65536u
#define BLOCKS		48u
#define WRITTEN		32u	/* of these; others are zeros */
#define WAIT_MS		(15000 * (int)check_scale())	/* for anything */
#define PLAYER_LIMIT_S	(120 * check_scale())	/* until the program ends by itself */

/**
 * struct player - the node, and who it talks to
 * @node: its number
 * @addr: its address
 * @first: address of the first blade
 * @blade: number of the blade that is tested
 * @blade_addr: its address
 * @region: the region's number
 * @life: the node's present life
 * @key: of the rack
 * @answers: to what blades ask of it, that it is done
 */
struct player {
	u32 node;
	u32 addr;
	u32 first;
	u32 blade;
	u32 blade_addr;
	u32 region;
	u32 life;
	struct weft_key key;
	bool answers;
};

extern struct player player;

/* With @path "none" the rack has no key.  @blades: how many it has; the last one is tested. */
void player_begin(const char *first, const char *own, const char *path, u32 blades);

/* The time of the rack, as far as this node knows it. */
struct weft_stamp player_time(void);

/* A request's number, another one each time. */
u32 player_txn(void);

/* --- calls; those of JOIN and LEAVE may wait for a blade that is silent ------ */

void player_join(void);
/* As another life of the node. */
void player_join_anew(void);
void player_create(void);
void player_open(void);
/* The region is for these nodes only (bits), 0: for all. */
void player_restrict(u32 nodes);
/* It has so many of our blocks, BLOCKS to begin with. */
void player_resize(u32 n);
/* The region goes, too. */
void player_leave(void);

/* The blade that is tested answers, which takes it no time.  Return: false: it is out of reach. */
bool player_is_heard(void);

/* What it counts. */
u64 counter(const char *name);
/* One that soon has that value. */
void counter_becomes(const char *name, u64 value);

/* --- blocks; @index below BLOCKS --------------------------------------------- */

/* Return: the version of what the block has now, see player_check_block(). */
u64 player_write(u32 index);
/* The same, but the blade may not have it yet: player_acked(). */
u64 player_begin_write(u32 index);
/* What the block would have next.  Return: its version. */
u64 player_fill(u32 index, u8 *data);
/* LANDED of a block that is in a room of the blade.  Return: bytes of it, in @buf. */
u32 player_home(u8 *buf, u32 index, u64 version, u32 size, const struct weft_landing *room);
/* The same, sent by UDP. */
void player_home_udp(u32 index, u64 version, const struct weft_landing *room);
/* The blade says that it has that version.  Return: false: not within @ms. */
bool player_acked(u64 version, int ms);
/* @data is what a block has as of that version, all of it; 0: it was never written. */
void player_check_block(const u8 *data, u32 index, u64 version);
void player_ask(u32 index, u32 txn, const struct weft_landing *landing);
/* READ as of a directory that knows that a dead node had something newer. */
void player_ask_of_dead(u32 index, u32 txn, const struct weft_landing *landing);
/* The whole of a block comes by UDP as answer to that.  Return: false: not within @ms. */
bool player_data_comes(u32 txn, int ms);

#endif
