// SPDX-License-Identifier: GPL-2.0-only
/* What "weftctl doctor" sees of the twins of memory blades, see examine.h. */
#include "doctor/examine.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "weft_wire.h"

#define HOMES	"name it in 'homes' as ADDRESS/TWIN"

static bool tells(const struct counters *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->len; i++) {
		if (!strcmp(c->list[i].name, name))
			return true;
	}
	return false;
}

/* The twin of a blade as the rack says, where the configuration says nothing. */
static void examine_unknown(struct patient *p, uint32_t id, const char *name)
{
	char text[INET_ADDRSTRLEN];
	size_t i;

	for (i = 0; i < p->peers.len; i++) {
		if (p->peers.list[i].id == id && p->peers.list[i].twin.s_addr)
			break;
	}
	if (i == p->peers.len)
		return;
	inet_ntop(AF_INET, &p->peers.list[i].twin, text, sizeof(text));
	found(&p->findings, FOUND_TWIN_UNKNOWN, id,
	      "%s has a twin at %s, which 'homes' of this node does not name: a mount does not find it there when it has taken over\t" HOMES ", on all nodes, then 'weftctl down --unmount' and 'weftctl up'",
	      name, text);
}

void examine_twin(struct patient *p, uint32_t id, const char *name,
		  const struct counters *c)
{
	bool wanted = p->twins_named >> (id - WEFT_BLADE_MIN) & 1;
	bool has = counters_get(c, "twin");
	struct findings *f = &p->findings;

	if (wanted && !has)
		found(f, FOUND_TWIN_MISSING, id,
		      "%s has no twin, though 'homes' of this node names one: if its machine dies nobody goes on for it\tstart weft-memd on both machines with --peers ADDRESS/TWIN and --backing, or take the twin out of 'homes'",
		      name);
	if (!wanted)
		examine_unknown(p, id, name);
	if (!has)
		return;
	if (!counters_get(c, "twin_complete"))
		found(f, FOUND_TWIN_INCOMPLETE, id,
		      "the twin of %s has not got all that it needs to take over (%" PRIu64 " bytes are on their way to it)\tsee with 'journalctl -u weft-memd' on both machines whether it is there; after a start it takes as long as it takes to copy the file",
		      name, counters_get(c, "twin_behind_bytes"));
	if (tells(c, "witness_ok") && !counters_get(c, "witness_ok"))
		found(f, FOUND_WITNESS_SILENT, id,
		      "the witness does not answer %s: while it is silent no twin takes over\tstart 'weft-memd --be-witness' on its machine, and see that the TCP port of twins (4794, or --twin-port) is open to it",
		      name);
}
