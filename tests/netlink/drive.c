// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every command, and every attribute that it takes or answers.  What the answers must be
 * follows from what tests/ctl/fakes/node is told to answer.
 */
#include "family.h"

#include <arpa/inet.h>
#include <net/if.h>

/* --- The node ---------------------------------------------------------------------- */

/* CONFIG_SET; without an attribute, or with one more. */
static int configure(uint16_t without, uint16_t with, uint32_t value)
{
	static const struct { uint16_t type; uint32_t value; } numbers[] = {
		{ WEFT_A_CONFIG_ID, 32 }, { WEFT_A_CONFIG_RACK, UINT32_MAX },
		{ WEFT_A_CONFIG_TIMEOUT_MS, WEFT_TIMEOUT_MS_MIN },
		{ WEFT_A_CONFIG_HOLD_US, 0 }, { WEFT_A_CONFIG_MTU, WEFT_MTU_MAX },
	};
	struct nlmsghdr *h = family_command(WEFT_CMD_CONFIG_SET);
	static const uint8_t key[WEFT_KEY_BYTES + 1] = { 1, 2, 3 };
	uint32_t i;

	/* of the right length but for who wants another */
	mnl_attr_put(h, WEFT_A_CONFIG_KEY, with == WEFT_A_CONFIG_KEY ? value : WEFT_KEY_BYTES, key);
	for (i = 0; i < MNL_ARRAY_SIZE(numbers); i++) {
		if (numbers[i].type != without)
			mnl_attr_put_u32(h, numbers[i].type, numbers[i].value);
	}
	if (without != WEFT_A_CONFIG_IFINDEX)
		mnl_attr_put_u32(h, WEFT_A_CONFIG_IFINDEX, if_nametoindex("lo"));
	for (i = 1; i <= 2 && without != WEFT_A_CONFIG_HOME; i++)
		mnl_attr_put_u32(h, WEFT_A_CONFIG_HOME, htonl(0x0a000000 + i));
	/* the first one has none */
	mnl_attr_put_u32(h, WEFT_A_CONFIG_TWIN, 0);
	mnl_attr_put_u32(h, WEFT_A_CONFIG_TWIN, htonl(0x0a000085));
	mnl_attr_put_u32(h, WEFT_A_CONFIG_ADDRESS, htonl(0x0a010203));
	if (with == WEFT_A_CONFIG_IFNAME)
		mnl_attr_put_strz(h, with, "lo");
	else if (with && with != WEFT_A_CONFIG_KEY)
		mnl_attr_put_u32(h, with, value);
	return family_ask(WEFT_CMD_CONFIG_SET, NULL, NULL);
}

static void take_config(const struct object *o, void *data)
{
	const uint32_t *tuned = data;

	MUST(number(o, WEFT_A_CONFIG_ID) == 32 && number(o, WEFT_A_CONFIG_RACK) == UINT32_MAX &&
	     number(o, WEFT_A_CONFIG_IFINDEX) == if_nametoindex("lo") &&
	     number(o, WEFT_A_CONFIG_MTU) == WEFT_MTU_MAX, "CONFIG_GET: numbers");
	MUST(!strcmp(text(o, WEFT_A_CONFIG_IFNAME), "fake0"), "CONFIG_GET: the interface");
	MUST(o->homes == 2 && number(o, WEFT_A_CONFIG_HOME) == htonl(0x0a000002) &&
	     number(o, WEFT_A_CONFIG_ADDRESS) == htonl(0x0a010203), "CONFIG_GET: addresses");
	MUST(o->twins == 2 && number(o, WEFT_A_CONFIG_TWIN) == htonl(0x0a000085),
	     "CONFIG_GET: twins");
	MUST(number(o, WEFT_A_CONFIG_TIMEOUT_MS) == tuned[0] &&
	     number(o, WEFT_A_CONFIG_HOLD_US) == tuned[1], "CONFIG_GET: what can be tuned");
	MUST(number(o, WEFT_A_CONFIG_WIRE_VERSION) > 0, "CONFIG_GET: version of messages");
}

static void drive_down(void)
{
	static const uint16_t needed[] = { WEFT_A_CONFIG_ID, WEFT_A_CONFIG_HOME };
	uint32_t i;
	uint8_t cmd;

	MUST(family_ask_plain(WEFT_CMD_RACK_GET, NULL, NULL) == 0, "RACK_GET of none");
	for (cmd = 1; cmd <= WEFT_CMD_MAX; cmd++) {
		if (cmd == WEFT_CMD_EVENT || cmd == WEFT_CMD_RACK_GET ||
		    cmd == WEFT_CMD_CONFIG_SET || cmd == WEFT_CMD_TUNE ||
		    cmd == WEFT_CMD_STATS_GET || cmd == WEFT_CMD_HIST_GET)
			continue;
		MUST(family_ask_plain(cmd, NULL, NULL) == -ENOTCONN, "command %u of a node that is down", cmd);
	}
	for (i = 0; i < MNL_ARRAY_SIZE(needed); i++)
		MUST(configure(needed[i], 0, 0) == -EINVAL && refusal.missing == needed[i] &&
		     refusal.sentence, "CONFIG_SET without attribute %u", needed[i]);
	MUST(configure(WEFT_A_CONFIG_IFINDEX, 0, 0) == -EINVAL && refusal.sentence,
	     "CONFIG_SET without an interface");
	MUST(configure(0, WEFT_A_CONFIG_IFNAME, 0) == -EINVAL && refusal.sentence,
	     "CONFIG_SET with two interfaces");
	MUST(configure(0, WEFT_A_CONFIG_TWIN, htonl(0x0a000084)) == -EINVAL && refusal.sentence,
	     "CONFIG_SET with a third twin of two");
	MUST(configure(WEFT_A_CONFIG_HOME, 0, 0) == -EINVAL && refusal.sentence,
	     "CONFIG_SET with twins only");
	MUST(configure(0, WEFT_A_CONFIG_WIRE_VERSION, 1) == -EINVAL && refusal.place,
	     "CONFIG_SET with what only answers have");
	MUST(configure(WEFT_A_CONFIG_ID, WEFT_A_CONFIG_ID, 33) == -ERANGE && refusal.place,
	     "CONFIG_SET as node 33");
	MUST(configure(WEFT_A_CONFIG_IFINDEX, WEFT_A_CONFIG_IFNAME, 0) == 0,
	     "CONFIG_SET with the interface's name");
	MUST(family_ask_plain(WEFT_CMD_CONFIG_CLEAR, NULL, NULL) == 0, "CONFIG_CLEAR");
}

static void drive_config(void)
{
	uint32_t tuned[] = { WEFT_TIMEOUT_MS_MIN, 0 };
	struct nlmsghdr *h;
	uint32_t i;

	for (i = WEFT_KEY_BYTES - 1; i <= WEFT_KEY_BYTES + 1; i += 2)
		MUST(configure(0, WEFT_A_CONFIG_KEY, i) == -ERANGE, "a key of %u bytes", i);
	MUST(configure(0, 0, 0) == 0, "CONFIG_SET");
	MUST(configure(0, 0, 0) == -EBUSY && refusal.sentence, "CONFIG_SET twice");
	MUST(family_ask_plain(WEFT_CMD_CONFIG_GET, take_config, tuned) == 1, "CONFIG_GET");
	h = family_command(WEFT_CMD_TUNE);
	mnl_attr_put_u32(h, WEFT_A_CONFIG_TIMEOUT_MS, tuned[0] = WEFT_TIMEOUT_MS_MAX);
	mnl_attr_put_u32(h, WEFT_A_CONFIG_HOLD_US, tuned[1] = WEFT_HOLD_US_MAX);
	MUST(family_ask(WEFT_CMD_TUNE, NULL, NULL) == 0, "TUNE");
	MUST(family_ask_plain(WEFT_CMD_CONFIG_GET, take_config, tuned) == 1, "CONFIG_GET after TUNE");
	MUST(family_ask_plain(WEFT_CMD_TUNE, NULL, NULL) == -EINVAL, "TUNE of nothing");
}

/* --- The racks ---------------------------------------------------------------------- */

/* The attribute of each command that says which rack it is about. */
static const struct { uint8_t cmd; uint16_t type; } asks[] = {
	{ WEFT_CMD_CONFIG_GET, WEFT_A_CONFIG_RACK },
	{ WEFT_CMD_STATUS_GET, WEFT_A_STATUS_RACK },
	{ WEFT_CMD_STATS_GET, WEFT_A_COUNTER_RACK },
	{ WEFT_CMD_BLADE_STATS_GET, WEFT_A_COUNTER_RACK },
	{ WEFT_CMD_SWITCH_STATS_GET, WEFT_A_COUNTER_RACK },
	{ WEFT_CMD_PEER_GET, WEFT_A_PEER_RACK },
	{ WEFT_CMD_HIST_GET, WEFT_A_HIST_RACK },
	{ WEFT_CMD_REGION_GET, WEFT_A_REGION_RACK },
	{ WEFT_CMD_LINE_GET, WEFT_A_LINE_RACK },
	{ WEFT_CMD_LOCK_GET, WEFT_A_LOCK_RACK },
	{ WEFT_CMD_LOST_GET, WEFT_A_LOST_RACK },
};

static int of_rack(uint8_t cmd, uint16_t type, uint32_t rack)
{
	mnl_attr_put_u32(family_command(cmd), type, rack);
	return family_ask(cmd, NULL, NULL);
}

static int tune_rack(uint32_t rack)
{
	struct nlmsghdr *h = family_command(WEFT_CMD_TUNE);

	mnl_attr_put_u32(h, WEFT_A_CONFIG_RACK, rack);
	mnl_attr_put_u32(h, WEFT_A_CONFIG_HOLD_US, WEFT_HOLD_US_MAX);
	return family_ask(WEFT_CMD_TUNE, NULL, NULL);
}

#define JOINS	9	/* what rack 0 is for others */

static void take_rack(const struct object *o, void *data)
{
	uint64_t *racks = data;

	*racks = *racks * 100 + number(o, WEFT_A_CONFIG_RACK) % 97;
	MUST(number(o, WEFT_A_CONFIG_ID) == 32 && o->homes == 2, "RACK_GET: numbers");
	MUST(number(o, WEFT_A_CONFIG_JOINS) ==
	     (number(o, WEFT_A_CONFIG_RACK) ? number(o, WEFT_A_CONFIG_RACK) : JOINS),
	     "RACK_GET: what rack it is for others");
}

/* The node is up in rack 2^32 - 1: by its number, by another one. */
static void drive_one_rack(void)
{
	uint32_t i;

	for (i = 0; i < MNL_ARRAY_SIZE(asks); i++) {
		MUST(of_rack(asks[i].cmd, asks[i].type, UINT32_MAX) > 0,
		     "command %u of the rack by its number", asks[i].cmd);
		MUST(of_rack(asks[i].cmd, asks[i].type, 5) == -ENOTCONN,
		     "command %u of a rack that is not there", asks[i].cmd);
	}
	MUST(tune_rack(UINT32_MAX) == 0 && tune_rack(5) == -ENOTCONN, "TUNE of a rack");
	MUST(of_rack(WEFT_CMD_CONFIG_CLEAR, WEFT_A_CONFIG_RACK, 5) == -ENOTCONN,
	     "CONFIG_CLEAR of a rack that is not there");
}

/* Others besides it, as many as there can be: which one is meant must be said. */
static void drive_more_racks(void)
{
	static const uint32_t numbers[WEFT_RACKS_MAX] = { 5, 3, 0, 1, 7, 6, 4, 2 };
	uint64_t racks = 0;
	uint32_t i;

	for (i = 0; i < WEFT_RACKS_MAX - 1; i++)
		MUST(configure(WEFT_A_CONFIG_RACK,
			       numbers[i] ? WEFT_A_CONFIG_RACK : WEFT_A_CONFIG_JOINS,
			       numbers[i] ? numbers[i] : JOINS) == 0,
		     "CONFIG_SET of rack %u besides", numbers[i]);
	MUST(configure(WEFT_A_CONFIG_RACK, WEFT_A_CONFIG_RACK, numbers[0]) == -EBUSY,
	     "CONFIG_SET of one of them twice");
	MUST(configure(WEFT_A_CONFIG_RACK, WEFT_A_CONFIG_RACK, numbers[i]) == -ENOSPC &&
	     refusal.sentence, "CONFIG_SET of one rack too many");
	MUST(family_ask_plain(WEFT_CMD_RACK_GET, take_rack, &racks) == WEFT_RACKS_MAX &&
	     racks == (uint64_t)1030405060700 + UINT32_MAX % 97, "RACK_GET: %" PRIu64, racks);
	for (i = 0; i < MNL_ARRAY_SIZE(asks); i++) {
		MUST(family_ask_plain(asks[i].cmd, NULL, NULL) == -ENOTUNIQ,
		     "command %u of any of several racks", asks[i].cmd);
		MUST(of_rack(asks[i].cmd, asks[i].type, 5) > 0, "command %u of one", asks[i].cmd);
	}
	MUST(tune_rack(7) == 0 && family_ask_plain(WEFT_CMD_CONFIG_CLEAR, NULL, NULL) ==
	     -ENOTUNIQ && refusal.sentence, "CONFIG_CLEAR of any");
	for (i = 0; i < WEFT_RACKS_MAX - 1; i++)
		MUST(of_rack(WEFT_CMD_CONFIG_CLEAR, WEFT_A_CONFIG_RACK, numbers[i]) == 0 &&
		     of_rack(WEFT_CMD_STATUS_GET, WEFT_A_STATUS_RACK, numbers[i]) == -ENOTCONN,
		     "CONFIG_CLEAR of rack %u", numbers[i]);
	MUST(family_ask_plain(WEFT_CMD_CONFIG_GET, NULL, NULL) == 1, "the first is left");
}

static void take_status(const struct object *o, void *data)
{
	(void)data;
	MUST(o->has & BIT(WEFT_A_STATUS_JOINED) && number(o, WEFT_A_STATUS_RACK) == UINT32_MAX &&
	     number(o, WEFT_A_STATUS_LIFE) == UINT32_MAX &&
	     number(o, WEFT_A_STATUS_ANSWERED_MS) == 40 &&
	     number(o, WEFT_A_STATUS_MEMBERS) == UINT32_MAX &&
	     number(o, WEFT_A_STATUS_LEASE_MS) == 1234 &&
	     number(o, WEFT_A_STATUS_FINGERPRINT) == 0x01020300 &&
	     number(o, WEFT_A_STATUS_REFUSED_MS) == 1ull << 33 &&
	     number(o, WEFT_A_STATUS_REGIONS) == 1 &&
	     number(o, WEFT_A_STATUS_LINES) == 1ull << 40 &&
	     number(o, WEFT_A_STATUS_CACHE_BYTES) == 1ull << 52 &&
	     number(o, WEFT_A_STATUS_CACHE_MAX) == UINT64_MAX, "STATUS_GET");
}

static void take_peer(const struct object *o, void *data)
{
	uint32_t *id = data;

	++*id;
	MUST(number(o, WEFT_A_PEER_ID) == *id &&
	     number(o, WEFT_A_PEER_ADDRESS) == htonl(0x0a000000 + *id) &&
	     !!(o->has & BIT(WEFT_A_PEER_SELF)) == (*id == 32) &&
	     !!(o->has & BIT(WEFT_A_PEER_JOINED)) == (*id <= 32), "PEER_GET: %u", *id);
}

static void take_fenced(const struct object *o, void *data)
{
	(void)data;
	MUST(o->has == BIT(WEFT_A_PEER_ID) && number(o, WEFT_A_PEER_ID) == 5,
	     "NODE_FENCE: %#x", o->has);
}

static int fence(uint32_t node, uint32_t rack)
{
	struct nlmsghdr *h = family_command(WEFT_CMD_NODE_FENCE);

	mnl_attr_put_u32(h, WEFT_A_PEER_ID, node);
	mnl_attr_put_u32(h, WEFT_A_PEER_RACK, rack);
	return family_ask(WEFT_CMD_NODE_FENCE, take_fenced, NULL);
}

/* The fake rack takes node 5 out, and has no node 6. */
static void drive_fence(void)
{
	MUST(fence(5, UINT32_MAX) == 1, "NODE_FENCE");
	MUST(fence(5, 5) == -ENOTCONN, "NODE_FENCE in a rack that is not there");
	MUST(fence(0, UINT32_MAX) == -ERANGE && fence(33, UINT32_MAX) == -ERANGE,
	     "NODE_FENCE of no node");
	MUST(fence(32, UINT32_MAX) == -EDEADLK, "NODE_FENCE of this node");
	MUST(family_ask_plain(WEFT_CMD_NODE_FENCE, NULL, NULL) == -EINVAL, "NODE_FENCE of none");
}

static void take_lost(const struct object *o, void *data)
{
	uint64_t *blocks = data;

	MUST(number(o, WEFT_A_LOST_MEMBER) == 34, "LOST_GET: of another blade");
	if (!(o->has & BIT(WEFT_A_LOST_REGION)))
		return;
	MUST(number(o, WEFT_A_LOST_REGION) == 3 && number(o, WEFT_A_LOST_BLOCK) == 8192 &&
	     number(o, WEFT_A_LOST_OFFSET) == 8192ull * 3 * *blocks &&
	     number(o, WEFT_A_LOST_LENGTH) == 8192ull * 2, "LOST_GET: number %" PRIu64, *blocks);
	++*blocks;
}

static void drive_lost(void)
{
	uint64_t blocks = 0;
	struct nlmsghdr *h = family_command(WEFT_CMD_LOST_GET);

	mnl_attr_put_u32(h, WEFT_A_LOST_MEMBER, 34);
	mnl_attr_put_u32(h, WEFT_A_LOST_REGION, 3);
	MUST(family_ask(WEFT_CMD_LOST_GET, take_lost, &blocks) == 201 && blocks == 200,
	     "LOST_GET: %" PRIu64, blocks);
	h = family_command(WEFT_CMD_LOST_GET);
	mnl_attr_put_u32(h, WEFT_A_LOST_MEMBER, 35);
	MUST(family_ask(WEFT_CMD_LOST_GET, NULL, NULL) == -ENODEV, "LOST_GET of no blade");
}

static void take_blade(const struct object *o, void *data)
{
	uint32_t *blades = data;

	if (!(o->has & BIT(WEFT_A_BLADE_MEMBER)))
		return;
	MUST(number(o, WEFT_A_BLADE_MEMBER) == 33 + *blades &&
	     number(o, WEFT_A_BLADE_ADDRESS) == htonl(0x0a000065 + *blades) &&
	     !!(o->has & BIT(WEFT_A_BLADE_JOINED)) == !*blades &&
	     !!(o->has & BIT(WEFT_A_BLADE_DRAINS)) == !!*blades &&
	     number(o, WEFT_A_BLADE_BYTES) == 1ull << 33 &&
	     number(o, WEFT_A_BLADE_NEEDED) == 1ull << 32 &&
	     number(o, WEFT_A_BLADE_REGIONS) == 7 + *blades, "BLADE_GET: number %u", *blades);
	++*blades;
}

static int set_blade(uint32_t member, uint32_t action)
{
	struct nlmsghdr *h = family_command(WEFT_CMD_BLADE_SET);

	mnl_attr_put_u32(h, WEFT_A_BLADE_MEMBER, member);
	mnl_attr_put_u32(h, WEFT_A_BLADE_ACTION, action);
	return family_ask(WEFT_CMD_BLADE_SET, NULL, NULL);
}

static int spread(uint32_t region, uint32_t homes)
{
	struct nlmsghdr *h = family_command(WEFT_CMD_REGION_SPREAD);

	mnl_attr_put_u32(h, WEFT_A_REGION_ID, region);
	mnl_attr_put_u32(h, WEFT_A_REGION_HOMES, homes);
	return family_ask(WEFT_CMD_REGION_SPREAD, NULL, NULL);
}

/* The fake rack has two blades, of which the second one can be drained; region 3 can move. */
static void drive_blades(void)
{
	uint32_t blades = 0;

	MUST(family_ask_plain(WEFT_CMD_BLADE_GET, take_blade, &blades) == 3 && blades == 2,
	     "BLADE_GET: %u", blades);
	MUST(set_blade(34, WEFT_BLADE_ACTION_DRAIN) == 1, "BLADE_SET");
	MUST(set_blade(33, WEFT_BLADE_ACTION_DRAIN) == -EINVAL, "BLADE_SET, refused");
	MUST(set_blade(34, WEFT_BLADE_ACTION_ADD) == -EINVAL, "BLADE_SET without an address");
	MUST(set_blade(32, WEFT_BLADE_ACTION_DRAIN) == -ERANGE &&
	     set_blade(34, WEFT_BLADE_ACTION_USE + 1) == -ERANGE, "BLADE_SET of no blade");
	MUST(family_ask_plain(WEFT_CMD_BLADE_SET, NULL, NULL) == -EINVAL, "BLADE_SET of none");
	MUST(spread(3, 3) == 1, "REGION_SPREAD");
	MUST(spread(4, 3) == -ENOSPC, "REGION_SPREAD, refused");
	MUST(spread(3, 0) == -ERANGE && spread(3, 1 << 16) == -ERANGE,
	     "REGION_SPREAD over no blade");
}

/* Counters that must be there with these values. */
struct wanted {
	const char *name;
	uint64_t value;
	uint32_t member;
	bool found;
};

static void take_counter(const struct object *o, void *data)
{
	struct wanted *w = data;

	MUST(number(o, WEFT_A_COUNTER_MEMBER) == w->member, "a counter of member %" PRIu64,
	     number(o, WEFT_A_COUNTER_MEMBER));
	if (!strcmp(text(o, WEFT_A_COUNTER_NAME), w->name))
		w->found |= number(o, WEFT_A_COUNTER_VALUE) == w->value;
}

static void drive_counters(void)
{
	struct wanted own = { "sent_getm", 4, 0, false };
	struct wanted of_switch = { "not_passed", 120, 0, false };
	struct wanted blade = { "counter_199", 34ull << 32 | 199, 34, false };
	struct nlmsghdr *h;

	MUST(family_ask_plain(WEFT_CMD_STATS_GET, take_counter, &own) > 50 && own.found, "STATS_GET");
	MUST(family_ask_plain(WEFT_CMD_SWITCH_STATS_GET, take_counter, &of_switch) > 20 &&
	     of_switch.found, "SWITCH_STATS_GET");
	h = family_command(WEFT_CMD_BLADE_STATS_GET);
	mnl_attr_put_u32(h, WEFT_A_COUNTER_MEMBER, 34);
	MUST(family_ask(WEFT_CMD_BLADE_STATS_GET, take_counter, &blade) == 201 && blade.found,
	     "BLADE_STATS_GET");
	h = family_command(WEFT_CMD_BLADE_STATS_GET);
	mnl_attr_put_u32(h, WEFT_A_COUNTER_MEMBER, 35);
	MUST(family_ask(WEFT_CMD_BLADE_STATS_GET, NULL, NULL) == -ENOENT, "BLADE_STATS_GET of none");
}

static void take_hist(const struct object *o, void *data)
{
	uint64_t count = 0, below = 0;
	struct object b;
	uint32_t i;
	bool *found = data;

	for (i = 0; i < o->n_buckets; i++) {
		object_nested(&b, BUCKET, o->buckets[i]);
		count += number(&b, WEFT_A_BUCKET_COUNT);
		MUST(!(b.has & BIT(WEFT_A_BUCKET_BELOW)) ? i == o->n_buckets - 1 :
		     number(&b, WEFT_A_BUCKET_BELOW) > below, "HIST_GET: order of buckets");
		below = number(&b, WEFT_A_BUCKET_BELOW);
	}
	if (strcmp(text(o, WEFT_A_HIST_NAME), "lock_hand_over"))
		return;
	*found = true;
	MUST(number(o, WEFT_A_HIST_NSEC) == 3082 && o->n_buckets == 6 && count == 8,
	     "HIST_GET: lock_hand_over: %" PRIu64 " ns, %u buckets, %" PRIu64 " times",
	     number(o, WEFT_A_HIST_NSEC), o->n_buckets, count);
}

/* --- What it has -------------------------------------------------------------------- */

static void take_region(const struct object *o, void *data)
{
	(void)data;
	MUST(number(o, WEFT_A_REGION_SIZE) == 1ull << 47 &&
	     number(o, WEFT_A_REGION_BLOCK) == 4096, "REGION_GET: sizes");
	switch (number(o, WEFT_A_REGION_ID)) {
	case 3:
		MUST(strlen(text(o, WEFT_A_REGION_NAME)) == 255 &&
		     number(o, WEFT_A_REGION_LINES) == 2000, "REGION_GET: region 3");
		break;
	case 5:
		MUST(!(o->has & BIT(WEFT_A_REGION_NAME)) && o->has & BIT(WEFT_A_REGION_GONE) &&
		     number(o, WEFT_A_REGION_LOCKS) == 1000, "REGION_GET: region 5");
		break;
	}
}

static void take_line(const struct object *o, void *data)
{
	const uint64_t i = number(o, WEFT_A_LINE_INDEX);

	(void)data;
	MUST(number(o, WEFT_A_LINE_REGION) == (i < 4000 ? 3 : 16777215) &&
	     number(o, WEFT_A_LINE_STATE) == i % 3 && number(o, WEFT_A_LINE_OP) == i % 7 &&
	     number(o, WEFT_A_LINE_WAITERS) == 1 &&
	     number(o, WEFT_A_LINE_MISSES) == (uint32_t)i &&
	     number(o, WEFT_A_LINE_REVOCATIONS) == UINT32_MAX, "LINE_GET: block %" PRIu64, i);
	MUST(!!(o->has & BIT(WEFT_A_LINE_DIRTY)) == !!(i & 4) &&
	     !!(o->has & BIT(WEFT_A_LINE_REVOKING)) == !!(i & 8) &&
	     !!(o->has & BIT(WEFT_A_LINE_AHEAD)) == !!(i & 16), "LINE_GET: flags of %" PRIu64, i);
}

static void take_lock(const struct object *o, void *data)
{
	const uint32_t flags = BIT(WEFT_A_LOCK_WRITER) | BIT(WEFT_A_LOCK_TENURED) |
			       BIT(WEFT_A_LOCK_REVOKING);
	const bool last = number(o, WEFT_A_LOCK_REGION) == 7;
	uint64_t *offset = data;

	MUST(number(o, WEFT_A_LOCK_OFFSET) == (last ? 4096 : *offset), "LOCK_GET: offset");
	*offset += 64;
	MUST(number(o, WEFT_A_LOCK_STATE) == WEFT_STATE_SHARED &&
	     number(o, WEFT_A_LOCK_WANT) == WEFT_STATE_MODIFIED &&
	     number(o, WEFT_A_LOCK_READERS) == 2 && number(o, WEFT_A_LOCK_WAITERS) == 3 &&
	     number(o, WEFT_A_LOCK_QUEUE) == 31 && number(o, WEFT_A_LOCK_GRANTS) == 4 &&
	     number(o, WEFT_A_LOCK_HAND_OVERS) == 5, "LOCK_GET: numbers");
	MUST(o->has & BIT(WEFT_A_LOCK_OPEN) && (o->has & flags) == (last ? flags : 0),
	     "LOCK_GET: flags");
}

static int of_region(uint8_t cmd, uint16_t type, uint32_t region, take_fn take, void *data)
{
	mnl_attr_put_u32(family_command(cmd), type, region);
	return family_ask(cmd, take, data);
}

void drive(void)
{
	uint32_t peers = 0;
	uint64_t offset = 0;
	bool hist = false;

	family_check_commands();
	drive_down();
	drive_config();
	MUST(family_ask_plain(WEFT_CMD_STATUS_GET, take_status, NULL) == 1, "STATUS_GET");
	MUST(family_ask_plain(WEFT_CMD_PEER_GET, take_peer, &peers) == 48, "PEER_GET: %u", peers);
	drive_counters();
	drive_fence();
	drive_lost();
	drive_blades();
	MUST(family_ask_plain(WEFT_CMD_HIST_GET, take_hist, &hist) > 5 && hist, "HIST_GET");
	MUST(family_ask_plain(WEFT_CMD_REGION_GET, take_region, NULL) == 4, "REGION_GET");
	MUST(family_ask_plain(WEFT_CMD_LINE_GET, take_line, NULL) == 2001, "LINE_GET");
	MUST(of_region(WEFT_CMD_LINE_GET, WEFT_A_LINE_REGION, 3, take_line, NULL) == 2000,
	     "LINE_GET of a region");
	MUST(of_region(WEFT_CMD_LINE_GET, WEFT_A_LINE_REGION, 4, NULL, NULL) == -ENOENT,
	     "LINE_GET of no region");
	MUST(family_ask_plain(WEFT_CMD_LOCK_GET, take_lock, &offset) == 1001, "LOCK_GET");
	offset = 0;
	MUST(of_region(WEFT_CMD_LOCK_GET, WEFT_A_LOCK_REGION, 5, take_lock, &offset) == 1000,
	     "LOCK_GET of a region");
	MUST(of_region(WEFT_CMD_LOCK_GET, WEFT_A_LOCK_REGION, 0, NULL, NULL) == -ERANGE,
	     "LOCK_GET of region 0");
	drive_one_rack();
	drive_more_racks();
	MUST(family_ask_plain(WEFT_CMD_CONFIG_CLEAR, NULL, NULL) == 0, "CONFIG_CLEAR");
	check_seen(CONFIG, LOST);
}
