/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The network of a world: messages that are in flight to the switch, the home or a
 * node, and come in any order.  They are kept sorted: the order of sending is no part
 * of the state.
 */
#ifndef EXPLORE_NETWORK_H
#define EXPLORE_NETWORK_H

#include "world.h"

/* @val: the block's fragments, NULL: none.  @to: the member, if @hop is a node. */
void network_post(struct world *w, const struct weft_msg *m, u8 hop, u8 to,
		  const u8 *val);

/* The whole block, in as many messages as the configuration has fragments. */
void network_post_data(struct world *w, const struct config *c,
		       const struct weft_msg *m, u8 hop, u8 to, const u8 *val);

/* What a node sends; @data is its copy of the line, for messages that carry it. */
void network_send(struct world *w, const struct config *c, const struct weft_send *s,
		  const u8 *data);

/* A card is to write the block where @to wants it, and to say so. */
void network_post_write(struct world *w, const struct config *c, const struct weft_msg *m,
			u8 to);

/* Does it write where the data may land? */
bool network_has_card(const struct config *c, u8 member);

/* Message number @i is in flight no more. */
void network_take(struct world *w, int i);

/* The message without its payload. */
void network_header(struct weft_msg *m, const struct flight *f);

/* With the payload, which comes into @list, WEFT_LANDING_LEN bytes. */
void network_message(struct weft_msg *m, const struct flight *f, u8 *list);

#endif /* EXPLORE_NETWORK_H */
