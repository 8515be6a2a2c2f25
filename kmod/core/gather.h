/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A miss: what it waits for until it may commit.  All of it runs inside one call of a
 * function of controller.h, and adds to its @out.
 */
#ifndef WEFT_CORE_GATHER_H
#define WEFT_CORE_GATHER_H

#include "line.h"

/* The answer says that the entry is locked for us, and what was in it. */
void weft_gather_entry(struct weft_line *l, const struct weft_msg *msg);

/* DATA or PASSED: a fragment, or all, of the block; LANDED: all. */
void weft_gather_data(struct weft_line *l, const struct weft_msg *msg, u32 fresh,
		      struct weft_out *out);

/* GETM: the entry is ours, and nobody has data to send us: we have, or fetch it. */
void weft_gather_no_data(struct weft_line *l, const struct weft_msg *msg,
			 struct weft_out *out);

/* GETS: the home has the data, and nobody was asked to send it: we fetch it. */
void weft_gather_home(struct weft_line *l, struct weft_out *out);

/* GETM, TAKE: a node has dropped its copy, as it was told to. */
void weft_gather_ack(struct weft_line *l, const struct weft_msg *msg,
		     struct weft_out *out);

/* GETM: a node gives back, unasked, what it was lent. */
void weft_gather_returned(struct weft_line *l, const struct weft_msg *msg,
			  struct weft_out *out);

/* GETS: the home has a version that was written back. */
void weft_gather_written(struct weft_line *l, const struct weft_msg *msg,
			 struct weft_out *out);

/* TAKE to write: commit if those who were lent the line have given it up. */
void weft_gather_taken(struct weft_line *l, struct weft_out *out);

/* Nodes have died, and nothing comes from them any more: what they had begun to send. */
void weft_gather_gone(struct weft_line *l, u32 dead, struct weft_out *out);

/* GETS, GETM: ask again for what has not come. */
void weft_gather_timeout(struct weft_line *l, struct weft_out *out);

#endif /* WEFT_CORE_GATHER_H */
