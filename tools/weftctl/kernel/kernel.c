// SPDX-License-Identifier: GPL-2.0-only
/* Commands of the netlink family, see kernel.h. */
#include "kernel/kernel.h"

#include <errno.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fail.h"
#include "base/rack.h"
#include "base/text.h"
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

int kernel_state(enum kernel_state *state)
{
	struct genl_refusal why;
	int err = genl_open();

	*state = KERNEL_NO_MODULE;
	if (err == -ENOENT && !module_is_loaded())
		return 0;
	if (err)
		return explain_no_family(err);
	err = request_done(request_new(WEFT_CMD_STATUS_GET, false), &why);
	if (err && err != -ENOTCONN)
		return explain(WEFT_CMD_STATUS_GET, &why, NULL);
	*state = err ? KERNEL_DOWN : KERNEL_UP;
	return 0;
}

/* --- Set-up -------------------------------------------------------------- */

/* Attributes of both CONFIG_SET and TUNE. */
static bool put_tunables(struct nl_msg *msg, const struct config *c)
{
	return (c->timeout_ms && nla_put_u32(msg, WEFT_A_CONFIG_TIMEOUT_MS, c->timeout_ms)) ||
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
	       (c->mtu && nla_put_u32(msg, WEFT_A_CONFIG_MTU, c->mtu)) || (*c->key_path &&
		nla_put(msg, WEFT_A_CONFIG_KEY, sizeof(c->key), c->key)) || put_tunables(msg, c);
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
		nla_strlcpy(c->ifname, attrs[WEFT_A_CONFIG_IFNAME], sizeof(c->ifname));
	c->address = attr_address(attrs[WEFT_A_CONFIG_ADDRESS]);
	c->mtu = attr_u32(attrs[WEFT_A_CONFIG_MTU]);
	c->timeout_ms = attr_u32(attrs[WEFT_A_CONFIG_TIMEOUT_MS]);
	c->hold_us = attr_u32(attrs[WEFT_A_CONFIG_HOLD_US]);
	c->hold_set = attrs[WEFT_A_CONFIG_HOLD_US];
	c->wire_version = attr_u32(attrs[WEFT_A_CONFIG_WIRE_VERSION]);
	c->homes_len = 0;
	nlmsg_for_each_attr(attr, msg, GENL_HDRLEN, rem) {
		if (nla_type(attr) == WEFT_A_CONFIG_HOME && c->homes_len < WEFT_HOMES_MAX)
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

int kernel_fence(uint32_t node)
{
	struct nl_msg *msg = request_new(WEFT_CMD_NODE_FENCE, true);
	bool full = !msg || nla_put_u32(msg, WEFT_A_PEER_ID, node);
	struct genl_refusal why;
	char subject[16];

	snprintf(subject, sizeof(subject), "%u", node);
	return request_done(request_unless_full(msg, full), &why) ?
	       explain(WEFT_CMD_NODE_FENCE, &why, subject) : 0;
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

#define PEER(member, of_kind, of_attr, ...)	\
	COLUMN(struct peer, member, of_kind, .attr = WEFT_A_PEER_##of_attr, __VA_ARGS__)

static const char *peer_state(const void *row)
{
	const struct peer *p = row;

	return p->self ? "this node" : p->joined ? "joined" : "not joined";
}

static const char *peer_way(const void *row)
{
	const struct peer *p = row;

	return text_format("%s%s%s", p->self ? "-" : p->rdma ? "RDMA" : "UDP",
		 *p->why_udp ? ": " : "", p->why_udp);
}

const struct column peer_columns[] = {
	PEER(id, U32, ID, .key = "node", .title = "NODE", .width = 4),
	PEER(address, ADDRESS, ADDRESS, .key = "address", .title = "ADDRESS", .width = -15),
	PEER(self, FLAG, SELF, .key = "self", .title = "STATE", .width = -10, .text = peer_state),
	PEER(joined, FLAG, JOINED, .key = "joined"),
	PEER(rdma, FLAG, RDMA, .key = "rdma", .title = "DATA BY", .text = peer_way),
	PEER(why_udp, STRING, WHY_UDP),
	PEER(twin, ADDRESS, TWIN),
	PEER(view, U32, VIEW),
	COLUMN_END
};

static int add_peer(void *row, void *arg)
{
	struct peers *p = arg;

	if (p->len == PEERS_MAX)
		return -EPROTO;
	p->list[p->len++] = *(const struct peer *)row;
	return 0;
}

int kernel_peers(struct peers *p)
{
	struct peer row;

	p->len = 0;
	return request_list(WEFT_CMD_PEER_GET, request_new(WEFT_CMD_PEER_GET, true), NULL,
			    peer_columns, &row, sizeof(row), add_peer, p);
}

/* --- Counters ------------------------------------------------------------ */

static const struct column counter_columns[] = {
	COLUMN(struct counter, name, STRING, .attr = WEFT_A_COUNTER_NAME, .optional = true),
	COLUMN(struct counter, value, U64, .attr = WEFT_A_COUNTER_VALUE),
	COLUMN_END
};

int counters_add(void *row, void *arg)
{
	struct counters *c = arg;
	struct counter *list = array_more(c->list, c->len, sizeof(*list));

	if (!list)
		return -ENOMEM;
	c->list = list;
	list[c->len++] = *(const struct counter *)row;
	return 0;
}

static int read_counters(struct nl_msg *msg, struct counters *c, struct genl_refusal *why)
{
	struct counter row;

	*c = (struct counters){ 0 };
	return request_rows(msg, counter_columns, &row, sizeof(row), counters_add, c, why);
}

int kernel_stats(struct counters *c)
{
	struct genl_refusal why;

	return read_counters(request_new(WEFT_CMD_STATS_GET, true), c, &why) ?
		explain(WEFT_CMD_STATS_GET, &why, NULL) : 0;
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
	list = array_more(hists->list, hists->len, sizeof(*list));
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

#define LINE(member, of_kind, of_attr, of_title, ...)				\
	COLUMN(struct line, member, of_kind, .attr = WEFT_A_LINE_##of_attr,	\
	       .key = #member, .title = of_title, __VA_ARGS__)

const struct column line_columns[] = {
	LINE(region, U32, REGION, "REGION", .width = 8),
	LINE(index, U64, INDEX, "INDEX", .width = 12),
	LINE(state, U32, STATE, "STATE", .width = -8, .word = word_state),
	LINE(op, U32, OP, "OP", .width = -7, .word = word_op),
	LINE(waiters, U32, WAITERS, "WAITERS", .width = 7),
	LINE(misses, U32, MISSES, "MISSES", .width = 10),
	LINE(revocations, U32, REVOCATIONS, "REVOCATIONS", .width = 11),
	LINE(dirty, FLAG, DIRTY, NULL),
	LINE(revoking, FLAG, REVOKING, NULL),
	LINE(ahead, FLAG, AHEAD, NULL),
	{ .kind = COLUMN_FLAGS, .title = "FLAGS" },
	COLUMN_END
};

#define LOCK(member, of_kind, of_attr, of_title, ...)				\
	COLUMN(struct lock_info, member, of_kind, .attr = WEFT_A_LOCK_##of_attr,\
	       .key = #member, .title = of_title, __VA_ARGS__)

const struct column lock_columns[] = {
	LOCK(region, U32, REGION, "REGION", .width = 8),
	LOCK(offset, U64, OFFSET, "OFFSET", .width = 12),
	LOCK(state, U32, STATE, "STATE", .width = -8, .word = word_state),
	LOCK(want, U32, WANT, "WANT", .width = -8, .word = word_state),
	LOCK(readers, U32, READERS, "READERS", .width = 7),
	LOCK(waiters, U32, WAITERS, "WAITERS", .width = 7),
	LOCK(queue, U32, QUEUE, "QUEUE", .width = 5),
	LOCK(grants, U32, GRANTS, "GRANTS", .width = 10),
	LOCK(hand_overs, U32, HAND_OVERS, "HAND-OVERS", .width = 10),
	LOCK(writer, FLAG, WRITER, NULL),
	LOCK(open, FLAG, OPEN, NULL),
	LOCK(tenured, FLAG, TENURED, NULL),
	LOCK(revoking, FLAG, REVOKING, NULL),
	{ .kind = COLUMN_FLAGS, .title = "FLAGS" },
	COLUMN_END
};

/* A list of objects of one region, or of all: their first column is its number. */
static int list_of(uint8_t cmd, uint32_t region, const struct column *columns, void *row,
		   size_t size, row_fn *take, void *arg)
{
	struct nl_msg *msg = request_new(cmd, true);
	bool full = !msg || (region && nla_put_u32(msg, columns->attr, region));
	char subject[16];

	snprintf(subject, sizeof(subject), "%u", region);
	return request_list(cmd, request_unless_full(msg, full), subject, columns, row, size, take,
			    arg);
}

int kernel_lines(uint32_t region, row_fn *take, void *arg)
{
	struct line row;

	return list_of(WEFT_CMD_LINE_GET, region, line_columns, &row, sizeof(row), take, arg);
}

int kernel_locks(uint32_t region, row_fn *take, void *arg)
{
	struct lock_info row;

	return list_of(WEFT_CMD_LOCK_GET, region, lock_columns, &row, sizeof(row), take, arg);
}

/* --- Events ---------------------------------------------------------------- */

static void json_offset(struct json *j, const void *row)
{
	const struct event *e = row;

	json_number(j, "offset", e->has_offset, e->offset);
}

static void json_switch(struct json *j, const void *row)
{
	const struct event *e = row;

	if (e->kind == WEFT_EVENT_KIND_DIRECTORY)
		json_bool(j, "switch", e->by_switch);
	else
		json_null(j, "switch");
}

static void json_address(struct json *j, const void *row)
{
	const struct event *e = row;

	json_text(j, "address", e->address.s_addr ? text_address(e->address) : "");
}

#define EVENT(member, of_kind, of_attr, ...)	\
	COLUMN(struct event, member, of_kind, .attr = WEFT_A_EVENT_##of_attr, __VA_ARGS__)

const struct column event_columns[] = {
	EVENT(usec, U64, TIME, .key = "time_us"),
	EVENT(rack, U32, RACK, .key = "rack"),
	EVENT(kind, U32, KIND, .key = "event", .word = word_event),
	EVENT(missed, U32, MISSED, .key = "missed"),
	EVENT(member, U32, MEMBER, .key = "member", .optional = true),
	EVENT(region, U32, REGION, .key = "region", .optional = true),
	EVENT(name, STRING, NAME, .key = "name", .optional = true),
	EVENT(has_offset, FLAG, OFFSET),
	EVENT(offset, U64, OFFSET, .json = json_offset),
	EVENT(count, U64, COUNT, .key = "count", .optional = true),
	EVENT(err, U32, ERRNO, .key = "errno", .optional = true),
	EVENT(pid, U32, PID, .key = "pid", .optional = true),
	EVENT(comm, STRING, COMM, .key = "comm", .optional = true),
	EVENT(by_switch, FLAG, SWITCH, .json = json_switch),
	EVENT(address, ADDRESS, ADDRESS, .json = json_address),
	COLUMN_END
};

/* The receiver of events. */
struct listener {
	row_fn *take;
	void *arg;
};

static int take_event(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	const struct listener *l = arg;
	struct event e;

	(void)msg;
	request_row(attrs, event_columns, &e, sizeof(e));
	e.usec /= 1000;
	/* Other messages of a newer module are none of ours. */
	return !attrs[WEFT_A_EVENT_KIND] || rack_is_other(e.rack) ? 0 : l->take(&e, l->arg);
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

int kernel_events_take(row_fn *take, void *arg, bool *lost)
{
	struct listener l = { take, arg };
	int err = genl_take(WEFT_A_EVENT_MAX, take_event, &l);

	*lost = err == -ENOBUFS;
	return err && !*lost ? fail("cannot read events: %s", strerror(-err)) : 0;
}

/* --- Counters of others -------------------------------------------------- */

int kernel_blade_try(uint32_t blade, struct counters *c, struct genl_refusal *why)
{
	struct nl_msg *msg = request_new(WEFT_CMD_BLADE_STATS_GET, true);
	bool full = !msg || nla_put_u32(msg, WEFT_A_COUNTER_MEMBER, blade);

	return read_counters(request_unless_full(msg, full), c, why);
}

int kernel_blade_stats(uint32_t blade, struct in_addr address, struct counters *c, bool *silent)
{
	struct genl_refusal why;
	int err = kernel_blade_try(blade, c, &why);

	*silent = err == -ETIMEDOUT;
	/* A part of them may have come. */
	if (*silent)
		counters_free(c);
	else if (err)
		return explain(WEFT_CMD_BLADE_STATS_GET, &why, text_place(blade, address));
	return 0;
}

int kernel_switch_stats(struct counters *c, bool *absent)
{
	struct genl_refusal why;
	int err = read_counters(request_new(WEFT_CMD_SWITCH_STATS_GET, true), c, &why);

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

uint64_t counters_sum(const struct counters *c, const char *names)
{
	char name[COUNTER_NAME_MAX];
	uint64_t sum = 0;
	int len;

	for (; sscanf(names, "%255s%n", name, &len) == 1; names += len)
		sum += counters_get(c, name);
	return sum;
}

void counters_free(struct counters *c)
{
	free(c->list);
	*c = (struct counters){ 0 };
}
