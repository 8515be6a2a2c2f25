/* SPDX-License-Identifier: GPL-2.0-only */
/* Where file systems of type weft are mounted, as far as we see them. */
#ifndef WEFTCTL_MOUNTPOINT_H
#define WEFTCTL_MOUNTPOINT_H

#include <stddef.h>

struct mountpoints {
	char **list;
	size_t len;
};

/* Reads those of the rack that is chosen, or all; none if that cannot be done. */
void mountpoints_read(struct mountpoints *m);

void mountpoints_free(struct mountpoints *m);

#endif /* WEFTCTL_MOUNTPOINT_H */
