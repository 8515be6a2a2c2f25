// SPDX-License-Identifier: GPL-2.0-only
/* Where the memory blades are, see blades.h. */
#include "blades.h"

#include "homes.h"
#include "weft_wire.h"

void blades_now(struct config *c, const struct peers *peers)
{
	size_t i;

	for (i = 0; i < peers->len; i++) {
		const struct peer *p = &peers->list[i];
		uint32_t at = p->id - WEFT_BLADE_MIN;

		if (p->id < WEFT_BLADE_MIN || at >= WEFT_HOMES_MAX)
			continue;
		/* those that were added since it was set up: there are no gaps */
		if (at >= c->homes_len)
			c->homes_len = at + 1;
		c->homes[at] = p->address;
		c->twins[at] = p->twin;
	}
}

/* Regions that have left a blade may have left it for good: it may be switched off. */
static void find_drained(struct config *c)
{
	struct blade_list b;
	size_t i;

	c->drained = 0;
	if (c->homes_len < 2 || homes_blades_try(&b))
		return;
	for (i = 0; i < b.len; i++)
		if (b.list[i].drains && !b.list[i].regions)
			c->drained |= UINT32_C(1) << (b.list[i].number - 1);
}

int blades_config(struct config *c)
{
	struct peers peers;
	int rc = kernel_config_get(c);

	if (!rc)
		rc = kernel_peers(&peers);
	if (rc)
		return rc;
	blades_now(c, &peers);
	find_drained(c);
	return 0;
}
