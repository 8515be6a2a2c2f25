/* SPDX-License-Identifier: GPL-2.0-only */
/* Where file systems of type weft are mounted, as far as we see them. */
#ifndef WEFTCTL_MOUNTPOINT_H
#define WEFTCTL_MOUNTPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/json.h"

struct mountpoints {
	char **list;
	size_t len;
};

/* Reads those of the rack that is chosen, or all; none if that cannot be done. */
void mountpoints_read(struct mountpoints *m);

void mountpoints_free(struct mountpoints *m);

/* Whether weft is mounted at @path; names may lead there by links. */
static inline bool mountpoints_have(const char *path)
{
	char *real = realpath(path, NULL);
	struct mountpoints m;
	bool found = false;
	size_t i;

	mountpoints_read(&m);
	for (i = 0; i < m.len && real; i++)
		found |= !strcmp(m.list[i], real);
	mountpoints_free(&m);
	free(real);
	return found;
}

/* A member "mounts". */
static inline void mountpoints_json(struct json *j, const struct mountpoints *m)
{
	size_t i;

	json_array(j, "mounts");
	for (i = 0; i < m->len; i++)
		json_string(j, NULL, m->list[i]);
	json_close(j);
}

#endif /* WEFTCTL_MOUNTPOINT_H */
