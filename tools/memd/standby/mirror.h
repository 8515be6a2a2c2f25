/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The primary of a blade with a standby: whatever is written to the file is sent to the standby,
 * which has all of it sooner or later, and some answers wait for that.  And whether this machine
 * may answer anything at all.
 */
#ifndef WEFT_MEMD_MIRROR_H
#define WEFT_MEMD_MIRROR_H

#include <stdatomic.h>

#include "standby/ask.h"

/*
 * The state of the primary:
 *
 *	ALONE		there is no connection to the standby, or it is being made: nobody can
 *			take over, as the witness knows that the standby has not everything
 *	COPYING		the file goes there, piece by piece, and what is written meanwhile
 *	COMPLETING	it has all: its word for that, then the witness's
 *	COMPLETE	it follows, and may take over
 *	LOSING		it does not answer, or was slow: until the witness knows (ALONE), which
 *			may find that the standby has taken over; or until the standby is back
 *			and has noted that its copy, which begins anew, is not complete
 *
 * Answers wait in the last three.  In these this machine serves only as long as nobody can
 * have taken over: the standby does not before it has heard nothing for a lease, the witness
 * does not let it before it has heard nothing for a lease.  So 0.8 of a lease after the last
 * thing was sent to either that it has answered it is suspended: nothing is taken, nothing
 * sent, no timer runs, until either answers again.  Without a witness nobody takes over but by
 * hand, and this machine always serves.
 *
 * One thread has the connections, the copying and the witness.  Those that take messages
 * queue what they have written: OUTGOING_MAX bytes.  If that is full, or the standby does not
 * answer for a lease, it is lost; when half is full all write-backs wait.
 */

struct memd;

/* The state of the pair, for statistics. */
struct mirror_state {
	bool complete;		/* the standby follows and has everything */
	u64 behind;		/* bytes that it has not yet */
	bool has_witness;	/* there is one */
	bool witness_ok;	/* ... and it has answered within the lease */
	u64 suspensions;	/* how often this machine was suspended */
};

/**
 * mirror_start() - everything is set up, and no thread runs yet; none without a standby
 * @wake: called by any thread for each that takes messages: what waits for the standby may go
 *
 * Return: 0 or -1.
 */
int mirror_start(struct memd *m, void (*wake)(struct memd *m), char *err);

/* Give the standby the rest, if it takes it soon, and end.  No thread writes any more. */
void mirror_stop(struct memd *m);

/* How much has been written so far; whether the standby has so much, or need not have it. */
u64 mirror_position(const struct memd *m);
bool mirror_has(const struct memd *m, u64 position);

/* Do answers wait for the standby now?  Is so much to go there that all write-backs are to? */
bool mirror_holding(const struct memd *m);
bool mirror_is_crowded(const struct memd *m);

/* A P4 switch is in use, or none is any more: who takes over has to know. */
void mirror_switch(struct memd *m, bool use);

void mirror_look(const struct memd *m, struct mirror_state *s);

#endif /* WEFT_MEMD_MIRROR_H */
