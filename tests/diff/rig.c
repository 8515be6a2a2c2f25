// SPDX-License-Identifier: GPL-2.0-only
/*
 * The P4 program on DPDK's pipeline, between ports in memory.
 */
#include "rig.h"

#include <inttypes.h>
#include <stdio.h>

#include "interface.h"
#include "p4names.h"

int rig_open(struct rig *rig, const char *path, const char *compiled,
	     unsigned int n_ports, char *err)
{
	char name[PORT_NAME_MAX];
	unsigned int i;

	memset(rig, 0, sizeof(*rig));
	rig->n_ports = n_ports;
	rig->spec = spec_load(path, err);
	if (!rig->spec)
		return -EINVAL;
	if (interface_check(rig->spec, path, err))
		return -EINVAL;
	rig->spec->compiled = compiled;
	for (i = 0; i < n_ports; i++) {
		snprintf(name, sizeof(name), "p%u=mem:", i);
		rig->port[i] = port_create(name, i, 0, &rig->flow, err);
		if (!rig->port[i])
			return -ENOMEM;
	}
	rig->pl = pipeline_create(rig->spec, rig->port, n_ports, err);
	return rig->pl ? 0 : -EINVAL;
}

void rig_close(struct rig *rig)
{
	unsigned int i;

	pipeline_free(rig->pl);
	for (i = 0; i < rig->n_ports; i++)
		port_destroy(rig->port[i]);
	spec_free(rig->spec);
}

int rig_wire(struct rig *rig, const struct model *model, u32 epoch, char *err)
{
	unsigned int i;
	int code = 0, port;

	for (i = 1; i <= MEMBERS_KNOWN && !code; i++) {
		port = member_port(model, i);
		if (port < 0)
			continue;
		code = pipeline_l2_set(rig->pl, member_mac(i), (unsigned int)port, err);
		if (i <= WEFT_NODE_MAX && !code)
			code = pipeline_node_set(rig->pl, i, (unsigned int)port, err);
	}
	for (i = 0; i < rig->n_ports && !code; i++)
		code = pipeline_flood_set(rig->pl, i, model->flood[i], err);
	if (!code)
		code = pipeline_commit(rig->pl, err);
	/* not what pipeline_node_set() makes of it: see model_wire() */
	for (i = 0; i < WEFT_SWITCH_SENDERS && !code; i++)
		code = pipeline_register_write(rig->pl, P4_REG_STATION, i,
					       model->sw.station[i]);
	if (!code)
		code = pipeline_register_write(rig->pl, P4_REG_RACK, 0, model->sw.rack);
	/* these two have to stay */
	pipeline_reset(rig->pl, epoch);
	for (i = 0; i < WEFT_COUNTERS && !code; i++)
		code = pipeline_register_write(rig->pl, P4_REG_STAT, i,
					       model->sw.count[i]);
	return code;
}

static bool same(const struct rig *rig, const char *name, u32 index, u64 want)
{
	u64 is;

	if (pipeline_register_read(rig->pl, name, index, &is)) {
		printf("register %s: the program has none\n", name);
		return false;
	}
	if (is == want)
		return true;
	if (!rig->quiet)
		printf("register %s[%" PRIu32 "]: 0x%" PRIx64 " in the P4 program, 0x%" PRIx64
		       " in the core\n", name, index, is, want);
	return false;
}

bool rig_compare_slot(const struct rig *rig, const struct model *model, u32 index)
{
	const struct weft_slot *slot = &model->sw.slots[index];
	const struct weft_dir_entry *e = &slot->entry;
	const struct {
		const char *name;
		u64 value;
	} cells[] = {
		{ P4_REG_GEN, slot->gen }, { P4_REG_TAG, slot->tag },
		{ P4_REG_LOCK, e->lock }, { P4_REG_GRANT, e->grant },
		{ P4_REG_STATUS, e->status }, { P4_REG_COPYSET, e->copyset },
	};
	bool good = true;
	unsigned int i;

	for (i = 0; i < RTE_DIM(cells); i++)
		if (!same(rig, cells[i].name, index, cells[i].value))
			good = false;
	return good;
}

bool rig_compare_globals(const struct rig *rig, const struct model *model)
{
	const struct weft_switch *sw = &model->sw;
	bool good = same(rig, P4_REG_MEMBERS, 0, sw->members);
	unsigned int i;

	if (!same(rig, P4_REG_MEMBERS_VERSION, 0, sw->members_version) ||
	    !same(rig, P4_REG_RACK, 0, sw->rack))
		good = false;
	for (i = 0; i < WEFT_SWITCH_SENDERS; i++)
		if (!same(rig, P4_REG_STATION, i, sw->station[i]))
			good = false;
	for (i = 0; i < WEFT_COUNTERS; i++)
		if (!same(rig, P4_REG_STAT, i, sw->count[i]))
			good = false;
	return good;
}
