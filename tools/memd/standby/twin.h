/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A blade and its twin: two machines with the same id, of which one serves, the active, and
 * the other one, the standby, has a copy of its file (mirror.h, standby.h).  Each keeps in a
 * sector of its own file what it is; this one is not copied.
 */
#ifndef WEFT_MEMD_TWIN_H
#define WEFT_MEMD_TWIN_H

#include "base/options.h"

/**
 * struct twin_record - what a file says of its machine
 * @there: it says something
 * @view: in which it was active or standby; grows each time that the standby takes over
 * @active: it served, else it stood by
 * @complete: standby: it has everything that was acknowledged to anybody
 * @taken: active: it has taken over, and not all nodes have heard yet that what they had
 *	written home may be missing
 * @had_switch: a P4 switch was in use when it took over, or, standby, is
 * @here: it was written in this boot of this machine, so that nothing of the file is missing
 */
struct twin_record {
	bool there;
	u32 view;
	bool active;
	bool complete;
	bool taken;
	bool had_switch;
	bool here;
};

/* Return: 0 or -1 with errno. */
int twin_load(int fd, struct twin_record *r);

/* On the disk when this returns; @here is set. */
int twin_store(int fd, struct twin_record *r);

/* Milliseconds that count as the lease where there is none. */
#define TWIN_LEASE_MS	20000u

static inline u32 twin_lease(const struct options *o)
{
	return o->lease ? o->lease : TWIN_LEASE_MS;
}

/* Options of the command line, to begin anew with; before anything changes its arguments. */
void twin_arguments(int argc, char **argv);

/*
 * The twin serves: this process begins anew, without what its command line says of one start
 * only, and without leaving the terminal once more.  Does not return.
 */
_Noreturn void twin_begin_anew(void);

#endif /* WEFT_MEMD_TWIN_H */
