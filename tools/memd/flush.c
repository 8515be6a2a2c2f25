// SPDX-License-Identifier: GPL-2.0-only
/* To the disk, see flush.h. */
#include "flush.h"

#include <errno.h>
#include <unistd.h>

static void *run(void *arg)
{
	struct flush *f = arg;

	f->err = fdatasync(f->fd) ? errno : 0;
	atomic_store(&f->over, true);
	return NULL;
}

void flush_begin(struct flush *f, int fd)
{
	f->running = true;
	f->fd = fd;
	atomic_store(&f->over, false);
	f->threaded = !pthread_create(&f->thread, NULL, run, f);
	if (!f->threaded)
		run(f);
}

int flush_end(struct flush *f)
{
	if (f->threaded)
		pthread_join(f->thread, NULL);
	f->running = false;
	f->threaded = false;
	errno = f->err;
	return f->err ? -1 : 0;
}
