// SPDX-License-Identifier: GPL-2.0-only
/* weftctl region, line, lock: what this node has. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/output.h"
#include "base/text.h"
#include "command/commands.h"
#include "command/lost.h"
#include "kernel/blades.h"
#include "kernel/kernel.h"
#include "kernel/regionfile.h"
#include "kernel/regions.h"
#include "weft_wire.h"

/* A list being printed. */
struct listing {
	struct table table;	/* as a list */
	uint32_t only;	/* the region that is asked for, 0: all */
};

#define WAIT_MAX_MS	(24 * 3600 * 1000)

static uint32_t wait_ms;
static bool all, accepted;

static const struct argument region_options[] = {
	{ "all", .flag = &all }, { "wait", .ms = &wait_ms, .min = 1, .max = WAIT_MAX_MS }, { 0 }
};

static const struct argument line_options[] = { { "accept", .flag = &accepted }, { 0 } };

/* --- Regions ------------------------------------------------------------- */

/* All that there is to say of one of them. */
static void show_policies(const struct region *r)
{
	size_t i;

	printf("region %" PRIu32 ": %s\n  %-16s%" PRIu64 " bytes, blocks of %" PRIu32 "\n  %-16s%" PRIu32
	       " blocks in the cache, %" PRIu32 " locks open\n",
	       r->id, text_safe(region_name(r)), "size", r->size, r->block, "here", r->lines, r->locks);
	for (i = 0; i < POLICIES; i++)
		printf("  %-16s%s\n", policy_name(i), policy_value(i, r->policy));
	printf("  %-16s%s\n", "nodes", r->nodes ? text_set(r->nodes) : "all");
	printf("  %-16s%s\n", "homes", text_set(r->homes));
}

static int show_region(void *row, void *arg)
{
	const struct region *r = row;
	struct listing *l = arg;

	if (l->only && r->id != l->only)
		return 0;
	if (l->only && !output.json)
		show_policies(r);
	else
		table_row(&l->table, r);
	return 0;
}

static int show_row(void *row, void *arg)
{
	struct listing *l = arg;

	table_row(&l->table, row);
	return 0;
}

/* --- The commands -------------------------------------------------------- */

/* The number of the region with this name, or with number *@id if that is not 0. */
static int find_region(const char *text, uint32_t *id)
{
	const struct region *found;
	struct regions known;
	int rc = regions_read(&known);

	if (rc)
		return rc;
	found = *id ? regions_by_id(&known, *id) : regions_by_name(&known, text);
	if (found)
		*id = found->id;
	else
		rc = regions_unknown(text);
	regions_free(&known);
	return rc;
}

/* A kind of list of a node. */
struct kind {
	const char *key;	/* what the list is called in JSON */
	const struct column *columns;
	/* asks the kernel for those of a region, or of all; NULL: for regions */
	int (*each)(uint32_t region, row_fn *take, void *arg);
};

static int list(uint32_t region, const struct kind *kind)
{
	struct listing l = { .only = region };
	int rc;

	table_begin(&l.table, kind->key, kind->columns);
	rc = kind->each ? kind->each(region, show_row, &l) : regions_each(show_region, &l);
	if (!rc)
		table_end(&l.table);
	return rc;
}

/* A region on its way. */
struct moving {
	uint32_t id;
	char path[PATH_MAX];	/* its file; "": only its number is known */
	uint32_t homes;	/* where it is to be */
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

static int wait_there(struct moving *m)
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

/* "move REGION BLADE,...". */
static int move(const struct reading *r)
{
	const char *name = argument_operand(r), *homes = argument_operand(r);
	struct moving m;
	int rc;

	if (!homes)
		return misuse(r->command->name, "move: give a region and the memory blades that are to have it, as in 'move table 1,3'");
	rc = blades_parse(homes, &m.homes);
	if (!rc)
		rc = command_begin(r);
	if (!rc)
		rc = find(r, name, &m);
	if (!rc)
		rc = blades_spread(m.id, m.homes, name);
	return rc || !wait_ms ? rc : wait_there(&m);
}

/* The blades that regions use. */
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

/* "spread REGION", or of all. */
static int spread(const struct reading *r)
{
	const char *name = argument_operand(r);
	struct moving m;
	int rc;

	if (all == !!name)
		return misuse(r->command->name, "spread: give a region, as in 'spread table', or --all");
	if (all && wait_ms)
		return misuse(r->command->name, "--wait goes with one region");
	rc = command_begin(r);
	if (!rc && all)
		return blades_spread(0, 0, "all");
	if (!rc)
		rc = find(r, name, &m);
	if (!rc)
		rc = blades_spread(m.id, 0, name);
	if (!rc && wait_ms)
		rc = in_use(&m.homes);
	return rc || !wait_ms ? rc : wait_there(&m);
}

/* "set NAME POLICY=VALUE ...". */
static int set_policies(const struct reading *r)
{
	const char *name = argument_operand(r), *text = argument_operand(r);
	struct weft_policy p = { 0 };
	bool of_nodes = false;
	uint32_t nodes;
	int rc = 0;

	if (!text)
		return misuse(r->command->name, "set: give a region and its policies, as in 'set table durability=sync'");
	for (; text && !rc; text = argument_operand(r)) {
		if (strncmp(text, POLICY_NODES, strlen(POLICY_NODES))) {
			rc = policy_parse(text, &p);
			continue;
		}
		rc = of_nodes ? misuse(r->command->name, "nodes is given twice") :
				policy_parse_nodes(text + strlen(POLICY_NODES), &nodes);
		of_nodes = true;
	}
	if (!rc && p.which)
		rc = regionfile_set_policy(name, &p);
	return rc || !of_nodes ? rc : regionfile_set_nodes(name, nodes);
}

/* "lost [REGION] [--accept]". */
static int lost(const struct reading *r)
{
	const char *text = argument_operand(r);
	uint32_t id;
	int rc = argument_none(r);

	if (!rc && text && regions_is_number(text))
		rc = argument_u32(r, "REGION", text, 1, WEFT_REGION_MAX, &id);
	if (!rc && accepted && !text)
		rc = misuse(r->command->name, "--accept: say of which region, as in 'lost table --accept'");
	if (!rc)
		rc = kernel_open(false);
	if (rc)
		return rc;
	return accepted ? lost_accept(text) : lost_show(text);
}

/* All three: "[show] [REGION]". */
static int show(const struct reading *r, const struct kind *kind)
{
	static const char * const actions[] = { "show", NULL };
	const char *text;
	uint32_t region = 0;
	int rc;

	if (argument_action(r, actions) < 0)
		return EXIT_USAGE;
	text = argument_operand(r);
	rc = argument_none(r);
	if (!rc && text && regions_is_number(text))
		rc = argument_u32(r, "REGION", text, 1, WEFT_REGION_MAX, &region);
	if (!rc)
		rc = kernel_open(false);
	/* of a region that is not known the kernel says that its blocks and locks are not */
	if (!rc && text && (!region || r->command == &command_region))
		rc = find_region(text, &region);
	return rc ? rc : list(region, kind);
}

/* Is this action what comes next?  What changes something has to be written out. */
static bool is_action(const struct reading *r, const char *name)
{
	return optind < r->argc && !strcmp(r->argv[optind], name) && argument_operand(r);
}

static int region(const struct reading *r)
{
	static const struct kind kind = { "regions", region_columns, NULL };

	if (is_action(r, "spread"))
		return spread(r);
	if (all)
		return misuse(command_region.name, "--all goes with 'spread'");
	if (is_action(r, "move"))
		return move(r);
	if (wait_ms)
		return misuse(command_region.name, "--wait goes with 'move' and 'spread'");
	return is_action(r, "set") ? set_policies(r) : show(r, &kind);
}

static int line(const struct reading *r)
{
	static const struct kind kind = { "lines", line_columns, kernel_lines };

	if (is_action(r, "lost"))
		return lost(r);
	return accepted ? misuse(command_line.name, "--accept goes with 'lost'") :
			show(r, &kind);
}

static int lock(const struct reading *r)
{
	static const struct kind kind = { "locks", lock_columns, kernel_locks };

	return show(r, &kind);
}

const struct command command_region = {
	.name = "region",
	.plural = "regions",
	.options = region_options,
	.run = region,
	.summary = "regions that this node knows, and their policies",
	.help = " [show [REGION]] [-j] [-p]\n"
		"       weftctl region set NAME POLICY=VALUE ...\n"
		"       weftctl region move REGION BLADE,... [--wait SEC]\n"
		"       weftctl region spread REGION|--all [--wait SEC]\n\n"
		"  REGION  number or name; all regions unless told\n"
		"  NAME    name, or path with a slash in it\n"
		"  BLADE   number of a memory blade, 1 for the first one ('weftctl blade list')\n"
		"  --wait SEC  until the region is there, so long at most\n\n"
		"Those that were looked up since the mount: number, bytes, bytes of a block,\n"
		"blocks in the cache, locks that programs have open, name; of one its policies.\n"
		"Policies, which its owner and root may set for all nodes:\n"
		"  durability=write-back|release|sync|mirror  when what was modified is safe:\n"
		"      after fsync() at the memory blade; before a lock passes to another node, too;\n"
		"      after fsync() on the memory blade's disk; after fsync() at its twin, too\n"
		"  on-owner-death=pass|block           locks of a node that has died\n"
		"  on-loss=revert|sigbus               blocks that it had modified\n"
		"  nodes=all|1,2,...                   nodes that may use it; no other has it open\n"
		"Move, spread: while programs run, these memory blades, or all that are in use, become\n"
		"the homes of the region, or of all.  For root.\n",
};

const struct command command_line = {
	.name = "line",
	.plural = "lines",
	.options = line_options,
	.run = line,
	.summary = "blocks in the cache of this node; those that are lost in the rack",
	.help = " [show [REGION]] [-j] [-p]\n"
		"       weftctl line lost [REGION] [--accept] [-j] [-p]\n\n"
		"  REGION    number or name; all regions unless told\n"
		"  --accept  what is lost of the region is well as it is: its owner and root may say so\n\n"
		"State (none, shared, modified), what the node is asking for, threads that wait\n"
		"or are using it, how often it came and how often others took it or the right\n"
		"to write it, since it is in the cache.\n"
		"Flags: dirty, the home lacks its contents; revoking, the programs are losing\n"
		"it; ahead, it was read ahead and nobody came for it yet.\n"
		"Lost is what only a node had modified that has died, until it is accepted: the\n"
		"block is what was last written home.  All memory blades are asked.\n",
};

const struct command command_lock = {
	.name = "lock",
	.plural = "locks",
	.run = lock,
	.summary = "locks that this node has, or asks for",
	.help = " [show [REGION]] [-j] [-p]\n\n"
		"  REGION  number or name; all regions unless told\n\n"
		"State and what the node is asking for (none, shared, modified), how often its\n"
		"programs hold it to read, its threads and the other nodes that wait, how often\n"
		"it came by a message and was handed over.\n"
		"Flags: writer, a program holds it to write; open, programs have it open;\n"
		"tenured, this node keeps the queue; revoking, it has to be given up.\n",
};
