// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "weftctl doctor" sees of datagrams that came and were thrown away, see drops.h.
 * Nothing is lost by that, but each costs the time until it is asked for again.
 */
#include "doctor/drops.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "weft_wire.h"

/* One in so many is no accident any more; and of a few nothing can be said. */
#define DROPS_SHARE	1000
#define DROPS_MIN	10

static bool is_much(uint64_t drops, uint64_t all)
{
	return drops >= DROPS_MIN && drops > all / DROPS_SHARE;
}

/* --- The interface -------------------------------------------------------------- */

static uint64_t interface_count(const char *interface, const char *name)
{
	char path[PATH_MAX];
	uint64_t value = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", interface, name);
	f = fopen(path, "re");
	if (f && fscanf(f, "%" SCNu64, &value) != 1)
		value = 0;
	if (f)
		fclose(f);
	return value;
}

static void examine_ring(struct patient *p)
{
	const char *name = p->config.ifname;
	uint64_t all = interface_count(name, "rx_packets");
	uint64_t drops = interface_count(name, "rx_dropped") +
			 interface_count(name, "rx_missed_errors") +
			 interface_count(name, "rx_fifo_errors");

	if (is_much(drops, all))
		found(&p->findings, FOUND_DROPS_INTERFACE, 0,
		      "the interface %s has dropped %" PRIu64 " packets that came, and taken %" PRIu64 "\tgive it a longer ring ('ethtool -G %s rx N', 'ethtool -g %s' shows how long it may be), and its interrupts processors that are not busy",
		      name, drops, all, name, name);
}

/* The kernel's queues between interrupt and sockets, one a processor. */
static void examine_backlog(struct patient *p)
{
	uint64_t all = 0, drops = 0;
	unsigned int taken, dropped;
	char line[512];
	FILE *f = fopen("/proc/net/softnet_stat", "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%x %x", &taken, &dropped) != 2)
			continue;
		all += taken;
		drops += dropped;
	}
	if (f)
		fclose(f);
	if (is_much(drops, all))
		found(&p->findings, FOUND_DROPS_INTERFACE, 0,
		      "the kernel has dropped %" PRIu64 " packets that waited for a processor, and taken %" PRIu64 "\tlet more of them wait ('sysctl -w net.core.netdev_max_backlog=10000'), and give the interrupts of %s processors that are not busy",
		      drops, all, p->config.ifname);
}

/* --- The node's socket ---------------------------------------------------------- */

/* What the sockets of the port have dropped, as /proc tells it. */
static uint64_t socket_drops(void)
{
	uint64_t sum = 0, drops;
	unsigned int port;
	char line[512], *last;
	FILE *f = fopen("/proc/net/udp", "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %*[^:]: %*8[0-9A-F]:%x", &port) != 1 ||
		    port != WEFT_WIRE_UDP_PORT)
			continue;
		line[strcspn(line, "\n")] = 0;
		while (*line && line[strlen(line) - 1] == ' ')
			line[strlen(line) - 1] = 0;
		last = strrchr(line, ' ');
		if (last && sscanf(last, "%" SCNu64, &drops) == 1)
			sum += drops;
	}
	if (f)
		fclose(f);
	return sum;
}

static void examine_socket(struct patient *p)
{
	uint64_t drops = socket_drops(), all = counters_get(&p->before, "msg_received");

	if (is_much(drops, all))
		found(&p->findings, FOUND_DROPS_SOCKET, 0,
		      "the sockets of UDP port %d here have dropped %" PRIu64 " datagrams, and this node has taken %" PRIu64 "\tlook with 'nstat -az UdpInCsumErrors UdpRcvbufErrors' which it is: wrong sums come from a machine or a tunnel on the way, or from somebody who is no member; full buffers from too few processors",
		      WEFT_WIRE_UDP_PORT, drops, all);
}

void examine_drops(struct patient *p)
{
	if (!p->config_known || found_any(&p->findings, FOUND_INTERFACE_MISSING, 0))
		return;
	examine_ring(p);
	examine_backlog(p);
	if (p->state == KERNEL_UP)
		examine_socket(p);
}

/* --- A blade ---------------------------------------------------------------------- */

void examine_blade_drops(struct patient *p, uint32_t id, const char *name,
			 const struct counters *c)
{
	uint64_t drops = counters_get(c, "not_received"), all = 0;
	size_t i;

	for (i = 0; i < c->len; i++) {
		if (!strncmp(c->list[i].name, "in_", 3))
			all += c->list[i].value;
	}
	if (is_much(drops, all))
		found(&p->findings, FOUND_DROPS_BLADE, id,
		      "%s has dropped %" PRIu64 " messages because its buffer was full, and taken %" PRIu64 "\tgive weft-memd there a processor that nobody else needs, and a buffer of 8 MiB: run it as root, or 'sysctl -w net.core.rmem_max=8388608' before it starts",
		      name, drops, all);
}
