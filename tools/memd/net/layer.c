// SPDX-License-Identifier: GPL-2.0-only
/* The layer as a whole, see layer.h. */
#include "net/layer.h"

#include "base/blade.h"
#include "net/held.h"
#include "net/members.h"
#include "net/push.h"
#include "net/reply.h"
#include "net/udp.h"
#include "types.h"

int net_make(struct memd *m)
{
	struct blade *b = m->b;
	u32 i;

	b->callers = calloc(WEFT_BLADE_MAX + 1, sizeof(*b->callers));
	b->pushes = calloc(WEFT_BLADE_MAX + 1, sizeof(*b->pushes));
	if (!blade_make(b->members) || !b->callers || !b->pushes)
		return -1;
	for (i = 0; i < b->threads; i++) {
		if (!blade_make(b->thread[i]->udp) || !blade_make(b->thread[i]->held))
			return -1;
		udp_none(b->thread[i]->udp);
	}
	members_init(m);
	push_init(m);
	return 0;
}

void net_free(struct memd *m)
{
	struct blade *b = m->b;
	u32 i;
	u8 id;

	for (i = 0; i < b->threads; i++) {
		udp_close(b->thread[i]->udp);
		free(b->thread[i]->udp);
		held_exit(b->thread[i]);
		free(b->thread[i]->held);
	}
	for (id = 1; id <= WEFT_BLADE_MAX; id++) {
		reply_forget(m, id);
		free(b->callers[id]);
	}
	free(b->callers);
	free(b->pushes);
	free(b->members);
}
