// SPDX-License-Identifier: GPL-2.0-only
/* Mount points, see mountpoint.h. */
#include "kernel/mountpoint.h"

#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rack.h"

/* Does the module say that it is of another rack than the one that is chosen? */
static bool is_of_another(const struct mntent *entry)
{
	const char *option = hasmntopt(entry, "rack");
	uint32_t rack;

	return option && sscanf(option, "rack=%" SCNu32, &rack) == 1 && rack_is_other(rack);
}

void mountpoints_read(struct mountpoints *m)
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	struct mntent *entry;
	char **list;

	*m = (struct mountpoints){ 0 };
	if (!f)
		return;
	while ((entry = getmntent(f))) {
		if (strcmp(entry->mnt_type, "weft") || is_of_another(entry))
			continue;
		list = array_more(m->list, m->len, sizeof(*list));
		if (!list)
			break;
		m->list = list;
		m->list[m->len] = strdup(entry->mnt_dir);
		if (!m->list[m->len])
			break;
		m->len++;
	}
	endmntent(f);
}

void mountpoints_free(struct mountpoints *m)
{
	while (m->len)
		free(m->list[--m->len]);
	free(m->list);
	m->list = NULL;
}
