// SPDX-License-Identifier: GPL-2.0-only
/* The layer as a whole, see layer.h. */
#include "store/layer.h"

#include "base/blade.h"
#include "store/backing.h"
#include "store/frames.h"
#include "store/settle.h"

int store_make(struct memd *m)
{
	struct blade *b = m->b;

	if (!blade_make(b->backing) || !blade_make(b->frames) || !blade_make(b->settle))
		return -1;
	settle_init(m);
	return 0;
}

int store_open(struct memd *m, char *err)
{
	struct blade *b = m->b;

	if (backing_open(b->backing, &b->opt, err) ||
	    frames_init(b->frames, b->opt.memory, b->backing, err))
		return -1;
	b->frames->shared = b->threads > 1;
	if (b->backing->fd >= 0)
		settle_start(m);
	return 0;
}

void store_free(struct memd *m)
{
	struct blade *b = m->b;

	frames_exit(b->frames);
	backing_close(b->backing);
	free(b->settle);
	free(b->frames);
	free(b->backing);
}
