// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel's tracing for tests of weftctl: what was traced is the file that
 * WEFT_FAKE_TRACE names; which events are asked for, with their filters, is
 * written to the file WEFT_FAKE_LOG.  Linked instead of tools/weftctl/kernel/tracefs.c.
 */
#include "tools/weftctl/kernel/tracefs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_down(const char *what, const char *more)
{
	const char *path = getenv("WEFT_FAKE_LOG");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "trace %s%s%s\n", what, *more ? ": " : "", more);
	fclose(f);
}

int tracefs_open(struct tracefs *t)
{
	*t = (struct tracefs){ .fd = -1 };
	write_down("open", "");
	return 0;
}

int tracefs_event(const struct tracefs *t, const char *event, const char *filter)
{
	(void)t;
	write_down(event, filter);
	return 0;
}

int tracefs_start(struct tracefs *t)
{
	const char *path = getenv("WEFT_FAKE_TRACE");

	t->fd = open(path ? path : "/dev/null", O_RDONLY | O_CLOEXEC);
	write_down("start", "");
	return 0;
}

int tracefs_stop(const struct tracefs *t)
{
	(void)t;
	write_down("stop", "");
	return 0;
}

void tracefs_close(struct tracefs *t)
{
	close(t->fd);
	write_down("close", "");
}
