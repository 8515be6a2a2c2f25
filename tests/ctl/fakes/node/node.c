// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node for tests of the netlink family: keeps its configuration, and answers
 * as the parameters say.  What a real node, a blade or a switch would do, also
 * when they are broken, can be had here at once and every time.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/event.h"
#include "base/stats.h"
#include "control/inspect.h"
#include "control/netlink.h"
#include "control/netlink_event.h"
#include "fs/rack.h"
#include "fs/racks.h"
#include "net/transport.h"
#include "net/rpc.h"

static bool mounted;
module_param(mounted, bool, 0644);
MODULE_PARM_DESC(mounted, "the node cannot go down");

static bool no_switch;
module_param(no_switch, bool, 0644);
MODULE_PARM_DESC(no_switch, "no directory in the switch");

static uint delay_ms;
module_param(delay_ms, uint, 0644);
MODULE_PARM_DESC(delay_ms, "how long the network takes to answer");

/* How the blades answer. */
enum {
	BLADE_FINE,		/* PAGES pages of COUNTERS counters */
	BLADE_DEAD,
	BLADE_CUT,		/* the last counter ends too early */
	BLADE_TERMINAL,		/* a name with an escape sequence */
	BLADE_NAMELESS,
	BLADE_ENDLESS,		/* there is always another page */
	BLADE_EMPTY,		/* no counters */
};

static uint blade;
module_param(blade, uint, 0644);
MODULE_PARM_DESC(blade, "how the blades answer");

#define PAGES		5
#define COUNTERS	40

static DEFINE_MUTEX(lock);	/* of all below */

/**
 * struct fake - a rack that does nothing
 * @rack: as the family sees it
 * @config: its configuration
 * @is_up: it is set up
 */
struct fake {
	struct weft_rack rack;
	struct weft_config config;
	bool is_up;
};

static struct fake *fake_of(struct weft_member *m)
{
	return container_of(m, struct fake, rack.member);
}

int weft_member_up(struct weft_member *m, const struct weft_config *cfg,
		   struct netlink_ext_ack *extack)
{
	struct fake *f = fake_of(m);
	int err = 0;

	mutex_lock(&lock);
	if (f->is_up) {
		NL_SET_ERR_MSG(extack, "the node is up already");
		err = -EBUSY;
	} else {
		f->config = *cfg;
		if (!f->config.timeout_ms)
			f->config.timeout_ms = WEFT_TIMEOUT_MS_DEFAULT;
		if (!f->config.hold_set)
			f->config.hold_us = WEFT_HOLD_US_DEFAULT;
		f->rack.node.id = (u8)f->config.id;
		f->rack.node.up = f->is_up = true;
	}
	mutex_unlock(&lock);
	return err;
}

int weft_member_down(struct weft_member *m, struct netlink_ext_ack *extack)
{
	struct fake *f = fake_of(m);
	int err = 0;

	mutex_lock(&lock);
	if (!f->is_up)
		err = -ENOTCONN;
	else if (mounted)
		err = -EBUSY;
	else
		f->rack.node.up = f->is_up = false;
	mutex_unlock(&lock);
	return err;
}

int weft_member_config(struct weft_member *m, struct weft_config *cfg)
{
	struct fake *f = fake_of(m);
	int err;

	mutex_lock(&lock);
	*cfg = f->config;
	strscpy(cfg->ifname, "fake0", sizeof(cfg->ifname));
	err = f->is_up ? 0 : -ENOTCONN;
	mutex_unlock(&lock);
	return err;
}

int weft_member_tune(struct weft_member *m, u32 timeout_ms, int hold_us,
		     struct netlink_ext_ack *extack)
{
	struct fake *f = fake_of(m);
	int err;

	mutex_lock(&lock);
	if (timeout_ms)
		f->config.timeout_ms = timeout_ms;
	if (hold_us >= 0)
		f->config.hold_us = (u32)hold_us;
	err = f->is_up ? 0 : -ENOTCONN;
	mutex_unlock(&lock);
	return err;
}

int weft_member_status(struct weft_member *m, struct weft_member_status *s)
{
	const struct fake *f = fake_of(m);

	*s = (struct weft_member_status){
		.joined = true, .answered_ms = 40, .life = 0xffffffff,
		.key_set = f->config.key_set,
		.fingerprint = (u32)f->config.key[0] << 24 | f->config.key[1] << 16 |
			       f->config.key[2] << 8,
		.refused = { WEFT_STAT_MSG_WRONG_KEY, htonl(0x0a000009), 1ull << 33 },
		.members = 0xffffffff, .lease_ms = 1234,
	};
	return READ_ONCE(f->is_up) ? 0 : -ENOTCONN;
}

void weft_cache_status(struct weft_cache *cache, struct weft_cache_status *status)
{
	*status = (struct weft_cache_status){
		.lines = 1ull << 40, .bytes = 1ull << 52, .max = U64_MAX,
	};
}

u32 weft_region_count(const struct weft_regions *regions)
{
	return 1;
}

int weft_member_peers(struct weft_member *m, struct weft_peer_info *peer)
{
	int i;

	for (i = 0; i < WEFT_BLADE_MAX; i++) {
		peer[i].id = (u32)i + 1;
		peer[i].addr = htonl(0x0a000001 + (u32)i);
		peer[i].twin = i + 1 == WEFT_BLADE_MAX ? htonl(0x0a0000ff) : 0;
		peer[i].view = i + 1 == WEFT_BLADE_MAX ? U32_MAX : 0;
	}
	return READ_ONCE(fake_of(m)->is_up) ? WEFT_BLADE_MAX : -ENOTCONN;
}

/* What the real node does while it waits for the network. */
static int wait_for_answer(void)
{
	uint waited;

	/* The test may shorten the wait. */
	for (waited = 0; waited < READ_ONCE(delay_ms); waited += 20) {
		if (fatal_signal_pending(current))
			return -EINTR;
		msleep(20);
	}
	return 0;
}

static void put_counter(struct weft_call *call, u64 value, const char *name)
{
	u8 *p = call->list + call->list_len;
	size_t len = strlen(name);

	put_unaligned_be64(value, p);
	p[8] = (u8)len;
	memcpy(p + 9, name, len);
	call->list_len += (u16)(9 + len);
}

/* As the node takes it from the network. */
static int as_read(struct weft_call *call)
{
	u8 *payload = kmalloc(WEFT_CALL_LEN_MAX, GFP_KERNEL);
	struct weft_msg msg = { .type = WEFT_MSG_REPLY, .src = WEFT_BLADE_MIN, .payload = payload };
	int err;

	if (!payload)
		return -ENOMEM;
	/* what was asked for, which an answer does not repeat */
	call->valid = 0;
	if (blade == BLADE_CUT)
		call->list_len--;
	msg.len = weft_call_pack(call, payload);
	err = weft_call_read(call, &msg) ? -EPROTO : 0;
	kfree(payload);
	return err;
}

/* Two of three blocks of region 3 are lost, a page of 40 pieces at a time. */
static int answer_lost(struct weft_call *call)
{
	u32 page = (u32)call->cookie, i;

	if (call->region == 4)
		return -ENOENT;
	for (i = page * COUNTERS; i < (page + 1) * COUNTERS; i++) {
		u8 *p = call->list + call->list_len;

		put_unaligned_be32(3, p);
		put_unaligned_be32(8192, p + 4);
		put_unaligned_be64(3 * i, p + 8);
		put_unaligned_be64(2, p + 16);
		call->list_len += 24;
	}
	call->cookie = page + 1 < PAGES ? page + 1 : blade == BLADE_ENDLESS ? page : 0;
	return as_read(call);
}

/* To every other member data goes by RDMA. */
bool weft_transport_why(struct weft_node *node, u32 to, char *why, size_t size)
{
	strscpy(why, to % 2 ? "" : "there is no RDMA device there", size);
	return true;
}

/* The configuration names all that there are. */
__be32 weft_peer_addr(const struct weft_peers *peers, u32 id)
{
	return 0;
}

/* There are two, and the second one can be drained. */
static int answer_blades(struct weft_call *call)
{
	u32 i;

	if (call->valid && (call->valid != WEFT_BLADE_DRAIN || call->node != 34))
		return -EINVAL;
	for (i = 0; i < 2; i++) {
		u8 *p = call->list + call->list_len;

		memset(p, 0, WEFT_BLADE_LEN);
		p[0] = (u8)(WEFT_BLADE_MIN + i);
		p[1] = i ? WEFT_BLADE_DRAINS : WEFT_BLADE_IN;
		put_unaligned_be32(0x0a000065 + i, p + 4);
		put_unaligned_be64(1ull << 33, p + 8);
		put_unaligned_be64(1ull << 32, p + 16);
		put_unaligned_be32(7 + i, p + 24);
		call->list_len += WEFT_BLADE_LEN;
	}
	return as_read(call);
}

int weft_rpc_catalog(struct weft_node *node, struct weft_call *call)
{
	int err = wait_for_answer();

	if (!err && blade == BLADE_DEAD)
		err = -ETIMEDOUT;
	if (call->op == WEFT_CALL_BLADE)
		return err ? err : answer_blades(call);
	/* region 3 can be spread over the first two */
	if (call->op == WEFT_CALL_SPREAD)
		return err || (call->region == 3 && call->homes == 3) ? err : -ENOSPC;
	if (call->op != WEFT_CALL_FENCE_NODE)
		return -EINVAL;
	return err || call->members == weft_node_bit(5) ? err : -ENOENT;
}

int weft_rpc_look(struct weft_node *node, u32 id, struct weft_call *call)
{
	u32 page = (u32)call->cookie;
	char name[24];
	u32 i;
	int err;

	if (call->op == WEFT_CALL_BLADE && !call->valid)
		return weft_rpc_catalog(node, call);
	if ((call->op != WEFT_CALL_STATS && call->op != WEFT_CALL_LOST) || call->list_len)
		return -EINVAL;
	err = wait_for_answer();
	if (err)
		return err;
	if (blade == BLADE_DEAD)
		return -ETIMEDOUT;
	if (blade == BLADE_EMPTY)
		return 0;
	if (call->op == WEFT_CALL_LOST)
		return answer_lost(call);
	for (i = page * COUNTERS; i < (page + 1) * COUNTERS; i++) {
		snprintf(name, sizeof(name), "counter_%u", i);
		put_counter(call, (u64)id << 32 | i, name);
	}
	if (blade == BLADE_TERMINAL)
		put_counter(call, 1, "\033[2J");
	if (blade == BLADE_NAMELESS)
		put_counter(call, 1, "");
	call->cookie = page + 1 < PAGES || blade == BLADE_ENDLESS ? page + 1 : 0;
	return as_read(call);
}

int weft_rpc_switch_counts(struct weft_node *node, u64 count[WEFT_COUNTERS])
{
	u32 i;
	int err = wait_for_answer();

	for (i = 0; i < WEFT_COUNTERS; i++)
		count[i] = i + 100;
	return err ? err : no_switch ? -ENXIO : 0;
}

/*
 * Regions 3, 5, 7 and the last there can be.  Region 3 has LINES blocks, every
 * second one; the last one has the last block that there can be.  Region 5 has
 * LOCKS locks, 64 bytes apart, region 7 one more.
 */
#define LINES	2000
#define LOCKS	1000
#define LAST_BLOCK 0xfffffffffull

static const u32 regions[] = { 3, 5, 7, WEFT_REGION_MAX };

bool weft_inspect_allowed(struct weft_rack *rack, u32 region, bool contents)
{
	return true; /* who asks is root */
}

bool weft_inspect_region(struct weft_rack *rack, u32 *region,
			 struct weft_region_info *info)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(regions) && regions[i] < *region; i++)
		;
	if (i == ARRAY_SIZE(regions))
		return false;
	*region = regions[i];
	*info = (struct weft_region_info){
		.region = *region, .block = 4096, .size = 1ull << 47,
		.lines = *region == 3 ? LINES : 0, .gone = *region == 5,
		.locks = *region == 5 ? LOCKS : 0, .homes = 3,
	};
	if (*region == 3)
		memset(info->name, 'n', WEFT_NAME_MAX);
	else if (*region != 5)
		snprintf(info->name, sizeof(info->name), "region %u", *region);
	return true;
}

bool weft_inspect_line(struct weft_rack *rack, u32 region, u64 *index,
		       struct weft_line_info *info)
{
	if (region == 3 && *index < 2 * LINES)
		*index = round_up(*index, 2);
	else if (region == WEFT_REGION_MAX)
		*index = max(*index, LAST_BLOCK);
	if (region == 3 ? *index >= 2 * LINES :
			  region != WEFT_REGION_MAX || *index != LAST_BLOCK)
		return false;
	*info = (struct weft_line_info){
		.region = region, .index = *index, .state = *index % 3,
		.op = *index % 7, .waiters = 1, .misses = (u32)*index,
		.revocations = U32_MAX, .dirty = *index & 4,
		.revoking = *index & 8, .ahead = *index & 16,
	};
	return true;
}

bool weft_inspect_lock(struct weft_rack *rack, u64 *key, u64 last,
		       struct weft_lock_info *info)
{
	const u64 first = weft_line_key(5, WEFT_KIND_LOCK, 0);
	const u64 behind = weft_line_key(7, WEFT_KIND_LOCK, 4096);
	u64 at = max(*key, first);

	at = first + round_up(at - first, 64);
	if (at >= first + LOCKS * 64)
		at = max(*key, behind);
	if (at > behind || at > last)
		return false;
	*key = at;
	*info = (struct weft_lock_info){
		.region = weft_line_region(at), .offset = weft_line_index(at),
		.state = WEFT_S, .want = WEFT_M, .readers = 2, .waiters = 3,
		.queue = 31, .grants = 4, .hand_overs = 5, .open = true,
		.writer = at == behind, .tenured = at == behind,
		.revoking = at == behind,
	};
	return true;
}

/* --- events -------------------------------------------------------------------- */

static void notify(struct weft_node *node, enum weft_node_event_type type, u32 members)
{
	const struct weft_node_event event = {
		.node = node, .members = members, .blade = WEFT_BLADE_MIN,
	};

	weft_node_event(type, &event);
}

/* Each kind but one, with the greatest values; the spinlock is that of a line. */
static void tell_all(struct weft_node *node)
{
	static DEFINE_SPINLOCK(line);
	static char name[WEFT_NAME_MAX];

	memset(name, 'n', sizeof(name));
	notify(node, WEFT_EVENT_JOINED, U32_MAX);
	notify(node, WEFT_EVENT_MEMBERS, ~weft_node_bit(5));
	notify(node, WEFT_EVENT_MEMBERS, U32_MAX);
	notify(node, WEFT_EVENT_BLADE_LOST, 0);
	notify(node, WEFT_EVENT_BLADE_BACK, 0);
	weft_event_created(node, 7, "made by somebody", 4);
	weft_event_removed(node, 7, "made", 4, true);
	weft_event_removed(node, WEFT_REGION_MAX, name, sizeof(name), false);
	weft_event_abandoned(node, 5, U64_MAX, 3);
	weft_event_owner_died(node, 7, 640);
	weft_event_lost(node, 7, U64_MAX);
	weft_event_failed(node, 7, 4101, -ETIMEDOUT);
	spin_lock_bh(&line);
	weft_event_unanswered(node, 7, 65536, 8);
	spin_unlock_bh(&line);
	weft_event_dead(node, 5);
	weft_event_moved(node, 33, htonl(0x0a000085));
	notify(node, WEFT_EVENT_LEFT, 0);
}

/* Return: whether there is something like it. */
static bool happen(struct weft_node *node, unsigned int what)
{
	unsigned int i;

	switch (what) {
	case 1:
		tell_all(node);
		break;
	case 2:
		for (i = 0; i < 1000; i++)
			weft_event_failed(node, 7, i, -ETIMEDOUT);
		break;
	case 3:
		notify(node, WEFT_EVENT_JOINED, U32_MAX);
		break;
	case 4:
		weft_stat_add(&node->counters, WEFT_STAT_MISS_BY_SWITCH, 5);
		break;
	case 5:
		weft_stat_add(&node->counters, WEFT_STAT_MISS_BY_HOME, 5);
		break;
	case 6:
		notify(node, WEFT_EVENT_LEFT, 0);
		break;
	default:
		return false;
	}
	return true;
}

/* In the first rack. */
static int set_event(const char *text, const struct kernel_param *kp)
{
	struct weft_rack *rack;
	unsigned int what;
	int err = kstrtouint(text, 0, &what);

	if (err)
		return err;
	rack = weft_racks_next(0);
	if (!happen(&rack->node, what))
		err = -EINVAL;
	weft_racks_put(rack);
	return err;
}

static const struct kernel_param_ops event_ops = { .set = set_event };
module_param_cb(event, &event_ops, NULL, 0200);
MODULE_PARM_DESC(event, "1: all kinds, 2: too many, 3..6: the directory moves");

/* Times at the borders of buckets, one histogram with all of them. */
static void put_times(struct weft_counters *c)
{
	static const u64 times[] = { 0, 1, 2, 3, 4, 1023, 1024, 1025 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++)
		weft_hist_add(c, WEFT_HIST_LOCK_HAND_OVER, times[i]);
	weft_hist_add(c, WEFT_HIST_LOCK_YIELD, BIT_ULL(38) - 1);
	weft_hist_add(c, WEFT_HIST_LOCK_YIELD, BIT_ULL(38));
	weft_hist_add(c, WEFT_HIST_LOCK_YIELD, BIT_ULL(50));
	for (i = 0; i < WEFT_HIST_BUCKETS; i++)
		weft_hist_add(c, WEFT_HIST_DOWNGRADE, BIT_ULL(i) - 1);
}

static void fake_free(struct weft_rack *rack)
{
	weft_told_free(rack->told);
	weft_counters_exit(&rack->node.counters);
	kfree(container_of(rack, struct fake, rack));
}

static struct weft_rack *fake_make(u32 number)
{
	struct fake *f = kzalloc(sizeof(*f), GFP_KERNEL);
	struct weft_counters *c;

	if (!f)
		return NULL;
	f->rack.number = number;
	c = &f->rack.node.counters;
	if (weft_counters_init(c)) {
		kfree(f);
		return NULL;
	}
	put_times(c);
	weft_stat_add(c, WEFT_STAT_MISS_UPGRADE, 3);
	weft_stat_add(c, WEFT_STAT_SENT_TYPE + WEFT_MSG_GETM, 4);
	f->rack.told = weft_told_new(&f->rack);
	if (f->rack.told)
		return &f->rack;
	fake_free(&f->rack);
	return NULL;
}

static const struct weft_rack_ops fake_ops = {
	.make = fake_make,
	.free = fake_free,
};

static int __init fakenode_init(void)
{
	int err = weft_racks_init(&fake_ops);

	if (err)
		return err;
	err = weft_netlink_init();
	if (err)
		weft_racks_exit();
	return err;
}

static void __exit fakenode_exit(void)
{
	weft_netlink_exit();
	weft_racks_exit();
}

module_init(fakenode_init);
module_exit(fakenode_exit);
MODULE_DESCRIPTION("weft's netlink family with a node that does nothing");
MODULE_LICENSE("GPL");
