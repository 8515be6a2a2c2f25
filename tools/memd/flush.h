/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bringing a file to the disk beside everything else, which takes as long as it takes: a
 * thread that does nothing but that, and of which nobody sees more than that it is over.
 */
#ifndef WEFT_MEMD_FLUSH_H
#define WEFT_MEMD_FLUSH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/**
 * struct flush - one at a time; zeroed at first
 * @running: it was begun, and not ended yet
 * @thread: does it, unless it was done at once
 * @threaded: @thread is one
 * @fd: the file
 * @err: errno of it
 * @over: @err is there
 */
struct flush {
	bool running;
	pthread_t thread;
	bool threaded;
	int fd;
	int err;
	atomic_bool over;
};

/* Everything that was written to @fd so far is to be on the disk.  None is running. */
void flush_begin(struct flush *f, int fd);

static inline bool flush_over(struct flush *f)
{
	return atomic_load(&f->over);
}

/* Wait for the end of the one that runs.  Return: 0 or -1 with errno. */
int flush_end(struct flush *f);

#endif /* WEFT_MEMD_FLUSH_H */
