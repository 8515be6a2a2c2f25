// SPDX-License-Identifier: GPL-2.0-only
/* weftctl status: how this node is set up, and what it does. */
#include <inttypes.h>
#include <stdio.h>

#include "base/output.h"
#include "base/text.h"
#include "command/commands.h"
#include "config/setting.h"
#include "kernel/kernel.h"
#include "kernel/mountpoint.h"
#include "tools/common/json.h"
#include "weft_wire.h"

/* All that the command shows. */
struct view {
	enum kernel_state state;
	struct config config;
	struct status status;
	struct peers peers;
	struct mountpoints mounts;
};

/* --- JSON ---------------------------------------------------------------- */

static void json_refused(struct json *j, const struct status *s)
{
	if (!*s->refused) {
		json_null(j, "refused");
		return;
	}
	json_object(j, "refused");
	json_string(j, "counter", s->refused);
	json_string(j, "from", text_address(s->refused_from));
	json_u64(j, "ms", s->refused_ms);
	json_close(j);
}

static void json_node(struct json *j, const struct view *v)
{
	const struct config *c = &v->config;
	const struct status *s = &v->status;
	uint32_t i;

	json_u64(j, "node", c->id);
	json_u64(j, "rack", c->rack);
	json_u64(j, "joins", c->joins);
	json_string(j, "interface", c->ifname);
	json_string(j, "address", text_address(c->address));
	json_u64(j, "mtu", c->mtu);
	json_array(j, "homes");
	for (i = 0; i < c->homes_len; i++)
		json_string(j, NULL, setting_home(c, i));
	json_close(j);
	json_u64(j, "timeout_ms", c->timeout_ms);
	json_u64(j, "hold_us", c->hold_us);
	json_u64(j, "wire_version", c->wire_version);
	json_text(j, "key", s->key_set ? text_format("%08x", s->fingerprint) : "");
	json_refused(j, s);
	json_bool(j, "joined", s->joined);
	json_u64(j, "life", s->life);
	json_array(j, "members");
	for (i = WEFT_NODE_MIN; i <= WEFT_NODE_MAX; i++) {
		if (s->members >> (i - 1) & 1)
			json_u64(j, NULL, i);
	}
	json_close(j);
	json_number(j, "answered_ms", s->joined, s->answered_ms);
	json_number(j, "lease_ms", s->lease_known, s->lease_ms);
	json_u64(j, "regions", s->regions);
	json_object(j, "cache");
	json_u64(j, "lines", s->lines);
	json_u64(j, "bytes", s->cache_bytes);
	json_u64(j, "max_bytes", s->cache_max);
	json_close(j);
}

static void print_json(const struct view *v)
{
	static const char * const states[] = {
		[KERNEL_NO_MODULE] = "no module",
		[KERNEL_DOWN] = "down",
		[KERNEL_UP] = "up",
	};
	struct json j;
	size_t i;

	output_json(&j);
	json_string(&j, "state", states[v->state]);
	if (v->state == KERNEL_UP) {
		json_node(&j, v);
		json_array(&j, "peers");
		for (i = 0; i < v->peers.len; i++) {
			const struct peer *p = &v->peers.list[i];

			json_object(&j, NULL);
			json_u64(&j, "id", p->id);
			json_string(&j, "kind", p->id > WEFT_NODE_MAX ?
				    "memory" : "node");
			json_string(&j, "address", text_address(p->address));
			json_bool(&j, "self", p->self);
			json_bool(&j, "joined", p->joined);
			json_bool(&j, "rdma", p->rdma);
			if (*p->why_udp)
				json_string(&j, "why_udp", p->why_udp);
			if (p->twin.s_addr) {
				json_string(&j, "twin", text_address(p->twin));
				json_u64(&j, "view", p->view);
			}
			json_close(&j);
		}
		json_close(&j);
	}
	mountpoints_json(&j, &v->mounts);
	json_end(&j);
}

/* --- Text ---------------------------------------------------------------- */

static void print_bytes(uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	double value = (double)bytes;
	int i = -1;

	while (value >= 1024 && units[i + 1]) {
		value /= 1024;
		i++;
	}
	if (i < 0)
		printf("%" PRIu64 " bytes", bytes);
	else
		printf("%.1f %ciB", value, units[i]);
}

/* Is it where its twin was when this node was set up? */
static bool is_at_twin(const struct config *c, const struct peer *p)
{
	uint32_t i = p->id - WEFT_BLADE_MIN;

	return i < c->homes_len && c->homes[i].s_addr != p->address.s_addr;
}

static void print_peers(const struct config *c, const struct peers *peers)
{
	size_t i;

	for (i = 0; i < peers->len; i++) {
		const struct peer *p = &peers->list[i];
		const char *note = p->id > WEFT_NODE_MAX ? text_member(p->id) :
				   p->self ? "this node" : p->joined ? "" : "not joined";
		bool moved = p->twin.s_addr && is_at_twin(c, p);

		printf("  %-12s %2u  %-*s%s\n", i ? "" : "members", p->id,
		       *note ? 16 : 0, text_address(p->address), note);
		if (p->rdma)
			printf("  %-12s     data by RDMA\n", "");
		else if (*p->why_udp)
			printf("  %-12s     data by UDP: %s\n", "", p->why_udp);
		if (p->twin.s_addr)
			printf("  %-12s     %s %s\n", "", moved ?
			       "its twin has taken over there; the other one is" :
			       "its twin is", text_address(p->twin));
	}
}

static void print_node(const struct view *v)
{
	const struct config *c = &v->config;
	const struct status *s = &v->status;
	unsigned int i;

	printf("node %u of rack %u: up, %s\n", c->id, c->joins,
	       s->joined ? "joined" : "not joined (the first mount joins)");
	if (c->joins != c->rack)
		printf("  %-12s %u on this machine\n", "rack", c->rack);
	printf("  %-12s %s, %s, MTU %u\n", "interface", c->ifname,
	       text_address(c->address), c->mtu);
	printf("  %-12s", "homes");
	for (i = 0; i < c->homes_len; i++)
		printf(" %s", setting_home(c, i));
	printf("\n  %-12s %g s\n", "timeout", c->timeout_ms / 1e3);
	printf("  %-12s %u us\n", "hold", c->hold_us);
	if (s->key_set)
		printf("  %-12s %08x (fingerprint)\n", "key", s->fingerprint);
	else
		printf("  %-12s none\n", "key");
	if (s->joined)
		printf("  %-12s %g s ago\n", "blade heard", s->answered_ms / 1e3);
	if (s->lease_known && s->lease_ms)
		printf("  %-12s %g s\n", "lease", s->lease_ms / 1e3);
	else if (s->lease_known)
		printf("  %-12s none: no node is taken for dead\n", "lease");
	printf("  %-12s ", "cache");
	print_bytes(s->cache_bytes);
	printf(" of ");
	print_bytes(s->cache_max);
	printf(", %" PRIu64 " lines, %" PRIu64 " regions known\n", s->lines, s->regions);
	print_peers(c, &v->peers);
}

static void print_text(const struct view *v)
{
	size_t i;

	switch (v->state) {
	case KERNEL_NO_MODULE:
		puts("no node: the module weft is not loaded ('weftctl up' loads it)");
		break;
	case KERNEL_DOWN:
		puts("no node: down ('weftctl up' sets it up)");
		break;
	case KERNEL_UP:
		print_node(v);
		break;
	}
	for (i = 0; i < v->mounts.len; i++)
		printf("  %-12s %s\n", i ? "" : "mounted", v->mounts.list[i]);
}

/* --- The command --------------------------------------------------------- */

static int read_node(struct view *v)
{
	int rc = kernel_config_get(&v->config);

	if (!rc)
		rc = kernel_status(&v->status);
	if (!rc)
		rc = kernel_peers(&v->peers);
	return rc;
}

static int run_status(const struct reading *r)
{
	struct view v = { 0 };
	int rc = argument_none(r);

	if (!rc)
		rc = kernel_state(&v.state);
	if (!rc && v.state == KERNEL_UP)
		rc = read_node(&v);
	if (rc)
		return rc;
	mountpoints_read(&v.mounts);
	if (output.json)
		print_json(&v);
	else
		print_text(&v);
	mountpoints_free(&v.mounts);
	return 0;
}

const struct command command_status = {
	.name = "status",
	.run = run_status,
	.summary = "how this node is set up, who is in its rack",
	.help = " [-j] [-p]\n\n"
		"Exit status 0 also if there is no node: the first line, or \"state\", says so.\n",
};
