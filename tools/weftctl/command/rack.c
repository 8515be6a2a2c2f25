// SPDX-License-Identifier: GPL-2.0-only
/* weftctl rack: the racks that this machine is in. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/output.h"
#include "base/rack.h"
#include "command/commands.h"
#include "kernel/kernel.h"
#include "kernel/mountpoint.h"
#include "tools/common/json.h"

/* One of them. */
struct view {
	struct config config;
	bool joined;
	struct mountpoints mounts;
};

static void json_mounts(struct json *j, const void *row)
{
	mountpoints_json(j, &((const struct view *)row)->mounts);
}

static const char *state(const void *row)
{
	return ((const struct view *)row)->joined ? "joined" : "up";
}

static const char *mounted(const void *row)
{
	static char text[8 * PATH_MAX];
	const struct view *v = row;
	size_t i, len = 0;

	text[0] = 0;
	for (i = 0; i < v->mounts.len && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
					v->mounts.list[i]);
	if (v->config.joins != v->config.rack && len < sizeof(text))
		snprintf(text + len, sizeof(text) - len, "%s(rack %" PRIu32 " for all others)",
			 i ? " " : "", v->config.joins);
	return text;
}

static const struct column columns[] = {
	COLUMN(struct view, config.rack, U32, .key = "rack", .title = "RACK", .width = 10),
	COLUMN(struct view, config.joins, U32, .key = "joins"),
	COLUMN(struct view, config.id, U32, .key = "node", .title = "NODE", .width = 4),
	COLUMN(struct view, config.ifname, STRING, .key = "interface", .title = "INTERFACE",
	       .width = -15),
	COLUMN(struct view, config.address, ADDRESS, .key = "address", .title = "ADDRESS",
	       .width = -15),
	COLUMN(struct view, joined, FLAG, .key = "joined", .title = "STATE", .width = -6,
	       .text = state),
	COLUMN(struct view, mounts, TEXT, .json = json_mounts, .title = "MOUNTED", .text = mounted),
	COLUMN_END
};

static int show(const struct racks *racks)
{
	struct status status;
	struct table t;
	size_t i;
	int rc = 0;

	table_begin(&t, "racks", columns);
	if (!racks->len && !output.json)
		puts("this machine is in no rack ('weftctl up' sets it up)");
	for (i = 0; i < racks->len && !rc; i++) {
		struct view v = { .config = racks->list[i] };

		rack_choose(v.config.rack);
		rc = kernel_status(&status);
		if (rc)
			break;
		v.joined = status.joined;
		mountpoints_read(&v.mounts);
		table_row(&t, &v);
		mountpoints_free(&v.mounts);
	}
	if (!rc)
		table_end(&t);
	return rc;
}

static int rack(const struct reading *r)
{
	static const char * const actions[] = { "show", NULL };
	struct racks racks;
	int rc;

	if (argument_action(r, actions) < 0)
		return EXIT_USAGE;
	rc = command_begin(r);
	if (!rc)
		rc = kernel_racks(&racks);
	return rc ? rc : show(&racks);
}

const struct command command_rack = {
	.name = "rack",
	.plural = "racks",
	.run = rack,
	.summary = "racks that this machine is in",
	.help = " [show] [-j] [-p]\n\n"
		"One after the other: number, this node's number in it, interface, address,\n"
		"whether this node has joined it, where it is mounted.  A machine can be in 8;\n"
		"with several every other command says which one it is about by --rack.\n",
};
