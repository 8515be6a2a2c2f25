// SPDX-License-Identifier: GPL-2.0-only
/* weftctl region, line, lock: what this node has. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/output.h"
#include "base/text.h"
#include "base/words.h"
#include "command/commands.h"
#include "command/lost.h"
#include "command/nodes.h"
#include "command/place.h"
#include "command/policy.h"
#include "kernel/homes.h"
#include "kernel/kernel.h"
#include "kernel/regions.h"
#include "tools/common/json.h"
#include "weft_wire.h"

/**
 * struct listing - a list being printed
 * @json: of the document
 * @len: objects so far
 * @only: the region that is asked for, 0: all
 */
struct listing {
	struct json json;
	uint64_t len;
	uint32_t only;
};

/* Flags of an object, as words in text and as booleans in JSON. */
struct flag {
	const char *name;
	bool set;
};

static void json_flags(struct json *j, const struct flag *f, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		json_bool(j, f[i].name, f[i].set);
}

static void print_flags(const struct flag *f, size_t n)
{
	const char *before = " ";
	size_t i;

	for (i = 0; i < n; i++) {
		if (!f[i].set)
			continue;
		printf("%s%s", before, f[i].name);
		before = ",";
	}
	putchar('\n');
}

#define WAIT_MAX_MS	(24 * 3600 * 1000)

static uint32_t wait_ms;
static bool all, accepted;

static const struct argument region_options[] = {
	{ "all", .flag = &all }, { "wait", .ms = &wait_ms, .min = 1, .max = WAIT_MAX_MS }, { 0 }
};

static const struct argument line_options[] = { { "accept", .flag = &accepted }, { 0 } };

#define LEN(array)	(sizeof(array) / sizeof((array)[0]))

/* --- Regions ------------------------------------------------------------- */

/* All that there is to say of one of them. */
static void show_policies(const struct region *r)
{
	char nodes[NODES_TEXT_MAX], homes[HOMES_TEXT_MAX];
	size_t i;

	printf("region %" PRIu32 ": ", r->id);
	text_print(region_name(r));
	printf("\n  %-16s%" PRIu64 " bytes, blocks of %" PRIu32 "\n  %-16s%" PRIu32
	       " blocks in the cache, %" PRIu32 " locks open\n",
	       "size", r->size, r->block, "here", r->lines, r->locks);
	for (i = 0; i < POLICIES; i++)
		printf("  %-16s%s\n", policy_name(i), policy_value(i, r->policy));
	printf("  %-16s%s\n", "nodes", nodes_text(r->nodes, nodes));
	printf("  %-16s%s\n", "homes", homes_text(r->homes, homes));
}

/* As a list; null: all. */
static void write_nodes(struct json *j, uint32_t nodes)
{
	unsigned int id;

	if (!nodes) {
		json_null(j, "nodes");
		return;
	}
	json_array(j, "nodes");
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		if (nodes & UINT32_C(1) << (id - WEFT_NODE_MIN))
			json_u64(j, NULL, id);
	json_close(j);
}

/* Numbers of memory blades, from 1. */
static void write_homes(struct json *j, uint32_t homes)
{
	unsigned int i;

	json_array(j, "homes");
	for (i = 0; i < WEFT_HOMES_MAX; i++)
		if (homes & UINT32_C(1) << i)
			json_u64(j, NULL, i + 1);
	json_close(j);
}

static void show_region(const struct region *r, void *arg)
{
	static const char * const policy_key[POLICIES] = {
		"durability", "on_owner_death", "on_loss",
	};
	struct listing *l = arg;
	struct json *j = &l->json;
	size_t i;

	if (l->only && r->id != l->only)
		return;
	if (output.json) {
		json_object(j, NULL);
		json_u64(j, "id", r->id);
		if (*r->name)
			json_string(j, "name", r->name);
		else
			json_null(j, "name");
		json_u64(j, "size", r->size);
		json_u64(j, "block", r->block);
		json_u64(j, "lines", r->lines);
		json_u64(j, "locks", r->locks);
		json_bool(j, "gone", r->gone);
		for (i = 0; i < POLICIES; i++)
			json_string(j, policy_key[i], policy_value(i, r->policy));
		write_nodes(j, r->nodes);
		write_homes(j, r->homes);
		json_close(j);
		return;
	}
	if (l->only) {
		show_policies(r);
		return;
	}
	if (!l->len++)
		printf("%8s %16s %8s %10s %10s %s\n", "REGION", "SIZE", "BLOCK",
		       "LINES", "LOCKS", "NAME");
	printf("%8" PRIu32 " %16" PRIu64 " %8" PRIu32 " %10" PRIu32 " %10" PRIu32 " ",
	       r->id, r->size, r->block, r->lines, r->locks);
	text_print(region_name(r));
	putchar('\n');
}

/* --- Lines --------------------------------------------------------------- */

static void show_line(const struct line *l, void *arg)
{
	const struct flag flags[] = {
		{ "dirty", l->dirty }, { "revoking", l->revoking },
		{ "ahead", l->ahead },
	};
	struct listing *list = arg;
	struct json *j = &list->json;

	if (output.json) {
		json_object(j, NULL);
		json_u64(j, "region", l->region);
		json_u64(j, "index", l->index);
		json_string(j, "state", word_state(l->state));
		json_string(j, "op", word_op(l->op));
		json_u64(j, "waiters", l->waiters);
		json_u64(j, "misses", l->misses);
		json_u64(j, "revocations", l->revocations);
		json_flags(j, flags, LEN(flags));
		json_close(j);
		return;
	}
	if (!list->len++)
		printf("%8s %12s %-8s %-7s %7s %10s %11s %s\n", "REGION", "INDEX",
		       "STATE", "OP", "WAITERS", "MISSES", "REVOCATIONS", "FLAGS");
	printf("%8" PRIu32 " %12" PRIu64 " %-8s %-7s %7" PRIu32 " %10" PRIu32 " %11" PRIu32,
	       l->region, l->index, word_state(l->state), word_op(l->op),
	       l->waiters, l->misses, l->revocations);
	print_flags(flags, LEN(flags));
}

/* --- Locks --------------------------------------------------------------- */

static void show_lock(const struct lock_info *l, void *arg)
{
	const struct flag flags[] = {
		{ "writer", l->writer }, { "open", l->open },
		{ "tenured", l->tenured }, { "revoking", l->revoking },
	};
	struct listing *list = arg;
	struct json *j = &list->json;

	if (output.json) {
		json_object(j, NULL);
		json_u64(j, "region", l->region);
		json_u64(j, "offset", l->offset);
		json_string(j, "state", word_state(l->state));
		json_string(j, "want", word_state(l->want));
		json_u64(j, "readers", l->readers);
		json_u64(j, "waiters", l->waiters);
		json_u64(j, "queue", l->queue);
		json_u64(j, "grants", l->grants);
		json_u64(j, "hand_overs", l->hand_overs);
		json_flags(j, flags, LEN(flags));
		json_close(j);
		return;
	}
	if (!list->len++)
		printf("%8s %12s %-8s %-8s %7s %7s %5s %10s %10s %s\n", "REGION",
		       "OFFSET", "STATE", "WANT", "READERS", "WAITERS", "QUEUE",
		       "GRANTS", "HAND-OVERS", "FLAGS");
	printf("%8" PRIu32 " %12" PRIu64 " %-8s %-8s %7" PRIu32 " %7" PRIu32 " %5" PRIu32 " %10" PRIu32 " %10" PRIu32,
	       l->region, l->offset, word_state(l->state), word_state(l->want),
	       l->readers, l->waiters, l->queue, l->grants, l->hand_overs);
	print_flags(flags, LEN(flags));
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

typedef int show_fn(uint32_t region, struct listing *l);

static int show_regions(uint32_t region, struct listing *l)
{
	l->only = region;
	return kernel_regions(show_region, l);
}

static int show_lines(uint32_t region, struct listing *l)
{
	return kernel_lines(region, show_line, l);
}

static int show_locks(uint32_t region, struct listing *l)
{
	return kernel_locks(region, show_lock, l);
}

static int list(uint32_t region, const char *key, show_fn *show)
{
	struct listing l = { 0 };
	int rc;

	if (output.json) {
		json_begin(&l.json, stdout, output.pretty);
		json_array(&l.json, key);
	}
	rc = show(region, &l);
	if (output.json && !rc)
		json_end(&l.json);
	return rc;
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
		if (strncmp(text, NODES_KEY, strlen(NODES_KEY))) {
			rc = policy_parse(text, &p);
			continue;
		}
		rc = of_nodes ? misuse(r->command->name, "nodes is given twice") :
				nodes_parse(text + strlen(NODES_KEY), &nodes);
		of_nodes = true;
	}
	if (!rc && p.which)
		rc = policy_set(name, &p);
	return rc || !of_nodes ? rc : nodes_set(name, nodes);
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

/* All three: "[show] [REGION]"; @key is what the list is called in JSON. */
static int show(const struct reading *r, const char *key, show_fn *each)
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
	return rc ? rc : list(region, key, each);
}

/* Is this action what comes next?  What changes something has to be written out. */
static bool is_action(const struct reading *r, const char *name)
{
	return optind < r->argc && !strcmp(r->argv[optind], name) && argument_operand(r);
}

static int region(const struct reading *r)
{
	if (is_action(r, "spread"))
		return place_spread(r, all, wait_ms);
	if (all)
		return misuse(command_region.name, "--all goes with 'spread'");
	if (is_action(r, "move"))
		return place_move(r, wait_ms);
	if (wait_ms)
		return misuse(command_region.name, "--wait goes with 'move' and 'spread'");
	return is_action(r, "set") ? set_policies(r) : show(r, "regions", show_regions);
}

static int line(const struct reading *r)
{
	if (is_action(r, "lost"))
		return lost(r);
	return accepted ? misuse(command_line.name, "--accept goes with 'lost'") :
			show(r, "lines", show_lines);
}

static int lock(const struct reading *r)
{
	return show(r, "locks", show_locks);
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
