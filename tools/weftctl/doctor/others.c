// SPDX-License-Identifier: GPL-2.0-only
/* What "weftctl doctor" sees of other machines, see others.h. */
#include "doctor/others.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "doctor/interface.h"
#include "doctor/probe.h"
#include "kernel/blades.h"
#include "kernel/genl.h"
#include "weft_wire.h"

#define ECHO_TRIES	3
#define ECHO_MS		700	/* the first one has to find the address */
#define ECHO_SIZE	84	/* as ping sends */
#define ROUND_TRIP_US	10000	/* longer than any network of a rack takes */
#define STEP		64	/* how exactly it is told what still gets through */
#define FULL_PERCENT	98

#define HOMES	"name it in 'homes' as ADDRESS/TWIN"

/* A member, as sentences call it. */
struct host {
	uint32_t id;
	struct in_addr address;
	char name[64];
};

static void make_host(struct host *h, uint32_t id, struct in_addr a)
{
	h->id = id;
	h->address = a;
	snprintf(h->name, sizeof(h->name), "%s", text_place(id, a));
}

/* --- Hosts -------------------------------------------------------------------- */

/* The best of some tries.  Return: 0, or what the last one said. */
static int echo(int fd, const struct host *h, uint32_t size, bool whole, struct echo *best)
{
	struct echo one;
	int i, err = 0, any = -ETIMEDOUT;

	for (i = 0; i < ECHO_TRIES; i++) {
		err = probe_echo(fd, h->address, size, whole, ECHO_MS, &one);
		if (err == -ETIMEDOUT)
			continue;
		if (err)
			return err;
		if (any || one.usec < best->usec)
			*best = one;
		any = 0;
	}
	return any;
}

/* The longest datagram that gets there and back, between two sizes. */
static uint32_t longest(int fd, const struct host *h, uint32_t good, uint32_t bad)
{
	struct echo e;

	while (bad - good > STEP) {
		uint32_t size = (good + bad) / 2;

		if (!probe_echo(fd, h->address, size, true, ECHO_MS, &e))
			good = size;
		else
			bad = size;
	}
	return good;
}

/*
 * The interface drops datagrams that are longer than its MTU.  The longest one
 * is sent in pieces, and its echo is cut as the other one's interface wants it.
 */
static void examine_way_back(struct patient *p, int fd, const struct host *h)
{
	struct echo e = { 0 };
	int err;

	if (!p->interface_mtu || p->interface_mtu >= WEFT_MTU_MAX)
		return;
	err = echo(fd, h, WEFT_MTU_MAX, false, &e);
	if (err == -ETIMEDOUT || (!err && (!e.fragment || e.fragment > p->interface_mtu)))
		found(&p->findings, FOUND_MTU_PATH, h->id,
		      "%s sends longer datagrams than the %u bytes that the interface %s takes	'ip link set %s mtu %d' here, or as much as the others have, and 'weftctl down --unmount' and 'weftctl up'; or the MTU of its interface to %u",
		      h->name, p->interface_mtu, p->config.ifname, p->config.ifname,
		      WEFT_MTU_MAX, p->interface_mtu);
}

static void examine_path(struct patient *p, int fd, const struct host *h)
{
	const struct config *c = &p->config;
	struct echo e = { 0 };
	int err;

	/* examine_interface() has reported an MTU that the interface does not take. */
	if (c->mtu <= ECHO_SIZE || found_any(&p->findings, FOUND_MTU_INTERFACE, 0))
		return;
	err = echo(fd, h, c->mtu, true, &e);
	if (err == -ETIMEDOUT)
		found(&p->findings, FOUND_MTU_PATH, h->id,
		      "datagrams of %u bytes do not get to %s and back, those of %u do\tset the MTU of its interface and of the switches between to %u ('ip link set IF mtu %u'), or take a smaller 'mtu' on all nodes",
		      c->mtu, h->name, longest(fd, h, ECHO_SIZE, c->mtu), c->mtu, c->mtu);
	else if (!err && e.fragment && e.fragment < c->mtu)
		found(&p->findings, FOUND_MTU_PATH, h->id,
		      "%s answers a datagram of %u bytes in pieces of %u\tset the MTU of its interface to %u ('ip link set IF mtu %u' there), or take a smaller 'mtu' on all nodes",
		      h->name, c->mtu, e.fragment, c->mtu, c->mtu);
	else if (!err)
		examine_way_back(p, fd, h);
}

static void examine_host(struct patient *p, int fd, const struct host *h)
{
	struct echo e = { 0 };
	int err = echo(fd, h, ECHO_SIZE, true, &e);

	if (err) {
		found(&p->findings, FOUND_HOST_UNREACHABLE, h->id,
		      "%s does not answer a ping%s%s\tsee that it is switched on, that its address is right, that cables and switches lead there from %s, and that no firewall holds pings back",
		      h->name, err == -ETIMEDOUT ? "" : ": ",
		      err == -ETIMEDOUT ? "" : strerror(-err), p->config.ifname);
		return;
	}
	if (e.usec > ROUND_TRIP_US)
		found(&p->findings, FOUND_ROUND_TRIP, h->id,
		      "the round trip to %s takes %.1f ms, and each miss waits for it\tlook for a slow or full link, a tunnel, or a machine that is overloaded or saves power",
		      h->name, (double)e.usec / 1e3);
	examine_path(p, fd, h);
}

void examine_hosts(struct patient *p)
{
	const struct config *c = &p->config;
	struct host h;
	unsigned int i;
	int fd;

	if (!p->config_known || found_any(&p->findings, FOUND_INTERFACE_MISSING, 0) ||
	    found_any(&p->findings, FOUND_INTERFACE_DOWN, 0))
		return;
	fd = probe_open();
	if (fd < 0) {
		skip(&p->findings, "the network's paths",
		     fd == -EPERM ? "pings need root" : strerror(-fd));
		return;
	}
	for (i = 0; i < c->homes_len; i++) {
		make_host(&h, WEFT_BLADE_MIN + i, c->homes[i]);
		examine_host(p, fd, &h);
	}
	for (i = 0; i < p->peers.len; i++) {
		const struct peer *peer = &p->peers.list[i];

		if (peer->id > WEFT_NODE_MAX || peer->self || !peer->joined)
			continue;
		make_host(&h, peer->id, peer->address);
		examine_host(p, fd, &h);
	}
	close(fd);
}

/* --- Blades and switch --------------------------------------------------------- */

static void examine_space(struct patient *p, const struct host *h, const struct counters *c)
{
	uint64_t all = counters_get(c, "memory_bytes");
	uint64_t taken = counters_get(c, "reserved_bytes");

	if (counters_get(c, "used_bytes") > taken)
		taken = counters_get(c, "used_bytes");
	if (all && taken >= all / 100 * FULL_PERCENT)
		found(&p->findings, FOUND_BLADE_FULL, h->id,
		      "%s is full: %" PRIu64 " of %" PRIu64 " MiB are taken\tunlink regions that nobody needs, or start it again with more --memory",
		      h->name, taken >> 20, all >> 20);
}

/* Of one that has a backing file, and no room or no disk for it. */
static void examine_file(struct patient *p, const struct host *h, const struct counters *c)
{
	if (counters_get(c, "file_failed"))
		found(&p->findings, FOUND_BLADE_FILE, h->id,
		      "what was written to the backing file of %s did not get to its disk: fsync() of what is to be there fails with EIO until weft-memd is started again\tlook at the kernel log there, mend or replace the disk (copy the file while weft-memd does not run), and start it again",
		      h->name);
	else if (counters_get(c, "file_refuses"))
		found(&p->findings, FOUND_BLADE_FILE, h->id,
		      "%s cannot write to its backing file: what nodes have modified stays in their caches, and fsync() there fails, until it can\tmake room on the file's file system; 'journalctl -u weft-memd' there says which file, and the reason",
		      h->name);
}

/* Does it have what it needs to serve, and does it say the same of the rack as we do? */
static void examine_part(struct patient *p, const struct host *h, const struct counters *c)
{
	uint64_t blades = counters_get(c, "blades");

	/* One of an earlier version does not tell. */
	if (!blades)
		return;
	if (!counters_get(c, "ready"))
		found(&p->findings, FOUND_BLADE_WAITS, h->id,
		      "%s runs, but has not heard the catalog of regions from the first blade, and serves nobody\tsee there with 'journalctl -u weft-memd' what it waits for, that --peers names all blades in the order of their ids, and that UDP port %d is open between them",
		      h->name, WEFT_WIRE_UDP_PORT);
	if (blades != p->config.homes_len)
		found(&p->findings, FOUND_HOMES_DIFFER, h->id,
		      "%s is part of a rack of %" PRIu64 " memory blades, but 'homes' of this node names %u\tname all of them in 'homes', in the order of their ids and the same on all nodes, then 'weftctl down --unmount' and 'weftctl up'",
		      h->name, blades, p->config.homes_len);
}

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
static void examine_unknown(struct patient *p, const struct host *h)
{
	size_t i;

	for (i = 0; i < p->peers.len; i++) {
		if (p->peers.list[i].id == h->id && p->peers.list[i].twin.s_addr)
			break;
	}
	if (i == p->peers.len)
		return;
	found(&p->findings, FOUND_TWIN_UNKNOWN, h->id,
	      "%s has a twin at %s, which 'homes' of this node does not name: a mount does not find it there when it has taken over\t" HOMES ", on all nodes, then 'weftctl down --unmount' and 'weftctl up'",
	      h->name, text_address(p->peers.list[i].twin));
}

static void examine_twin(struct patient *p, const struct host *h, const struct counters *c)
{
	const uint32_t id = h->id;
	const char *name = h->name;
	bool wanted = p->twins_named >> (id - WEFT_BLADE_MIN) & 1;
	bool has = counters_get(c, "twin");
	struct findings *f = &p->findings;

	if (wanted && !has)
		found(f, FOUND_TWIN_MISSING, id,
		      "%s has no twin, though 'homes' of this node names one: if its machine dies nobody goes on for it\tstart weft-memd on both machines with --peers ADDRESS/TWIN and --backing, or take the twin out of 'homes'",
		      name);
	if (!wanted)
		examine_unknown(p, h);
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

static void examine_drops_there(struct patient *p, const struct host *h,
				const struct counters *c)
{
	uint64_t drops = counters_get(c, "not_received"), all = 0;
	size_t i;

	for (i = 0; i < c->len; i++) {
		if (!strncmp(c->list[i].name, "in_", 3))
			all += c->list[i].value;
	}
	if (drops_are_much(drops, all))
		found(&p->findings, FOUND_DROPS_BLADE, h->id,
		      "%s has dropped %" PRIu64 " messages because its buffer was full, and taken %" PRIu64 "\tgive weft-memd there a processor that nobody else needs, and a buffer of 8 MiB: run it as root, or 'sysctl -w net.core.rmem_max=8388608' before it starts",
		      h->name, drops, all);
}

static void examine_refused(struct patient *p, const struct host *h, const struct counters *c)
{
	uint64_t ago = counters_get(c, "refused_ago_s");

	if (ago && ago < FOUND_LATELY_S)
		found(&p->findings, FOUND_REFUSED, h->id,
		      "%s has refused messages, the last one %" PRIu64 " s ago, of machines that have not the rack's key (%" PRIu64 " without one, %" PRIu64 " with another) or not the address of the member that they named (%" PRIu64 ")\tits log says which machines ('journalctl -u weft-memd' there): copy the rack's key there, or find out who sends that",
		      h->name, ago, counters_get(c, "no_key"), counters_get(c, "wrong_key"),
		      counters_get(c, "wrong_address"));
}

/* Lost blocks of a blade. */
struct losses {
	uint64_t blocks;
	uint64_t regions;
	uint32_t last;
};

static int count_lost(void *row, void *arg)
{
	const struct lost *l = row;
	struct losses *all = arg;

	all->blocks += l->length / l->block;
	/* they come by their numbers */
	all->regions += l->region != all->last;
	all->last = l->region;
	return 0;
}

static void examine_lost(struct patient *p, const struct host *h)
{
	struct genl_refusal why;
	struct losses all = { 0 };

	/* who is no member is told so by other findings, who is silent, too */
	if (p->state != KERNEL_UP || !p->status.joined ||
	    blades_lost_try(h->id, 0, count_lost, &all, &why) || !all.blocks)
		return;
	found(&p->findings, FOUND_LINES_LOST, h->id,
	      "%" PRIu64 " blocks of %" PRIu64 " regions are lost at %s: only a node had modified them that has died, and they are what was last written home\t'weftctl line lost' lists them; restore them or see that they will do, then 'weftctl line lost REGION --accept'",
	      all.blocks, all.regions, h->name);
}

/* Return: whether it told its counters, which is whether it works. */
static bool examine_blade(struct patient *p, const struct host *h, struct knock *k,
			  struct counters *c)
{
	struct findings *f = &p->findings;
	struct genl_refusal why;
	int err = 0;

	/* Else the whole timeout would be waited for in vain. */
	if (!knock_refused(k)) {
		if (p->state != KERNEL_UP)
			return false;
		err = kernel_blade_try(h->id, c, &why);
		if (!err)
			return true;
	}
	if (knock_refused(k))
		found(f, FOUND_BLADE_DOWN, h->id,
		      "weft-memd does not run at %s\t'systemctl start weft-memd' there: nothing has to be unmounted before, see docs/operations.md",
		      h->name);
	else if (err == -EPROTO)
		found(f, FOUND_BLADE_VERSION, h->id,
		      "the answer of %s makes no sense\tinstall the same version of weft there and here",
		      h->name);
	else if (err == -ETIMEDOUT)
		found(f, FOUND_BLADE_DOWN, h->id,
		      "%s does not answer, though nothing says that it does not run\tsee there that weft-memd is not stopped, that its --id is %u, its --rack %u, its key and its version those of this node, and that no firewall holds UDP port %d back",
		      h->name, h->id, p->config.joins, WEFT_WIRE_UDP_PORT);
	else
		found(f, FOUND_BLADE_DOWN, h->id,
		      "%s cannot be asked: %s\tlook at the kernel log", h->name, strerror(-err));
	return false;
}

/* All at once. */
static void knock_blades(const struct patient *p, struct knock *list)
{
	const struct config *c = &p->config;
	int echo_fd = probe_open();
	unsigned int i;

	for (i = 0; i < c->homes_len; i++) {
		if (found_any(&p->findings, FOUND_HOST_UNREACHABLE, WEFT_BLADE_MIN + i))
			list[i] = (struct knock){ .fd = -1 };
		else
			knock_open(&list[i], c->homes[i], WEFT_WIRE_UDP_PORT);
	}
	knock_all(list, c->homes_len, echo_fd);
	if (echo_fd >= 0)
		close(echo_fd);
}

/*
 * A directory that the blades believe in must be there.  That none is wanted is
 * nobody's fault, but nobody says so either: it is told, and can be ignored.
 */
static int examine_switch(struct patient *p, uint32_t told, uint32_t believer)
{
	struct counters c;
	bool absent;
	int rc;

	/* Without a blade nobody knows what to expect, and something else is first. */
	if (!told)
		return 0;
	rc = kernel_switch_stats(&c, &absent);
	if (rc)
		return rc;
	counters_free(&c);
	if (absent && believer)
		found(&p->findings, FOUND_SWITCH_MISSING, 0,
		      "%s keeps its directory in the switch, but no directory answers there\tload the weft program into the switch ('weft-switchd --spec weft_pna.spec'), then restart weft-memd and mount anew, see docs/operations.md",
		      text_member(believer));
	else if (absent)
		found(&p->findings, FOUND_SWITCH_MISSING, 0,
		      "the switch does not run the weft program, so the memory blades keep the directory, which costs a way more for each miss\tload it ('weft-switchd --spec weft_pna.spec') and restart weft-memd, or '--ignore switch_missing' if this switch cannot");
	return 0;
}

int examine_rack(struct patient *p)
{
	const struct config *c = &p->config;
	struct knock knocks[WEFT_HOMES_MAX];
	uint32_t told = 0, believer = 0;
	unsigned int i;

	if (!p->config_known || found_any(&p->findings, FOUND_INTERFACE_MISSING, 0) ||
	    found_any(&p->findings, FOUND_INTERFACE_DOWN, 0))
		return 0;
	knock_blades(p, knocks);
	for (i = 0; i < c->homes_len; i++) {
		struct counters counters = { 0 };
		struct host h;

		make_host(&h, WEFT_BLADE_MIN + i, c->homes[i]);
		/* A request would wait for the whole timeout. */
		if (found_any(&p->findings, FOUND_HOST_UNREACHABLE, h.id))
			continue;
		if (examine_blade(p, &h, &knocks[i], &counters)) {
			examine_space(p, &h, &counters);
			examine_file(p, &h, &counters);
			examine_part(p, &h, &counters);
			examine_twin(p, &h, &counters);
			examine_drops_there(p, &h, &counters);
			examine_refused(p, &h, &counters);
			examine_lost(p, &h);
			p->first_told |= h.id == WEFT_BLADE_MIN;
			told = h.id;
			if (counters_get(&counters, "switch"))
				believer = h.id;
		}
		counters_free(&counters);
		knock_close(&knocks[i]);
	}
	return examine_switch(p, told, believer);
}
