// SPDX-License-Identifier: GPL-2.0-only
/* Blocks that are lost, see lost.h. */
#include "command/lost.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fail.h"
#include "base/output.h"
#include "base/value.h"
#include "kernel/blades.h"
#include "kernel/kernel.h"
#include "kernel/mountpoint.h"
#include "kernel/regionfile.h"
#include "kernel/regions.h"
#include "tools/common/json.h"
#include "weft_wire.h"

/* Lost blocks of all blades, in memory of malloc(). */
struct listing {
	struct lost *list;
	size_t len;
};

static int take(void *row, void *arg)
{
	struct listing *all = arg;
	struct lost *list = array_more(all->list, all->len, sizeof(*list));

	if (!list)
		return -ENOMEM;
	all->list = list;
	list[all->len++] = *(const struct lost *)row;
	return 0;
}

static int by_place(const void *left, const void *right)
{
	const struct lost *a = left, *b = right;

	if (a->region != b->region)
		return a->region < b->region ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Runs of blocks have different homes: what is one piece came in several. */
static void join(struct listing *all)
{
	struct lost *to = all->list;
	size_t i;

	if (!all->len)
		return;
	qsort(all->list, all->len, sizeof(*all->list), by_place);
	for (i = 1; i < all->len; i++) {
		const struct lost *l = &all->list[i];

		if (l->region == to->region && l->offset <= to->offset + to->length) {
			if (to->length < l->offset + l->length - to->offset)
				to->length = l->offset + l->length - to->offset;
		} else {
			*++to = *l;
		}
	}
	all->len = (size_t)(to - all->list) + 1;
}

/* @c, @silent: as blades_config() has them, and who else does not answer. */
static int ask_blades(uint32_t region, struct listing *all, struct config *c, uint32_t *silent)
{
	unsigned int i;
	bool one;
	int rc = blades_config(c, silent);

	for (i = 0; !rc && i < c->homes_len; i++) {
		if ((c->drained | *silent) & UINT32_C(1) << i)
			continue;
		rc = blades_lost(WEFT_BLADE_MIN + i, c->homes[i], region, &one, take, all);
		*silent |= (uint32_t)one << i;
	}
	return rc;
}

/* --- Names ----------------------------------------------------------------- */

/* Of a region that nobody has looked up here: as the directory of the rack has it. */
static void find_name(uint32_t region, char name[REGION_NAME_MAX])
{
	struct mountpoints m;
	struct dirent *e;
	DIR *dir = NULL;

	mountpoints_read(&m);
	if (m.len)
		dir = opendir(m.list[0]);
	while (dir && (e = readdir(dir))) {
		if (e->d_ino == region && e->d_type == DT_REG) {
			snprintf(name, REGION_NAME_MAX, "%s", e->d_name);
			break;
		}
	}
	if (dir)
		closedir(dir);
	mountpoints_free(&m);
}

/* @name is "" if it has none. */
static void name_of(const struct regions *known, uint32_t region, char name[REGION_NAME_MAX])
{
	const struct region *r = regions_by_id(known, region);

	snprintf(name, REGION_NAME_MAX, "%s", r ? r->name : "");
	if (!r)
		find_name(region, name);
}

/* Its number, from its name, number or path. */
static int number_of(const struct regions *known, const char *text, uint32_t *id)
{
	const struct region *r;
	char path[PATH_MAX];
	struct why why;

	if (regions_is_number(text))
		return value_u32(text, 1, WEFT_REGION_MAX, id, &why) ? 0 :
		       misuse("line", "REGION: %s", why.text);
	r = regions_by_name(known, text);
	if (!r)
		return regionfile_id(text, path, id);
	*id = r->id;
	return 0;
}

/* --- Showing ----------------------------------------------------------------- */

static void print(const struct listing *all, const struct regions *known)
{
	char name[REGION_NAME_MAX] = "";
	struct table t;
	size_t i;

	table_begin(&t, "lost", lost_columns);
	for (i = 0; i < all->len; i++) {
		struct lost *l = &all->list[i];

		if (!i || l[-1].region != l->region)
			name_of(known, l->region, name);
		l->name = name;
		table_row(&t, l);
	}
	table_end(&t);
}

int lost_show(const char *region)
{
	struct listing all = { 0 };
	struct regions known;
	uint32_t id = 0, silent;
	struct config c;
	int rc = regions_read(&known);

	if (rc)
		return rc;
	if (region)
		rc = number_of(&known, region, &id);
	if (!rc)
		rc = ask_blades(id, &all, &c, &silent);
	if (!rc) {
		join(&all);
		print(&all, &known);
		rc = blades_silent(silent, c.homes);
	}
	free(all.list);
	regions_free(&known);
	return rc;
}

/* --- Accepting ---------------------------------------------------------------- */

/* A number names a region, too: then it is its name that leads to the file. */
static int find_path(const char *region, char path[PATH_MAX])
{
	char name[REGION_NAME_MAX];
	struct regions known;
	uint32_t id = 0;
	int rc;

	if (!regions_is_number(region))
		return regionfile_path(region, path);
	rc = regions_read(&known);
	if (rc)
		return rc;
	rc = number_of(&known, region, &id);
	if (!rc) {
		name_of(&known, id, name);
		rc = *name ? regionfile_path(name, path) : regions_unknown(region);
	}
	regions_free(&known);
	return rc;
}

int lost_accept(const char *region)
{
	char path[PATH_MAX];
	uint64_t blocks;
	struct json j;
	int rc = find_path(region, path);

	if (!rc)
		rc = regionfile_accept_lost(path, &blocks);
	if (rc)
		return rc;
	if (!output.json) {
		printf("%" PRIu64 " block%s accepted as they are\n", blocks,
		       blocks == 1 ? "" : "s");
		return 0;
	}
	output_json(&j);
	json_string(&j, "path", path);
	json_u64(&j, "accepted", blocks);
	json_end(&j);
	return 0;
}
