// SPDX-License-Identifier: GPL-2.0-only
/* weftctl rack: the racks that this machine is in. */
#include <arpa/inet.h>
#include <inttypes.h>
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
	const struct config *config;
	bool joined;
	struct mountpoints mounts;
};

static void print_json(struct json *j, const struct view *v)
{
	char address[INET_ADDRSTRLEN];
	size_t i;

	json_object(j, NULL);
	json_u64(j, "rack", v->config->rack);
	json_u64(j, "joins", v->config->joins);
	json_u64(j, "node", v->config->id);
	json_string(j, "interface", v->config->ifname);
	json_string(j, "address", inet_ntop(AF_INET, &v->config->address, address,
					    sizeof(address)));
	json_bool(j, "joined", v->joined);
	json_array(j, "mounts");
	for (i = 0; i < v->mounts.len; i++)
		json_string(j, NULL, v->mounts.list[i]);
	json_close(j);
	json_close(j);
}

static void print_text(const struct view *v)
{
	char address[INET_ADDRSTRLEN];
	size_t i;

	printf("%10" PRIu32 " %4" PRIu32 " %-15s %-15s %-6s", v->config->rack, v->config->id,
	       v->config->ifname,
	       inet_ntop(AF_INET, &v->config->address, address, sizeof(address)),
	       v->joined ? "joined" : "up");
	for (i = 0; i < v->mounts.len; i++)
		printf(" %s", v->mounts.list[i]);
	if (v->config->joins != v->config->rack)
		printf(" (rack %" PRIu32 " for all others)", v->config->joins);
	putchar('\n');
}

static int show(const struct racks *racks)
{
	struct status status;
	struct json j;
	size_t i;
	int rc = 0;

	if (output.json) {
		json_begin(&j, stdout, output.pretty);
		json_array(&j, "racks");
	} else if (racks->len) {
		printf("%10s %4s %-15s %-15s %-6s MOUNTED\n", "RACK", "NODE", "INTERFACE",
		       "ADDRESS", "STATE");
	} else {
		puts("this machine is in no rack ('weftctl up' sets it up)");
	}
	for (i = 0; i < racks->len && !rc; i++) {
		struct view v = { .config = &racks->list[i] };

		rack_choose(v.config->rack);
		rc = kernel_status(&status);
		if (rc)
			break;
		v.joined = status.joined;
		mountpoints_read(&v.mounts);
		if (output.json)
			print_json(&j, &v);
		else
			print_text(&v);
		mountpoints_free(&v.mounts);
	}
	if (output.json && !rc)
		json_end(&j);
	return rc;
}

static int rack(const struct reading *r)
{
	static const char * const actions[] = { "show", NULL };
	struct racks racks;
	int rc;

	if (argument_action(r, actions) < 0)
		return EXIT_USAGE;
	rc = argument_none(r);
	if (!rc)
		rc = kernel_open(false);
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
