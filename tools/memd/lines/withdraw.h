/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of a region come back from the switch, and stay here: the switch serves whoever
 * asks, and knows nothing of regions.  Nodes keep what they have.
 *
 * Before it begins, the region says that its lines do not go there any more (region->nodes).
 */
#ifndef WEFT_MEMD_WITHDRAW_H
#define WEFT_MEMD_WITHDRAW_H

#include "lines/region.h"

/**
 * withdraw_start() - take all lines of a region back from the switch
 * @dc: held until they are here; gets ETIMEDOUT if they are not after some seconds
 */
void withdraw_start(struct memd *m, struct region *r, struct deferred *dc);

/*
 * May the switch have lines of it that this blade does not know of?  The region is older than
 * this life of the directory: nobody can ask for what nobody can name.
 */
bool withdraw_possible(const struct memd *m, const struct region *r);

#endif /* WEFT_MEMD_WITHDRAW_H */
