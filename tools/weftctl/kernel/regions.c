// SPDX-License-Identifier: GPL-2.0-only
/* The regions that the node knows, see regions.h. */
#include "kernel/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/rack.h"
#include "kernel/mountpoint.h"

static void add(const struct region *r, void *arg)
{
	struct regions *known = arg;
	struct region *list;

	if (known->len == known->room) {
		known->room = known->room ? 2 * known->room : 16;
		list = reallocarray(known->list, known->room, sizeof(*list));
		if (!list) {
			known->full = true;
			known->room = known->len;
			return;
		}
		known->list = list;
	}
	known->list[known->len++] = *r;
}

int regions_read(struct regions *r)
{
	int rc;

	*r = (struct regions){ 0 };
	rc = kernel_regions(add, r);
	if (!rc && r->full)
		rc = fail("no memory");
	if (rc)
		regions_free(r);
	return rc;
}

void regions_free(struct regions *r)
{
	free(r->list);
	*r = (struct regions){ 0 };
}

const struct region *regions_by_id(const struct regions *r, uint32_t id)
{
	size_t i;

	for (i = 0; i < r->len; i++) {
		if (r->list[i].id == id)
			return &r->list[i];
	}
	return NULL;
}

const struct region *regions_by_name(const struct regions *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->len; i++) {
		if (*name && !strcmp(r->list[i].name, name))
			return &r->list[i];
	}
	return NULL;
}

int regions_unknown(const char *text)
{
	return fail("this node knows no region '%s': 'weftctl region show' lists those that it knows",
		    text);
}

int regions_file(const char *name, char path[PATH_MAX])
{
	struct mountpoints m;
	uint32_t chosen;
	int rc = 0;

	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		return 0;
	}
	mountpoints_read(&m);
	if (!m.len)
		rc = fail("weft is not mounted here: give the path of the region's file, or mount it first");
	else
		snprintf(path, PATH_MAX, "%s/%s", m.list[0], name);
	/* mounts of one rack show the same; which rack is meant only people know */
	if (m.len > 1 && !rack_chosen(&chosen))
		rc = fail("weft is mounted at %s and at %s: give the path of the region's file, or --rack",
			  m.list[0], m.list[1]);
	mountpoints_free(&m);
	return rc;
}

int regions_open(const char *path, int *fd)
{
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	/* an owner who may not read may write */
	if (*fd < 0 && errno == EACCES)
		*fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	return *fd < 0 ? fail("cannot open %s: %s", path, strerror(errno)) : 0;
}

bool regions_is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

const char *region_name(const struct region *r)
{
	return *r->name ? r->name : r->gone ? "(gone)" : "(no name)";
}
