/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The role of a machine of a pair.  A machine that starts asks the witness, or, if there is none,
 * its partner; until it knows, and as long as the other one serves, it stands by and has a copy of
 * its file made (standby.h).  front/main.c calls it before there is a blade.
 */
#ifndef WEFT_MEMD_ROLE_H
#define WEFT_MEMD_ROLE_H

#include "base/options.h"
#include "tag.h"

enum role_result {
	ROLE_SERVE,		/* o->role says how */
	ROLE_END,		/* a signal */
	ROLE_FAIL,		/* sentence in err */
};

/**
 * role_find() - wait until this machine is to serve
 * @o: its role is filled in
 * @signal_fd: readable when the process is to end
 * @ready: called when it waits for its partner; not 0: it cannot go on
 * @err: receives a sentence
 *
 * A blade without a partner serves.
 */
enum role_result role_find(struct options *o, const struct weft_key *key, int signal_fd,
			   int (*ready)(const struct options *o), char *err);

#endif /* WEFT_MEMD_ROLE_H */
