/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The copy of the partner's file, for role.c: the primary's stream is written to it.
 * Before anything of it is touched the file says that it is not complete, and after the primary
 * has said that it is, that it is.  Only a file that is complete may serve.
 */
#ifndef WEFT_MEMD_STANDBY_H
#define WEFT_MEMD_STANDBY_H

#include "base/flush.h"
#include "standby/stream.h"
#include "standby/pair.h"

struct standby {
	const struct options *o;	/* command line */
	int fd;			/* the file */
	struct pair_record record;	/* what it says of this machine */
	bool blank;		/* there is nothing else in it */
	struct stream s;	/* from the primary */
	struct stream next;	/* another connection, of which no record has come yet */
	bool following;		/* it has begun to send its file */
	u64 heard;		/* millisecond of CLOCK_BOOTTIME of its last record */
	u32 lease;		/* of it, or of this one, whichever is longer */
	u64 count;		/* pieces done since it began */
	u64 bytes;		/* of them */
	u64 stamp;		/* of its last beat */
	bool owes;		/* an ACK */
	bool use_switch;	/* it has a P4 switch in use */
	bool dirty;		/* written to since the last flush */
	struct flush flush;	/* to the disk */
	u64 flushed;		/* millisecond of that */
	u64 asked_by;	/* millisecond when an undecided partner was here, and what it said */
	struct hello partner;
};

/* Open the file, or make it.  Return: 0, or -1 with a sentence. */
int standby_open(struct standby *sb, const struct options *o, const struct weft_key *key,
		 char *err);

/* Close the file as it is, and the connections. */
void standby_close(struct standby *sb);

/* The partner has called: @fd. */
void standby_take(struct standby *sb, int fd);

/* Whatever has come, or is due. */
void standby_work(struct standby *sb);

/* This machine's HELLO. */
struct hello standby_hello(const struct standby *sb);

/* Has its file regions, and does it know of no partner? */
bool standby_is_unknown(const struct standby *sb);

#endif /* WEFT_MEMD_STANDBY_H */
