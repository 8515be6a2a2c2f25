// SPDX-License-Identifier: GPL-2.0-only
/* All locks that are measured. */
#include "lock.h"

const struct lock_kind *const lock_kinds[] = {
	&lock_weft, &lock_bare, &lock_central, &lock_mcs, &lock_pernode, &lock_cohort,
	&lock_service, NULL
};

const struct lock_kind *lock_kind_of(const char *name)
{
	unsigned int i;

	for (i = 0; lock_kinds[i]; i++)
		if (!strcmp(lock_kinds[i]->name, name))
			return lock_kinds[i];
	return NULL;
}
