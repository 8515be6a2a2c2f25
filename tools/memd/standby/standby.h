/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The copy of the partner's file: what comes in a stream from the primary is put there.
 *
 * Before anything of it is touched it is noted that it is not complete, and after the
 * primary has said that it is, that it is.  Only a file that is complete may serve.
 */
#ifndef WEFT_MEMD_STANDBY_H
#define WEFT_MEMD_STANDBY_H

#include "base/flush.h"
#include "standby/stream.h"
#include "standby/pair.h"

/**
 * struct standby - the copy
 * @o: command line
 * @fd: the file
 * @record: what it says of this machine
 * @blank: there is nothing else in it
 * @s: from the primary
 * @next: another connection, of which no record has come yet
 * @following: it has begun to send its file
 * @heard: millisecond of CLOCK_BOOTTIME of its last record
 * @lease: of it, or of this one, whichever is longer
 * @count: pieces done since it began
 * @bytes: of them
 * @stamp: of its last beat
 * @owes: an ACK
 * @use_switch: it has a P4 switch in use
 * @dirty: written to since the last flush
 * @flush: to the disk
 * @flushed: millisecond of that
 * @asked_by: millisecond when an undecided partner was here, and what it said
 * @partner: see there
 */
struct standby {
	const struct options *o;
	int fd;
	struct pair_record record;
	bool blank;
	struct stream s;
	struct stream next;
	bool following;
	u64 heard;
	u32 lease;
	u64 count;
	u64 bytes;
	u64 stamp;
	bool owes;
	bool use_switch;
	bool dirty;
	struct flush flush;
	u64 flushed;
	u64 asked_by;
	struct hello partner;
};

/* Open the file, or make it.  Return: 0, or -1 with a sentence. */
int standby_open(struct standby *sb, const struct options *o, const struct weft_key *key,
		 char *err);

/* The file as it is; nothing is under way any more. */
void standby_close(struct standby *sb);

/* The partner has called: @fd. */
void standby_take(struct standby *sb, int fd);

/* Whatever has come, or is due. */
void standby_work(struct standby *sb);

/* Who this is, to whoever asks. */
struct hello standby_hello(const struct standby *sb);

/* Has its file regions, and does it know of no partner? */
bool standby_is_unknown(const struct standby *sb);

#endif /* WEFT_MEMD_STANDBY_H */
