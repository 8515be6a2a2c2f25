/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * After a take-over: a command is run, and all members hear where the blade is now (TWIN).
 * front/main.c runs the command, front/memd.c begins to tell.
 */
#ifndef WEFT_MEMD_TAKEOVER_H
#define WEFT_MEMD_TAKEOVER_H

#include <sys/types.h>

#include "net/reply.h"
#include "base/timer.h"

struct options;

#define TAKEOVER_COMMAND_MS	10000	/* then it is killed */

/* The command of --on-takeover, which runs while the blade reads its file. */
struct takeover_command {
	pid_t pid;	/* of it, or 0 */
	u64 until;	/* millisecond at which it is killed */
};

/* Begin to run --on-takeover, if there is one and this machine has taken over. */
void takeover_command_begin(struct takeover_command *c, const struct options *o);

/* Wait for its end, before the blade serves; what failed is in the log. */
void takeover_command_end(struct takeover_command *c, const struct options *o);

/* The members that have yet to hear where this blade is. */
struct takeover {
	u64 heard;			/* bits of the members that have answered */
	u32 txn[WEFT_BLADE_MAX + 1];	/* by id: of the TWIN that is out */
	u32 delay;			/* until it is repeated */
	struct timer timer;		/* for that */
};

void takeover_init(struct memd *m);

/* Tell all members, nodes and blades, until each has answered. */
void takeover_start(struct memd *m);

/* Repeat now: the switch may not have let through the calls so far. */
void takeover_tell(struct memd *m);

/* Tell that member again: it may have forgotten where this blade is. */
void takeover_again(struct memd *m, u32 id);

/* A REPLY.  Return: true if it is to TWIN. */
bool takeover_reply(struct memd *m, const struct weft_msg *msg);

/* TWIN, of another blade: it is where the call comes from. */
enum answer takeover_call(struct memd *m, struct request *q);

/* All lines are at home, and nodes have heard which write-backs are missing: note that. */
void takeover_settled(struct memd *m);

#endif /* WEFT_MEMD_TAKEOVER_H */
