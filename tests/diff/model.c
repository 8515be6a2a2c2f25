// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the switch must do with a frame.
 */
#include "model.h"

#include <stdlib.h>

const char *const tally_names[N_TALLIES] = {
	[WEFT_COUNT_MISS] = "miss", [WEFT_COUNT_READ] = "read",
	[WEFT_COUNT_FWD] = "fwd", [WEFT_COUNT_INV] = "inv",
	[WEFT_COUNT_GRANT] = "grant", [WEFT_COUNT_BUSY] = "busy",
	[WEFT_COUNT_COMMIT] = "commit", [WEFT_COUNT_QUERY] = "query",
	[WEFT_COUNT_ABORT] = "abort", [WEFT_COUNT_ADD] = "add",
	[WEFT_COUNT_ADD_REFUSED] = "add_refused",
	[WEFT_COUNT_REMOVE] = "remove", [WEFT_COUNT_DROP] = "drop",
	[WEFT_COUNT_STRANGER] = "stranger",
	[WEFT_COUNT_DAMAGED] = "damaged", [WEFT_COUNT_MEMBERS] = "members",
	[WEFT_COUNT_ENQUEUE] = "enqueue", [WEFT_COUNT_HANDED] = "handed",
	[WEFT_COUNT_HAND_ACK] = "hand_ack",
	[WEFT_COUNT_PASSED] = "pass", [WEFT_COUNT_NOT_PASSED] = "no_pass",
	[WEFT_COUNT_FORGED] = "forged", [TALLY_OTHER_RACK] = "other_rack",
	[TALLY_COUNT] = "count", [TALLY_REFUSED] = "refused",
	[TALLY_UNSEEN] = "unseen", [TALLY_PASSED] = "passed",
	[TALLY_FORWARDED] = "forwarded", [TALLY_HAIRPIN] = "hairpin",
	[TALLY_FLOODED] = "flooded", [TALLY_UPGRADE] = "upgrade",
	[TALLY_TO_NODE] = "to_node", [TALLY_TO_NODES] = "to_nodes",
	[TALLY_FROM_GROUP] = "from_group", [TALLY_ZERO_SUM] = "zero_sum",
};

/* The address from which the switch answers what was sent to the group. */
#define SWITCH_MAC	(WEFT_WIRE_GROUP_MAC ^ 0x030000000000ull)

int model_init(struct model *m, unsigned int n_ports, u32 epoch)
{
	unsigned int i;

	memset(m, 0, sizeof(*m));
	m->n_ports = n_ports;
	m->sw.slots = calloc(WEFT_SWITCH_SLOTS, sizeof(m->sw.slots[0]));
	if (!m->sw.slots)
		return -ENOMEM;
	for (i = 0; i < WEFT_SWITCH_SLOTS; i++)
		m->sw.slots[i].gen = epoch;
	for (i = 0; i <= WEFT_NODE_MAX; i++)
		m->node_port[i] = -1;
	return 0;
}

void model_free(struct model *m)
{
	free(m->sw.slots);
}

u64 member_mac(unsigned int member)
{
	return 0x025745460000ull | member;
}

int member_port(const struct model *m, unsigned int member)
{
	if (!member || member > MEMBERS_KNOWN)
		return -1;
	if (member <= WEFT_NODE_MAX)
		return m->node_port[member];
	return (int)(member % m->n_ports);
}

/* A message for the directory: as parser and header say, right or damaged. */
static bool is_message(const struct model *m, const u8 *f)
{
	bool options = m->mutation == MUTATE_OPTIONS && f[AT_IP_VIHL] == 0x46;
	bool fragment = m->mutation != MUTATE_FRAGMENT &&
			get16(f, AT_IP_FRAG) & ~0x4000;
	bool udp_sum = m->mutation != MUTATE_UDP_SUM && get16(f, AT_UDP_SUM);
	bool version = m->mutation == MUTATE_VERSION || f[AT_VERSION] == WEFT_WIRE_VERSION;

	return get16(f, AT_ETH_TYPE) == 0x0800 &&
	       (f[AT_IP_VIHL] == 0x45 || options) && !fragment &&
	       f[AT_IP_PROTO] == 17 &&
	       get16(f, AT_UDP_DST) == WEFT_WIRE_UDP_PORT &&
	       (get16(f, AT_UDP_SRC) == WEFT_WIRE_UDP_PORT ||
		m->mutation == MUTATE_UDP_SOURCE) && !udp_sum &&
	       f[AT_MAGIC] == WEFT_WIRE_MAGIC && version && f[AT_TYPE] &&
	       (f[AT_TYPE] < 32 ||
		(m->mutation == MUTATE_TYPE_LIMIT && f[AT_TYPE] == 32));
}

static bool is_damaged(const struct model *m, const u8 *f)
{
	return (m->mutation != MUTATE_DAMAGED && weft_sum(f) != 0xFFFF) ||
	       (m->mutation != MUTATE_STATUS && f[AT_STATUS] > WEFT_M);
}

static void read_message(const u8 *f, struct weft_msg *msg)
{
	*msg = (struct weft_msg) {
		.type = f[AT_TYPE], .flags = f[AT_FLAGS], .src = f[AT_SRC],
		.status = f[AT_STATUS], .info = get16(f, AT_INFO),
		.txn = get32(f, AT_TXN), .line = get64(f, AT_LINE),
		.copyset = get32(f, AT_COPYSET),
		.provider = get32(f, AT_PROVIDER),
		.holder = get32(f, AT_HOLDER), .nonce = get32(f, AT_NONCE),
		.grant = get32(f, AT_GRANT), .rack = get32(f, AT_RACK),
	};
}

/* What the directory may change; the rest stays. */
static void write_message(struct model *m, u8 *f, const struct weft_msg *msg)
{
	f[AT_TYPE] = msg->type;
	f[AT_FLAGS] = msg->flags;
	f[AT_STATUS] = msg->status;
	put16(f, AT_INFO, msg->info);
	put32(f, AT_COPYSET, msg->copyset);
	put32(f, AT_PROVIDER, msg->provider);
	put32(f, AT_HOLDER, msg->holder);
	put32(f, AT_NONCE, msg->nonce);
	put32(f, AT_GRANT, msg->grant);
	if (m->mutation == MUTATE_HSUM)
		return;
	weft_sum_mend(f);
	/* the two forms of 0 are as good as each other */
	if (!get16(f, AT_HSUM)) {
		m->tally[TALLY_ZERO_SUM]++;
		if (m->mutation != MUTATE_HSUM_ZERO)
			put16(f, AT_HSUM, 0xFFFF);
	}
}

/* Change an address in the IP header; the checksum stays as wrong as it was. */
static void put_address(u8 *f, int at, u32 address)
{
	u32 was = get32(f, at);
	u64 sum = (u64)get16(f, AT_IP_SUM) + (was >> 16) + (was & 0xFFFF) +
		  (0xFFFF - (address >> 16)) + (0xFFFF - (address & 0xFFFF));

	put32(f, at, address);
	sum %= 0xFFFF;
	put16(f, AT_IP_SUM, sum ? (u16)sum : 0xFFFF);
}

static void to_sender(struct model *m, u8 *f)
{
	u64 mac = get_mac(f, AT_ETH_SRC);
	u32 address = get32(f, AT_IP_SRC), own;

	put_mac(f, AT_ETH_SRC, get_mac(f, AT_ETH_DST));
	put_mac(f, AT_ETH_DST, mac);
	put32(f, AT_IP_SRC, get32(f, AT_IP_DST));
	put32(f, AT_IP_DST, address);
	if (get32(f, AT_IP_SRC) != WEFT_WIRE_GROUP)
		return;
	m->tally[TALLY_FROM_GROUP]++;
	if (m->mutation == MUTATE_GROUP_SOURCE)
		return;
	own = address % 4 == 1 ? 2 : 1;
	put_address(f, AT_IP_SRC, (address & ~3u) | own);
	put_mac(f, AT_ETH_SRC, SWITCH_MAC);
}

static u64 to_nodes(struct model *m, u8 *f, u32 targets)
{
	u32 home = get32(f, AT_IP_DST), node;
	u64 ports = 0;

	put_mac(f, AT_ETH_SRC, get_mac(f, AT_ETH_DST));
	put_mac(f, AT_ETH_DST, WEFT_WIRE_GROUP_MAC);
	if (m->mutation != MUTATE_IP_SUM)
		put_address(f, AT_IP_SRC, WEFT_WIRE_GROUP);
	/* the sum does not care which of two addresses stands first */
	put32(f, AT_IP_SRC, home);
	put32(f, AT_IP_DST, WEFT_WIRE_GROUP);
	for (node = WEFT_NODE_MIN; node <= WEFT_NODE_MAX; node++)
		if (targets & weft_node_bit(node) && m->node_port[node] >= 0)
			ports |= 1ull << m->node_port[node];
	m->tally[targets & (targets - 1) ? TALLY_TO_NODES : TALLY_TO_NODE]++;
	return ports;
}

/* By Ethernet address. */
static u64 forward(struct model *m, unsigned int from, const u8 *f)
{
	u64 mac = get_mac(f, AT_ETH_DST);
	unsigned int member = mac & 0xFF;
	int to = mac == member_mac(member) ? member_port(m, member) : -1;

	if (to < 0) {
		m->tally[TALLY_FLOODED]++;
		return m->flood[from] |
		       (m->mutation == MUTATE_FLOOD_BACK ? 1ull << from : 0);
	}
	if (to == (int)from && m->mutation != MUTATE_HAIRPIN) {
		m->tally[TALLY_HAIRPIN]++;
		return 0;
	}
	m->tally[TALLY_FORWARDED]++;
	return 1ull << to;
}

/* Which counter was raised, else why none was. */
static void tally(struct model *m, const u32 *count, const struct weft_msg *in,
		  const struct weft_msg *msg, enum weft_dir_dest dest)
{
	unsigned int i;

	for (i = 0; i < WEFT_COUNTERS; i++) {
		if (m->sw.count[i] != count[i]) {
			m->tally[i]++;
			if (i == WEFT_COUNT_INV && !msg->provider)
				m->tally[TALLY_UPGRADE]++;
			return;
		}
	}
	if (in->rack != m->sw.rack)
		m->tally[TALLY_OTHER_RACK]++;
	else if (in->type == WEFT_MSG_COUNT)
		m->tally[TALLY_COUNT]++;
	else
		m->tally[dest == WEFT_TO_NOBODY ? TALLY_REFUSED : TALLY_UNSEEN]++;
}

void model_frame(struct model *m, unsigned int port, const u8 *bytes, u32 len,
		 struct outcome *out)
{
	u32 count[WEFT_COUNTERS], targets = 0;
	enum weft_dir_dest dest;
	struct weft_msg in, msg;
	u8 *f = out->bytes;

	out->len = len;
	out->ports = 0;
	memcpy(f, bytes, len);
	if (len < FRAME_PAD)
		memset(f + len, 0, FRAME_PAD - len);
	if (!is_message(m, f)) {
		m->tally[TALLY_PASSED]++;
		out->ports = forward(m, port, f);
		return;
	}
	if (is_damaged(m, f)) {
		m->tally[WEFT_COUNT_DAMAGED]++;
		m->sw.count[WEFT_COUNT_DAMAGED]++;
		return;
	}
	read_message(f, &in);
	msg = in;
	memcpy(count, m->sw.count, sizeof(count));
	if (m->mutation)
		dest = mutated_handle(m->mutation, &m->sw, port, &msg, &targets);
	else
		dest = weft_switch_handle(&m->sw, port, &msg, &targets);
	tally(m, count, &in, &msg, dest);
	if (msg.type != in.type)
		write_message(m, f, &msg);
	if (dest == WEFT_TO_HOME)
		out->ports = forward(m, port, f);
	else if (dest == WEFT_TO_SENDER)
		to_sender(m, f);
	else if (dest == WEFT_TO_NODES)
		out->ports = to_nodes(m, f, targets);
	if (dest == WEFT_TO_SENDER)
		out->ports = 1ull << port;
}
