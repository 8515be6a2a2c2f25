// SPDX-License-Identifier: GPL-2.0-only
/* Where the memory blades are, see blades.h. */
#include "blades.h"

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

int blades_config(struct config *c)
{
	struct peers peers;
	int rc = kernel_config_get(c);

	/* who has none is where it was set up */
	if (rc || !config_twins(c))
		return rc;
	rc = kernel_peers(&peers);
	if (!rc)
		blades_now(c, &peers);
	return rc;
}
