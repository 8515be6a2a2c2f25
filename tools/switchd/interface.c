// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interface to the P4 program.
 */
#include "interface.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <rte_common.h>

/* Both are here, too, so that this file is compiled anew when one changes. */
#include "p4names.h"
#include "weft_wire.h"

/* WEFT_INTERFACE is a hash of these two: see p4/check-generated and the Makefile. */
static const char our_interface[] = WEFT_INTERFACE;
static_assert(sizeof(our_interface) == 65, "p4/check-generated --interface works");

/* How to come by a program that fits. */
#define REMEDY	"take the program that came with this weft-switchd, or compile both from the same sources (make p4, make)"

/* Register arrays, and their cells. */
static const struct {
	const char *name;
	uint32_t size;
} arrays[] = {
	{ P4_REG_RACK, 1 },
	{ P4_REG_STATION, WEFT_SWITCH_SENDERS },
	{ P4_REG_MEMBERS_VERSION, 1 },
	{ P4_REG_MEMBERS, 1 },
	{ P4_REG_GEN, WEFT_SWITCH_SLOTS },
	{ P4_REG_TAG, WEFT_SWITCH_SLOTS },
	{ P4_REG_LOCK, WEFT_SWITCH_SLOTS },
	{ P4_REG_GRANT, WEFT_SWITCH_SLOTS },
	{ P4_REG_STATUS, WEFT_SWITCH_SLOTS },
	{ P4_REG_COPYSET, WEFT_SWITCH_SLOTS },
	{ P4_REG_STAT, 2 * WEFT_COUNTERS },
};

/* Tables with one key, the action of their entries, and its argument. */
static const struct {
	const char *name;
	const char *action;
	const char *argument;
} tables[] = {
	{ P4_TABLE_L2, P4_ACTION_L2, P4_ACTION_L2_PORT },
	{ P4_TABLE_FLOOD, P4_ACTION_FLOOD, P4_ACTION_FLOOD_MASK },
};

static bool has_array(const struct spec *spec, const char *name, uint32_t size)
{
	uint32_t i;

	for (i = 0; i < spec->n_registers; i++)
		if (!strcmp(spec->registers[i].name, name))
			return spec->registers[i].size == size;
	return false;
}

static bool has_field(const struct spec *spec, const char *type, const char *field)
{
	uint32_t i, j;

	for (i = 0; type && i < spec->n_structs; i++) {
		const struct spec_struct *s = &spec->structs[i];

		for (j = 0; !strcmp(s->name, type) && j < s->n_fields; j++)
			if (!strcmp(s->fields[j].name, field))
				return true;
	}
	return false;
}

static bool has_action(const struct spec *spec, const char *name, const char *argument)
{
	uint32_t i;

	for (i = 0; i < spec->n_actions; i++)
		if (!strcmp(spec->actions[i].name, name))
			return has_field(spec, spec->actions[i].args_type, argument);
	return false;
}

static bool has_table(const struct spec *spec, const char *name, const char *action)
{
	uint32_t i, j;

	for (i = 0; i < spec->n_tables; i++) {
		const struct spec_table *t = &spec->tables[i];

		for (j = 0; !strcmp(t->name, name) && j < t->n_actions; j++)
			if (!strcmp(t->actions[j], action))
				return t->n_key == 1 &&
				       t->key[0].match_type == RTE_SWX_TABLE_MATCH_EXACT;
	}
	return false;
}

static int check_contents(const struct spec *spec, const char *path, char *err)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(arrays); i++)
		if (!has_array(spec, arrays[i].name, arrays[i].size))
			return fail(err, -EINVAL, "%s has no register array %s of %u cells: %s",
				    path, arrays[i].name, arrays[i].size, REMEDY);
	for (i = 0; i < RTE_DIM(tables); i++)
		if (!has_table(spec, tables[i].name, tables[i].action) ||
		    !has_action(spec, tables[i].action, tables[i].argument))
			return fail(err, -EINVAL,
				    "%s has no table %s with one exact key and the action %s(%s): %s",
				    path, tables[i].name, tables[i].action,
				    tables[i].argument, REMEDY);
	return 0;
}

int interface_check(const struct spec *spec, const char *path, char *err)
{
	if (!spec->interface)
		return fail(err, -EINVAL,
			    "%s does not say which weft-switchd it is for: %s; another program than weft's needs --foreign",
			    path, REMEDY);
	if (strcmp(spec->interface, our_interface))
		return fail(err, -EINVAL,
			    "%s is for another version of weft-switchd, with other messages, registers or names: %s",
			    path, REMEDY);
	return check_contents(spec, path, err);
}
