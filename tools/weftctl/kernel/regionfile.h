/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes that the owner of a region may make, by an ioctl of its file.  All functions return 0,
 * or an exit status after a sentence.
 */
#ifndef WEFTCTL_REGIONFILE_H
#define WEFTCTL_REGIONFILE_H

#include <limits.h>
#include <stdint.h>

#include "weft.h"

/* The file of a region, by its name in the rack's directory; with a slash, its path. */
int regionfile_path(const char *name, char path[PATH_MAX]);

/* The number of a region, which the node knows from then on. */
int regionfile_id(const char *name, char path[PATH_MAX], uint32_t *id);

/* Sets the policies of a region, by its name or path. */
int regionfile_set_policy(const char *name, const struct weft_policy *p);

/* For which nodes it is, as in policy.h. */
int regionfile_set_nodes(const char *name, uint32_t nodes);

/* Accept its lost blocks as they are; @blocks: how many. */
int regionfile_accept_lost(const char *path, uint64_t *blocks);

#endif /* WEFTCTL_REGIONFILE_H */
