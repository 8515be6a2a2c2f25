/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The backing file: what it begins with, where its parts are, what is in which order on the disk.
 * frames.c keeps contents in it, catalog/journal.c its log.
 */
#ifndef WEFT_MEMD_BACKING_H
#define WEFT_MEMD_BACKING_H

#include "base/options.h"

/*
 * Its parts:
 *
 *	0	superblock, two copies of 4 KiB, written in turn
 *	8 KiB	the log of the catalog, two halves of 8 MiB, used in turn
 *	then	groups: a page of 128 records, the 128 frames that they describe
 *
 * Everything in it is big-endian and carries a sum.  The file is sparse.  What
 * was written survives the end of the process, however it ends.  After the end of
 * the machine without a clean stop the catalog is in a state that it had at some
 * time, and so is each block: what was on the disk once stays there until what came
 * later is (frames.h).  Then the log says so: the first superblock's page also has,
 * in a sector of its own, which boot of which machine the file is in use by.
 *
 * What is in which order on the disk:
 *
 *	contents and record of a frame		any: the record has a sum of the contents
 *	a new version, the end of the old one	a sync of all between: every 2 s, and when
 *						a start is to clear what it does not use
 *	a record of the catalog, its answer	a sync of the log between, see journal_hold()
 *	an answer after a sync of the log failed	all of the catalog in the other half
 *	a half of the log, the superblock that	a sync of each; it was emptied before, so
 *	says that it is in use, more records	that nothing older follows in it
 *	a new file, its name, anything in it	a sync of each, of its directory, too
 *	the mark, anything after it		a sync of it; at the end of all before it
 *
 * It is expected of a sector that it is written whole or not at all, else its records are
 * known to be damaged by their sums; and of a sync that it is true.
 */

#define BACKING_LOG_BYTES	(8u << 20)
#define FRAME_SIZE		4096u
#define FRAME_RECORD		32u
#define FRAMES_PER_GROUP	(FRAME_SIZE / FRAME_RECORD)

/* An open backing file. */
struct backing {
	/*
	 * The file, or -1: there is none; synced by one thread only, so that it hears of all
	 * that does not get to the disk: see flush_open()
	 */
	int fd;
	const char *path;
	u32 blades;	/* of the rack, as --peers said when the log was begun */
	u32 generation;	/* of the log; its lowest bit says which half is in use */
	u32 log_end;	/* bytes of the log in that half */
	u32 frames;	/* frames that the file has room for, so far */
	/* The machine ended while the file was in use, and with it what was not on the disk */
	bool crashed;
	bool failed;	/* the kernel could not bring all of it to the disk */
	bool unwritten;	/* so it was before this process, which sees what the disk may not have */
	bool unsettled;	/* the disk may not say yet that the half of the log that is in use is */
	/* What was written to it last failed: its file system is full, or its disk broken */
	bool refuses;
	bool dirty;	/* written to since it was last brought to the disk, or began to be */
	/*
	 * It is the copy of a standby that has taken over: what is called crashed is what the
	 * stream did not bring
	 */
	bool taken;
	/*
	 * Called after each write with what it wrote, NULL: zeros, but for what only concerns
	 * this machine; or NULL
	 */
	void (*ship)(void *shipper, const void *buf, size_t len, u64 at);
	void *shipper;	/* for @ship */
};

/*
 * What in the first superblock's page only concerns this machine, and is not copied: a sector
 * that says who uses the file, and the one of pair.h.
 */
#define BACKING_SECTOR		512u
#define BACKING_USE_AT		2048u
#define BACKING_PAIR_AT		3072u
#define BACKING_PAGE		4096u
#define BACKING_BOOT_LEN	36

/* Which boot of which machine this is; all 0 if nobody says. */
void backing_boot(u8 boot[BACKING_BOOT_LEN]);

/* Where the kernel says which boot this is. */
extern const char *backing_boot_path;

/**
 * backing_open() - open or create the file of @o, check what it is
 * @err: receives a sentence
 *
 * Return: 0 or -1.  Without --backing 0, and fd -1.
 */
int backing_open(struct backing *b, const struct options *o, char *err);

/*
 * The half of the log that is not in use is emptied: of a start that did not come to its end
 * it may have what would be taken for the next records.  Return: 0 or -1 with errno.
 */
int backing_empty_log(struct backing *b, const struct options *o);

/**
 * backing_switch_log() - the other half of the log, all written, is the one in use
 *
 * Return: 0, for whoever reads the file; for the disk perhaps not, if it is @unsettled then.
 * Or -1 with errno, then nothing changed.
 */
int backing_switch_log(struct backing *b, const struct options *o);

/* Position of a half of the log: of generation @gen. */
u64 backing_log_at(u32 gen);

/* Position of frame @frame (1 based), and of its record. */
u64 backing_frame_at(u32 frame);
u64 backing_record_at(u32 frame);

/* All of it or an error: 0 or -1 with errno.  Reading past the end gives zeros. */
int backing_write(struct backing *b, const void *buf, size_t len, u64 at);
int backing_read(struct backing *b, void *buf, size_t len, u64 at);

/* These bytes are zeros now, or a hole: has been done; whoever has a copy hears it. */
void backing_zeroed(struct backing *b, u64 len, u64 at);

/* Nothing but zeros is there, as in a file that was to be made. */
bool backing_is_blank(int fd, u64 size);

/* From here on the file is in use, until backing_close().  Return: 0 or -1 with errno. */
int backing_begin(struct backing *b);

/* This part to disk, whatever else waits for it.  Return: 0, or backing_fails() and -1. */
int backing_sync(struct backing *b, u64 at, size_t len);

/* The kernel could not bring something to the disk, errno says why: so does the log; it stays. */
void backing_fails(struct backing *b);

/* Everything to disk, close. */
void backing_close(struct backing *b);

#endif /* WEFT_MEMD_BACKING_H */
