// SPDX-License-Identifier: GPL-2.0-only
/* weftctl blade: memory blades that come and go. */
#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/output.h"
#include "base/value.h"
#include "command/commands.h"
#include "kernel/blades.h"
#include "kernel/kernel.h"

#define WAIT_MAX_MS	(24 * 3600 * 1000)

static uint32_t wait_ms;

static const struct argument options[] = {
	{ "wait", .ms = &wait_ms, .min = 1, .max = WAIT_MAX_MS }, { 0 }
};

static int list(void)
{
	struct blade_list b;
	struct table t;
	size_t i;
	int rc = blades_read(&b);

	if (rc)
		return rc;
	table_begin(&t, "blades", blade_columns);
	table_head(&t);
	for (i = 0; i < b.len; i++)
		table_row(&t, &b.list[i]);
	table_end(&t);
	return 0;
}

/* Has the blade no regions any more? */
static int is_empty(void *arg)
{
	const uint32_t *number = arg;
	const struct blade *one;
	struct blade_list b;
	int rc = blades_read(&b);

	if (rc)
		return -rc;
	one = blades_find(&b, *number);
	return !one || !one->regions;
}

static int drain(uint32_t number)
{
	char what[64];
	int rc;

	if (number == 1)
		return fail("the first memory blade has the catalog of the rack: it cannot be drained");
	rc = blades_set(number, WEFT_BLADE_ACTION_DRAIN, (struct in_addr){ 0 });
	if (rc || !wait_ms)
		return rc;
	snprintf(what, sizeof(what), "draining memory blade %" PRIu32, number);
	return blades_wait(is_empty, &number, wait_ms, what);
}

/* "add N ADDRESS", "drain N", "use N". */
static int change(const struct reading *r, uint32_t action)
{
	const char *text = argument_operand(r);
	struct in_addr address = { 0 };
	uint32_t number = 0;
	struct why why;
	int rc;

	if (!text)
		return misuse(r->command->name, "say which memory blade, as in 'drain 2'");
	if (!blades_number(text, &number))
		return misuse(r->command->name, "BLADE: it may be 1 to %u", WEFT_HOMES_MAX);
	if (action == WEFT_BLADE_ACTION_ADD) {
		text = argument_operand(r);
		if (!text)
			return misuse(r->command->name, "say where the memory blade is, as in 'add 3 10.0.0.103'");
		if (!value_address(text, &address, &why))
			return misuse(r->command->name, "ADDRESS: %s", why.text);
	}
	rc = argument_none(r);
	if (!rc && wait_ms && action != WEFT_BLADE_ACTION_DRAIN)
		rc = misuse(r->command->name, "--wait goes with 'drain'");
	if (!rc)
		rc = kernel_open(false);
	if (rc)
		return rc;
	return action == WEFT_BLADE_ACTION_DRAIN ? drain(number) :
						   blades_set(number, action, address);
}

static int blade(const struct reading *r)
{
	static const char * const actions[] = { "list", "add", "drain", "use", NULL };
	int action = argument_action(r, actions), rc;

	if (action < 0)
		return EXIT_USAGE;
	if (action > 0)
		return change(r, (uint32_t)action);
	rc = argument_none(r);
	if (!rc && wait_ms)
		rc = misuse(r->command->name, "--wait goes with 'drain'");
	if (!rc)
		rc = kernel_open(false);
	return rc ? rc : list();
}

const struct command command_blade = {
	.name = "blade",
	.plural = "blades",
	.options = options,
	.run = blade,
	.summary = "memory blades of the rack; add one, empty one",
	.help = " [list] [-j] [-p]\n"
		"       weftctl blade add BLADE ADDRESS\n"
		"       weftctl blade drain BLADE [--wait SEC]\n"
		"       weftctl blade use BLADE\n\n"
		"  BLADE       its number, 1 for the first one; or its id, 33 for that\n"
		"  --wait SEC  until it has no regions any more, so long at most\n\n"
		"Number, address, state, bytes for regions, bytes that its regions may come to\n"
		"need there, regions that are at home there.\n"
		"Add: it may join (weft-memd); regions that are made from then on use it, others as\n"
		"'weftctl region spread' says.  Drain: regions move to the others while programs\n"
		"run, and no new one comes; when it has none its machine may be switched off.  Use:\n"
		"regions use it again.  For root, but to list them.\n",
};
