// SPDX-License-Identifier: GPL-2.0-only
/* Tables, mirroring sessions and registers of a program at work. */
/* All of SWX is what DPDK calls experimental. */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <stdlib.h>

#include "inside.h"
#include "p4names.h"

/* --- Tables --- */

static const struct spec_table *find_table(const struct pipeline *pl, const char *name)
{
	uint32_t i;

	for (i = 0; i < pl->spec->n_tables; i++)
		if (!strcmp(pl->spec->tables[i].name, name))
			return &pl->spec->tables[i];
	return NULL;
}

bool pipeline_has_table(const struct pipeline *pl, const char *table)
{
	return find_table(pl, table);
}

uint32_t pipeline_table_size(const struct pipeline *pl, const char *table)
{
	const struct spec_table *t = find_table(pl, table);

	return t ? t->size : 0;
}

/* DPDK copies the arguments before it checks that the table has the action. */
static bool action_fits(const struct spec_table *t, const char *entry)
{
	const char *action = strstr(entry, "action");
	char name[RTE_SWX_NAME_SIZE];
	uint32_t i;

	if (!action)
		return true;
	if (sscanf(action, "action %63s", name) != 1)
		return false;
	for (i = 0; i < t->n_actions; i++)
		if (!strcmp(t->actions[i], name))
			return true;
	return false;
}

static int entry_change(struct pipeline *pl, const char *table, const char *text,
			int (*change)(struct rte_swx_ctl_pipeline *ctl, const char *name,
				      struct rte_swx_table_entry *entry),
			char *err)
{
	const struct spec_table *t = find_table(pl, table);
	struct rte_swx_table_entry *entry;
	int code = -EINVAL, blank;

	if (!t)
		return fail(err, -ENOENT, "the program has no table '%s'", table);
	if (!t->n_key)
		return fail(err, -EINVAL, "table %s has no key and so no entries", table);
	entry = action_fits(t, text) ?
		rte_swx_ctl_pipeline_table_entry_read(pl->ctl, table, text, &blank) : NULL;
	if (entry) {
		code = change(pl->ctl, table, entry);
		free(entry->key);
		free(entry->key_mask);
		free(entry->action_data);
		free(entry);
	}
	return code ? fail(err, code, "table %s does not take the entry '%s'", table, text) : 0;
}

int pipeline_entry_set(struct pipeline *pl, const char *table, const char *entry,
		       char *err)
{
	if (!strstr(entry, "action"))
		return fail(err, -EINVAL, "an entry of table %s needs an action", table);
	return entry_change(pl, table, entry, rte_swx_ctl_pipeline_table_entry_add, err);
}

int pipeline_entry_delete(struct pipeline *pl, const char *table, const char *entry,
			  char *err)
{
	return entry_change(pl, table, entry, rte_swx_ctl_pipeline_table_entry_delete, err);
}

int pipeline_commit(struct pipeline *pl, char *err)
{
	int code;

	if (!pipeline_work(pl))
		return fail(err, -EBUSY,
			    "the program does not come to an end with its packets");
	code = rte_swx_ctl_pipeline_commit(pl->ctl, 1);
	return code ? fail(err, code, "a table is full or refuses an entry: %s",
			   strerror(-code)) : 0;
}

int pipeline_table_stats(struct pipeline *pl, const char *table,
			 uint64_t *hits, uint64_t *misses)
{
	struct rte_swx_table_stats stats = { 0 };
	int code;

	/* At least one element, also for a program without actions. */
	stats.n_pkts_action = calloc(pl->spec->n_actions + 1, sizeof(uint64_t));
	if (!stats.n_pkts_action)
		return -ENOMEM;
	code = rte_swx_ctl_pipeline_table_stats_read(pl->p, table, &stats);
	*hits = stats.n_pkts_hit;
	*misses = stats.n_pkts_miss;
	free(stats.n_pkts_action);
	return code;
}

int pipeline_l2_set(struct pipeline *pl, uint64_t mac, unsigned int port, char *err)
{
	char entry[256];

	if (port >= pl->n_ports)
		return fail(err, -EINVAL, "there is no port %u", port);
	snprintf(entry, sizeof(entry), "match 0x%012llx action %s %s %u",
		 (unsigned long long)mac, P4_ACTION_L2, P4_ACTION_L2_PORT, port);
	return pipeline_entry_set(pl, P4_TABLE_L2, entry, err);
}

int pipeline_l2_delete(struct pipeline *pl, uint64_t mac, char *err)
{
	char entry[64];

	snprintf(entry, sizeof(entry), "match 0x%012llx", (unsigned long long)mac);
	return pipeline_entry_delete(pl, P4_TABLE_L2, entry, err);
}

int pipeline_flood_set(struct pipeline *pl, unsigned int port, uint64_t mask, char *err)
{
	char entry[256];

	if (port >= pl->n_ports || mask >> pl->n_ports)
		return fail(err, -EINVAL, "there is no such port");
	snprintf(entry, sizeof(entry), "match %u action %s %s 0x%llx", port,
		 P4_ACTION_FLOOD, P4_ACTION_FLOOD_MASK, (unsigned long long)mask);
	return pipeline_entry_set(pl, P4_TABLE_FLOOD, entry, err);
}

int pipeline_node_set(struct pipeline *pl, unsigned int node, unsigned int port, char *err)
{
	int code;

	if (!node || node > P4_NODE_MAX)
		return fail(err, -EINVAL, "nodes are numbered from 1 to %d, not %u",
			    P4_NODE_MAX, node);
	if (port >= pl->n_ports)
		return fail(err, -EINVAL, "there is no port %u", port);
	code = pipeline_station_set(pl, node, port, err);
	return code ? code : pipeline_session_set(pl, P4_SESSION_NODE(node), port);
}

int pipeline_station_set(struct pipeline *pl, unsigned int member, unsigned int port,
			 char *err)
{
	/* A foreign program hears nobody in particular. */
	if (!pipeline_register_size(pl, P4_REG_STATION))
		return 0;
	if (port >= pl->n_ports || member >= pipeline_register_size(pl, P4_REG_STATION))
		return fail(err, -EINVAL, "there is no member %u, or no port %u", member,
			    port);
	return pipeline_register_write(pl, P4_REG_STATION, member, port + 1);
}

/* --- Mirroring sessions --- */

int pipeline_session_set(struct pipeline *pl, unsigned int session, unsigned int port)
{
	struct rte_swx_pipeline_mirroring_session_params params = {
		.port_id = port,
		.fast_clone = 1,
	};

	return rte_swx_ctl_pipeline_mirroring_session_set(pl->p, session, &params);
}

/* --- Registers --- */

uint32_t pipeline_register_size(const struct pipeline *pl, const char *name)
{
	uint32_t i;

	for (i = 0; i < pl->spec->n_registers; i++)
		if (!strcmp(pl->spec->registers[i].name, name))
			return pl->spec->registers[i].size;
	return 0;
}

int pipeline_register_read(struct pipeline *pl, const char *name, uint32_t index,
			   uint64_t *value)
{
	return rte_swx_ctl_pipeline_regarray_read(pl->p, name, index, value);
}

int pipeline_register_write(struct pipeline *pl, const char *name, uint32_t index,
			    uint64_t value)
{
	return rte_swx_ctl_pipeline_regarray_write(pl->p, name, index, value);
}

void pipeline_reset(struct pipeline *pl, uint64_t epoch)
{
	uint32_t i, j;

	for (i = 0; i < pl->spec->n_registers; i++) {
		const struct spec_array *a = &pl->spec->registers[i];
		uint64_t value = strcmp(a->name, P4_REG_GEN) ? a->initial : epoch;

		if (!strcmp(a->name, P4_REG_RACK) || !strcmp(a->name, P4_REG_STATION))
			continue;
		for (j = 0; j < a->size; j++)
			rte_swx_ctl_pipeline_regarray_write(pl->p, a->name, j, value);
	}
}
