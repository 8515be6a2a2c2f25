// SPDX-License-Identifier: GPL-2.0-only
/* The layer as a whole, see layer.h. */
#include "lines/layer.h"

#include "base/blade.h"
#include "lines/blocks.h"
#include "lines/grace.h"
#include "lines/lines.h"
#include "lines/looks.h"
#include "lines/p4.h"
#include "lines/quota.h"
#include "lines/recovery.h"
#include "lines/region.h"
#include "lines/rehome.h"
#include "lines/sweep.h"
#include "lines/trim.h"

int lines_make(struct memd *m)
{
	struct blade *b = m->b;
	u32 i;

	if (!blade_make(b->p4) || !blade_make(b->regions) || !blade_make(b->numbers) ||
	    !blade_make(b->looks) || !blade_make(b->line_ops) || !blade_make(b->grace) ||
	    !blade_make(b->sweep))
		return -1;
	for (i = 0; i < b->threads; i++)
		if (!blade_make(b->thread[i]->hint) || !blade_make(b->thread[i]->lines) ||
		    !blade_make(b->thread[i]->staging))
			return -1;
	blocks_init(m);
	region_init(m);
	quota_init(m);
	p4_init(m);
	recovery_init(m);
	rehome_init(m);
	trim_init(m);
	sweep_init(m);
	return 0;
}

void lines_free(struct memd *m)
{
	struct blade *b = m->b;
	u8 id;
	u32 i;

	while (b->regions->n)
		region_free(b->regions, b->regions->by_id[b->regions->n - 1]);
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		blocks_forget(m, id);
	for (i = 0; i < b->threads; i++) {
		free(b->thread[i]->hint);
		free(b->thread[i]->lines);
		free(b->thread[i]->staging);
	}
	free(b->sweep);
	free(b->grace);
	free(b->line_ops);
	free(b->looks);
	free(b->numbers);
	free(b->regions);
	free(b->p4);
}
