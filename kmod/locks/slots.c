// SPDX-License-Identifier: GPL-2.0-only
/* What open files take of memory for locks, see slots.h. */
#include "locks/quota.h"
#include "locks/slots.h"

int weft_lockfile_count(struct weft_lockfile *lf, size_t bytes)
{
	int err;

	lockdep_assert_held(&lf->slots->lock);
	if (!lf->counts)
		return 0;
	err = weft_lockquota_take(lf->uid, bytes);
	if (!err)
		lf->taken += bytes;
	return err;
}

void weft_lockfile_uncount(struct weft_lockfile *lf, size_t bytes)
{
	lockdep_assert_held(&lf->slots->lock);
	if (!lf->counts)
		return;
	lf->taken -= bytes;
	weft_lockquota_return(lf->uid, bytes);
}
