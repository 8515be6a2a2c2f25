/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Taking blocks away: the end of a region that shrinks, or all of one that is gone.  Contents go
 * at once, lines come back from the switch first; in small steps, so that requests are served in
 * between.  Before it begins, the size says that these blocks are not there any more.
 */
#ifndef WEFT_MEMD_TRIM_H
#define WEFT_MEMD_TRIM_H

#include "lines/region.h"

void trim_init(struct memd *m);

/**
 * trim_start() - take away all blocks from @from on
 * @dc: held until it is done, or NULL
 *
 * A region that is gone is freed in the end.
 */
void trim_start(struct memd *m, struct region *r, u64 from, struct deferred *dc);

#endif /* WEFT_MEMD_TRIM_H */
