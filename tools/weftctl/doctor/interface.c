// SPDX-License-Identifier: GPL-2.0-only
/* What "weftctl doctor" sees of the rack's interface and its RDMA device, see interface.h. */
#include "doctor/interface.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "kernel/module.h"
#include "tools/common/number.h"
#include "weft_wire.h"

/* --- The interface -------------------------------------------------------------- */

static bool has_address(const char *name, struct in_addr a)
{
	struct ifaddrs *list, *i;
	bool has = false;

	if (getifaddrs(&list))
		return true;
	for (i = list; i; i = i->ifa_next) {
		struct sockaddr_in sin;

		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET ||
		    strcmp(i->ifa_name, name))
			continue;
		memcpy(&sin, i->ifa_addr, sizeof(sin));
		has |= !a.s_addr || sin.sin_addr.s_addr == a.s_addr;
	}
	freeifaddrs(list);
	return has;
}

static void examine_mtu(struct patient *p, uint32_t mtu)
{
	const struct config *c = &p->config;

	if (c->mtu > mtu)
		found(&p->findings, FOUND_MTU_INTERFACE, 0,
		      "the interface %s has an MTU of %u, but the node sends datagrams of %u bytes\t'ip link set %s mtu %u', or a smaller 'mtu' for the node",
		      c->ifname, mtu, c->mtu, c->ifname, c->mtu);
	else if (mtu < WEFT_MTU_MIN)
		found(&p->findings, FOUND_MTU_INTERFACE, 0,
		      "the interface %s has an MTU of %u, which is less than %d\t'ip link set %s mtu %d', or more",
		      c->ifname, mtu, WEFT_MTU_MIN, c->ifname, WEFT_MTU_MIN);
}

void examine_interface(struct patient *p)
{
	struct config *c = &p->config;
	struct findings *f = &p->findings;
	struct ifreq r = { 0 };
	const char *address = text_address(c->address);
	int fd;

	if (!p->config_known)
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(r.ifr_name, c->ifname, sizeof(r.ifr_name));
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &r)) {
		found(f, FOUND_INTERFACE_MISSING, 0,
		      "there is no interface %s\t'ip link' lists those that there are: correct 'interface', then 'weftctl down --unmount' and 'weftctl up'",
		      c->ifname);
		goto out;
	}
	if (!(r.ifr_flags & IFF_UP))
		found(f, FOUND_INTERFACE_DOWN, 0,
		      "the interface %s is down\t'ip link set %s up'", c->ifname, c->ifname);
	else if (!(r.ifr_flags & IFF_RUNNING))
		found(f, FOUND_INTERFACE_DOWN, 0,
		      "the interface %s has no carrier\tplug its cable in, and look at the port of the switch",
		      c->ifname);
	if (!has_address(c->ifname, c->address)) {
		if (c->address.s_addr)
			found(f, FOUND_ADDRESS_MISSING, 0,
			      "the interface %s does not have the address %s\t'ip addr add %s/24 dev %s' (with the network's own length), or correct 'address'",
			      c->ifname, address, address, c->ifname);
		else
			found(f, FOUND_ADDRESS_MISSING, 0,
			      "the interface %s has no IPv4 address\tgive it one with 'ip addr add'",
			      c->ifname);
	}
	if (!ioctl(fd, SIOCGIFMTU, &r)) {
		p->interface_mtu = (uint32_t)r.ifr_mtu;
		examine_mtu(p, p->interface_mtu);
	}
	/* The kernel's default. */
	if (!c->mtu)
		c->mtu = p->interface_mtu < WEFT_MTU_MAX ? p->interface_mtu : WEFT_MTU_MAX;
out:
	if (fd >= 0)
		close(fd);
}

/* One in so many is no accident any more; and of a few nothing can be said. */
#define DROPS_SHARE	1000
#define DROPS_MIN	10

bool drops_are_much(uint64_t drops, uint64_t all)
{
	return drops >= DROPS_MIN && drops > all / DROPS_SHARE;
}

/* --- What it drops -------------------------------------------------------------- */

static uint64_t interface_count(const char *interface, const char *name)
{
	uint64_t value = 0;
	char line[64];

	if (text_line(line, sizeof(line), "/sys/class/net/%s/statistics/%s", interface, name) &&
	    number_decimal(line, 0, UINT64_MAX, &value))
		value = 0;
	return value;
}

static void examine_ring(struct patient *p)
{
	const char *name = p->config.ifname;
	uint64_t all = interface_count(name, "rx_packets");
	uint64_t drops = interface_count(name, "rx_dropped") +
			 interface_count(name, "rx_missed_errors") +
			 interface_count(name, "rx_fifo_errors");

	if (drops_are_much(drops, all))
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
	if (drops_are_much(drops, all))
		found(&p->findings, FOUND_DROPS_INTERFACE, 0,
		      "the kernel has dropped %" PRIu64 " packets that waited for a processor, and taken %" PRIu64 "\tlet more of them wait ('sysctl -w net.core.netdev_max_backlog=10000'), and give the interrupts of %s processors that are not busy",
		      drops, all, p->config.ifname);
}

/* --- The node's socket ---------------------------------------------------------- */

/* Datagrams that the sockets of the port have dropped, from /proc. */
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

	if (drops_are_much(drops, all))
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

/* --- RDMA: without a device there is nothing to say, data goes by UDP then -------------- */

#define CLASS		"/sys/class/infiniband"
#define GIDS_MAX	256	/* of a port, that are looked at */
#define FRAMES_4096	4200	/* MTU of an interface from which on RoCE puts that much into one */

/*
 * One frame in so many asked for again is no accident any more, nor what cards count when they
 * write to what was closed meanwhile; and of a few nothing can be said.
 */
#define AGAIN_SHARE	200
#define AGAIN_MIN	20

/* A port of an RDMA device that the rack's interface belongs to. */
struct port {
	char device[64];	/* its name */
	unsigned int number;	/* of the port */
	char state[32];	/* as the kernel calls it */
	bool gid;	/* one of its addresses is RoCE v2 with the node's address */
};

/* A counter of the port, 0 if it has no such one. */
static uint64_t port_count(const struct port *port, const char *folder, const char *name)
{
	uint64_t value = 0;
	char line[64];

	if (text_line(line, sizeof(line), CLASS "/%s/ports/%u/%s/%s", port->device, port->number,
		      folder, name) && number_decimal(line, 0, UINT64_MAX, &value))
		value = 0;
	return value;
}

/* --- Finding the device ---------------------------------------------------------- */

/* "0000:0000:0000:0000:0000:ffff:0a57:0001": the address as RoCE v2 writes it. */
static bool is_gid_of(const char *gid, struct in_addr address)
{
	struct in6_addr a;

	return inet_pton(AF_INET6, gid, &a) == 1 && IN6_IS_ADDR_V4MAPPED(&a) &&
	       !memcmp(&a.s6_addr[12], &address, sizeof(address));
}

/* An interface that is down may have no GID: then the device says whose it is. */
static bool is_of(const char *device, const char *ifname)
{
	char path[PATH_MAX], line[128];

	snprintf(path, sizeof(path), CLASS "/%s/device/net/%s", device, ifname);
	return !access(path, F_OK) ||
	       (text_line(line, sizeof(line), CLASS "/%s/parent", device) &&
		!strcmp(line, ifname));
}

/* Return: whether the port is one of the interface's. */
static bool look_at(struct port *port, const struct config *c)
{
	char line[128], gid[64];
	bool here = false;
	unsigned int i;

	port->gid = false;
	for (i = 0; i < GIDS_MAX; i++) {
		if (!text_line(gid, sizeof(gid), CLASS "/%s/ports/%u/gids/%u", port->device,
			       port->number, i))
			break;
		/* no interface: an entry that is not in use */
		if (!text_line(line, sizeof(line), CLASS "/%s/ports/%u/gid_attrs/ndevs/%u",
			       port->device, port->number, i) || strcmp(line, c->ifname))
			continue;
		here = true;
		if (text_line(line, sizeof(line), CLASS "/%s/ports/%u/gid_attrs/types/%u",
			      port->device, port->number, i) &&
		    !strcmp(line, "RoCE v2") && is_gid_of(gid, c->address))
			port->gid = true;
	}
	if (!here)
		here = is_of(port->device, c->ifname);
	if (here && text_line(line, sizeof(line), CLASS "/%s/ports/%u/state", port->device,
			      port->number))
		/* "4: ACTIVE" */
		snprintf(port->state, sizeof(port->state), "%.31s",
			 strchr(line, ' ') ? strchr(line, ' ') + 1 : line);
	return here;
}

/* Names of a folder, but for those that begin with a point. */
static int each_name(const char *path, bool (*is_it)(const char *name, void *arg), void *arg)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int found = 0;

	if (!dir)
		return 0;
	while (!found && (entry = readdir(dir)))
		found = *entry->d_name != '.' && is_it(entry->d_name, arg);
	closedir(dir);
	return found;
}

struct search {
	const struct config *config;
	struct port port;
};

static bool is_port(const char *name, void *arg)
{
	struct search *s = arg;
	uint64_t number;

	if (number_decimal(name, 1, UINT8_MAX, &number))
		return false;
	s->port.number = (unsigned int)number;
	return look_at(&s->port, s->config);
}

static bool is_device(const char *name, void *arg)
{
	struct search *s = arg;
	char path[PATH_MAX];

	snprintf(s->port.device, sizeof(s->port.device), "%s", name);
	snprintf(path, sizeof(path), CLASS "/%s/ports", s->port.device);
	return each_name(path, is_port, s);
}

/* --- What may be wrong with it ---------------------------------------------------- */

static void examine_port(struct patient *p, const struct port *port)
{
	const struct config *c = &p->config;
	const char *address = text_address(c->address);

	if (strcmp(port->state, "ACTIVE")) {
		found(&p->findings, FOUND_RDMA_PORT, 0,
		      "port %u of the RDMA device %s is %s, so data goes by UDP\tput its cable in, 'ip link set %s up', and look at 'rdma link'",
		      port->number, port->device, *port->state ? port->state : "in no state",
		      c->ifname);
		return;
	}
	if (!port->gid)
		found(&p->findings, FOUND_RDMA_GID, 0,
		      "the RDMA device %s has no GID of RoCE v2 for the address %s, so data goes by UDP\tset the device to RoCE v2 (its manual says how), and see that %s has the address: /sys/class/infiniband/%s/ports/%u/gids shows what there is",
		      port->device, address, c->ifname, port->device, port->number);
	if (p->interface_mtu && p->interface_mtu < FRAMES_4096)
		found(&p->findings, FOUND_RDMA_MTU, 0,
		      "the interface %s has MTU %u, so RoCE needs four frames and more for a block of 4 KiB\tif the network can: 'ip link set IF mtu 9000' on all machines and switches, then 'weftctl down --unmount' and 'weftctl up'",
		      c->ifname, p->interface_mtu);
}

/* Drivers have names of their own for it. */
static const char * const again_names[] = {
	"out_of_sequence", "packet_seq_err", "local_ack_timeout_err",	/* mlx5 */
	"rcvd_seq_err", "out_of_seq_request", "retry_exceeded_err",	/* rxe */
	"res_rx_dup_seq_nak", "seq_err_naks_rcvd",			/* bnxt_re */
};

/* ... and for what came, if it is not with the standard counters. */
static const char * const all_names[] = { "rcvd_pkts", "rx_pkts" };

static void examine_loss(struct patient *p, const struct port *port)
{
	uint64_t again = 0, all;
	size_t i;

	for (i = 0; i < sizeof(again_names) / sizeof(*again_names); i++)
		again += port_count(port, "hw_counters", again_names[i]);
	all = port_count(port, "counters", "port_rcv_packets");
	for (i = 0; !all && i < sizeof(all_names) / sizeof(*all_names); i++)
		all = port_count(port, "hw_counters", all_names[i]);
	if (again >= AGAIN_MIN && again > all / AGAIN_SHARE)
		found(&p->findings, FOUND_RDMA_LOSS, 0,
		      "frames of RoCE were lost or late %" PRIu64 " times, as the device %s counts it, of %" PRIu64 " that came\tgive RoCE a priority that loses none (PFC) or marks (ECN) on all cards and switches between: 'dcb pfc show dev %s', and their manuals; blocks that come too late are asked for again by UDP",
		      again, port->device, all, p->config.ifname);
}

/* The module knows of each member why its data goes by UDP. */
static void examine_members(struct patient *p)
{
	const struct peer *one = NULL;
	bool any = false;
	size_t i;

	/* of a rack in which nobody else has RDMA there is nothing to say */
	for (i = 0; i < p->peers.len; i++)
		any |= p->peers.list[i].rdma;
	for (i = 0; any && i < p->peers.len; i++) {
		one = &p->peers.list[i];
		if (!strncmp(one->why_udp, "it does not answer", 18))
			found(&p->findings, FOUND_RDMA_MEMBER, one->id,
			      "%s has no RDMA, or is not reached by it, so its data goes by UDP\tsee there with 'weftctl doctor' or in weft-memd's log; UDP port 4791 has to be open between all members",
			      text_member(one->id));
	}
}

void examine_rdma(struct patient *p)
{
	struct search s = { .config = &p->config };

	if (!p->config_known || !*p->config.ifname ||
	    found_any(&p->findings, FOUND_INTERFACE_MISSING, 0))
		return;
	if (!each_name(CLASS, is_device, &s))
		return;
	if (p->state == KERNEL_UP && !module_has_rdma())
		found(&p->findings, FOUND_RDMA_MODULE, 0,
		      "the interface %s has the RDMA device %s, but weft_rdma is not loaded, so data goes by UDP\t'modprobe weft_rdma', also while regions are in use",
		      p->config.ifname, s.port.device);
	examine_port(p, &s.port);
	examine_loss(p, &s.port);
	if (p->state == KERNEL_UP)
		examine_members(p);
}
