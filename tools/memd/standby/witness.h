/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The witness: a small process on a third machine, which says which of a blade's two machines
 * serves (register.h).  It does nothing but answer them.  front/main.c runs it in the place of a
 * blade.
 */
#ifndef WEFT_MEMD_WITNESS_H
#define WEFT_MEMD_WITNESS_H

#include "base/options.h"
#include "tag.h"

#define WITNESS_CONNECTIONS	64u	/* the one that is silent for longest goes for a new one */

/* Run until @signal_fd says SIGTERM or SIGINT; @ready when it listens.  Return: exit status. */
int witness_run(const struct options *o, const struct weft_key *key, int signal_fd,
		int (*ready)(const struct options *o));

#endif /* WEFT_MEMD_WITNESS_H */
