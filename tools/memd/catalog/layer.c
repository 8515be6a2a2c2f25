// SPDX-License-Identifier: GPL-2.0-only
/* The layer as a whole, see layer.h. */
#include "catalog/layer.h"

#include "base/blade.h"
#include "catalog/fence.h"
#include "catalog/follow.h"
#include "catalog/join.h"
#include "catalog/journal.h"
#include "catalog/move.h"
#include "catalog/remove.h"
#include "catalog/restore.h"
#include "catalog/sync.h"
#include "catalog/takeover.h"
#include "catalog/tell.h"
#include "lines/recovery.h"
#include "lines/region.h"
#include "store/backing.h"

/* Nodes do not listen to an address that they have not been told. */
static void asking(struct memd *m)
{
	takeover_tell(m);
}

static void over(struct memd *m)
{
	takeover_settled(m);
	if (memd_is_first(m)) {
		remove_all_unused(m);
		tell_all_opens(m);
	}
}

/* Others have been told that it may have everything open. */
static void late(struct memd *m)
{
	if (memd_is_first(m))
		tell_all_opens(m);
}

static const struct recovery_ops recovery_ops = { asking, over, late };

int catalog_make(struct memd *m)
{
	struct blade *b = m->b;

	if (!blade_make(b->journal) || !blade_make(b->sync) || !blade_make(b->follow) ||
	    !blade_make(b->fence) || !blade_make(b->move) || !blade_make(b->takeover))
		return -1;
	join_init(m);
	follow_init(m);
	fence_init(m);
	b->regions->destroy = remove_region;
	recovery_listen(m, &recovery_ops);
	takeover_init(m);
	move_init(m);
	return 0;
}

int catalog_open(struct memd *m, char *err)
{
	if (journal_init(m) || sync_init(m))
		return fail(err, "cannot open %s once more: %s", m->b->opt.backing,
			    strerror(errno));
	if (m->b->backing->fd < 0)
		return 0;
	return journal_restore(m, err) || restore_blocks(m, err) ? -1 : 0;
}

void catalog_free(struct memd *m)
{
	struct blade *b = m->b;

	commit_close(&b->journal->commit);
	commit_close(b->sync);
	free(b->takeover);
	free(b->move);
	free(b->fence);
	free(b->follow);
	free(b->sync);
	free(b->journal);
}
