// SPDX-License-Identifier: GPL-2.0-only
/* weftctl node: the nodes of the rack, and what is to be done about another one. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/output.h"
#include "command/commands.h"
#include "kernel/dead.h"
#include "kernel/kernel.h"
#include "tools/common/json.h"
#include "weft_wire.h"

static const char *state(const struct peer *p)
{
	return p->self ? "this node" : p->joined ? "joined" : "not joined";
}

static const char *way(const struct peer *p)
{
	return p->self ? "-" : p->rdma ? "RDMA" : "UDP";
}

static void print_text(const struct peer *p)
{
	char address[INET_ADDRSTRLEN];

	printf("%4u %-15s %-10s %s%s%s\n", p->id,
	       inet_ntop(AF_INET, &p->address, address, sizeof(address)), state(p), way(p),
	       *p->why_udp ? ": " : "", p->why_udp);
}

static void print_json(struct json *j, const struct peer *p)
{
	char address[INET_ADDRSTRLEN];

	json_object(j, NULL);
	json_u64(j, "node", p->id);
	json_string(j, "address", inet_ntop(AF_INET, &p->address, address, sizeof(address)));
	json_bool(j, "self", p->self);
	json_bool(j, "joined", p->joined);
	json_bool(j, "rdma", p->rdma);
	json_close(j);
}

static int list(void)
{
	struct peers peers;
	struct json j;
	size_t i;
	int rc = kernel_peers(&peers);

	if (rc)
		return rc;
	if (output.json) {
		json_begin(&j, stdout, output.pretty);
		json_array(&j, "nodes");
	} else {
		printf("%4s %-15s %-10s %s\n", "NODE", "ADDRESS", "STATE", "DATA BY");
	}
	for (i = 0; i < peers.len; i++) {
		if (peers.list[i].id > WEFT_NODE_MAX)
			continue;
		if (output.json)
			print_json(&j, &peers.list[i]);
		else
			print_text(&peers.list[i]);
	}
	if (output.json) {
		json_close(&j);
		json_end(&j);
	}
	return 0;
}

static int fence(const struct reading *r)
{
	const char *text = argument_operand(r);
	uint32_t id = 0;
	int rc;

	if (!text)
		return misuse(r->command->name, "say with which node, as in 'node fence 3'");
	rc = argument_u32(r, "NODE", text, WEFT_NODE_MIN, WEFT_NODE_MAX, &id);
	if (!rc)
		rc = argument_none(r);
	if (!rc)
		rc = kernel_open(false);
	return rc ? rc : dead_fence(id);
}

static int node(const struct reading *r)
{
	static const char * const actions[] = { "show", "fence", NULL };
	int action = argument_action(r, actions), rc;

	if (action < 0)
		return EXIT_USAGE;
	if (action)
		return fence(r);
	rc = argument_none(r);
	if (!rc)
		rc = kernel_open(false);
	return rc ? rc : list();
}

const struct command command_node = {
	.name = "node",
	.plural = "nodes",
	.run = node,
	.summary = "nodes of the rack; take another one out as if it had died",
	.help = " [show] [-j] [-p]\n"
		"       weftctl node fence NODE\n\n"
		"  NODE  its number, 1 to 32\n\n"
		"Number, address, whether it has joined, how data comes from it.\n"
		"Fence: memory blades and all other nodes listen to it no more; its locks pass on, and\n"
		"what only it had modified is lost ('weftctl line lost'), as if it had been silent for\n"
		"the lease.  If it lives it drops all that it has, and joins anew.  For root.\n",
};
