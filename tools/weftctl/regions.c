// SPDX-License-Identifier: GPL-2.0-only
/* The regions that the node knows, see regions.h. */
#include "regions.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

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

bool regions_is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

const char *region_name(const struct region *r)
{
	return *r->name ? r->name : r->gone ? "(gone)" : "(no name)";
}
