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
 * A node that does not answer in time is not waited for.  From then on it is no
 * member here, until it has given up everything without writing it home.
 */
#ifndef WEFT_MEMD_RENEW_H
#define WEFT_MEMD_RENEW_H

#include "timer.h"
#include "wire.h"

struct request;

#define RENEW_LIMIT_MS	15000	/* nodes that live answer within two seconds */
#define RENEW_LEAST_MS	200	/* nothing stays in the network for so long */

/**
 * struct renew - who still has lines of a former life
 * @life: number of the directory's life; 0: there was no former one
 * @active: nobody is served yet
 * @asking: nodes have been asked: the switch has our mark, see lines_mark()
 * @waiting: nodes that everybody waits for
 * @late: nodes that have not answered in time
 * @txn: by node: of the RENEW that is out
 * @began: millisecond
 * @delay: until it is repeated
 * @timer: for that
 */
struct renew {
	u32 life;
	bool active;
	bool asking;
	u32 waiting;
	u32 late;
	u32 txn[WEFT_NODE_MAX + 1];
	u64 began;
	u32 delay;
	struct timer timer;
};

void renew_init(struct memd *m);

/* A new life begins; @why is half a sentence. */
void renew_begin(struct memd *m, const char *why);

/* A REPLY of a node.  Return: true if it is to RENEW. */
bool renew_reply(struct memd *m, const struct weft_msg *msg);

/* A node is no member any more: it has nothing. */
void renew_gone(struct memd *m, u32 id);

/* CLAIM.  Return: errno of the reply. */
u16 renew_claim(struct memd *m, const struct request *q);

/* Nodes that take part in the directory here. */
u32 renew_nodes(const struct memd *m);

#endif /* WEFT_MEMD_RENEW_H */
