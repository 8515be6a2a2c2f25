// SPDX-License-Identifier: GPL-2.0-only
/* Requests to the family, see request.h. */
#include "kernel/request.h"

#include <errno.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/rack.h"
#include "kernel/genl.h"
#include "kernel/module.h"
#include "kernel/mountpoint.h"
#include "weft_netlink.h"

struct nl_msg *request_new(uint8_t cmd, bool dump)
{
	static const int attrs[WEFT_CMD_MAX + 1] = {
		[WEFT_CMD_CONFIG_CLEAR]	= WEFT_A_CONFIG_RACK,
		[WEFT_CMD_CONFIG_GET]	= WEFT_A_CONFIG_RACK,
		[WEFT_CMD_TUNE]		= WEFT_A_CONFIG_RACK,
		[WEFT_CMD_STATUS_GET]	= WEFT_A_STATUS_RACK,
		[WEFT_CMD_STATS_GET]	= WEFT_A_COUNTER_RACK,
		[WEFT_CMD_BLADE_STATS_GET] = WEFT_A_COUNTER_RACK,
		[WEFT_CMD_SWITCH_STATS_GET] = WEFT_A_COUNTER_RACK,
		[WEFT_CMD_PEER_GET]	= WEFT_A_PEER_RACK,
		[WEFT_CMD_HIST_GET]	= WEFT_A_HIST_RACK,
		[WEFT_CMD_REGION_GET]	= WEFT_A_REGION_RACK,
		[WEFT_CMD_LINE_GET]	= WEFT_A_LINE_RACK,
		[WEFT_CMD_LOCK_GET]	= WEFT_A_LOCK_RACK,
		[WEFT_CMD_NODE_FENCE]	= WEFT_A_PEER_RACK,
		[WEFT_CMD_LOST_GET]	= WEFT_A_LOST_RACK,
		[WEFT_CMD_BLADE_GET]	= WEFT_A_BLADE_RACK,
		[WEFT_CMD_BLADE_SET]	= WEFT_A_BLADE_RACK,
		[WEFT_CMD_REGION_SPREAD] = WEFT_A_REGION_RACK,
	};
	struct nl_msg *msg = genl_request(cmd, dump);
	uint32_t rack;

	if (!msg || !rack_chosen(&rack) || !attrs[cmd] || !nla_put_u32(msg, attrs[cmd], rack))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

int request_call(uint8_t cmd, struct nl_msg *msg, const char *subject, int max,
		 genl_answer_fn *answer, void *arg)
{
	struct genl_refusal why;

	return genl_call(msg, max, answer, arg, &why) ? explain(cmd, &why, subject) : 0;
}

int request_ask(uint8_t cmd, bool dump, int max, genl_answer_fn *answer, void *arg)
{
	return request_call(cmd, request_new(cmd, dump), NULL, max, answer, arg);
}

struct nl_msg *request_unless_full(struct nl_msg *msg, bool full)
{
	if (!full)
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* --- Rows --------------------------------------------------------------------- */

/* A list on its way. */
struct rows {
	const struct column *columns;	/* of a row */
	void *row;	/* memory for one */
	size_t size;	/* bytes of it */
	row_fn *take;	/* gets each */
	void *arg;	/* for @take */
};

static void take_value(const struct column *c, struct nlattr *attr, char *to)
{
	uint64_t number = c->kind == COLUMN_U64 ? attr_u64(attr) : attr_u32(attr);

	if (c->kind == COLUMN_STRING && attr)
		nla_strlcpy(to, attr, c->size);
	else if (c->kind == COLUMN_FLAG)
		*(bool *)to = attr;
	else if (c->kind == COLUMN_U64)
		*(uint64_t *)to = number;
	else if (c->kind != COLUMN_STRING)
		*(uint32_t *)to = (uint32_t)number;
}

bool request_row(struct nlattr **attrs, const struct column *columns, void *row, size_t size)
{
	const struct column *c, *first = NULL;

	memset(row, 0, size);
	for (c = columns; c->size || c->kind == COLUMN_FLAGS; c++) {
		if (!c->attr)
			continue;
		first = first ? first : c;
		take_value(c, attrs[c->attr], (char *)row + c->offset);
	}
	return attrs[first->attr] && (first->kind != COLUMN_U32 || attr_u32(attrs[first->attr]));
}

static int take_row(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	const struct rows *r = arg;

	(void)msg;
	if (request_row(attrs, r->columns, r->row, r->size))
		return r->take(r->row, r->arg);
	return r->columns->optional ? 0 : -EPROTO;
}

int request_max(const struct column *columns)
{
	const struct column *c;
	int max = 0;

	for (c = columns; c->size || c->kind == COLUMN_FLAGS; c++)
		max = c->attr > max ? c->attr : max;
	return max;
}

int request_rows(struct nl_msg *msg, const struct column *columns, void *row, size_t size,
		 row_fn *take, void *arg, struct genl_refusal *why)
{
	struct rows r = { columns, row, size, take, arg };

	return genl_call(msg, request_max(columns), take_row, &r, why);
}

int request_list(uint8_t cmd, struct nl_msg *msg, const char *subject,
		 const struct column *columns, void *row, size_t size, row_fn *take, void *arg)
{
	struct genl_refusal why;

	return request_rows(msg, columns, row, size, take, arg, &why) ?
		explain(cmd, &why, subject) : 0;
}

static int take_nothing(struct nlattr **attrs, struct nlmsghdr *msg, void *arg)
{
	(void)attrs;
	(void)msg;
	(void)arg;
	return 0;
}

int request_done(struct nl_msg *msg, struct genl_refusal *why)
{
	return genl_call(msg, 0, take_nothing, NULL, why);
}

/* --- Values --------------------------------------------------------------------- */

uint32_t attr_u32(struct nlattr *attr)
{
	return attr && nla_len(attr) == sizeof(uint32_t) ? nla_get_u32(attr) : 0;
}

uint64_t attr_u64(struct nlattr *attr)
{
	return attr && nla_len(attr) == sizeof(uint64_t) ? nla_get_u64(attr) : 0;
}

struct in_addr attr_address(struct nlattr *attr)
{
	return (struct in_addr){ .s_addr = attr_u32(attr) };
}

#define SILENT		"%s does not answer: is weft-memd running there, and does 'ping' reach it?"
#define NO_SENSE	"the answer of %s makes no sense: are weft-memd and the module of the same version?"
#define NO_REGION	"this node knows no region %s: 'weftctl region show' lists those that it knows"
#define BLADES_NEED_ROOT \
	"changing which memory blades are used needs root (CAP_NET_ADMIN): run weftctl with sudo"

/* How an attribute of a configuration is called on the command line. */
static const char *option_of(uint8_t cmd, unsigned int attr)
{
	static const char * const names[WEFT_A_CONFIG_MAX + 1] = {
		[WEFT_A_CONFIG_ID]		= "--node",
		[WEFT_A_CONFIG_RACK]		= "--rack",
		[WEFT_A_CONFIG_IFINDEX]		= "--interface",
		[WEFT_A_CONFIG_IFNAME]		= "--interface",
		[WEFT_A_CONFIG_HOME]		= "--homes",
		[WEFT_A_CONFIG_TIMEOUT_MS]	= "--timeout",
		[WEFT_A_CONFIG_HOLD_US]		= "--hold",
		[WEFT_A_CONFIG_ADDRESS]		= "--address",
		[WEFT_A_CONFIG_MTU]		= "--mtu",
		[WEFT_A_CONFIG_JOINS]		= "--joins",
	};

	if ((cmd != WEFT_CMD_CONFIG_SET && cmd != WEFT_CMD_TUNE) || attr > WEFT_A_CONFIG_MAX)
		return NULL;
	return names[attr];
}

static int explain_mounted(void)
{
	struct mountpoints m;
	int rc;

	mountpoints_read(&m);
	if (m.len)
		rc = fail("the node cannot go down while weft is mounted: 'umount %s' first",
			  m.list[0]);
	else
		rc = fail("the node cannot go down while weft is mounted, in a mount namespace of another process: unmount it there first");
	mountpoints_free(&m);
	return rc;
}

/* Without a sentence of the table: the kernel's own, or that of the errno. */
static int explain_plainly(uint8_t cmd, const struct genl_refusal *why)
{
	const char *option = option_of(cmd, why->attr);
	const char *text = why->text[0] ? why->text : strerror(-why->code);

	if (option)
		return fail("%s%s: %s", option, why->missing ? " is missing" : "", text);
	/* No sentence of its own: it does not know what we want of it. */
	return fail("the module refuses: %s%s", text, !why->text[0] &&
		    (why->code == -EOPNOTSUPP || why->code == -EINVAL || why->code == -EPROTO) ?
		    ": are weftctl and the module of the same version?" : "");
}

int explain_silent(const char *subject)
{
	return fail(SILENT, subject);
}

/* Sentences about @cmd, 0: about any; "%s" is what the command was about. */
static const struct {
	int err;
	uint8_t cmd;
	const char *text;
} sentences[] = {
	{ ENONET, 0, "this node has not joined its rack: mount weft first ('weftctl doctor' says why it is not)" },
	{ EDEADLK, 0, "node %s is this node, which does not take itself for dead: 'weftctl down --unmount' takes it out of the rack" },
	{ EPERM, WEFT_CMD_NODE_FENCE, "taking a node out of the rack needs root (CAP_NET_ADMIN): run weftctl with sudo" },
	{ EPERM, WEFT_CMD_BLADE_SET, BLADES_NEED_ROOT },
	{ EPERM, WEFT_CMD_REGION_SPREAD, BLADES_NEED_ROOT },
	{ EPERM, 0, "changing the node needs root (CAP_NET_ADMIN): run weftctl with sudo" },
	{ ENOTUNIQ, 0, "this machine is in several racks: say which one by --rack, 'weftctl rack' lists them" },
	{ ENOTCONN, 0, "this node is not set up: run 'weftctl up'" },
	{ EBUSY, WEFT_CMD_CONFIG_SET, "the node is set up already: run 'weftctl down' first, or 'weftctl set' to tune it" },
	{ ENETDOWN, 0, "the interface '%s' is down: 'ip link set %s up' first" },
	{ ETIMEDOUT, WEFT_CMD_NODE_FENCE, "the first memory blade does not answer, so node %s may be a member yet: is weft-memd running there ('weftctl doctor')?" },
	{ ETIMEDOUT, 0, SILENT },
	{ ENXIO, 0, "no directory in the switch answers: is the weft program loaded there? (without one the memory blades keep the directory: 'weftctl stats memory')" },
	{ EPROTO, WEFT_CMD_BLADE_STATS_GET, NO_SENSE },
	{ EPROTO, WEFT_CMD_LOST_GET, NO_SENSE },
	{ EPROTO, WEFT_CMD_BLADE_GET, NO_SENSE },
	{ ENOENT, WEFT_CMD_NODE_FENCE, "the rack has no node %s: 'weftctl status' lists those that have joined" },
	{ ENOENT, WEFT_CMD_LOST_GET, "%s knows no such region: it was removed a moment ago, or never was there" },
	{ ENOENT, WEFT_CMD_LINE_GET, NO_REGION },
	{ ENOENT, WEFT_CMD_LOCK_GET, NO_REGION },
	{ EINTR, 0, "interrupted" },
	{ ENOMEM, 0, "no memory" },
};

int explain(uint8_t cmd, const struct genl_refusal *why, const char *subject)
{
	uint32_t rack;
	size_t i;

	if (why->code == -ENOTCONN && rack_chosen(&rack))
		return fail("this node is not set up in rack %u: 'weftctl rack' lists those in which it is, 'weftctl up --rack %u' sets it up",
			    rack, rack);
	if (why->code == -ENODEV && why->attr == WEFT_A_CONFIG_IFNAME)
		return fail("there is no interface '%s': 'ip link' lists those that there are",
			    subject);
	for (i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		if (sentences[i].err == -why->code && (!sentences[i].cmd || sentences[i].cmd == cmd))
			return fail(sentences[i].text, subject, subject);
	}
	return why->code == -EBUSY ? explain_mounted() : explain_plainly(cmd, why);
}

int explain_no_family(int err)
{
	if (err == -ENOENT && module_is_loaded())
		return fail("the module weft is loaded but cannot be reached from here: run weftctl in the first network namespace");
	if (err == -ENOENT)
		return fail("the module weft is not loaded: 'weftctl up' loads it");
	return fail("cannot talk to the kernel by generic netlink: %s", strerror(-err));
}
