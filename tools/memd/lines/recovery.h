/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A new life of the directory.  It begins when the blade does not know any more who has what: the
 * blade was restarted while nodes stayed up, or the switch was, which had lines of ours.  All
 * nodes give back what they have before anybody is served.
 */
#ifndef WEFT_MEMD_RECOVERY_H
#define WEFT_MEMD_RECOVERY_H

#include "types.h"

/*
 * Every node is asked to give all lines of this blade back (RENEW): what only it has is written
 * home, everything else is dropped, and the locks that its programs hold are named (CLAIM).
 * Nobody is served until all have answered; what then is at home is the newest version of
 * everything, and no line is anywhere else but the locks named.  It takes RECOVERY_LEAST_MS at
 * least: an ADD of the former life that came to the switch later than the first request would make
 * a second directory of a line.
 *
 * A node that makes no progress for RECOVERY_LIMIT_MS is not waited for.  Progress is a
 * block that is newer than what is here, a CLAIM, or the node's word that it has done
 * more since it last said so: it may have much to drop that need not come here.  A node
 * that says so for ever does not keep the others waiting for ever, see recovery_bound().
 * From then on it is no member here, until it has given up everything without writing
 * it home.
 *
 * What this blade cannot keep, as its disk is full, say, is progress as well, and that time
 * counts against no node: they have it still, and it would be lost with them.  Programs wait
 * meanwhile, for their time-out, however long that takes.
 */

struct memd;
struct request;
struct weft_msg;

#define RECOVERY_LIMIT_MS	15000	/* without progress: a live node says something each 500 ms */
#define RECOVERY_BASE_MS	60000	/* with progress: that, and what all our memory takes ... */
#define RECOVERY_SPEED		1024	/* ... at so many bytes a millisecond: a wire of 10 Mbit/s */
#define RECOVERY_REFUSED_MS	3000	/* without a block that cannot be kept: time counts again */
#define RECOVERY_LEAST_MS	200	/* a life's age: nothing stays in the network for so long */

/* Functions of layers above that hear how far a recovery is. */
struct recovery_ops {
	/* Nodes are about to be asked, which may not know where this blade is */
	void (*asking)(struct memd *m);
	void (*over)(struct memd *m);	/* all lines are at home, and nodes are served */
	void (*late)(struct memd *m);	/* so does a node that was not waited for */
};

void recovery_listen(struct memd *m, const struct recovery_ops *ops);

void recovery_init(struct memd *m);

/* The end of our machine has left what may be older than what nodes have written home. */
void recovery_crashed(struct memd *m);

/* A REPLY of a node.  Return: true if it is to RENEW. */
bool recovery_reply(struct memd *m, const struct weft_msg *msg);

/* Milliseconds after which nobody waits for any node, whatever it does. */
u64 recovery_bound(const struct memd *m);

/* A node is no member any more: it has nothing. */
void recovery_gone(struct memd *m, u32 id);

/* CLAIM.  Return: errno of the reply. */
u16 recovery_claim(struct memd *m, const struct request *q);

#endif /* WEFT_MEMD_RECOVERY_H */
