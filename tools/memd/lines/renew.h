/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A new life of the directory.  It begins when the blade does not know any more who
 * has what: the blade was restarted while nodes stayed up, or the switch was, which had
 * lines of ours.
 *
 * Every node is asked to give all lines of this blade back (RENEW): what only it has is
 * written home, everything else is dropped, and the locks that its programs hold are
 * named (CLAIM).  Nobody is served until all have answered; what then is at home is the
 * newest version of everything, and no line is anywhere else but the locks named.
 * It takes RENEW_LEAST_MS at least: an ADD of the former life that came to the switch
 * later than the first request would make a second directory of a line.
 *
 * A node that makes no progress for RENEW_LIMIT_MS is not waited for.  Progress is a
 * block that is newer than what is here, a CLAIM, or the node's word that it has done
 * more since it last said so: it may have much to drop that need not come here.  A node
 * that says so for ever does not keep the others waiting for ever, see renew_bound().
 * From then on it is no member here, until it has given up everything without writing
 * it home.
 *
 * What this blade cannot keep, as its disk is full, say, is progress as well, and that time
 * counts against no node: they have it still, and it would be lost with them.  Programs wait
 * meanwhile, for their time-out, however long that takes.
 */
#ifndef WEFT_MEMD_RENEW_H
#define WEFT_MEMD_RENEW_H

#include "base/timer.h"
#include "wire.h"

struct request;

#define RENEW_LIMIT_MS	15000	/* without progress; nodes that live say something twice a second */
#define RENEW_BASE_MS	60000	/* with progress: that, and the time that all our memory needs ... */
#define RENEW_SPEED	1024	/* ... at so many bytes a millisecond: a wire of 10 Mbit/s */
#define RENEW_REFUSED_MS 3000	/* without a block that cannot be kept: time counts again */
#define RENEW_LEAST_MS	200	/* a life's age: nothing stays in the network for so long */

/**
 * struct renew - who still has lines of a former life
 * @life: number of the directory's life; 0: there was no former one
 * @active: nobody is served yet
 * @asking: nodes have been asked: the switch has our mark, see looks_mark()
 * @waiting: nodes that everybody waits for
 * @done: nodes that have given all back, in this life
 * @late: nodes that have not answered in time
 * @crashed: nodes that have not heard yet that our machine has ended, with what was not on
 *	the disk
 * @txn: by node: of the RENEW that is out
 * @since: millisecond in which this life began
 * @began: the same of when nodes were asked
 * @moved: by node: millisecond of its last progress
 * @worked: by node: how much it has said that it has done
 * @stored: by node: blocks that it gave back
 * @refused: millisecond when a block last could not be kept; 0: never
 * @looked: millisecond when it was last looked at that
 * @stood: milliseconds in which none could be kept
 * @told: millisecond when it was last logged who is waited for
 * @delay: until it is repeated
 * @timer: for that
 */
struct renew {
	u32 life;
	bool active;
	bool asking;
	u32 waiting;
	u32 done;
	u32 late;
	u32 crashed;
	u32 txn[WEFT_NODE_MAX + 1];
	u64 since;
	u64 began;
	u64 moved[WEFT_NODE_MAX + 1];
	u64 worked[WEFT_NODE_MAX + 1];
	u64 stored[WEFT_NODE_MAX + 1];
	u64 refused;
	u64 looked;
	u64 stood;
	u64 told;
	u32 delay;
	struct timer timer;
};

void renew_init(struct memd *m);

/* The end of our machine has left what may be older than what nodes have written home. */
void renew_crashed(struct memd *m);

/* A new life begins; @why is half a sentence. */
void renew_begin(struct memd *m, const char *why);

/* A REPLY of a node.  Return: true if it is to RENEW. */
bool renew_reply(struct memd *m, const struct weft_msg *msg);

/* A node gave back a block that is newer than what was here. */
void renew_stored(struct memd *m, u32 id);

/* One could not be kept, though nothing was wrong with it. */
void renew_refused(struct memd *m, u32 id);

/* Milliseconds after which nobody waits for any node, whatever it does. */
u64 renew_bound(const struct memd *m);

/* A node is no member any more: it has nothing. */
void renew_gone(struct memd *m, u32 id);

/* CLAIM.  Return: errno of the reply. */
u16 renew_claim(struct memd *m, const struct request *q);

/* Nodes that take part in the directory here. */
u32 renew_nodes(const struct memd *m);

#endif /* WEFT_MEMD_RENEW_H */
