// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random frames for the switch.
 */
#include "generate.h"
#include "tools/common/random.h"

static u32 any(struct generator *g)
{
	return (u32)random_u64(&g->state);
}

static u32 below(struct generator *g, u32 n)
{
	return (u32)random_below(&g->state, n);
}

static bool percent(struct generator *g, u32 p)
{
	return below(g, 100) < p;
}

/* A line with the given slot; a lock every other time. */
static u64 line_at(struct generator *g, u32 slot)
{
	const u64 kind = (u64)WEFT_LINE_KIND_MASK << 36;
	u64 line;

	do {
		line = random_u64(&g->state);
		if (percent(g, 50))
			line = (line & ~kind) | (u64)WEFT_KIND_LOCK << 36;
		line ^= (weft_line_slot(line) ^ slot) & WEFT_SWITCH_SLOT_MASK;
	} while (!line || weft_line_slot(line) != slot);
	return line;
}

void generator_init(struct generator *g, const struct model *model, u64 seed)
{
	u32 slot[N_SLOTS];
	unsigned int i;

	*g = (struct generator) { .model = model, .state = seed };
	for (i = 0; i < N_SLOTS; i++)
		slot[i] = any(g) & WEFT_SWITCH_SLOT_MASK;
	slot[0] = 0;
	for (i = 0; i < N_LINES; i++)
		g->line[i] = line_at(g, slot[i * N_SLOTS / N_LINES]);
	/* transaction numbers wrap */
	for (i = 0; i < 64; i++)
		g->seq[i] = WEFT_TXN_SEQ_MASK - below(g, 1000);
}

/* Sets of few nodes, more often than of many. */
static u32 some_nodes(struct generator *g)
{
	switch (below(g, 6)) {
	case 0:
		return 0;
	case 1:
	case 2:
		return 1u << below(g, 32);
	case 3:
		return 1u << below(g, 32) | 1u << below(g, 32);
	case 4:
		return any(g) & any(g) & any(g);
	default:
		return any(g);
	}
}

static u8 some_type(struct generator *g)
{
	static const u8 weights[] = {
		[WEFT_MSG_GETS] = 24, [WEFT_MSG_GETM] = 18, [WEFT_MSG_PUT] = 6,
		[WEFT_MSG_COMMIT] = 18, [WEFT_MSG_ABORT] = 5,
		[WEFT_MSG_QUERY] = 4, [WEFT_MSG_ADD] = 9,
		[WEFT_MSG_REMOVE] = 4, [WEFT_MSG_DROP] = 3,
		[WEFT_MSG_MEMBERS] = 1, [WEFT_MSG_COUNT] = 2,
		[WEFT_MSG_PASS] = 6,
	};
	int rest = (int)below(g, 100);
	u8 type = 0;

	while (rest >= 0 && type < sizeof(weights) - 1)
		rest -= weights[++type];
	return type;
}

/* A transaction of @member: mostly a new one. */
static u32 some_txn(struct generator *g, u32 member)
{
	u32 txn;

	member &= 63;
	if (percent(g, 10))
		return g->old_txn[below(g, 64)];
	if (percent(g, 8))
		return weft_txn(member, g->seq[member]);
	txn = weft_txn(member, ++g->seq[member]);
	g->old_txn[below(g, 64)] = txn;
	return txn;
}

/* What a member asks about a line, given what its entry says. */
static void request(struct generator *g, const struct weft_slot *slot,
		    struct weft_msg *msg)
{
	const struct weft_dir_entry *e = &slot->entry;
	bool busy = slot->tag == msg->line && e->lock;
	bool ends = msg->type == WEFT_MSG_COMMIT || msg->type == WEFT_MSG_ABORT;

	msg->src = (u8)(1 + below(g, WEFT_NODE_MAX));
	if (e->copyset && percent(g, 30))
		msg->src = (u8)(1 + __builtin_ctz(e->copyset));
	msg->txn = some_txn(g, msg->src);
	msg->grant = e->grant;
	if (busy && percent(g, ends ? 85 : 10)) {
		msg->txn = e->lock;
		msg->src = (u8)weft_txn_member(e->lock);
	}
	if (percent(g, 12))
		msg->grant = percent(g, 30) ? any(g) : e->grant ^ (1u << below(g, 4));
	if (percent(g, 2))
		msg->src = (u8)any(g);
	if (percent(g, 50))
		msg->flags |= WEFT_F_HAVE;
	if (msg->type <= WEFT_MSG_GETM && percent(g, 30))
		msg->flags |= WEFT_F_DIRECT;
}

/* What an owner passes on, or who was the owner once. */
static void pass(struct generator *g, const struct weft_slot *slot,
		 struct weft_msg *msg)
{
	const struct weft_dir_entry *e = &slot->entry;

	msg->src = (u8)(1 + below(g, WEFT_NODE_MAX));
	if (e->copyset && percent(g, 70))
		msg->src = (u8)(1 + __builtin_ctz(e->copyset));
	msg->txn = some_txn(g, percent(g, 95) ? 1 + below(g, 32) : any(g));
	msg->grant = e->grant;
	if (e->lock && percent(g, 60)) {
		/* the next fragment */
		msg->txn = e->lock;
		msg->grant -= WEFT_GRANT_STEP;
	}
	if (e->lock && percent(g, 10))
		msg->grant = e->grant - WEFT_GRANT_STEP;
	if (percent(g, 12))
		msg->grant = percent(g, 30) ? any(g) : e->grant ^ (1u << below(g, 4));
	if (percent(g, 2))
		msg->src = (u8)any(g);
}

/* The same for a lock: who wants it, who passes it on. */
static void lock_request(struct generator *g, const struct weft_slot *slot,
			 struct weft_msg *msg)
{
	const struct weft_dir_entry *e = &slot->entry;

	if (msg->type != WEFT_MSG_QUERY && percent(g, 95))
		msg->type = percent(g, 60) ? WEFT_MSG_ACQUIRE : WEFT_MSG_HAND;
	request(g, slot, msg);
	if (msg->type == WEFT_MSG_ACQUIRE && percent(g, 20)) {
		/* somebody else's, passed on; or not */
		msg->txn = some_txn(g, percent(g, 90) ? 1 + below(g, 32) : any(g));
		if (percent(g, 80))
			msg->flags |= WEFT_F_RELAY;
	}
	if (msg->type != WEFT_MSG_HAND)
		return;
	if (e->lock && percent(g, 85))
		msg->src = (u8)(1 + __builtin_ctz(e->lock));
	if (percent(g, 95))
		msg->txn = weft_txn(msg->src, msg->txn);
	msg->grant = e->grant;
	msg->holder = percent(g, 30) ? 0 : 1u << below(g, 32);
	if (percent(g, 25)) {
		/* again */
		msg->grant -= WEFT_EPOCH_STEP;
		if (percent(g, 80))
			msg->holder = e->lock;
	}
	if (percent(g, 10))
		msg->grant = percent(g, 30) ? any(g) : e->grant ^ (1u << below(g, 4));
	if (percent(g, 90)) {
		msg->copyset &= g->model->sw.members;
		msg->holder &= g->model->sw.members;
	}
}

/* What a home tells the switch. */
static void install(struct generator *g, const struct weft_slot *slot,
		    struct weft_msg *msg)
{
	msg->src = (u8)(WEFT_BLADE_MIN + below(g, 4));
	msg->txn = some_txn(g, msg->src);
	msg->nonce = percent(g, 75) ? slot->gen : slot->gen - 1 + below(g, 3);
	if (percent(g, 2))
		msg->nonce = any(g);
	/* grant numbers near their end, too */
	msg->grant = percent(g, 50) ? any(g) : 0u - below(g, 6);
	if (msg->type == WEFT_MSG_REMOVE && slot->entry.lock && percent(g, 20))
		msg->txn = slot->entry.lock;
	if (weft_line_kind(msg->line) == WEFT_KIND_LOCK && percent(g, 95)) {
		msg->grant &= ~(u32)WEFT_EPOCH_FROZEN;
		msg->holder = percent(g, 50) ? 0 : 1u << below(g, 32);
	}
	if (percent(g, 3))
		msg->src = (u8)any(g);
	if (percent(g, 1))
		msg->txn = 0;
}

static void members(struct generator *g, struct weft_msg *msg)
{
	u32 version = g->model->sw.members_version;

	msg->src = (u8)(WEFT_BLADE_MIN + below(g, 4));
	if (percent(g, 15))
		msg->src = (u8)any(g);
	/* the first is near the end of signed numbers */
	msg->nonce = version ? version - 1 + below(g, 3) : 0x7FFFFFF0;
	/* far ahead, far behind, and where one becomes the other */
	if (version && percent(g, 10))
		msg->nonce = percent(g, 50) ? any(g) : version + 0x7FFFFFFE + below(g, 5);
	/* most are members most of the time */
	msg->copyset = any(g) | any(g) | any(g) | any(g);
}

static void message(struct generator *g, struct weft_msg *msg)
{
	const struct weft_slot *slot;
	u8 type = some_type(g);

	*msg = (struct weft_msg) {
		.flags = (u8)any(g), .status = (u8)below(g, 3),
		.info = (u16)any(g), .copyset = some_nodes(g),
		.provider = any(g), .holder = any(g), .nonce = any(g),
		.version = random_u64(&g->state), .rack = percent(g, 98) ? g->model->sw.rack : any(g),
		.line = g->line[below(g, N_LINES)],
	};
	slot = &g->model->sw.slots[weft_line_slot(msg->line)];
	/* mostly about the line that is there */
	if (slot->tag && percent(g, 70))
		msg->line = slot->tag;
	else if (!slot->tag && percent(g, 50))
		type = WEFT_MSG_ADD;
	msg->type = type;
	if (type <= WEFT_MSG_QUERY && weft_line_kind(msg->line) == WEFT_KIND_LOCK)
		lock_request(g, slot, msg);
	else if (type <= WEFT_MSG_QUERY)
		request(g, slot, msg);
	else if (type <= WEFT_MSG_DROP)
		install(g, slot, msg);
	else if (type == WEFT_MSG_MEMBERS)
		members(g, msg);
	else if (type == WEFT_MSG_PASS)
		pass(g, slot, msg);
	else
		msg->src = (u8)(1 + below(g, 48));
	/* what a node has left over */
	if (type == WEFT_MSG_ABORT && percent(g, 20))
		msg->src = (u8)(WEFT_BLADE_MIN - 1 + below(g, 18));
	if (type <= WEFT_MSG_QUERY && percent(g, 40))
		msg->copyset |= weft_node_bit(msg->src);
	if (percent(g, 1))
		msg->type = (u8)(percent(g, 50) ? 28 + below(g, 8) : below(g, 72));
	if (percent(g, 1))
		msg->line = percent(g, 50) ? 0 : random_u64(&g->state);
}

/* Ethernet, IP and UDP around a message, as its sender would make them. */
static void envelope(struct generator *g, u8 *f, const struct weft_msg *msg, u32 len)
{
	bool group = msg->type >= WEFT_MSG_ADD && msg->type <= WEFT_MSG_COUNT;
	u32 blade = WEFT_BLADE_MIN + below(g, 4);

	if (percent(g, 3))
		group = !group;
	put_mac(f, AT_ETH_DST, group ? WEFT_WIRE_GROUP_MAC : member_mac(blade));
	put_mac(f, AT_ETH_SRC, member_mac(msg->src));
	put16(f, AT_ETH_TYPE, 0x0800);
	f[AT_IP_VIHL] = 0x45;
	put16(f, AT_IP_LEN, (u16)(20 + 8 + len));
	put16(f, AT_IP_ID, (u16)any(g));
	put16(f, AT_IP_FRAG, percent(g, 80) ? 0x4000 : 0);
	f[AT_IP_TTL] = (u8)(1 + below(g, 64));
	f[AT_IP_PROTO] = 17;
	put32(f, AT_IP_SRC, 0x0A570000 | below(g, 256));
	put32(f, AT_IP_DST, group ? WEFT_WIRE_GROUP : 0x0A570064 + blade);
	put16(f, AT_IP_SUM, (u16)~sum_of(f, AT_IP, 20));
	if (percent(g, 1))
		put16(f, AT_IP_SUM, percent(g, 30) ? 0 : (u16)any(g));
	put16(f, AT_UDP_SRC, percent(g, 98) ? WEFT_WIRE_UDP_PORT : (u16)any(g));
	put16(f, AT_UDP_DST, WEFT_WIRE_UDP_PORT);
	put16(f, AT_UDP_LEN, (u16)(8 + len));
}

/* Something that a parser has to notice. */
static u32 spoil(struct generator *g, u8 *f, u32 len)
{
	switch (below(g, 17)) {
	case 0:	/* sum, anywhere in the header */
		f[AT_WEFT + below(g, WEFT_WIRE_HDR_LEN)] ^= (u8)(1 << below(g, 8));
		break;
	case 1:
		f[AT_VERSION] = (u8)any(g);
		weft_sum_mend(f);
		break;
	case 2:
		f[AT_MAGIC] = (u8)any(g);
		weft_sum_mend(f);
		break;
	case 3:
		f[AT_TYPE] = (u8)(percent(g, 50) ? any(g) : 30 + below(g, 4));
		if (percent(g, 50))
			weft_sum_mend(f);
		break;
	case 4:
		f[AT_STATUS] = (u8)any(g);
		weft_sum_mend(f);
		break;
	case 5:	/* IP options, or what looks like another version */
		f[AT_IP_VIHL] = percent(g, 70) ? 0x46 : (u8)any(g);
		break;
	case 6:
		put16(f, AT_IP_FRAG, 1u << below(g, 16));
		break;
	case 7:
		put16(f, AT_UDP_SUM, (u16)any(g));
		break;
	case 8:
		put16(f, AT_UDP_DST, percent(g, 50) ? (u16)any(g) :
		      WEFT_WIRE_UDP_PORT ^ (1u << below(g, 16)));
		break;
	case 9:
		f[AT_IP_PROTO] = percent(g, 50) ? 6 : (u8)any(g);
		break;
	case 10:
		put16(f, AT_ETH_TYPE, percent(g, 50) ? 0x0806 : (u16)any(g));
		break;
	case 11: /* a VLAN tag, in front of the message */
		memmove(f + AT_ETH_TYPE + 4, f + AT_ETH_TYPE, len - AT_ETH_TYPE);
		put16(f, AT_ETH_TYPE, 0x8100);
		put16(f, AT_ETH_TYPE + 2, (u16)below(g, 4096));
		return len + 4;
	case 12:
		return AT_ETH_TYPE + 2 + below(g, len - AT_ETH_TYPE - 2);
	case 13: /* to whom it is for nothing */
		put_mac(f, AT_ETH_DST, 0xFFFFFFFFFFFFull);
		break;
	case 14:
		put_mac(f, AT_ETH_DST, member_mac(1 + below(g, 60)));
		break;
	case 15: /* the same sum otherwise */
		if (!get16(f, AT_HSUM))
			put16(f, AT_HSUM, 0xFFFF);
		break;
	default: /* all rubbish but the addresses */
		while (len > AT_ETH_TYPE)
			f[--len] = (u8)any(g);
		return AT_ETH_TYPE + 2 + below(g, 200);
	}
	return len;
}

/* What other programs send. */
static u32 other_traffic(struct generator *g, u8 *f)
{
	u32 len = percent(g, 95) ? 60 + below(g, 200) : 1500 + below(g, 7500);
	u32 i;

	for (i = AT_ETH_TYPE; i < len; i += 4)
		put32(f, (int)i, any(g));
	put_mac(f, AT_ETH_DST, percent(g, 20) ? 0xFFFFFFFFFFFFull :
		member_mac(1 + below(g, 48)));
	put_mac(f, AT_ETH_SRC, member_mac(1 + below(g, 48)));
	put16(f, AT_ETH_TYPE, percent(g, 70) ? 0x0800 : 0x86DD);
	f[AT_IP_VIHL] = 0x45;
	f[AT_IP_PROTO] = percent(g, 50) ? 17 : 6;
	return len;
}

u32 generate(struct generator *g, u8 *f)
{
	u32 len = 0, payload = 0, i;
	struct weft_msg msg;
	u16 length;

	if (percent(g, 3))
		return other_traffic(g, f);
	message(g, &msg);
	if (percent(g, 5))
		payload = percent(g, 95) ? below(g, 300) : below(g, 8900);
	memset(f, 0, AT_PAYLOAD);
	for (i = 0; i < payload; i++)
		f[AT_PAYLOAD + i] = (u8)any(g);
	msg.len = payload;
	msg.payload = f + AT_PAYLOAD;
	weft_wire_pack_plain(&msg, f + AT_WEFT);
	len = AT_PAYLOAD + payload;
	envelope(g, f, &msg, WEFT_WIRE_HDR_LEN + payload);
	/* no directory looks at these, but they have to stay */
	length = get16(f, AT_LENGTH);
	put16(f, AT_LENGTH, percent(g, 95) ? length : (u16)any(g));
	put32(f, AT_DATA_VERSION + 8, any(g));
	weft_sum_mend(f);
	if (percent(g, 8))
		len = spoil(g, f, len);
	return len;
}
