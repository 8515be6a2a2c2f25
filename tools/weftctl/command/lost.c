// SPDX-License-Identifier: GPL-2.0-only
/* Blocks that are lost, see lost.h. */
#include "command/lost.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/output.h"
#include "base/text.h"
#include "base/value.h"
#include "kernel/blades.h"
#include "kernel/dead.h"
#include "kernel/kernel.h"
#include "kernel/mountpoint.h"
#include "kernel/regions.h"
#include "tools/common/json.h"
#include "weft.h"
#include "weft_wire.h"

/**
 * struct listing - those of all blades
 * @list: of malloc(), grows
 * @len: how many
 * @full: there was no memory for one of them
 */
struct listing {
	struct lost *list;
	size_t len;
	bool full;
};

static void take(const struct lost *l, void *arg)
{
	struct listing *all = arg;
	struct lost *list = NULL;

	/* it doubles at powers of two */
	if (all->len & (all->len - 1))
		list = all->list;
	else
		list = reallocarray(all->list, all->len ? 2 * all->len : 1, sizeof(*list));
	if (!list) {
		all->full = true;
		return;
	}
	all->list = list;
	list[all->len++] = *l;
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
		rc = dead_lost(WEFT_BLADE_MIN + i, c->homes[i], region, &one, take, all);
		*silent |= (uint32_t)one << i;
	}
	if (!rc && all->full)
		rc = fail("no memory");
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
	struct stat st;
	struct why why;
	int rc;

	if (regions_is_number(text))
		return value_u32(text, 1, WEFT_REGION_MAX, id, &why) ? 0 :
		       misuse("line", "REGION: %s", why.text);
	r = regions_by_name(known, text);
	if (r) {
		*id = r->id;
		return 0;
	}
	rc = regions_file(text, path);
	if (rc)
		return rc;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return fail("there is no region %s: 'ls' of the mount lists them", path);
	*id = (uint32_t)st.st_ino;
	return 0;
}

/* --- Showing ----------------------------------------------------------------- */

static void print_json(const struct listing *all, const struct regions *known)
{
	char name[REGION_NAME_MAX] = "";
	struct json j;
	size_t i;

	json_begin(&j, stdout, output.pretty);
	json_array(&j, "lost");
	for (i = 0; i < all->len; i++) {
		const struct lost *l = &all->list[i];

		if (!i || l[-1].region != l->region)
			name_of(known, l->region, name);
		json_object(&j, NULL);
		json_u64(&j, "region", l->region);
		if (*name)
			json_string(&j, "name", name);
		else
			json_null(&j, "name");
		json_u64(&j, "block", l->block);
		json_u64(&j, "offset", l->offset);
		json_u64(&j, "length", l->length);
		json_close(&j);
	}
	json_close(&j);
	json_end(&j);
}

static void print_text(const struct listing *all, const struct regions *known)
{
	char name[REGION_NAME_MAX] = "";
	size_t i;

	if (all->len)
		printf("%8s %16s %16s %s\n", "REGION", "OFFSET", "BYTES", "NAME");
	for (i = 0; i < all->len; i++) {
		const struct lost *l = &all->list[i];

		if (!i || l[-1].region != l->region)
			name_of(known, l->region, name);
		printf("%8" PRIu32 " %16" PRIu64 " %16" PRIu64 " ", l->region, l->offset,
		       l->length);
		text_print(*name ? name : "(no name)");
		putchar('\n');
	}
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
		if (output.json)
			print_json(&all, &known);
		else
			print_text(&all, &known);
		rc = blades_silent(silent, c.homes);
	}
	free(all.list);
	regions_free(&known);
	return rc;
}

/* --- Accepting ---------------------------------------------------------------- */

static int explain(const char *path, int err)
{
	switch (err) {
	case EPERM:
		return fail("%s: only its owner and root may accept what is lost: run weftctl as one of them",
			    path);
	case ETIMEDOUT:
		return fail("%s: a memory blade does not answer: 'weftctl doctor' says which; then accept it again",
			    path);
	case ENOTTY:
		return fail("%s is no region, or the module is older than weftctl", path);
	default:
		return fail("%s: cannot accept what is lost: %s", path, strerror(err));
	}
}

/* A number names a region, too: then it is its name that leads to the file. */
static int find_path(const char *region, char path[PATH_MAX])
{
	char name[REGION_NAME_MAX];
	struct regions known;
	uint32_t id = 0;
	int rc;

	if (!regions_is_number(region))
		return regions_file(region, path);
	rc = regions_read(&known);
	if (rc)
		return rc;
	rc = number_of(&known, region, &id);
	if (!rc) {
		name_of(&known, id, name);
		rc = *name ? regions_file(name, path) : regions_unknown(region);
	}
	regions_free(&known);
	return rc;
}

int lost_accept(const char *region)
{
	struct weft_lost lost = { 0 };
	char path[PATH_MAX];
	struct json j;
	int rc = find_path(region, path), fd;

	if (rc)
		return rc;
	rc = regions_open(path, &fd);
	if (rc)
		return rc;
	rc = ioctl(fd, WEFT_IOC_LOST_ACCEPT, &lost) ? explain(path, errno) : 0;
	close(fd);
	if (rc)
		return rc;
	if (!output.json) {
		printf("%" PRIu64 " block%s accepted as they are\n", (uint64_t)lost.blocks,
		       lost.blocks == 1 ? "" : "s");
		return 0;
	}
	json_begin(&j, stdout, output.pretty);
	json_string(&j, "path", path);
	json_u64(&j, "accepted", lost.blocks);
	json_end(&j);
	return 0;
}
