/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file goes to the disk in a thread of its own, which touches nothing but the file: the event
 * loop goes on meanwhile.  For frames, the standby's copy, group commit and moves.
 */
#ifndef WEFT_MEMD_FLUSH_H
#define WEFT_MEMD_FLUSH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "types.h"

/* One at a time; zeroed at first, and of no file then. */
struct flush {
	bool opened;	/* @fd is one */
	bool running;	/* it was begun, and not ended yet */
	pthread_t thread;	/* does it, unless it was done at once */
	bool threaded;	/* @thread is one */
	int fd;		/* the file once more, see flush_open() */
	u64 at;		/* where the part begins that is meant */
	size_t len;	/* bytes of it, 0: all of the file */
	bool wakes;	/* who waits for it looks at @wake */
	int wake;	/* eventfd, written to when it is over */
	int err;	/* errno of it */
	atomic_bool over;	/* @err is there */
};

/* All of it into a file, at @at.  Return: 0 or -1 with errno. */
int flush_write(int fd, const void *buf, size_t len, u64 at);

/* A part of a file to the disk, whatever else waits for it.  Return: 0 or -1 with errno. */
int flush_part(int fd, u64 at, size_t len);

/*
 * The name of a file that was made, or got another one, to the disk: its directory.
 * Return: 0 or -1 with errno.
 */
int flush_name(const char *path);

/**
 * flush_open() - make one for a file
 * @fd: the file; it is opened once more, since the kernel tells an error to each that has it
 *	open, once: so nobody hears in our place of what does not get there
 * @wakes: somebody waits for it at @wake
 *
 * flush_close(), also after an error.  Return: 0 or -1 with errno.
 */
int flush_open(struct flush *f, int fd, bool wakes);
void flush_close(struct flush *f);

/*
 * What was written to the file so far is to be on the disk: @len bytes from @at, 0: all of it.
 * None is running.
 */
void flush_begin(struct flush *f, u64 at, size_t len);

static inline bool flush_over(struct flush *f)
{
	return atomic_load(&f->over);
}

/* Wait for the end of the one that runs.  Return: 0 or -1 with errno. */
int flush_end(struct flush *f);

#endif /* WEFT_MEMD_FLUSH_H */
