/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The active machine of a blade with a twin: whatever is written to the file is sent to the
 * standby, which has all of it sooner or later, and some answers wait for that.  And whether
 * this machine may answer anything at all.
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
 * queue what they have written: QUEUE_MAX bytes.  If that is full, or the standby does not
 * answer for a lease, it is lost; when half is full all write-backs wait.
 */
#ifndef WEFT_MEMD_MIRROR_H
#define WEFT_MEMD_MIRROR_H

#include <stdatomic.h>

#include "standby/ask.h"

#define MIRROR_QUEUE_MAX	(64ull << 20)
#define MIRROR_FOR_EVER		(~0ull)
#define HELD_MAX		1024u	/* acknowledgements that wait, of a thread */

struct job;
struct memd;
struct mirror;
struct region;
struct weft_msg;

/* An acknowledgement that waits; @position as mirror_position(). */
struct held_ack {
	u64 position;
	u32 to;
	u32 txn;
	u64 line;
	u64 version;
};

/**
 * struct held - what waits for the standby, of a thread
 * @ack: HELD_MAX of them, the first is at @first; NULL: this blade has no twin
 * @first: see there
 * @n: how many
 * @jobs: calls that do, of the blade: the first thread has them
 * @waiting: something waits: @wake is to be written to
 * @wake: eventfd; -1: none
 */
struct held {
	struct held_ack *ack;
	u32 first;
	u32 n;
	struct job *jobs;
	atomic_bool waiting;
	int wake;
};

/**
 * struct mirror_state - what statistics tell
 * @complete: the standby follows and has everything
 * @behind: bytes that it has not yet
 * @has_witness: there is one
 * @witness_ok: ... and it has answered within the lease
 * @suspensions: how often this machine was suspended
 */
struct mirror_state {
	bool complete;
	u64 behind;
	bool has_witness;
	bool witness_ok;
	u64 suspensions;
};

/* Everything is set up, and no thread runs yet; none without a twin.  Return: 0 or -1. */
int mirror_start(struct memd *m, char *err);

/* Give the standby the rest, if it takes it soon, and end.  No thread writes any more. */
void mirror_stop(struct memd *m);

/* Milliseconds of CLOCK_BOOTTIME until which messages may be sent: what sends them looks. */
const atomic_ullong *mirror_until(const struct memd *m);

/* May nothing be taken or sent now? */
bool mirror_suspended(const struct memd *m);

/* How much has been written so far; whether the standby has so much, or need not have it. */
u64 mirror_position(const struct memd *m);
bool mirror_has(const struct memd *m, u64 position);

/* Does the acknowledgement of what belongs to @r wait?  NULL: a region that is gone. */
bool mirror_holds(const struct memd *m, const struct region *r);

/* Then this keeps it.  If too many wait it is lost, and the node will repeat what it is for. */
void mirror_keep(struct memd *m, const struct weft_msg *msg);

/* An answer waits until the standby has what was noted so far.  Return: whether it does. */
bool mirror_hold(struct memd *m, struct job *job);

/* What wakes a thread when something need not wait any more, and what it does then. */
int mirror_fd(const struct memd *m);
void mirror_work(struct memd *m);

/* Whoever waits is not answered any more. */
void mirror_drop(struct memd *m);

/* A P4 switch is in use, or none is any more: who takes over has to know. */
void mirror_switch(struct memd *m, bool use);

void mirror_look(const struct memd *m, struct mirror_state *s);

#endif /* WEFT_MEMD_MIRROR_H */
