// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whom the running switch hears, with the program that racks run: each message type,
 * from each port, with the right UDP port and rack and with others.
 *
 *	a: node 1	b: blade 33	c: another machine	d: node 2
 *
 * What is not heard leaves no trace in the directory.
 */
#include "daemon.h"
#include "program.h"

#include "tests/diff/frame.h"
#include "wire.h"

#define RACK		7
#define NODE_PORT	0
#define BLADE_PORT	1
#define OTHER_PORT	2
#define FORGED		"forged"

static const u8 from_nodes[] = {
	WEFT_MSG_GETS, WEFT_MSG_GETM, WEFT_MSG_PUT, WEFT_MSG_COMMIT, WEFT_MSG_ABORT,
	WEFT_MSG_QUERY, WEFT_MSG_ACQUIRE, WEFT_MSG_HAND, WEFT_MSG_PASS, WEFT_MSG_COUNT,
};
static const u8 from_blades[] = {
	WEFT_MSG_ADD, WEFT_MSG_REMOVE, WEFT_MSG_DROP, WEFT_MSG_MEMBERS,
};

static u32 seq;

/* A message as its sender would make it, to the group. */
static void make_message(u8 *f, u8 type, u8 src, u32 rack, u16 udp_port)
{
	struct weft_msg msg = {
		.type = type, .src = src, .rack = rack, .txn = weft_txn(src, ++seq),
		.nonce = type == WEFT_MSG_MEMBERS ? 0x7FFFFFFF : 0, .copyset = 0xFFFF,
		.line = weft_line_key(1, WEFT_KIND_PAGE, 5),
	};

	memset(f, 0, AT_PAYLOAD);
	weft_wire_pack_plain(&msg, f + AT_WEFT);
	put_mac(f, AT_ETH_DST, WEFT_WIRE_GROUP_MAC);
	put_mac(f, AT_ETH_SRC, 0x020000000000ull | src);
	put16(f, AT_ETH_TYPE, 0x0800);
	f[AT_IP_VIHL] = 0x45;
	put16(f, AT_IP_LEN, AT_PAYLOAD - AT_IP);
	f[AT_IP_TTL] = 64;
	f[AT_IP_PROTO] = 17;
	put32(f, AT_IP_SRC, 0x0A570000u | src);
	put32(f, AT_IP_DST, WEFT_WIRE_GROUP);
	put16(f, AT_IP_SUM, (u16)~sum_of(f, AT_IP, 20));
	put16(f, AT_UDP_SRC, udp_port);
	put16(f, AT_UDP_DST, WEFT_WIRE_UDP_PORT);
	put16(f, AT_UDP_LEN, AT_PAYLOAD - AT_UDP);
}

static long dir_count(const char *name)
{
	const char *text = command("dir");
	double value = -1;

	CHECK(json_find_real(text, name, &value), "no counter %s in %s", name, text);
	return (long)value;
}

/* Does the sender get an answer? */
static bool answered(unsigned int port)
{
	u8 g[2048];
	bool is = false;

	settle();
	while (station_receive(fd[port], g, sizeof(g), 0) >= AT_PAYLOAD)
		is |= get16(g, AT_ETH_TYPE) == 0x0800;
	drain();
	return is;
}

static bool send_at(unsigned int port, const u8 *f)
{
	drain();
	station_send(fd[port], names[port], f, AT_PAYLOAD);
	return answered(port);
}

static void check_untouched(const char *when, u8 type)
{
	CHECK(!strcmp(command("register %s 0", P4_REG_MEMBERS), "[2]"), "%s, type %u: %s", when,
	      type, command("register %s 0", P4_REG_MEMBERS));
	CHECK(dir_count("add") == 0, "%s, type %u: a line is installed", when, type);
}

/* Not from where its sender is: dropped, and counted. */
static void forged(u8 type, u8 src, unsigned int port)
{
	long before = dir_count(FORGED);
	u8 f[AT_PAYLOAD];

	make_message(f, type, src, RACK, WEFT_WIRE_UDP_PORT);
	CHECK(!send_at(port, f), "type %u of member %u at port %s is answered", type, src,
	      names[port]);
	CHECK(dir_count(FORGED) == before + 1, "type %u of member %u at port %s: %ld counted",
	      type, src, names[port], dir_count(FORGED) - before);
	check_untouched("at another port", type);
}

/* Another rack, or a program with a port of its own: not for this directory. */
static void passes(u8 type, u8 src, unsigned int port, u32 rack, u16 udp_port)
{
	long before = dir_count(FORGED);
	u8 f[AT_PAYLOAD];

	make_message(f, type, src, rack, udp_port);
	CHECK(!send_at(port, f), "type %u, rack %u, from UDP port %u is answered", type, rack,
	      udp_port);
	CHECK(dir_count(FORGED) == before, "type %u, rack %u, UDP port %u is counted", type, rack,
	      udp_port);
	check_untouched("not ours", type);
}

static void from_elsewhere(const u8 *types, size_t n, u8 src, unsigned int port)
{
	unsigned int at;
	size_t i;

	for (i = 0; i < n; i++) {
		for (at = 0; at < N_STATIONS; at++)
			if (at != port)
				forged(types[i], src, at);
		passes(types[i], src, port, RACK + 1, WEFT_WIRE_UDP_PORT);
		passes(types[i], src, port, RACK, WEFT_WIRE_UDP_PORT + 1);
		passes(types[i], src, OTHER_PORT, RACK, 40000);
	}
}

/* From the right place: so what was refused was refused for its place. */
static void from_its_place(void)
{
	u8 f[AT_PAYLOAD];

	make_message(f, WEFT_MSG_COUNT, 1, RACK, WEFT_WIRE_UDP_PORT);
	CHECK(send_at(NODE_PORT, f), "a node's COUNT is not answered");
	make_message(f, WEFT_MSG_ADD, 33, RACK, WEFT_WIRE_UDP_PORT);
	CHECK(send_at(BLADE_PORT, f), "an ADD is not answered");
	CHECK(dir_count("add") + dir_count("add_refused") == 1, "ADD: %s", command("dir"));
	make_message(f, WEFT_MSG_MEMBERS, 33, RACK, WEFT_WIRE_UDP_PORT);
	CHECK(send_at(BLADE_PORT, f), "a MEMBERS is not answered");
	CHECK(!strcmp(command("register %s 0", P4_REG_MEMBERS), "[65535]"), "%s",
	      command("register %s 0", P4_REG_MEMBERS));
}

int main(void)
{
	char rack[16];

	if (!set_up(""))
		return 1;
	spec = "p4/generated/weft_pna.spec";
	snprintf(rack, sizeof(rack), "%d", RACK);
	daemon_arg(&sw, "--node");
	daemon_arg(&sw, "1=a");
	daemon_arg(&sw, "--node");
	daemon_arg(&sw, "2=d");
	daemon_arg(&sw, "--blade");
	daemon_arg(&sw, "33=b");
	start("--rack", rack);
	if (sw.pid) {
		OK("write %s 0 2", P4_REG_MEMBERS);
		from_elsewhere(from_nodes, sizeof(from_nodes), 1, NODE_PORT);
		from_elsewhere(from_blades, sizeof(from_blades), 33, BLADE_PORT);
		/* who is nowhere is heard nowhere */
		forged(WEFT_MSG_MEMBERS, 34, BLADE_PORT);
		forged(WEFT_MSG_GETM, 3, NODE_PORT);
		from_its_place();
		/* a restart of the directory forgets what it learnt, and no more */
		OK("clear");
		OK("write %s 0 2", P4_REG_MEMBERS);
		forged(WEFT_MSG_MEMBERS, 33, OTHER_PORT);
		from_its_place();
		/* a machine moves */
		OK("blade 33=c");
		OK("write %s 0 2", P4_REG_MEMBERS);
		CHECK(strstr(command("blade 32=c"), "numbered from 33 to 48"), "%s",
		      command("blade 32=c"));
		CHECK(strstr(command("blade 33=x"), "there is no port 'x'"), "%s",
		      command("blade 33=x"));
		daemon_stop(&sw);
	}
	return check_result();
}
