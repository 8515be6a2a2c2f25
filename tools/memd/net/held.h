/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers that wait for the standby: acknowledgements of each thread, and calls.  lines/blocks.c
 * and the catalog put them here, standby/mirror.c wakes the threads when the standby has more.
 */
#ifndef WEFT_MEMD_HELD_H
#define WEFT_MEMD_HELD_H

#include <stdatomic.h>

#include "net/deferred.h"
#include "types.h"

#define HELD_MAX		1024u	/* acknowledgements that wait, of a thread */

/* An acknowledgement that waits; @position see mirror_position(). */
struct held_ack {
	u64 position;
	u32 to;
	u32 txn;
	u64 line;
	u64 version;
};

/* Acknowledgements of a thread that wait for the standby; and, in the first thread, calls. */
struct held {
	/* HELD_MAX of them, the first is at @first; NULL: this blade has no standby */
	struct held_ack *ack;
	u32 first;
	u32 n;			/* how many */
	/* Calls that do, of the blade: the first thread has them */
	struct deferred_list calls;
	atomic_bool waiting;	/* something waits: @wake is to be written to */
	int wake;		/* eventfd; -1: none */
};

/* The blade has a standby, and no thread runs yet.  Return: 0 or -1 with errno. */
int held_start(struct memd *m);
void held_exit(struct memd *m);

/* By any thread: that one is to look, if anything of it waits. */
void held_wake(struct memd *m);

/* An acknowledgement waits.  If too many do it is lost, and the node repeats what it is for. */
void held_keep(struct memd *m, const struct weft_msg *msg);

/* A call waits until the standby has what was noted so far.  Return: whether it does. */
bool held_hold(struct memd *m, struct deferred *dc);

/* The descriptor that wakes a thread when the standby has more, and the work to do then. */
int held_fd(const struct memd *m);
void held_work(struct memd *m);

/* Drop all that waits: nobody is answered any more. */
void held_drop(struct memd *m);

#endif /* WEFT_MEMD_HELD_H */
