// SPDX-License-Identifier: GPL-2.0-only
/* What is printed of a world and of what happens to it. */
#include <stdio.h>

#include "nodes.h"

void world_print_action(const struct world *w, const struct action *a)
{
	static const char * const name[] = {
		"deliver", "deliver a copy of", "lose", "has revoked", "times out",
		"writes", "wants to read", "wants to write", "evicts", "drops",
		"cleans", "home times out", "home recalls", "wants to read",
		"wants to write", "lets go", "lets others read", "expects to read", "expects to write",
		"does not expect it any more", "leaves the rack", "DIES",
		"hears who is dead", "joins again", "home hears who is dead",
		"home: they are members no more", "switch: they are members no more",
		"home is through with the dead",
		"HOME DIES, and begins anew", "gives all back", "home serves",
		"passes on, to:",
		"lends to:", "gives back, to:",
	};
	bool pass = a->kind >= ACT_PASS;

	if (a->kind <= ACT_LOSE) {
		const struct flight *f = &w->flight[a->flight];

		printf("%s %s txn=%u.%u line=%u flags=%x%s status=%u copyset=%x grant=%u holder=%x from %u to %s%u nonce=%x v=%llu\n",
		       name[a->kind],
		       f->type == MSG_WRITE ? "WRITE" :
		       f->type == MSG_FETCH ? "FETCH" : weft_msg_name(f->type),
		       weft_txn_member(f->txn), f->txn & WEFT_TXN_SEQ_MASK,
		       (u32)weft_line_index(f->line), f->flags, f->lands ? " lands" : "",
		       f->status,
		       f->copyset, f->grant, f->holder, f->src,
		       f->hop == HOP_SWITCH ? "switch " : f->hop == HOP_HOME ? "home " : "node ",
		       f->to, f->nonce, (unsigned long long)f->version);
	} else if (pass) {
		u32 txn = pages_named(w, a);

		printf("node %u line %u: %s txn=%u.%u\n", a->node + 1, a->line,
		       name[a->kind], weft_txn_member(txn), txn & WEFT_TXN_SEQ_MASK);
	} else {
		printf("node %u line %u: %s\n", a->node + 1, a->line, name[a->kind]);
	}
}

void world_print(const struct world *w, const struct config *c)
{
	for (int i = 0; i < c->lines; i++) {
		printf("  line %d: truth %u, home: place %u lock %x grant %u status %u copyset %x, data %u v%llu; slot: tag %llx lock %x grant %u status %u copyset %x\n",
		       i, w->truth[i], w->home[i].place, w->home[i].e.lock,
		       w->home[i].e.grant, w->home[i].e.status, w->home[i].e.copyset, w->home_data[i][0],
		       (unsigned long long)w->home_version[i],
		       (unsigned long long)w->slot[i].tag, w->slot[i].entry.lock,
		       w->slot[i].entry.grant, w->slot[i].entry.status, w->slot[i].entry.copyset);
		if (!c->locks)
			pages_print(w, c, i);
	}
	if (c->locks)
		locks_print(w, c);
	for (int k = 0; k < w->flights; k++) {
		struct action a = { .kind = ACT_DELIVER, .flight = (u8)k };

		printf("    in flight: ");
		world_print_action(w, &a);
	}
}
