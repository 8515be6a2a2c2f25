/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory blades: those of the command line, and others that an administrator has added while
 * the rack runs; and those that regions are not to use any more.  The first blade decides, and
 * notes it (admin.h); the others learn of new ones with the members.
 */
#ifndef WEFT_MEMD_BLADES_H
#define WEFT_MEMD_BLADES_H

#include "types.h"

struct memd;

/* Bits of the blades that regions may use, bit 0 is the first one. */
u32 blades_in_use(const struct memd *m);

/* Is a blade needed, for new regions or those that there are? */
bool blades_needed(struct memd *m, u32 blade);

/* Regions that have it as a home, or are to. */
u32 blades_regions(struct memd *m, u32 blade);

/* Some blades for the log, as "1 and 3"; of the last two calls. */
const char *blades_name(u32 blades);

/* Other blades: there is one more than we knew of. */
void blades_learn(struct memd *m, u32 id, u32 addr);

/* After a restart: such a blade was added, or is not used. */
bool blades_restore(struct memd *m, u32 id, u32 addr, bool used, bool drains);

/**
 * blades_there() - whether all blades are there
 *
 * Return: 0; EAGAIN: not yet, let the caller ask again; EHOSTDOWN.
 */
u16 blades_there(struct memd *m);

#endif /* WEFT_MEMD_BLADES_H */
