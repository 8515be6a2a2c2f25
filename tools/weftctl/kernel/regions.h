/* SPDX-License-Identifier: GPL-2.0-only */
/* The regions that the node knows, by number and by name. */
#ifndef WEFTCTL_REGIONS_H
#define WEFTCTL_REGIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/kernel.h"

/**
 * struct regions - a list of them
 * @list: in the order of their numbers
 * @len: how many
 * @room: for how many there is memory
 * @full: there was no memory for one of them
 */
struct regions {
	struct region *list;
	size_t len;
	size_t room;
	bool full;
};

/* Asks for them.  Return: 0, or an exit status after it has said what is wrong. */
int regions_read(struct regions *r);

void regions_free(struct regions *r);

/* NULL: the node does not know it. */
const struct region *regions_by_id(const struct regions *r, uint32_t id);
const struct region *regions_by_name(const struct regions *r, const char *name);

/* Says that there is none that is called @text.  Return: EXIT_FAILED. */
int regions_unknown(const char *text);

/* The file of a region, by its name in the rack's directory; with a slash, its path. */
int regions_file(const char *name, char path[PATH_MAX]);

/* Opens it for an ioctl, to read or else to write. */
int regions_open(const char *path, int *fd);

/* A number names a region by its number. */
bool regions_is_number(const char *text);

/* Its name, or what stands for one. */
const char *region_name(const struct region *r);

#endif /* WEFTCTL_REGIONS_H */
