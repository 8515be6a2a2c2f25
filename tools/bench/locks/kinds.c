// SPDX-License-Identifier: GPL-2.0-only
/* All locks that are measured. */
#include "lock.h"

const struct lock_kind *const lock_kinds[] = {
	&lock_weft, &lock_bare, &lock_central, &lock_mcs, &lock_pernode, &lock_cohort,
	&lock_service, NULL
};

const struct lock_kind *const lock_guests[] = { &lock_pthread, &lock_dlm, NULL };

static const struct lock_kind *find(const struct lock_kind *const *kinds, const char *name)
{
	while (*kinds && strcmp((*kinds)->name, name))
		kinds++;
	return *kinds;
}

const struct lock_kind *lock_kind_of(const char *name)
{
	const struct lock_kind *kind = find(lock_kinds, name);

	return kind ? kind : find(lock_guests, name);
}
