// SPDX-License-Identifier: GPL-2.0-only
/* Events of the netlink family, see netlink_event.h. */
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "base/event.h"
#include "base/stats.h"
#include "control/genl.h"
#include "control/netlink_event.h"
#include "fs/rack.h"
#include "weft_netlink.h"

#define GROUP		0	/* the family's only one */
#define PER_SECOND	20	/* events of each kind */
#define LOOK_INTERVAL	HZ
#define HOME_ANSWERS	8	/* in a row, to believe that the directory is at the homes */

static bool anybody_listens(void)
{
	return genl_has_listeners(weft_genl_family, &init_net, GROUP);
}

/* --- Not too many ----------------------------------------------------------- */

/**
 * struct weft_event_limit - rate limit of one kind of events
 * @second: that @told counts
 * @told: events that were sent in this second
 * @missed: events that were not sent since the last one that was
 */
struct weft_event_limit {
	time64_t second;
	u32 told;
	u32 missed;
};

enum { NOWHERE, AT_HOMES, IN_SWITCH };

/**
 * struct weft_event_directory - where the directory is, by the answers to misses
 * @begun: the counts are valid
 * @where: in the last event
 * @by_switch: answers of the switch at the last look
 * @by_home: answers of homes at the last look
 * @in_a_row: answers of homes since the last answer of the switch
 */
struct weft_event_directory {
	bool begun;
	u8 where;
	u64 by_switch;
	u64 by_home;
	u64 in_a_row;
};

/**
 * struct weft_told - the state of a rack's events
 * @rack: the rack
 * @lock: @limits
 * @limits: of each kind
 * @members: nodes that events have called members; written by the notifier chain only
 * @directory: written by @look only
 * @look: looks once a second where the directory is, while this node is a member
 */
struct weft_told {
	struct weft_rack *rack;
	spinlock_t lock;
	struct weft_event_limit limits[__WEFT_EVENT_KIND_MAX];
	u32 members;
	struct weft_event_directory directory;
	struct delayed_work look;
};

static struct weft_rack *rack_told(const struct weft_node *node)
{
	return container_of(node, struct weft_rack, node);
}

/* Return: whether to send an event; @missed: out: how many were not sent before it. */
static bool within_limit(struct weft_told *told, u32 kind, u32 *missed)
{
	struct weft_event_limit *l = &told->limits[kind];
	time64_t now = ktime_get_seconds();
	unsigned long flags;
	bool within;

	spin_lock_irqsave(&told->lock, flags);
	if (l->second != now) {
		l->second = now;
		l->told = 0;
	}
	within = l->told < PER_SECOND;
	if (within) {
		l->told++;
		*missed = l->missed;
		l->missed = 0;
	} else {
		l->missed++;
	}
	spin_unlock_irqrestore(&told->lock, flags);
	return within;
}

/* --- Sending ---------------------------------------------------------------- */

static int put_name(struct sk_buff *skb, const char *name, size_t len)
{
	struct nlattr *attr = nla_reserve(skb, WEFT_A_EVENT_NAME, (int)len + 1);
	char *text;

	if (!attr)
		return -EMSGSIZE;
	text = nla_data(attr);
	memcpy(text, name, len);
	text[len] = 0;
	return 0;
}

static int put_process(struct sk_buff *skb)
{
	char comm[TASK_COMM_LEN];

	get_task_comm(comm, current);
	return nla_put_u32(skb, WEFT_A_EVENT_PID, (u32)task_tgid_nr(current)) ||
	       nla_put_string(skb, WEFT_A_EVENT_COMM, comm);
}

static int put_event(struct sk_buff *skb, const struct weft_event *e, u32 missed)
{
	return nla_put_u32(skb, WEFT_A_EVENT_KIND, e->kind) ||
	       nla_put_u32(skb, WEFT_A_EVENT_RACK, rack_told(e->node)->number) ||
	       nla_put_u64_64bit(skb, WEFT_A_EVENT_TIME, ktime_get_real_ns(),
				 WEFT_A_EVENT_PAD) ||
	       (missed && nla_put_u32(skb, WEFT_A_EVENT_MISSED, missed)) ||
	       (e->member && nla_put_u32(skb, WEFT_A_EVENT_MEMBER, e->member)) ||
	       (e->region && nla_put_u32(skb, WEFT_A_EVENT_REGION, e->region)) ||
	       (e->name && put_name(skb, e->name, e->name_len)) ||
	       (e->has_offset && nla_put_u64_64bit(skb, WEFT_A_EVENT_OFFSET, e->offset,
						   WEFT_A_EVENT_PAD)) ||
	       (e->count && nla_put_u64_64bit(skb, WEFT_A_EVENT_COUNT, e->count,
					      WEFT_A_EVENT_PAD)) ||
	       (e->err && nla_put_u32(skb, WEFT_A_EVENT_ERRNO, e->err)) ||
	       (e->addr && nla_put_in_addr(skb, WEFT_A_EVENT_ADDRESS, e->addr)) ||
	       (e->process && put_process(skb)) ||
	       (e->by_switch && nla_put_flag(skb, WEFT_A_EVENT_SWITCH)) ? -EMSGSIZE : 0;
}

/* Without memory the event is lost, as it is for a listener whose buffer is full. */
static void tell(const struct weft_event *e, gfp_t gfp)
{
	struct sk_buff *skb;
	u32 missed;
	void *hdr;

	if (!anybody_listens() || !within_limit(rack_told(e->node)->told, e->kind, &missed))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, gfp);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, weft_genl_family, 0, WEFT_CMD_EVENT);
	if (!hdr || put_event(skb, e, missed)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast(weft_genl_family, skb, 0, GROUP, gfp);
}

/* --- Members ---------------------------------------------------------------- */

static void tell_member(const struct weft_told *told, u32 kind, u32 member)
{
	const struct weft_event e = {
		.node = &told->rack->node, .kind = kind, .member = member,
	};

	tell(&e, GFP_KERNEL);
}

static void note_members(struct weft_told *told, u32 now)
{
	u32 changed = told->members ? now ^ told->members :
				      now & weft_node_bit(told->rack->node.id);
	u32 id;

	/* at the own JOIN @changed is this node only: the others were members before */
	told->members = now;
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++) {
		if (changed & weft_node_bit(id))
			tell_member(told, now & weft_node_bit(id) ?
				    WEFT_EVENT_KIND_NODE_JOINED :
				    WEFT_EVENT_KIND_NODE_LEFT, id);
	}
}

/* --- Where the directory is ---------------------------------------------------- */

static void look_at_directory(struct weft_told *told)
{
	struct weft_node *node = &told->rack->node;
	u64 by_switch = weft_stat_get(&node->counters, WEFT_STAT_MISS_BY_SWITCH);
	u64 by_home = weft_stat_get(&node->counters, WEFT_STAT_MISS_BY_HOME);
	struct weft_event e = { .node = node, .kind = WEFT_EVENT_KIND_DIRECTORY };
	struct weft_event_directory *d = &told->directory;
	u8 where = d->where;

	if (d->begun) {
		e.count = by_switch - d->by_switch;
		e.by_switch = e.count;
		d->in_a_row = e.by_switch ? 0 : d->in_a_row + by_home - d->by_home;
		/* homes also answer for lines that the switch does not have yet */
		if (e.by_switch)
			where = IN_SWITCH;
		else if (d->in_a_row >= HOME_ANSWERS)
			where = AT_HOMES;
		if (!e.by_switch)
			e.count = d->in_a_row;
	}
	d->begun = true;
	d->by_switch = by_switch;
	d->by_home = by_home;
	if (where != d->where)
		tell(&e, GFP_KERNEL);
	d->where = where;
}

static void look(struct work_struct *work)
{
	struct weft_told *told = container_of(to_delayed_work(work), struct weft_told, look);

	/* without listeners forget it all, so that the first listener is told where it is */
	if (anybody_listens())
		look_at_directory(told);
	else
		memset(&told->directory, 0, sizeof(told->directory));
	queue_delayed_work(system_power_efficient_wq, &told->look, LOOK_INTERVAL);
}

/* --- A rack comes and goes ------------------------------------------------------ */

struct weft_told *weft_told_new(struct weft_rack *rack)
{
	struct weft_told *told = kzalloc(sizeof(*told), GFP_KERNEL);

	if (!told)
		return NULL;
	told->rack = rack;
	spin_lock_init(&told->lock);
	INIT_DELAYED_WORK(&told->look, look);
	return told;
}

void weft_told_free(struct weft_told *told)
{
	if (told)
		cancel_delayed_work_sync(&told->look);
	kfree(told);
}

/* --- The chain ------------------------------------------------------------------ */

static int on_node(struct notifier_block *nb, unsigned long type, void *data)
{
	const struct weft_node_event *event = data;
	struct weft_told *told = rack_told(event->node)->told;

	switch (type) {
	case WEFT_EVENT_JOINED:
		/* WEFT_EVENT_MEMBERS comes only when the members change */
		note_members(told, event->members);
		queue_delayed_work(system_power_efficient_wq, &told->look, LOOK_INTERVAL);
		break;
	case WEFT_EVENT_LEFT:
		cancel_delayed_work_sync(&told->look);
		if (told->members)
			tell_member(told, WEFT_EVENT_KIND_NODE_LEFT, event->node->id);
		told->members = 0;
		break;
	case WEFT_EVENT_MEMBERS:
		note_members(told, event->members);
		break;
	case WEFT_EVENT_BLADE_LOST:
		tell_member(told, WEFT_EVENT_KIND_MEMBER_SILENT, event->blade);
		break;
	case WEFT_EVENT_BLADE_BACK:
		tell_member(told, WEFT_EVENT_KIND_MEMBER_HEARD, event->blade);
		break;
	default:
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = on_node };

int weft_netlink_event_init(void)
{
	int err = weft_node_notifier_register(&notifier);

	if (!err)
		weft_event_listen(tell);
	return err;
}

void weft_netlink_event_exit(void)
{
	weft_event_listen(NULL);
	weft_node_notifier_unregister(&notifier);
}
