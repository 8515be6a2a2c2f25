// SPDX-License-Identifier: GPL-2.0-only
/* Where a region is at home, see place.h. */
#include "command/place.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "kernel/blades.h"
#include "kernel/kernel.h"
#include "kernel/regionfile.h"
#include "kernel/regions.h"
#include "weft_wire.h"

/**
 * struct moving - a region on its way
 * @id: which
 * @path: its file; "": only its number is known
 * @homes: where it is to be
 */
struct moving {
	uint32_t id;
	char path[PATH_MAX];
	uint32_t homes;
};

static int is_there(void *arg)
{
	const struct moving *m = arg;
	const struct region *region;
	struct regions known;
	struct stat st;
	int rc;

	/* asks the catalog */
	if (*m->path && stat(m->path, &st))
		return -fail("%s is not there any more", m->path);
	rc = regions_read(&known);
	if (rc)
		return -rc;
	region = regions_by_id(&known, m->id);
	rc = region ? region->homes == m->homes : -regions_unknown("that moves");
	regions_free(&known);
	return rc;
}

static int wait_there(struct moving *m, uint32_t wait_ms)
{
	char what[64];

	snprintf(what, sizeof(what), "the move of region %u", m->id);
	return blades_wait(is_there, m, wait_ms, what);
}

static int find(const struct reading *r, const char *name, struct moving *m)
{
	*m->path = 0;
	if (regions_is_number(name))
		return argument_u32(r, "REGION", name, 1, WEFT_REGION_MAX, &m->id);
	return regionfile_id(name, m->path, &m->id);
}

int place_move(const struct reading *r, uint32_t wait_ms)
{
	const char *name = argument_operand(r), *homes = argument_operand(r);
	struct moving m;
	int rc;

	if (!homes)
		return misuse(r->command->name, "move: give a region and the memory blades that are to have it, as in 'move table 1,3'");
	rc = blades_parse(homes, &m.homes);
	if (!rc)
		rc = argument_none(r);
	if (!rc)
		rc = kernel_open(false);
	if (!rc)
		rc = find(r, name, &m);
	if (!rc)
		rc = blades_spread(m.id, m.homes, name);
	return rc || !wait_ms ? rc : wait_there(&m, wait_ms);
}

/* Those that regions use. */
static int in_use(uint32_t *homes)
{
	struct blade_list b;
	int rc = blades_read(&b);
	size_t i;

	*homes = 0;
	for (i = 0; !rc && i < b.len; i++)
		if (b.list[i].joined && !b.list[i].drains)
			*homes |= UINT32_C(1) << (b.list[i].number - 1);
	return rc;
}

int place_spread(const struct reading *r, bool all, uint32_t wait_ms)
{
	const char *name = argument_operand(r);
	struct moving m;
	int rc;

	if (all == !!name)
		return misuse(r->command->name, "spread: give a region, as in 'spread table', or --all");
	if (all && wait_ms)
		return misuse(r->command->name, "--wait goes with one region");
	rc = argument_none(r);
	if (!rc)
		rc = kernel_open(false);
	if (!rc && all)
		return blades_spread(0, 0, "all");
	if (!rc)
		rc = find(r, name, &m);
	if (!rc)
		rc = blades_spread(m.id, 0, name);
	if (!rc && wait_ms)
		rc = in_use(&m.homes);
	return rc || !wait_ms ? rc : wait_there(&m, wait_ms);
}
