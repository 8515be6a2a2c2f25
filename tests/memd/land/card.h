/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The RDMA device of a node that is played: a connection to a blade, memory with keys that
 * blocks land in, and the messages that say so.  Whatever fails here ends the program.
 */
#ifndef WEFT_TEST_CARD_H
#define WEFT_TEST_CARD_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#include "hello.h"
#include "landing.h"
#include "tests/common/check.h"

#define CARD_BLOCK	65536u		/* bytes of a landing */
#define CARD_LANDINGS	16u
#define CARD_BUFFERS	64u		/* for messages */
#define CARD_MESSAGE	256u		/* bytes of one at most */
#define CARD_WAIT_MS	(15000 * (int)check_scale())	/* for anything */

/**
 * struct card - one connection and what belongs to it; zeros: there is none
 * @id: with its queue pair
 * @mr: landings
 * @in_mr: buffers for messages
 * @windows: that make one landing a part of @mr with a key of its own
 * @connected: @id is
 * @rooms: the first one that the blade has for it
 * @n_rooms: how many there are
 */
struct card {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_mr *in_mr;
	struct ibv_mw *windows[CARD_LANDINGS];
	bool connected;
	struct weft_landing rooms;
	u32 n_rooms;
};

/* Where blocks land: of the process, whatever connection they come by. */
extern u8 card_memory[CARD_LANDINGS][CARD_BLOCK];

/* To @blade, which is told @hello under the key @with.  Return: false: refused. */
bool card_connect(struct card *c, u32 blade, const struct weft_hello *hello,
		  const struct weft_key *with);

/* With all of its landings. */
void card_disconnect(struct card *c);

/* A key with which card_memory[@i] can be written, another one each time; it is 0xEE. */
struct weft_landing card_open(struct card *c, u32 i);

/* No landing can be written any more. */
void card_close(struct card *c);

/* Writes card_memory[@i] to somebody else's memory.  Return: false: that is not allowed. */
bool card_write(struct card *c, u32 i, const struct weft_landing *to);

/* Reads @len bytes of somebody else's into card_memory[@i].  Return: as above. */
bool card_read(struct card *c, u32 i, const struct weft_landing *from, u32 len);

/* A message, by the connection. */
void card_send(struct card *c, const u8 *buf, u32 len);

/* The blade says that a room is free.  Return: its number; -1: it does not within @ms. */
int card_room_free(struct card *c, int ms);

/* A message that comes.  Return: its bytes, in @buf; 0: none came within @ms. */
u32 card_take(struct card *c, u8 buf[CARD_MESSAGE], int ms);

#endif
