/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread that waits for an eventfd is woken, by any other; and has heard it. */
#ifndef WEFT_MEMD_WAKE_H
#define WEFT_MEMD_WAKE_H

#include <unistd.h>

#include "types.h"

static inline void wake_up(int fd)
{
	const u64 one = 1;

	/* it can only fail if it is awake */
	(void)!write(fd, &one, sizeof(one));
}

static inline void wake_heard(int fd)
{
	u64 times;

	/* how often is of no interest */
	(void)!read(fd, &times, sizeof(times));
}

#endif /* WEFT_MEMD_WAKE_H */
