// SPDX-License-Identifier: GPL-2.0-only
/* Commands of the netlink family, see kernel.h; their errors, see explain.h. */
#include "kernel/kernel.h"

#include <errno.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/rack.h"
#include "base/text.h"
#include "kernel/explain.h"
#include "kernel/genl.h"
#include "kernel/module.h"
#include "kernel/request.h"

/* --- The family ---------------------------------------------------------- */

int kernel_open(bool load)
{
	int err = genl_open();
	int rc;

	if (err == -ENOENT && load) {
		rc = module_load();
		if (rc)
			return rc;
		err = genl_open();
	}
	return err ? explain_no_family(err) : 0;
}

void kernel_close(void)
{
	genl_close();
}

static int take_nothing(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	(void)attrs;
	(void)msg;
	(void)arg;
	return 0;
}

int kernel_state(enum kernel_state *state)
{
	struct genl_refusal why;
	int err = genl_open();

	*state = KERNEL_NO_MODULE;
	if (err == -ENOENT && !module_is_loaded())
		return 0;
	if (err)
		return explain_no_family(err);
	err = genl_call(request_new(WEFT_CMD_STATUS_GET, false),
			WEFT_A_STATUS_MAX, take_nothing, NULL, &why);
	if (err && err != -ENOTCONN)
		return explain(WEFT_CMD_STATUS_GET, &why, NULL);
	*state = err ? KERNEL_DOWN : KERNEL_UP;
	return 0;
}

/* --- Set-up -------------------------------------------------------------- */

/* What CONFIG_SET and TUNE have in common. */
static bool put_tunables(struct nl_msg *msg, const struct config *c)
{
	return (c->timeout_ms &&
		nla_put_u32(msg, WEFT_A_CONFIG_TIMEOUT_MS, c->timeout_ms)) ||
	       (c->hold_set && nla_put_u32(msg, WEFT_A_CONFIG_HOLD_US, c->hold_us));
}

int kernel_config_set(struct config *c)
{
	struct nl_msg *msg = genl_request(WEFT_CMD_CONFIG_SET, false);
	unsigned int i;
	bool full;

	full = !msg || nla_put_u32(msg, WEFT_A_CONFIG_ID, c->id) ||
	       nla_put_string(msg, WEFT_A_CONFIG_IFNAME, c->ifname) ||
	       nla_put_u32(msg, WEFT_A_CONFIG_RACK, c->rack) ||
	       (c->joins_set && nla_put_u32(msg, WEFT_A_CONFIG_JOINS, c->joins)) ||
	       (c->address.s_addr &&
		nla_put_u32(msg, WEFT_A_CONFIG_ADDRESS, c->address.s_addr)) ||
	       (c->mtu && nla_put_u32(msg, WEFT_A_CONFIG_MTU, c->mtu)) ||
	       (*c->key_path &&
		nla_put(msg, WEFT_A_CONFIG_KEY, sizeof(c->key), c->key)) ||
	       put_tunables(msg, c);
	explicit_bzero(c->key, sizeof(c->key));
	for (i = 0; i < c->homes_len; i++)
		full = full || nla_put_u32(msg, WEFT_A_CONFIG_HOME, c->homes[i].s_addr);
	for (i = 0; i < config_twins(c); i++)
		full = full || nla_put_u32(msg, WEFT_A_CONFIG_TWIN, c->twins[i].s_addr);
	return request_call(WEFT_CMD_CONFIG_SET, request_unless_full(msg, full), c->ifname, 0, NULL,
		    NULL);
}

int kernel_config_clear(void)
{
	return request_ask(WEFT_CMD_CONFIG_CLEAR, false, 0, NULL, NULL);
}

int kernel_tune(const struct config *c)
{
	struct nl_msg *msg = request_new(WEFT_CMD_TUNE, false);
	bool full = !msg || put_tunables(msg, c);

	return request_call(WEFT_CMD_TUNE, request_unless_full(msg, full), NULL, 0, NULL, NULL);
}

static int take_config(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	struct config *c = arg;
	unsigned int twins = 0;
	struct nlattr *attr;
	int rem;

	c->id = attr_u32(attrs[WEFT_A_CONFIG_ID]);
	c->rack = attr_u32(attrs[WEFT_A_CONFIG_RACK]);
	c->joins = attrs[WEFT_A_CONFIG_JOINS] ? attr_u32(attrs[WEFT_A_CONFIG_JOINS]) : c->rack;
	c->joins_set = c->joins != c->rack;
	if (attrs[WEFT_A_CONFIG_IFNAME])
		nla_strlcpy(c->ifname, attrs[WEFT_A_CONFIG_IFNAME],
			    sizeof(c->ifname));
	c->address = attr_address(attrs[WEFT_A_CONFIG_ADDRESS]);
	c->mtu = attr_u32(attrs[WEFT_A_CONFIG_MTU]);
	c->timeout_ms = attr_u32(attrs[WEFT_A_CONFIG_TIMEOUT_MS]);
	c->hold_us = attr_u32(attrs[WEFT_A_CONFIG_HOLD_US]);
	c->hold_set = attrs[WEFT_A_CONFIG_HOLD_US];
	c->wire_version = attr_u32(attrs[WEFT_A_CONFIG_WIRE_VERSION]);
	c->homes_len = 0;
	nlmsg_for_each_attr(attr, msg, GENL_HDRLEN, rem) {
		if (nla_type(attr) == WEFT_A_CONFIG_HOME &&
		    c->homes_len < WEFT_HOMES_MAX)
			c->homes[c->homes_len++] = attr_address(attr);
		if (nla_type(attr) == WEFT_A_CONFIG_TWIN && twins < WEFT_HOMES_MAX)
			c->twins[twins++] = attr_address(attr);
	}
	return c->id ? 0 : -EPROTO;
}

static int take_rack(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	struct racks *r = arg;
	struct config *c = &r->list[r->len];
	int err;

	if (r->len == WEFT_RACKS_MAX)
		return -EPROTO;
	*c = (struct config){ 0 };
	err = take_config(attrs, msg, c);
	r->len += !err && !rack_is_other(c->rack);
	return err;
}

int kernel_racks(struct racks *r)
{
	r->len = 0;
	return request_ask(WEFT_CMD_RACK_GET, true, WEFT_A_CONFIG_MAX, take_rack, r);
}

int kernel_choose_of(const struct config *file)
{
	const struct genl_refusal ambiguous = { .code = -ENOTUNIQ };
	struct racks racks;
	uint32_t rack;
	int rc;

	if (rack_chosen(&rack))
		return 0;
	rc = kernel_racks(&racks);
	if (rc || racks.len < 2)
		return rc;
	if (!file)
		return explain(WEFT_CMD_CONFIG_GET, &ambiguous, NULL);
	rack_choose(file->rack);
	return 0;
}

int kernel_config_get(struct config *c)
{
	*c = (struct config){ 0 };
	return request_ask(WEFT_CMD_CONFIG_GET, false, WEFT_A_CONFIG_MAX, take_config, c);
}

/* --- Status -------------------------------------------------------------- */

static int take_status(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	struct status *s = arg;

	(void)msg;
	s->joined = attrs[WEFT_A_STATUS_JOINED];
	s->life = attr_u32(attrs[WEFT_A_STATUS_LIFE]);
	s->key_set = attrs[WEFT_A_STATUS_FINGERPRINT];
	s->fingerprint = attr_u32(attrs[WEFT_A_STATUS_FINGERPRINT]);
	if (attrs[WEFT_A_STATUS_REFUSED])
		nla_strlcpy(s->refused, attrs[WEFT_A_STATUS_REFUSED], sizeof(s->refused));
	s->refused_from.s_addr = attr_u32(attrs[WEFT_A_STATUS_REFUSED_FROM]);
	s->refused_ms = attr_u64(attrs[WEFT_A_STATUS_REFUSED_MS]);
	s->answered_ms = attr_u32(attrs[WEFT_A_STATUS_ANSWERED_MS]);
	s->members = attr_u32(attrs[WEFT_A_STATUS_MEMBERS]);
	s->lease_known = s->joined && attrs[WEFT_A_STATUS_LEASE_MS];
	s->lease_ms = attr_u32(attrs[WEFT_A_STATUS_LEASE_MS]);
	s->regions = attr_u64(attrs[WEFT_A_STATUS_REGIONS]);
	s->lines = attr_u64(attrs[WEFT_A_STATUS_LINES]);
	s->cache_bytes = attr_u64(attrs[WEFT_A_STATUS_CACHE_BYTES]);
	s->cache_max = attr_u64(attrs[WEFT_A_STATUS_CACHE_MAX]);
	return 0;
}

int kernel_status(struct status *s)
{
	*s = (struct status){ 0 };
	return request_ask(WEFT_CMD_STATUS_GET, false, WEFT_A_STATUS_MAX, take_status, s);
}

static int take_peer(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	struct peers *p = arg;
	struct peer *peer = &p->list[p->len];

	(void)msg;
	if (p->len == PEERS_MAX || !attrs[WEFT_A_PEER_ID])
		return -EPROTO;
	peer->id = attr_u32(attrs[WEFT_A_PEER_ID]);
	peer->address = attr_address(attrs[WEFT_A_PEER_ADDRESS]);
	peer->self = attrs[WEFT_A_PEER_SELF];
	peer->joined = attrs[WEFT_A_PEER_JOINED];
	peer->rdma = attrs[WEFT_A_PEER_RDMA];
	peer->twin = attr_address(attrs[WEFT_A_PEER_TWIN]);
	peer->view = attr_u32(attrs[WEFT_A_PEER_VIEW]);
	peer->why_udp[0] = 0;
	if (attrs[WEFT_A_PEER_WHY_UDP])
		snprintf(peer->why_udp, sizeof(peer->why_udp), "%s",
			 nla_get_string(attrs[WEFT_A_PEER_WHY_UDP]));
	p->len++;
	return 0;
}

int kernel_peers(struct peers *p)
{
	p->len = 0;
	return request_ask(WEFT_CMD_PEER_GET, true, WEFT_A_PEER_MAX, take_peer, p);
}

/* --- Counters ------------------------------------------------------------ */

static int take_counter(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	struct counters *c = arg;
	struct counter *list;

	(void)msg;
	/* The first message of a list that comes over the network has none. */
	if (!attrs[WEFT_A_COUNTER_NAME])
		return 0;
	list = reallocarray(c->list, c->len + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	c->list = list;
	nla_strlcpy(list[c->len].name, attrs[WEFT_A_COUNTER_NAME],
		    sizeof(list->name));
	list[c->len].value = attr_u64(attrs[WEFT_A_COUNTER_VALUE]);
	c->len++;
	return 0;
}

int kernel_stats(struct counters *c)
{
	*c = (struct counters){ 0 };
	return request_ask(WEFT_CMD_STATS_GET, true, WEFT_A_COUNTER_MAX, take_counter, c);
}

/* --- Histograms ---------------------------------------------------------- */

/* Buckets come in order, powers of 2, at most one without a limit, the last. */
static int take_bucket(struct hist_list *h, struct nlattr *nest)
{
	struct hist_bucket *b = &h->bucket[h->len];
	struct nlattr *attrs[WEFT_A_BUCKET_MAX + 1];
	uint64_t below;

	if (h->len == HIST_LIST_MAX ||
	    nla_parse_nested(attrs, WEFT_A_BUCKET_MAX, nest, NULL) < 0)
		return -EPROTO;
	below = attr_u64(attrs[WEFT_A_BUCKET_BELOW]);
	if ((attrs[WEFT_A_BUCKET_BELOW] && (!below || below & (below - 1))) ||
	    (h->len && (!b[-1].below || (below && below <= b[-1].below))))
		return -EPROTO;
	b->below = below;
	b->count = attr_u64(attrs[WEFT_A_BUCKET_COUNT]);
	h->count += b->count;
	h->len++;
	return 0;
}

static int take_hist(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	struct hists *hists = arg;
	struct nlattr *attr;
	struct kernel_hist *list, *h;
	int rem, err = 0;

	if (!attrs[WEFT_A_HIST_NAME])
		return -EPROTO;
	list = reallocarray(hists->list, hists->len + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	hists->list = list;
	h = &list[hists->len++];
	*h = (struct kernel_hist){ .times.sum = attr_u64(attrs[WEFT_A_HIST_NSEC]) };
	nla_strlcpy(h->name, attrs[WEFT_A_HIST_NAME], sizeof(h->name));
	nlmsg_for_each_attr(attr, msg, GENL_HDRLEN, rem) {
		if (nla_type(attr) == WEFT_A_HIST_BUCKET && !err)
			err = take_bucket(&h->times, attr);
	}
	return err;
}

int kernel_hists(struct hists *h)
{
	*h = (struct hists){ 0 };
	return request_ask(WEFT_CMD_HIST_GET, true, WEFT_A_HIST_MAX, take_hist, h);
}

void hists_free(struct hists *h)
{
	free(h->list);
	*h = (struct hists){ 0 };
}

/* --- What the node has --------------------------------------------------- */

/* Who gets the objects of a list. */
struct taker {
	void (*region)(const struct region *r, void *arg);
	void (*line)(const struct line *l, void *arg);
	void (*lock)(const struct lock_info *l, void *arg);
	void *arg;
};

static int take_region(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	const struct taker *t = arg;
	struct region r = {
		.id = attr_u32(attrs[WEFT_A_REGION_ID]),
		.size = attr_u64(attrs[WEFT_A_REGION_SIZE]),
		.block = attr_u32(attrs[WEFT_A_REGION_BLOCK]),
		.lines = attr_u32(attrs[WEFT_A_REGION_LINES]),
		.locks = attr_u32(attrs[WEFT_A_REGION_LOCKS]),
		.policy = attr_u32(attrs[WEFT_A_REGION_POLICY]),
		.nodes = attr_u32(attrs[WEFT_A_REGION_NODES]),
		.homes = attr_u32(attrs[WEFT_A_REGION_HOMES]),
		.gone = attrs[WEFT_A_REGION_GONE],
	};

	(void)msg;
	if (!r.id)
		return -EPROTO;
	if (attrs[WEFT_A_REGION_NAME])
		nla_strlcpy(r.name, attrs[WEFT_A_REGION_NAME], sizeof(r.name));
	t->region(&r, t->arg);
	return 0;
}

static int take_line(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	const struct taker *t = arg;
	const struct line l = {
		.region = attr_u32(attrs[WEFT_A_LINE_REGION]),
		.index = attr_u64(attrs[WEFT_A_LINE_INDEX]),
		.state = attr_u32(attrs[WEFT_A_LINE_STATE]),
		.op = attr_u32(attrs[WEFT_A_LINE_OP]),
		.waiters = attr_u32(attrs[WEFT_A_LINE_WAITERS]),
		.misses = attr_u32(attrs[WEFT_A_LINE_MISSES]),
		.revocations = attr_u32(attrs[WEFT_A_LINE_REVOCATIONS]),
		.dirty = attrs[WEFT_A_LINE_DIRTY],
		.revoking = attrs[WEFT_A_LINE_REVOKING],
		.ahead = attrs[WEFT_A_LINE_AHEAD],
	};

	(void)msg;
	if (!l.region)
		return -EPROTO;
	t->line(&l, t->arg);
	return 0;
}

static int take_lock(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	const struct taker *t = arg;
	const struct lock_info l = {
		.region = attr_u32(attrs[WEFT_A_LOCK_REGION]),
		.offset = attr_u64(attrs[WEFT_A_LOCK_OFFSET]),
		.state = attr_u32(attrs[WEFT_A_LOCK_STATE]),
		.want = attr_u32(attrs[WEFT_A_LOCK_WANT]),
		.readers = attr_u32(attrs[WEFT_A_LOCK_READERS]),
		.waiters = attr_u32(attrs[WEFT_A_LOCK_WAITERS]),
		.queue = attr_u32(attrs[WEFT_A_LOCK_QUEUE]),
		.grants = attr_u32(attrs[WEFT_A_LOCK_GRANTS]),
		.hand_overs = attr_u32(attrs[WEFT_A_LOCK_HAND_OVERS]),
		.writer = attrs[WEFT_A_LOCK_WRITER],
		.open = attrs[WEFT_A_LOCK_OPEN],
		.tenured = attrs[WEFT_A_LOCK_TENURED],
		.revoking = attrs[WEFT_A_LOCK_REVOKING],
	};

	(void)msg;
	if (!l.region)
		return -EPROTO;
	t->lock(&l, t->arg);
	return 0;
}

/* A list of objects of one region, which attribute @attr names, or of all. */
static int ask_of(uint8_t cmd, int attr, uint32_t region, int max,
		  genl_answer_fn *answer, struct taker *t)
{
	struct nl_msg *msg = request_new(cmd, true);
	bool full = !msg || (region && nla_put_u32(msg, attr, region));
	char subject[16];

	snprintf(subject, sizeof(subject), "%u", region);
	return request_call(cmd, request_unless_full(msg, full), subject, max, answer, t);
}

int kernel_regions(void (*take)(const struct region *r, void *arg), void *arg)
{
	struct taker t = { .region = take, .arg = arg };

	return request_ask(WEFT_CMD_REGION_GET, true, WEFT_A_REGION_MAX, take_region, &t);
}

int kernel_lines(uint32_t region, void (*take)(const struct line *l, void *arg),
		 void *arg)
{
	struct taker t = { .line = take, .arg = arg };

	return ask_of(WEFT_CMD_LINE_GET, WEFT_A_LINE_REGION, region, WEFT_A_LINE_MAX,
		      take_line, &t);
}

int kernel_locks(uint32_t region, void (*take)(const struct lock_info *l, void *arg),
		 void *arg)
{
	struct taker t = { .lock = take, .arg = arg };

	return ask_of(WEFT_CMD_LOCK_GET, WEFT_A_LOCK_REGION, region, WEFT_A_LOCK_MAX,
		      take_lock, &t);
}

/* --- Events ---------------------------------------------------------------- */

/* Who gets events. */
struct listener {
	void (*take)(const struct event *e, void *arg);
	void *arg;
};

static int take_event(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	const struct listener *l = arg;
	struct event e = {
		.kind = attr_u32(attrs[WEFT_A_EVENT_KIND]),
		.rack = attr_u32(attrs[WEFT_A_EVENT_RACK]),
		.time = attr_u64(attrs[WEFT_A_EVENT_TIME]),
		.missed = attr_u32(attrs[WEFT_A_EVENT_MISSED]),
		.member = attr_u32(attrs[WEFT_A_EVENT_MEMBER]),
		.region = attr_u32(attrs[WEFT_A_EVENT_REGION]),
		.has_offset = attrs[WEFT_A_EVENT_OFFSET],
		.offset = attr_u64(attrs[WEFT_A_EVENT_OFFSET]),
		.count = attr_u64(attrs[WEFT_A_EVENT_COUNT]),
		.err = attr_u32(attrs[WEFT_A_EVENT_ERRNO]),
		.address = attr_address(attrs[WEFT_A_EVENT_ADDRESS]),
		.pid = attr_u32(attrs[WEFT_A_EVENT_PID]),
		.by_switch = attrs[WEFT_A_EVENT_SWITCH],
	};

	(void)msg;
	/* Other messages of a newer module are none of ours. */
	if (!attrs[WEFT_A_EVENT_KIND] || rack_is_other(e.rack))
		return 0;
	if (attrs[WEFT_A_EVENT_NAME])
		nla_strlcpy(e.name, attrs[WEFT_A_EVENT_NAME], sizeof(e.name));
	if (attrs[WEFT_A_EVENT_COMM])
		nla_strlcpy(e.comm, attrs[WEFT_A_EVENT_COMM], sizeof(e.comm));
	l->take(&e, l->arg);
	return 0;
}

int kernel_events_begin(int *fd)
{
	*fd = genl_listen(WEFT_GENL_GROUP_EVENTS);
	if (*fd == -ENOENT)
		return fail("the module has no events: are weftctl and the module of the same version?");
	if (*fd == -EPERM)
		return fail("events tell what all users do: only root hears them (CAP_NET_ADMIN)");
	return *fd < 0 ? fail("cannot listen to events: %s", strerror(-*fd)) : 0;
}

int kernel_events_take(void (*take)(const struct event *e, void *arg), void *arg,
		       bool *lost)
{
	struct listener l = { take, arg };
	int err = genl_take(WEFT_A_EVENT_MAX, take_event, &l);

	*lost = err == -ENOBUFS;
	return err && !*lost ? fail("cannot read events: %s", strerror(-err)) : 0;
}

/* --- Counters of others -------------------------------------------------- */

static int ask_blade(uint32_t blade, struct counters *c, struct genl_refusal *why)
{
	struct nl_msg *msg = request_new(WEFT_CMD_BLADE_STATS_GET, true);
	bool full = !msg || nla_put_u32(msg, WEFT_A_COUNTER_MEMBER, blade);

	*c = (struct counters){ 0 };
	return genl_call(request_unless_full(msg, full), WEFT_A_COUNTER_MAX, take_counter, c,
			 why);
}

int kernel_blade_stats(uint32_t blade, struct in_addr address, struct counters *c,
		       bool *silent)
{
	char place[TEXT_PLACE_MAX];
	struct genl_refusal why;
	int err = ask_blade(blade, c, &why);

	*silent = err == -ETIMEDOUT;
	/* A part of them may have come. */
	if (*silent)
		counters_free(c);
	else if (err)
		return explain(WEFT_CMD_BLADE_STATS_GET, &why, text_place(blade, address, place));
	return 0;
}

int kernel_blade_try(uint32_t blade, struct counters *c)
{
	struct genl_refusal why;

	return ask_blade(blade, c, &why);
}

int kernel_switch_stats(struct counters *c, bool *absent)
{
	struct genl_refusal why;
	int err;

	*c = (struct counters){ 0 };
	err = genl_call(request_new(WEFT_CMD_SWITCH_STATS_GET, true),
			WEFT_A_COUNTER_MAX, take_counter, c, &why);
	if (absent)
		*absent = err == -ENXIO;
	if (err && !(absent && *absent))
		return explain(WEFT_CMD_SWITCH_STATS_GET, &why, NULL);
	return 0;
}

uint64_t counters_get(const struct counters *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->len; i++) {
		if (!strcmp(c->list[i].name, name))
			return c->list[i].value;
	}
	return 0;
}

void counters_free(struct counters *c)
{
	free(c->list);
	*c = (struct counters){ 0 };
}
