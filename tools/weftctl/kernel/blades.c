// SPDX-License-Identifier: GPL-2.0-only
/* Where the memory blades are, see blades.h. */
#include "kernel/blades.h"

#include <errno.h>

#include "base/text.h"
#include "kernel/explain.h"
#include "kernel/homes.h"
#include "weft_wire.h"

void blades_now(struct config *c, const struct peers *peers)
{
	size_t i;

	for (i = 0; i < peers->len; i++) {
		const struct peer *p = &peers->list[i];

		if (p->id < WEFT_BLADE_MIN || p->id - WEFT_BLADE_MIN >= c->homes_len)
			continue;
		c->homes[p->id - WEFT_BLADE_MIN] = p->address;
		c->twins[p->id - WEFT_BLADE_MIN] = p->twin;
	}
}

/*
 * What the first blade knows of those that came and went since this node was set up.  One that is
 * drained, and that no region uses any more, may be switched off.
 */
static void find_others(struct config *c, uint32_t *silent)
{
	struct blade_list b;
	size_t i;
	int err;

	c->drained = 0;
	err = homes_blades_try(&b);
	*silent = err == -ETIMEDOUT;
	if (err)
		return;
	for (i = 0; i < b.len; i++) {
		const struct blade *one = &b.list[i];

		/* there are no gaps */
		if (one->number == c->homes_len + 1)
			c->homes[c->homes_len++] = one->address;
		if (one->drains && !one->regions)
			c->drained |= UINT32_C(1) << (one->number - 1);
	}
}

int blades_config(struct config *c, uint32_t *silent)
{
	struct peers peers;
	int rc = kernel_config_get(c);

	*silent = 0;
	/* who has none is where it was set up */
	if (!rc && config_twins(c)) {
		rc = kernel_peers(&peers);
		if (!rc)
			blades_now(c, &peers);
	}
	if (!rc)
		find_others(c, silent);
	return rc;
}

int blades_silent(uint32_t silent, const struct in_addr *homes)
{
	char place[TEXT_PLACE_MAX];
	unsigned int i;
	int rc = 0;

	for (i = 0; i < WEFT_HOMES_MAX; i++)
		if (silent & UINT32_C(1) << i)
			rc = explain_silent(text_place(WEFT_BLADE_MIN + i, homes[i], place));
	return rc;
}
