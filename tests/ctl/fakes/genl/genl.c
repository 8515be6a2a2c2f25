// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel for tests of weftctl: answers the requests of genl.h as the module
 * would, by the scenario that WEFT_FAKE names, and writes each request down in
 * the file WEFT_FAKE_LOG: the command, then its attributes as type=value.
 *
 * Linked instead of tools/weftctl/kernel/genl.c and module.c; all the rest is real but
 * tracefs.c, see tracefs.c here.
 */
#include "tools/weftctl/kernel/genl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netlink/genl/genl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ctl/fakes/genl/answer.h"
#include "tools/weftctl/kernel/module.h"
#include "weft.h"
#include "weft_netlink.h"

#define FAKE_FAMILY	0x1234

/* A refusal of a scenario. */
struct refused {
	const char *scenario;
	uint8_t cmd;
	int code;
	unsigned int attr;
	bool missing;
	const char *text;
};

#define REFUSES	"the first blade refuses"

static const struct refused refusals[] = {
	{ "down", WEFT_CMD_CONFIG_CLEAR, -ENOTCONN, 0, false, "the node is not set up" },
	{ "down", WEFT_CMD_CONFIG_GET, -ENOTCONN, 0, false, "the node is not set up" },
	{ "down", WEFT_CMD_STATUS_GET, -ENOTCONN, 0, false, "the node is not set up" },
	{ "down", WEFT_CMD_TUNE, -ENOTCONN, 0, false, "the node is not set up" },
	{ "user", WEFT_CMD_CONFIG_SET, -EPERM, 0, false, "" },
	{ "user", WEFT_CMD_CONFIG_CLEAR, -EPERM, 0, false, "" },
	{ "user", WEFT_CMD_TUNE, -EPERM, 0, false, "" },
	{ "busy", WEFT_CMD_CONFIG_SET, -EBUSY, 0, false, "the node is up already" },
	{ "busy", WEFT_CMD_CONFIG_CLEAR, -EBUSY, 0, false, "a file system is mounted" },
	{ "no-interface", WEFT_CMD_CONFIG_SET, -ENODEV, WEFT_A_CONFIG_IFNAME, false,
	  "IFNAME: there is no such interface" },
	{ "down-interface", WEFT_CMD_CONFIG_SET, -ENETDOWN, WEFT_A_CONFIG_IFNAME,
	  false, "the interface is down" },
	{ "no-group", WEFT_CMD_CONFIG_SET, -ENODEV, 0, false, "cannot join" },
	{ "range", WEFT_CMD_CONFIG_SET, -ERANGE, WEFT_A_CONFIG_HOLD_US, false,
	  "integer out of range" },
	{ "missing", WEFT_CMD_CONFIG_SET, -EINVAL, WEFT_A_CONFIG_HOME, true, "" },
	{ "silent", WEFT_CMD_CONFIG_SET, -EADDRINUSE, 0, false, "" },
	{ "sentence", WEFT_CMD_CONFIG_SET, -EINVAL, 0, false,
	  "the MTU is greater than the interface's" },
	{ "old-module", WEFT_CMD_TUNE, -EOPNOTSUPP, 0, false, "" },
	{ "no-region", WEFT_CMD_LINE_GET, -ENOENT, WEFT_A_LINE_REGION, false,
	  "REGION: this node knows no such region" },
	{ "no-region", WEFT_CMD_LOCK_GET, -ENOENT, WEFT_A_LOCK_REGION, false,
	  "REGION: this node knows no such region" },
	{ "down", WEFT_CMD_REGION_GET, -ENOTCONN, 0, false, "the node is not set up" },
	{ "down", WEFT_CMD_LINE_GET, -ENOTCONN, 0, false, "the node is not set up" },
	{ "down", WEFT_CMD_LOCK_GET, -ENOTCONN, 0, false, "the node is not set up" },
	{ "no-switch", WEFT_CMD_SWITCH_STATS_GET, -ENXIO, 0, false,
	  "no directory in a switch answers" },
	{ "no-blade", WEFT_CMD_BLADE_STATS_GET, -ETIMEDOUT, 0, false,
	  "the blade does not answer" },
	{ "odd-blade", WEFT_CMD_BLADE_STATS_GET, -EPROTO, 0, false, "" },
	{ "down", WEFT_CMD_NODE_FENCE, -ENOTCONN, 0, false, "the node is not set up" },
	{ "user", WEFT_CMD_NODE_FENCE, -EPERM, 0, false, "" },
	{ "not-joined", WEFT_CMD_NODE_FENCE, -ENONET, 0, false, "" },
	{ "no-node", WEFT_CMD_NODE_FENCE, -ENOENT, 0, false, "ID: the rack has no such node" },
	{ "own-node", WEFT_CMD_NODE_FENCE, -EDEADLK, 0, false, "" },
	{ "no-blade", WEFT_CMD_NODE_FENCE, -ETIMEDOUT, 0, false, "the blade does not answer" },
	{ "old-module", WEFT_CMD_NODE_FENCE, -EOPNOTSUPP, 0, false, "" },
	{ "not-joined", WEFT_CMD_LOST_GET, -ENONET, 0, false, "" },
	{ "no-region", WEFT_CMD_LOST_GET, -ENOENT, 0, false, "" },
	{ "no-blade", WEFT_CMD_LOST_GET, -ETIMEDOUT, 0, false, "the blade does not answer" },
	{ "odd-blade", WEFT_CMD_LOST_GET, -EPROTO, 0, false, "" },
	{ "not-joined", WEFT_CMD_BLADE_GET, -ENONET, 0, false, "" },
	{ "no-blade", WEFT_CMD_BLADE_GET, -ETIMEDOUT, 0, false, "the blade does not answer" },
	{ "odd-blade", WEFT_CMD_BLADE_GET, -EPROTO, 0, false, "" },
	{ "user", WEFT_CMD_BLADE_SET, -EPERM, 0, false, "" },
	{ "no-blade", WEFT_CMD_BLADE_SET, -ETIMEDOUT, 0, false, "the blade does not answer" },
	{ "blade-unknown", WEFT_CMD_BLADE_SET, -ENXIO, 0, false, REFUSES },
	{ "blade-other", WEFT_CMD_BLADE_SET, -EEXIST, 0, false, REFUSES },
	{ "blade-address", WEFT_CMD_BLADE_SET, -EADDRINUSE, 0, false, REFUSES },
	{ "blade-last", WEFT_CMD_BLADE_SET, -EINVAL, 0, false, REFUSES },
	{ "blade-disk", WEFT_CMD_BLADE_SET, -EIO, 0, false, REFUSES },
	{ "old-module", WEFT_CMD_BLADE_SET, -EOPNOTSUPP, 0, false, "" },
	{ "user", WEFT_CMD_REGION_SPREAD, -EPERM, 0, false, "" },
	{ "region-gone", WEFT_CMD_REGION_SPREAD, -ENOENT, 0, false, REFUSES },
	{ "region-moves", WEFT_CMD_REGION_SPREAD, -EBUSY, 0, false, REFUSES },
	{ "no-room", WEFT_CMD_REGION_SPREAD, -ENOSPC, 0, false, REFUSES },
	{ "blade-down", WEFT_CMD_REGION_SPREAD, -EHOSTDOWN, 0, false, REFUSES },
	{ "blade-last", WEFT_CMD_REGION_SPREAD, -EINVAL, 0, false, REFUSES },
	{ "blade-disk", WEFT_CMD_REGION_SPREAD, -EIO, 0, false, REFUSES },
};

const char *scenario(void)
{
	const char *name = getenv("WEFT_FAKE");

	return name ? name : "up";
}

/* --- The module ---------------------------------------------------------- */

static bool loaded;

int module_load(void)
{
	loaded = true;
	fputs("fake: module loaded\n", stderr);
	return 0;
}

/* No devices here. */
void module_load_rdma(void)
{
}

bool module_has_rdma(void)
{
	return false;
}

/* In scenario "elsewhere" it is loaded but has no family here. */
bool module_is_loaded(void)
{
	return !strcmp(scenario(), "elsewhere");
}

/* WEFT_FAKE_LOADED and WEFT_FAKE_INSTALLED are "VERSION SOURCE". */
static bool module_info(const char *variable, struct module_info *info)
{
	const char *text = getenv(variable);

	*info = (struct module_info){ 0 };
	return text && sscanf(text, "%63s %63s", info->version, info->source) > 0;
}

bool module_loaded_info(struct module_info *info)
{
	return module_info("WEFT_FAKE_LOADED", info);
}

bool module_installed_info(struct module_info *info)
{
	return module_info("WEFT_FAKE_INSTALLED", info);
}

int genl_open(void)
{
	if (!strcmp(scenario(), "elsewhere"))
		return -ENOENT;
	return !loaded && !strcmp(scenario(), "no-module") ? -ENOENT : 0;
}

void genl_close(void)
{
}

struct nl_msg *genl_request(uint8_t cmd, bool dump)
{
	struct nl_msg *msg = nlmsg_alloc();

	genlmsg_put(msg, 1, 1, FAKE_FAMILY, 0, dump ? NLM_F_DUMP : NLM_F_ACK, cmd,
		    WEFT_GENL_VERSION);
	return msg;
}

static void write_down(struct nl_msg *msg)
{
	const char *path = getenv("WEFT_FAKE_LOG");
	struct nlmsghdr *h = nlmsg_hdr(msg);
	uint8_t cmd = ((struct genlmsghdr *)nlmsg_data(h))->cmd;
	struct nlattr *attr;
	char address[16];
	FILE *f = path ? fopen(path, "a") : NULL;
	int rem;

	if (!f)
		return;
	fprintf(f, "cmd %d", cmd);
	nlmsg_for_each_attr(attr, h, GENL_HDRLEN, rem) {
		int type = nla_type(attr);

		if (cmd != WEFT_CMD_CONFIG_SET)
			fprintf(f, " %d=%u", type, nla_get_u32(attr));
		else if (type == WEFT_A_CONFIG_IFNAME)
			fprintf(f, " %d=%s", type, (char *)nla_data(attr));
		else if (type == WEFT_A_CONFIG_HOME || type == WEFT_A_CONFIG_ADDRESS)
			fprintf(f, " %d=%s", type,
				inet_ntop(AF_INET, nla_data(attr), address,
					  sizeof(address)));
		else
			fprintf(f, " %d=%u", type, nla_get_u32(attr));
	}
	fputc('\n', f);
	fclose(f);
}

/* --- Answers ------------------------------------------------------------- */

void begin(struct answering *a)
{
	a->msg = nlmsg_alloc();
	genlmsg_put(a->msg, 1, 1, FAKE_FAMILY, 0, 0, 0, WEFT_GENL_VERSION);
}

int end(struct answering *a)
{
	struct nlattr *attrs[a->max + 1];
	int err = genlmsg_parse(nlmsg_hdr(a->msg), 0, attrs, a->max, NULL);

	if (!err)
		err = a->answer(attrs, nlmsg_hdr(a->msg), a->arg);
	nlmsg_free(a->msg);
	return err;
}

static bool has_twin(void)
{
	return !strcmp(scenario(), "twin");
}

static int answer_config(struct answering *a, uint32_t rack, const char *interface)
{
	begin(a);
	nla_put_u32(a->msg, WEFT_A_CONFIG_ID, 2);
	nla_put_u32(a->msg, WEFT_A_CONFIG_RACK, rack);
	nla_put_string(a->msg, WEFT_A_CONFIG_IFNAME, interface);
	nla_put_u32(a->msg, WEFT_A_CONFIG_HOME, inet_addr("10.0.0.101"));
	nla_put_u32(a->msg, WEFT_A_CONFIG_HOME, inet_addr("10.0.0.102"));
	if (has_twin())
		nla_put_u32(a->msg, WEFT_A_CONFIG_TWIN, inet_addr("10.0.0.133"));
	nla_put_u32(a->msg, WEFT_A_CONFIG_TIMEOUT_MS, 30000);
	nla_put_u32(a->msg, WEFT_A_CONFIG_HOLD_US, 100);
	nla_put_u32(a->msg, WEFT_A_CONFIG_ADDRESS, inet_addr("10.0.0.2"));
	nla_put_u32(a->msg, WEFT_A_CONFIG_MTU, 9000);
	nla_put_u32(a->msg, WEFT_A_CONFIG_WIRE_VERSION, 1);
	return end(a);
}

static bool is_down(void)
{
	return !strcmp(scenario(), "down");
}

/* In scenario "racks" there are two, and a request must say which one it is about. */
bool has_two_racks(void)
{
	return !strcmp(scenario(), "racks");
}

static int answer_racks(struct answering *a)
{
	int err = is_down() ? 0 : answer_config(a, 7, "eth0");

	return err || !has_two_racks() ? err : answer_config(a, UINT32_MAX, "vlan-sixty-four");
}

/* What the module says to a request without RACK, whose number is of its command. */
static int refuse_any_rack(struct nl_msg *msg, uint8_t cmd)
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
	struct nlattr *rack;

	if (!has_two_racks() || !attrs[cmd])
		return 0;
	rack = nlmsg_find_attr(nlmsg_hdr(msg), GENL_HDRLEN, attrs[cmd]);
	if (!rack)
		return -ENOTUNIQ;
	return nla_get_u32(rack) == 7 || nla_get_u32(rack) == UINT32_MAX ? 0 : -ENOTCONN;
}

static int answer_status(struct answering *a)
{
	begin(a);
	nla_put_flag(a->msg, WEFT_A_STATUS_JOINED);
	nla_put_u32(a->msg, WEFT_A_STATUS_LIFE, 77);
	nla_put_u32(a->msg, WEFT_A_STATUS_ANSWERED_MS, 250);
	nla_put_u32(a->msg, WEFT_A_STATUS_MEMBERS, 0x80000006);
	nla_put_u32(a->msg, WEFT_A_STATUS_LEASE_MS, strcmp(scenario(), "no-lease") ? 20000 : 0);
	nla_put_u64(a->msg, WEFT_A_STATUS_REGIONS, 3);
	nla_put_u64(a->msg, WEFT_A_STATUS_LINES, 256);
	nla_put_u64(a->msg, WEFT_A_STATUS_CACHE_BYTES, 1 << 20);
	nla_put_u64(a->msg, WEFT_A_STATUS_CACHE_MAX, 64 << 20);
	/* A module newer than this program says more. */
	nla_put_u32(a->msg, WEFT_A_STATUS_MAX + 5, 1);
	return end(a);
}

static int answer_peer(struct answering *a, uint32_t id, const char *address,
		       int flag)
{
	begin(a);
	nla_put_u32(a->msg, WEFT_A_PEER_ID, id);
	nla_put_u32(a->msg, WEFT_A_PEER_ADDRESS, inet_addr(address));
	if (flag)
		nla_put_flag(a->msg, flag);
	return end(a);
}

/* The first blade, whose twin has taken over. */
static int answer_moved(struct answering *a)
{
	begin(a);
	nla_put_u32(a->msg, WEFT_A_PEER_ID, 33);
	nla_put_u32(a->msg, WEFT_A_PEER_ADDRESS, inet_addr("10.0.0.133"));
	nla_put_u32(a->msg, WEFT_A_PEER_TWIN, inet_addr("10.0.0.101"));
	nla_put_u32(a->msg, WEFT_A_PEER_VIEW, 2);
	return end(a);
}

static int answer_peers(struct answering *a)
{
	return answer_peer(a, 2, "10.0.0.2", WEFT_A_PEER_SELF) ||
	       answer_peer(a, 3, "10.0.0.3", WEFT_A_PEER_JOINED) ||
	       (has_twin() ? answer_moved(a) : answer_peer(a, 33, "10.0.0.101", 0));
}

static int answer_counter(struct answering *a, const char *name, uint64_t value)
{
	begin(a);
	if (name) {
		nla_put_string(a->msg, WEFT_A_COUNTER_NAME, name);
		nla_put_u64(a->msg, WEFT_A_COUNTER_VALUE, value);
	}
	return end(a);
}

/* In scenario "moving" more has happened each time that somebody looks. */
static uint64_t looks(void)
{
	static uint64_t n;

	return !strcmp(scenario(), "moving") ? n++ : 0;
}

static int answer_stats(struct answering *a)
{
	uint64_t n = looks();

	return answer_counter(a, "miss_read_unshared", 60 + 1000 * n) ||
	       answer_counter(a, "miss_write_shared", 30) ||
	       answer_counter(a, "miss_upgrade", 10) ||
	       answer_counter(a, "miss_by_switch", 75) ||
	       answer_counter(a, "miss_by_home", 25) ||
	       answer_counter(a, "miss_round_trips", 110) ||
	       answer_counter(a, "miss_nsec", 12345600 + 5000000 * n) ||
	       answer_counter(a, "msg_sent", 200) ||
	       answer_counter(a, "msg_received", 250) ||
	       answer_counter(a, "sent_call", 20) ||
	       answer_counter(a, "received_call", 0) ||
	       answer_counter(a, "received_reply", 20) ||
	       answer_counter(a, "read_bytes", UINT64_MAX) ||
	       answer_counter(a, "sent_gets", 60) ||
	       answer_counter(a, "received_gets", 0) ||
	       answer_counter(a, "sent_abort", 0) ||
	       answer_counter(a, "received_abort", 0);
}

/* In scenario "one-blade" always, in "comes-back" the first time that somebody asks. */
static bool second_is_silent(void)
{
	static unsigned int asked;

	return !strcmp(scenario(), "one-blade") ||
	       (!strcmp(scenario(), "comes-back") && !asked++);
}

static int answer_blade(struct answering *a, struct nl_msg *request)
{
	struct nlattr *member = nlmsg_find_attr(nlmsg_hdr(request), GENL_HDRLEN,
						WEFT_A_COUNTER_MEMBER);

	if (member && nla_get_u32(member) == 34 && second_is_silent())
		return -ETIMEDOUT;
	if (member && nla_get_u32(member) == 34)
		return answer_counter(a, NULL, 0) ||
		       answer_counter(a, "regions", 2 - looks()) ||
		       answer_counter(a, "reads", 5) || answer_counter(a, "in_gets", 8) ||
		       answer_counter(a, "out_gets", 0) || answer_counter(a, "in_getm", 4) ||
		       answer_counter(a, "lines_at_home", 21) ||
		       answer_counter(a, "lines_in_switch", 30) ||
		       answer_counter(a, "lines_added", 35) ||
		       answer_counter(a, "lines_removed", 5) ||
		       answer_counter(a, "adds_refused", 1) || answer_counter(a, "adds_again", 3) ||
		       answer_counter(a, "refused_busy", 6) ||
		       answer_counter(a, "out_inv", 11) ||
		       answer_counter(a, "only_second", 9);
	return answer_counter(a, NULL, 0) ||
	       answer_counter(a, "reads", 37) ||
	       answer_counter(a, "odd \"\\\n\x01\xff\xc3\xa9 name", 1);
}

static int answer_switch(struct answering *a)
{
	return answer_counter(a, NULL, 0) || answer_counter(a, "miss", 10) ||
	       answer_counter(a, "read", (uint32_t)(60 - 100 * looks())) || answer_counter(a, "inv", 30) ||
	       answer_counter(a, "stranger", 4) || answer_counter(a, "add", 70) ||
	       answer_counter(a, "add_refused", 2) || answer_counter(a, "drop", 9);
}

static void put_bucket(struct answering *a, uint64_t below, uint64_t count)
{
	struct nlattr *nest = nla_nest_start(a->msg, WEFT_A_HIST_BUCKET);

	if (below)
		nla_put_u64(a->msg, WEFT_A_BUCKET_BELOW, below);
	nla_put_u64(a->msg, WEFT_A_BUCKET_COUNT, count);
	nla_nest_end(a->msg, nest);
}

static void begin_hist(struct answering *a, const char *name, uint64_t nsec)
{
	begin(a);
	nla_put_string(a->msg, WEFT_A_HIST_NAME, name);
	nla_put_u64(a->msg, WEFT_A_HIST_NSEC, nsec);
}

/* What no kernel should answer, by the scenario's name. */
static void put_odd_buckets(struct answering *a)
{
	if (!strcmp(scenario(), "hist-order"))
		put_bucket(a, 1024, 1);
	if (!strcmp(scenario(), "hist-order"))
		put_bucket(a, 512, 1);
	if (!strcmp(scenario(), "hist-power"))
		put_bucket(a, 1000, 1);
	if (!strcmp(scenario(), "hist-end"))
		put_bucket(a, 0, 1);
	if (!strcmp(scenario(), "hist-end"))
		put_bucket(a, 0, 1);
}

static int answer_hists(struct answering *a)
{
	int err;

	begin_hist(a, "miss_read_shared", 1000 * 100000);
	put_bucket(a, 65536, 400);
	put_bucket(a, 131072, 589 + 7 * looks());
	put_bucket(a, 1ull << 20, 10);
	put_bucket(a, 1ull << 34, 1);
	put_odd_buckets(a);
	err = end(a);
	if (err)
		return err;
	begin_hist(a, "lock_acquire", 0);
	err = end(a);
	if (err)
		return err;
	begin_hist(a, "lock_hand_over", 600000000000);
	put_bucket(a, 1, 2);
	put_bucket(a, 0, 2);
	return end(a);
}

static uint32_t policy_of(uint32_t region)
{
	switch (region) {
	case 7:
		return WEFT_POLICY_RELEASE | WEFT_POLICY_BLOCK | WEFT_POLICY_SIGBUS;
	case 9:
		return WEFT_POLICY_SYNC;
	case 11:
		return WEFT_POLICY_MIRROR;
	default:
		return 0;
	}
}

static int answer_region(struct answering *a, uint32_t id, const char *name)
{
	begin(a);
	nla_put_u32(a->msg, WEFT_A_REGION_ID, id);
	if (name)
		nla_put_string(a->msg, WEFT_A_REGION_NAME, name);
	else
		nla_put_flag(a->msg, WEFT_A_REGION_GONE);
	nla_put_u64(a->msg, WEFT_A_REGION_SIZE, UINT64_C(1) << 40);
	nla_put_u32(a->msg, WEFT_A_REGION_BLOCK, 65536);
	nla_put_u32(a->msg, WEFT_A_REGION_LINES, 12);
	nla_put_u32(a->msg, WEFT_A_REGION_LOCKS, 3);
	nla_put_u32(a->msg, WEFT_A_REGION_POLICY, policy_of(id));
	nla_put_u32(a->msg, WEFT_A_REGION_NODES, id == 7 ? 0x80000003 : 0);
	nla_put_u32(a->msg, WEFT_A_REGION_HOMES, id == 7 ? 0x8005 : 1);
	return end(a);
}

static int answer_one_blade(struct answering *a, uint32_t id, const char *address, int flag,
			    uint32_t regions)
{
	begin(a);
	nla_put_u32(a->msg, WEFT_A_BLADE_MEMBER, id);
	nla_put_u32(a->msg, WEFT_A_BLADE_ADDRESS, inet_addr(address));
	if (flag)
		nla_put_flag(a->msg, flag);
	nla_put_u64(a->msg, WEFT_A_BLADE_BYTES, UINT64_C(1) << 36);
	nla_put_u64(a->msg, WEFT_A_BLADE_NEEDED, UINT64_C(1) << 30);
	nla_put_u32(a->msg, WEFT_A_BLADE_REGIONS, regions);
	return end(a);
}

/* In scenario "drained" the second one is going, and has less each time that somebody looks. */
static int answer_blades(struct answering *a)
{
	static uint32_t left = 3;
	bool drained = !strcmp(scenario(), "drained");

	begin(a);
	return end(a) ||
	       answer_one_blade(a, 33, "10.0.0.101", WEFT_A_BLADE_JOINED, 3) ||
	       answer_one_blade(a, 34, "10.0.0.102",
				drained ? WEFT_A_BLADE_DRAINS : WEFT_A_BLADE_JOINED,
				!drained ? 2 : left ? --left : 0);
}

static int answer_regions(struct answering *a)
{
	return answer_region(a, 7, "table") || answer_region(a, 9, "odd \033[2J\\") ||
	       answer_region(a, 16777215, NULL) || answer_region(a, 11, "twice");
}

static int answer_lines(struct answering *a)
{
	uint32_t i, n = (uint32_t)looks();

	for (i = 0; i < 7; i++) {
		int err;

		begin(a);
		nla_put_u32(a->msg, WEFT_A_LINE_REGION, 7);
		nla_put_u64(a->msg, WEFT_A_LINE_INDEX, (UINT64_C(1) << 36) - 1 - i);
		nla_put_u32(a->msg, WEFT_A_LINE_STATE, i % 4);
		nla_put_u32(a->msg, WEFT_A_LINE_OP, i < 6 ? i : 99);
		nla_put_u32(a->msg, WEFT_A_LINE_WAITERS, 5);
		/* When they move: the third most, the fifth was evicted meanwhile. */
		nla_put_u32(a->msg, WEFT_A_LINE_MISSES,
			    n && i == 4 ? 3 : 1000 + (i == 2 || i == 3 ? 100 * i * n : 0));
		nla_put_u32(a->msg, WEFT_A_LINE_REVOCATIONS,
			    n && i == 4 ? 1 : UINT32_MAX - 5000 + (i == 2 ? 500 * n : 0) +
			    (strcmp(scenario(), "moving") ? 5000 : 0));
		if (i == 2)
			nla_put_flag(a->msg, WEFT_A_LINE_DIRTY);
		if (i == 2)
			nla_put_flag(a->msg, WEFT_A_LINE_REVOKING);
		if (i == 1)
			nla_put_flag(a->msg, WEFT_A_LINE_AHEAD);
		err = end(a);
		if (err)
			return err;
	}
	return 0;
}

static int answer_locks(struct answering *a)
{
	uint32_t n = (uint32_t)looks();

	begin(a);
	nla_put_u32(a->msg, WEFT_A_LOCK_REGION, 7);
	nla_put_u64(a->msg, WEFT_A_LOCK_OFFSET, 64);
	nla_put_u32(a->msg, WEFT_A_LOCK_STATE, WEFT_STATE_MODIFIED);
	nla_put_u32(a->msg, WEFT_A_LOCK_WANT, WEFT_STATE_NONE);
	nla_put_u32(a->msg, WEFT_A_LOCK_READERS, 2);
	nla_put_u32(a->msg, WEFT_A_LOCK_WAITERS, 3);
	nla_put_u32(a->msg, WEFT_A_LOCK_QUEUE, 31);
	nla_put_u32(a->msg, WEFT_A_LOCK_GRANTS, 4);
	nla_put_u32(a->msg, WEFT_A_LOCK_HAND_OVERS, 6 + 10 * n);
	nla_put_flag(a->msg, WEFT_A_LOCK_OPEN);
	nla_put_flag(a->msg, WEFT_A_LOCK_TENURED);
	return end(a);
}

static int answer_loss(struct answering *a, uint32_t region, uint64_t first, uint64_t blocks)
{
	begin(a);
	nla_put_u32(a->msg, WEFT_A_LOST_MEMBER, 33);
	if (region) {
		nla_put_u32(a->msg, WEFT_A_LOST_REGION, region);
		nla_put_u32(a->msg, WEFT_A_LOST_BLOCK, 4096);
		nla_put_u64(a->msg, WEFT_A_LOST_OFFSET, first * 4096);
		nla_put_u64(a->msg, WEFT_A_LOST_LENGTH, blocks * 4096);
	}
	return end(a);
}

/* Blade 34 has what lies between and behind what 33 has. */
static int answer_lost(struct answering *a, struct nl_msg *request)
{
	uint32_t member = nla_get_u32(nlmsg_find_attr(nlmsg_hdr(request), GENL_HDRLEN,
						      WEFT_A_LOST_MEMBER));

	if (!strcmp(scenario(), "nothing-lost"))
		return answer_loss(a, 0, 0, 0);
	if (member == 34 && second_is_silent())
		return -ETIMEDOUT;
	if (member == 34)
		return answer_loss(a, 0, 0, 0) || answer_loss(a, 7, 64, 64) ||
		       answer_loss(a, 4711, (UINT64_C(1) << 35) - 1, 1);
	return answer_loss(a, 0, 0, 0) || answer_loss(a, 7, 60, 4) ||
	       answer_loss(a, 7, 128, 1) || answer_loss(a, 7, 200, 1) || answer_loss(a, 9, 0, 2);
}

int genl_call(struct nl_msg *msg, int max, genl_answer_fn *answer, void *arg,
	      struct genl_refusal *why)
{
	struct answering a = { NULL, max, answer, arg };
	uint8_t cmd = ((struct genlmsghdr *)nlmsg_data(nlmsg_hdr(msg)))->cmd;
	size_t i;

	*why = (struct genl_refusal){ .code = refuse_any_rack(msg, cmd) };
	write_down(msg);
	if (why->code) {
		nlmsg_free(msg);
		return why->code;
	}
	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refused *r = &refusals[i];

		if (r->cmd != cmd || strcmp(r->scenario, scenario()))
			continue;
		why->code = r->code;
		why->attr = r->attr;
		why->missing = r->missing;
		strcpy(why->text, r->text);
		nlmsg_free(msg);
		return why->code;
	}
	if (cmd == WEFT_CMD_CONFIG_GET)
		why->code = answer_config(&a, 7, "eth0");
	else if (cmd == WEFT_CMD_RACK_GET)
		why->code = answer_racks(&a);
	else if (cmd == WEFT_CMD_STATUS_GET)
		why->code = answer_status(&a);
	else if (cmd == WEFT_CMD_PEER_GET)
		why->code = answer_peers(&a);
	else if (cmd == WEFT_CMD_STATS_GET)
		why->code = answer_stats(&a);
	else if (cmd == WEFT_CMD_REGION_GET)
		why->code = answer_regions(&a);
	else if (cmd == WEFT_CMD_LINE_GET)
		why->code = answer_lines(&a);
	else if (cmd == WEFT_CMD_LOCK_GET)
		why->code = answer_locks(&a);
	else if (cmd == WEFT_CMD_LOST_GET)
		why->code = answer_lost(&a, msg);
	else if (cmd == WEFT_CMD_BLADE_GET)
		why->code = answer_blades(&a);
	else if (cmd == WEFT_CMD_HIST_GET)
		why->code = answer_hists(&a);
	else if (cmd == WEFT_CMD_BLADE_STATS_GET)
		why->code = answer_blade(&a, msg);
	else if (cmd == WEFT_CMD_SWITCH_STATS_GET)
		why->code = answer_switch(&a);
	nlmsg_free(msg);
	return why->code;
}
