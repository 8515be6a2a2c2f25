/* SPDX-License-Identifier: GPL-2.0-only */
/* An instance of the kernel's tracing that nobody else uses. */
#ifndef WEFTCTL_TRACEFS_H
#define WEFTCTL_TRACEFS_H

#include <limits.h>
#include <stdbool.h>

/* An instance. */
struct tracefs {
	char path[PATH_MAX];	/* its directory */
	/* where tracefs was mounted for it, "" if it was mounted already */
	char mounted[PATH_MAX];
	int fd;	/* what is traced, as text; or -1 */
};

/**
 * tracefs_open() - make one
 *
 * tracefs is mounted if it is not.  Instances of processes that are not there any
 * more, because they were killed, go.  Nothing is traced before tracefs_start().
 *
 * Return: 0, or an exit status after it has said what is wrong; then there is
 * nothing to close.
 */
int tracefs_open(struct tracefs *t);

/* Of this event of the module, trace what @filter lets through.  Return: as above. */
int tracefs_event(const struct tracefs *t, const char *event, const char *filter);

/* From now on @fd has what is traced.  Return: as above. */
int tracefs_start(struct tracefs *t);

/* Nothing more is traced; what was is still there to be read.  Return: as above. */
int tracefs_stop(const struct tracefs *t);

/* Leaves nothing behind. */
void tracefs_close(struct tracefs *t);

#endif /* WEFTCTL_TRACEFS_H */
