/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pair: two machines with the id of one blade.  The primary serves, the standby has a copy of
 * its file (mirror.h, standby.h); each is the other one's partner; people read "twin".  A sector
 * of its own file, which is not copied, says of each machine which of both it is.
 */
#ifndef WEFT_MEMD_PAIR_H
#define WEFT_MEMD_PAIR_H

#include "base/options.h"

/* The record in a file that says how its machine stands. */
struct pair_record {
	bool there;	/* it says something */
	/* In which it was primary or standby; grows each time that the standby takes over */
	u32 view;
	bool primary;	/* it served, else it stood by */
	bool complete;	/* standby: it has everything that was acknowledged to anybody */
	/*
	 * Primary: it has taken over, and not all nodes have heard yet that what they had
	 * written home may be missing
	 */
	bool taken;
	bool had_switch;	/* a P4 switch was in use when it took over, or, standby, is */
	/* It was written in this boot of this machine, so that nothing of the file is missing */
	bool here;
};

/* Return: 0 or -1 with errno. */
int pair_load(int fd, struct pair_record *r);

/* On the disk when this returns; @here is set. */
int pair_store(int fd, struct pair_record *r);

/* Milliseconds that count as the lease where there is none. */
#define PAIR_LEASE_MS	20000u

static inline u32 pair_lease(const struct options *o)
{
	return o->lease ? o->lease : PAIR_LEASE_MS;
}

/* Once in a while the same sentence; @told: when it was said last. */
bool pair_may_tell(u64 *told);

/* Options of the command line, to begin anew with; before anything changes its arguments. */
void pair_arguments(int argc, char **argv);

/*
 * The partner serves: this process begins anew, without what its command line says of one start
 * only, and without leaving the terminal once more.  Does not return.
 */
_Noreturn void pair_begin_anew(void);

#endif /* WEFT_MEMD_PAIR_H */
