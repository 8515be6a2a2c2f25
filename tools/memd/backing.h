/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The backing file: what it begins with, and where its parts are.
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
 */
#ifndef WEFT_MEMD_BACKING_H
#define WEFT_MEMD_BACKING_H

#include "options.h"

#define BACKING_LOG_BYTES	(8u << 20)
#define FRAME_SIZE		4096u
#define FRAME_RECORD		32u
#define FRAMES_PER_GROUP	(FRAME_SIZE / FRAME_RECORD)

/**
 * struct backing - an open backing file
 * @fd: the file, or -1: there is none
 * @path: its name
 * @generation: of the log; its lowest bit says which half is in use
 * @log_end: bytes of the log in that half
 * @frames: frames that the file has room for, so far
 * @crashed: the machine ended while the file was in use, and with it what was not on
 *	the disk
 * @dirty: written to since it was last brought to the disk, or began to be
 */
struct backing {
	int fd;
	const char *path;
	u32 generation;
	u32 log_end;
	u32 frames;
	bool crashed;
	bool dirty;
};

/* Where the kernel says which boot this is. */
extern const char *backing_boot_path;

/**
 * backing_open() - open or create the file of @o, check what it is
 * @err: receives a sentence
 *
 * Return: 0 or -1.  Without --backing 0, and fd -1.
 */
int backing_open(struct backing *b, const struct options *o, char *err);

/**
 * backing_switch_log() - the other half of the log is the one in use
 * @len: bytes in it, all written
 *
 * Return: 0 or -1, then nothing changed.
 */
int backing_switch_log(struct backing *b, const struct options *o, u32 len);

/* Position of a half of the log: of generation @gen. */
u64 backing_log_at(u32 gen);

/* Position of frame @frame (1 based), and of its record. */
u64 backing_frame_at(u32 frame);
u64 backing_record_at(u32 frame);

/* All of it or an error: 0 or -1 with errno.  Reading past the end gives zeros. */
int backing_write(struct backing *b, const void *buf, size_t len, u64 at);
int backing_read(struct backing *b, void *buf, size_t len, u64 at);

/* From here on the file is in use, until backing_close().  Return: 0 or -1 with errno. */
int backing_begin(struct backing *b);

/* This part to disk, whatever else waits for it.  Return: 0 or -1 with errno. */
int backing_sync(struct backing *b, u64 at, size_t len);

/* Everything to disk, close. */
void backing_close(struct backing *b);

#endif /* WEFT_MEMD_BACKING_H */
