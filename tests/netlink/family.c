// SPDX-License-Identifier: GPL-2.0-only
/* The netlink family as a client on libmnl sees it, see family.h. */
#include "family.h"

#include <linux/genetlink.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>

#define WAIT_SECONDS	60
#define BUFFER		32768

int bad;

void wrong(const char *format, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	bad = 1;
}

/* --- What the header says ----------------------------------------------------- */

/* What one kind of attribute looks like, as libmnl names it; 0: there is none. */
#define U32	MNL_TYPE_U32
#define U64	MNL_TYPE_U64
#define STRING	MNL_TYPE_NUL_STRING
#define FLAG	MNL_TYPE_FLAG
#define NEST	MNL_TYPE_NESTED
#define SECRET	MNL_TYPE_BINARY	/* in no answer */

/* An object's attributes; which of them were seen in an answer; which a request had that
 * was not refused.
 */
static struct {
	const char *name;
	uint32_t max;
	uint32_t pad;
	uint32_t request;	/* the one that only requests have */
	uint8_t type[ATTRS_MAX];
	uint32_t seen;
	uint32_t asked;
} sets[SETS] = {
	[CONFIG] = { "config", WEFT_A_CONFIG_MAX, 0, 0, {
		[WEFT_A_CONFIG_ID] = U32, [WEFT_A_CONFIG_RACK] = U32,
		[WEFT_A_CONFIG_IFINDEX] = U32, [WEFT_A_CONFIG_IFNAME] = STRING,
		[WEFT_A_CONFIG_HOME] = U32, [WEFT_A_CONFIG_TIMEOUT_MS] = U32,
		[WEFT_A_CONFIG_HOLD_US] = U32, [WEFT_A_CONFIG_ADDRESS] = U32,
		[WEFT_A_CONFIG_MTU] = U32, [WEFT_A_CONFIG_WIRE_VERSION] = U32,
		[WEFT_A_CONFIG_KEY] = SECRET, [WEFT_A_CONFIG_JOINS] = U32,
		[WEFT_A_CONFIG_TWIN] = U32 }, 0, 0 },
	[STATUS] = { "status", WEFT_A_STATUS_MAX, WEFT_A_STATUS_PAD, 0, {
		[WEFT_A_STATUS_JOINED] = FLAG, [WEFT_A_STATUS_LIFE] = U32,
		[WEFT_A_STATUS_ANSWERED_MS] = U32, [WEFT_A_STATUS_MEMBERS] = U32,
		[WEFT_A_STATUS_REGIONS] = U64, [WEFT_A_STATUS_LINES] = U64,
		[WEFT_A_STATUS_CACHE_BYTES] = U64, [WEFT_A_STATUS_CACHE_MAX] = U64,
		[WEFT_A_STATUS_FINGERPRINT] = U32, [WEFT_A_STATUS_REFUSED] = STRING,
		[WEFT_A_STATUS_REFUSED_FROM] = U32, [WEFT_A_STATUS_REFUSED_MS] = U64,
		[WEFT_A_STATUS_RACK] = U32, [WEFT_A_STATUS_LEASE_MS] = U32 }, 0, 0 },
	[COUNTER] = { "counter", WEFT_A_COUNTER_MAX, WEFT_A_COUNTER_PAD, WEFT_A_COUNTER_RACK, {
		[WEFT_A_COUNTER_MEMBER] = U32, [WEFT_A_COUNTER_NAME] = STRING,
		[WEFT_A_COUNTER_VALUE] = U64, [WEFT_A_COUNTER_RACK] = U32 }, 0, 0 },
	[PEER] = { "peer", WEFT_A_PEER_MAX, 0, WEFT_A_PEER_RACK, {
		[WEFT_A_PEER_ID] = U32, [WEFT_A_PEER_ADDRESS] = U32,
		[WEFT_A_PEER_SELF] = FLAG, [WEFT_A_PEER_JOINED] = FLAG,
		[WEFT_A_PEER_RACK] = U32, [WEFT_A_PEER_RDMA] = FLAG,
		[WEFT_A_PEER_WHY_UDP] = STRING, [WEFT_A_PEER_TWIN] = U32,
		[WEFT_A_PEER_VIEW] = U32 }, 0, 0 },
	[HIST] = { "hist", WEFT_A_HIST_MAX, WEFT_A_HIST_PAD, WEFT_A_HIST_RACK, {
		[WEFT_A_HIST_NAME] = STRING, [WEFT_A_HIST_NSEC] = U64,
		[WEFT_A_HIST_BUCKET] = NEST, [WEFT_A_HIST_RACK] = U32 }, 0, 0 },
	[BUCKET] = { "bucket", WEFT_A_BUCKET_MAX, WEFT_A_BUCKET_PAD, 0, {
		[WEFT_A_BUCKET_BELOW] = U64, [WEFT_A_BUCKET_COUNT] = U64 }, 0, 0 },
	[REGION] = { "region", WEFT_A_REGION_MAX, WEFT_A_REGION_PAD, WEFT_A_REGION_RACK, {
		[WEFT_A_REGION_ID] = U32, [WEFT_A_REGION_NAME] = STRING,
		[WEFT_A_REGION_SIZE] = U64, [WEFT_A_REGION_BLOCK] = U32,
		[WEFT_A_REGION_LINES] = U32, [WEFT_A_REGION_LOCKS] = U32,
		[WEFT_A_REGION_GONE] = FLAG, [WEFT_A_REGION_POLICY] = U32,
		[WEFT_A_REGION_NODES] = U32, [WEFT_A_REGION_HOMES] = U32,
		[WEFT_A_REGION_RACK] = U32 }, 0, 0 },
	[LINE] = { "line", WEFT_A_LINE_MAX, WEFT_A_LINE_PAD, WEFT_A_LINE_RACK, {
		[WEFT_A_LINE_REGION] = U32, [WEFT_A_LINE_INDEX] = U64,
		[WEFT_A_LINE_STATE] = U32, [WEFT_A_LINE_OP] = U32,
		[WEFT_A_LINE_WAITERS] = U32, [WEFT_A_LINE_MISSES] = U32,
		[WEFT_A_LINE_REVOCATIONS] = U32, [WEFT_A_LINE_DIRTY] = FLAG,
		[WEFT_A_LINE_REVOKING] = FLAG, [WEFT_A_LINE_AHEAD] = FLAG,
		[WEFT_A_LINE_RACK] = U32 }, 0, 0 },
	[LOCK] = { "lock", WEFT_A_LOCK_MAX, WEFT_A_LOCK_PAD, WEFT_A_LOCK_RACK, {
		[WEFT_A_LOCK_REGION] = U32, [WEFT_A_LOCK_OFFSET] = U64,
		[WEFT_A_LOCK_STATE] = U32, [WEFT_A_LOCK_WANT] = U32,
		[WEFT_A_LOCK_READERS] = U32, [WEFT_A_LOCK_WAITERS] = U32,
		[WEFT_A_LOCK_QUEUE] = U32, [WEFT_A_LOCK_GRANTS] = U32,
		[WEFT_A_LOCK_HAND_OVERS] = U32, [WEFT_A_LOCK_WRITER] = FLAG,
		[WEFT_A_LOCK_OPEN] = FLAG, [WEFT_A_LOCK_TENURED] = FLAG,
		[WEFT_A_LOCK_REVOKING] = FLAG, [WEFT_A_LOCK_RACK] = U32 }, 0, 0 },
	[LOST] = { "lost", WEFT_A_LOST_MAX, WEFT_A_LOST_PAD, WEFT_A_LOST_RACK, {
		[WEFT_A_LOST_MEMBER] = U32, [WEFT_A_LOST_REGION] = U32,
		[WEFT_A_LOST_BLOCK] = U32, [WEFT_A_LOST_OFFSET] = U64,
		[WEFT_A_LOST_LENGTH] = U64, [WEFT_A_LOST_RACK] = U32 }, 0, 0 },
	[BLADE] = { "blade", WEFT_A_BLADE_MAX, WEFT_A_BLADE_PAD, WEFT_A_BLADE_RACK, {
		[WEFT_A_BLADE_MEMBER] = U32, [WEFT_A_BLADE_ADDRESS] = U32,
		[WEFT_A_BLADE_ACTION] = U32, [WEFT_A_BLADE_JOINED] = FLAG,
		[WEFT_A_BLADE_DRAINS] = FLAG, [WEFT_A_BLADE_BYTES] = U64,
		[WEFT_A_BLADE_NEEDED] = U64, [WEFT_A_BLADE_REGIONS] = U32,
		[WEFT_A_BLADE_RACK] = U32 }, 0, 0 },
	[EVENT] = { "event", WEFT_A_EVENT_MAX, WEFT_A_EVENT_PAD, 0, {
		[WEFT_A_EVENT_KIND] = U32, [WEFT_A_EVENT_TIME] = U64,
		[WEFT_A_EVENT_MISSED] = U32, [WEFT_A_EVENT_MEMBER] = U32,
		[WEFT_A_EVENT_REGION] = U32, [WEFT_A_EVENT_NAME] = STRING,
		[WEFT_A_EVENT_OFFSET] = U64, [WEFT_A_EVENT_COUNT] = U64,
		[WEFT_A_EVENT_ERRNO] = U32, [WEFT_A_EVENT_PID] = U32,
		[WEFT_A_EVENT_COMM] = STRING, [WEFT_A_EVENT_SWITCH] = FLAG,
		[WEFT_A_EVENT_RACK] = U32, [WEFT_A_EVENT_ADDRESS] = U32 }, 0, 0 },
};

/* What each command's object is, and whether it is a list. */
static const struct { uint8_t set; bool list, admin; } commands[WEFT_CMD_MAX + 1] = {
	[WEFT_CMD_EVENT] = { EVENT, false, false },
	[WEFT_CMD_CONFIG_SET] = { CONFIG, false, true },
	[WEFT_CMD_CONFIG_CLEAR] = { CONFIG, false, true },
	[WEFT_CMD_CONFIG_GET] = { CONFIG, false, false },
	[WEFT_CMD_TUNE] = { CONFIG, false, true },
	[WEFT_CMD_STATUS_GET] = { STATUS, false, false },
	[WEFT_CMD_STATS_GET] = { COUNTER, true, false },
	[WEFT_CMD_BLADE_STATS_GET] = { COUNTER, true, false },
	[WEFT_CMD_SWITCH_STATS_GET] = { COUNTER, true, false },
	[WEFT_CMD_PEER_GET] = { PEER, true, false },
	[WEFT_CMD_HIST_GET] = { HIST, true, false },
	[WEFT_CMD_REGION_GET] = { REGION, true, false },
	[WEFT_CMD_LINE_GET] = { LINE, true, false },
	[WEFT_CMD_LOCK_GET] = { LOCK, true, false },
	[WEFT_CMD_RACK_GET] = { CONFIG, true, false },
	[WEFT_CMD_NODE_FENCE] = { PEER, true, true },
	[WEFT_CMD_LOST_GET] = { LOST, true, false },
	[WEFT_CMD_BLADE_GET] = { BLADE, true, false },
	[WEFT_CMD_BLADE_SET] = { BLADE, true, true },
	[WEFT_CMD_REGION_SPREAD] = { REGION, true, true },
};

/* --- Messages ------------------------------------------------------------------- */

static struct mnl_socket *sock;
static uint32_t seq, port;
static uint16_t family;
static uint32_t group;
static uint32_t ops[WEFT_CMD_MAX + 2];		/* what the family says of its commands */

/* The request that is put together, and what came of it. */
static uint8_t request[BUFFER];
struct refusal refusal;

struct answer {
	uint8_t cmd;
	take_fn take;
	void *data;
	uint32_t n;
};

static int attr_cb(const struct nlattr *a, void *data)
{
	struct object *o = data;
	uint16_t type = mnl_attr_get_type(a);

	if (type > sets[o->set].max || (!sets[o->set].type[type] && type != sets[o->set].pad)) {
		wrong("%s: attribute %u is not in the header", sets[o->set].name, type);
		return MNL_CB_OK;
	}
	if (type == sets[o->set].pad)
		return MNL_CB_OK;
	if (mnl_attr_validate(a, sets[o->set].type[type]) < 0)
		wrong("%s: attribute %u: %s", sets[o->set].name, type, strerror(errno));
	if (o->set == CONFIG && type == WEFT_A_CONFIG_HOME)
		o->homes++;
	else if (o->set == CONFIG && type == WEFT_A_CONFIG_TWIN)
		o->twins++;
	else if (o->set == HIST && type == WEFT_A_HIST_BUCKET && o->n_buckets < BUCKETS_MAX)
		o->buckets[o->n_buckets++] = a;
	else if (o->has & BIT(type))
		wrong("%s: attribute %u twice", sets[o->set].name, type);
	o->attr[type] = a;
	o->has |= BIT(type);
	return MNL_CB_OK;
}

static void parse(struct object *o, uint8_t set, const struct nlmsghdr *h)
{
	memset(o, 0, sizeof(*o));
	o->set = set;
	mnl_attr_parse(h, GENL_HDRLEN, attr_cb, o);
	sets[set].seen |= o->has;
}

uint64_t number(const struct object *o, uint16_t type)
{
	if (!o->attr[type])
		return 0;
	return sets[o->set].type[type] == U64 ? mnl_attr_get_u64(o->attr[type]) :
						mnl_attr_get_u32(o->attr[type]);
}

const char *text(const struct object *o, uint16_t type)
{
	return o->attr[type] ? mnl_attr_get_str(o->attr[type]) : "";
}

void object_nested(struct object *o, uint8_t set, const struct nlattr *nest)
{
	memset(o, 0, sizeof(*o));
	o->set = set;
	mnl_attr_parse_nested(nest, attr_cb, o);
	sets[set].seen |= o->has;
}

static int message_cb(const struct nlmsghdr *h, void *data)
{
	const struct genlmsghdr *g = mnl_nlmsg_get_payload(h);
	struct answer *answer = data;
	struct object o;

	if (h->nlmsg_type != family || g->cmd != answer->cmd) {
		wrong("command %u is answered by type %u, command %u", answer->cmd,
		      h->nlmsg_type, g->cmd);
		return MNL_CB_OK;
	}
	answer->n++;
	parse(&o, commands[g->cmd].set, h);
	if (answer->take)
		answer->take(&o, answer->data);
	return MNL_CB_OK;
}

static int refusal_cb(const struct nlattr *a, void *data)
{
	(void)data;
	switch (mnl_attr_get_type(a)) {
	case NLMSGERR_ATTR_MSG:
		refusal.sentence = *mnl_attr_get_str(a) != 0;
		break;
	case NLMSGERR_ATTR_OFFS:
		refusal.place = true;
		break;
	case NLMSGERR_ATTR_MISS_TYPE:
		refusal.missing = mnl_attr_get_u32(a);
		break;
	}
	return MNL_CB_OK;
}

/* NLMSG_ERROR, with 0 an acknowledgment, and the end of a list, which may be one, too. */
static int end_cb(const struct nlmsghdr *h, void *data)
{
	unsigned int at = h->nlmsg_type == NLMSG_ERROR ? sizeof(struct nlmsgerr) : sizeof(int);
	int err;

	(void)data;
	memcpy(&err, mnl_nlmsg_get_payload(h), sizeof(err));
	if (!err)
		return MNL_CB_STOP;
	if (h->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(h, at, refusal_cb, NULL);
	errno = -err;
	return MNL_CB_ERROR;
}

static struct nlmsghdr *begin(uint16_t type, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(request);
	struct genlmsghdr *g;

	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | flags;
	h->nlmsg_seq = ++seq;
	g = mnl_nlmsg_put_extra_header(h, sizeof(*g));
	g->cmd = cmd;
	g->version = WEFT_GENL_VERSION;
	return h;
}

/* Sends the request.  Return: 0, or the errno of its answer. */
static int send_request(mnl_cb_t cb, void *data)
{
	static mnl_cb_t control[] = {
		[NLMSG_ERROR] = end_cb, [NLMSG_DONE] = end_cb,
	};
	static uint8_t buf[BUFFER];
	const struct nlmsghdr *h = (void *)request;
	ssize_t n;
	int more;

	memset(&refusal, 0, sizeof(refusal));
	if (mnl_socket_sendto(sock, h, h->nlmsg_len) < 0)
		return errno;
	do {
		n = mnl_socket_recvfrom(sock, buf, sizeof(buf));
		if (n < 0) {
			perror("# no answer");
			exit(1);
		}
		more = mnl_cb_run2(buf, (size_t)n, h->nlmsg_seq, port, cb, data, control,
				   MNL_ARRAY_SIZE(control));
	} while (more > 0);
	return more < 0 ? errno : 0;
}

struct nlmsghdr *family_command(uint8_t cmd)
{
	return begin(family, cmd, commands[cmd].list ? NLM_F_DUMP : NLM_F_ACK);
}

static int asked_cb(const struct nlattr *a, void *data)
{
	uint32_t *asked = data;

	*asked |= BIT(mnl_attr_get_type(a));
	return MNL_CB_OK;
}

int family_ask(uint8_t cmd, take_fn take, void *data)
{
	struct answer answer = { cmd, take, data, 0 };
	int err = send_request(message_cb, &answer);

	if (!err)
		mnl_attr_parse((void *)request, GENL_HDRLEN, asked_cb,
			       &sets[commands[cmd].set].asked);
	return err ? -err : (int)answer.n;
}

int family_ask_plain(uint8_t cmd, take_fn take, void *data)
{
	family_command(cmd);
	return family_ask(cmd, take, data);
}

/* --- The family ------------------------------------------------------------------- */

static int pair_cb(const struct nlattr *a, void *data)
{
	const struct nlattr **pair = data;

	if (mnl_attr_get_type(a) <= 2)
		pair[mnl_attr_get_type(a)] = a;
	return MNL_CB_OK;
}

static int family_cb(const struct nlattr *a, void *data)
{
	const struct nlattr *inner, *pair[3];
	uint16_t type = mnl_attr_get_type(a);

	(void)data;
	if (type == CTRL_ATTR_FAMILY_ID)
		family = mnl_attr_get_u16(a);
	if (type == CTRL_ATTR_VERSION)
		MUST(mnl_attr_get_u32(a) == WEFT_GENL_VERSION, "the family's version");
	if (type != CTRL_ATTR_OPS && type != CTRL_ATTR_MCAST_GROUPS)
		return MNL_CB_OK;
	mnl_attr_for_each_nested(inner, a) {
		memset(pair, 0, sizeof(pair));
		mnl_attr_parse_nested(inner, pair_cb, pair);
		if (!pair[1] || !pair[2])
			continue;
		if (type == CTRL_ATTR_OPS) {
			uint32_t cmd = mnl_attr_get_u32(pair[CTRL_ATTR_OP_ID]);

			ops[cmd <= WEFT_CMD_MAX ? cmd : WEFT_CMD_MAX + 1] =
				mnl_attr_get_u32(pair[CTRL_ATTR_OP_FLAGS]) | 1u << 31;
		} else if (!strcmp(mnl_attr_get_str(pair[CTRL_ATTR_MCAST_GRP_NAME]),
				   WEFT_GENL_GROUP_EVENTS)) {
			group = mnl_attr_get_u32(pair[CTRL_ATTR_MCAST_GRP_ID]);
		}
	}
	return MNL_CB_OK;
}

static int family_message_cb(const struct nlmsghdr *h, void *data)
{
	return mnl_attr_parse(h, GENL_HDRLEN, family_cb, data);
}

void family_find(void)
{
	const struct timeval limit = { .tv_sec = WAIT_SECONDS };
	struct nlmsghdr *h;
	int one = 1;

	sock = mnl_socket_open(NETLINK_GENERIC);
	if (!sock || mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, &one, sizeof(one)) < 0 ||
	    mnl_socket_setsockopt(sock, NETLINK_CAP_ACK, &one, sizeof(one)) < 0 ||
	    setsockopt(mnl_socket_get_fd(sock), SOL_SOCKET, SO_RCVTIMEO, &limit,
		       sizeof(limit))) {
		perror("# cannot open a socket");
		exit(1);
	}
	port = mnl_socket_get_portid(sock);
	h = begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	mnl_attr_put_strz(h, CTRL_ATTR_FAMILY_NAME, WEFT_GENL_NAME);
	if (send_request(family_message_cb, NULL) || !family || !group) {
		puts("# there is no family " WEFT_GENL_NAME ", or it has no group "
		     WEFT_GENL_GROUP_EVENTS);
		exit(1);
	}
}

/* The family says of its commands what we know of them, and has no others. */
void family_check_commands(void)
{
	uint8_t cmd;

	for (cmd = 1; cmd <= WEFT_CMD_MAX; cmd++) {
		if (cmd == WEFT_CMD_EVENT) {
			MUST(!ops[cmd], "EVENT can be asked for");
			continue;
		}
		MUST(!!(ops[cmd] & GENL_CMD_CAP_DUMP) == commands[cmd].list &&
		     !!(ops[cmd] & GENL_CMD_CAP_DO) != commands[cmd].list,
		     "command %u: do or dump: %#x", cmd, ops[cmd]);
		MUST(!!(ops[cmd] & GENL_ADMIN_PERM) == commands[cmd].admin,
		     "command %u: who may use it: %#x", cmd, ops[cmd]);
		begin(family, cmd, commands[cmd].list ? NLM_F_ACK : NLM_F_DUMP);
		MUST(family_ask(cmd, NULL, NULL) == -EOPNOTSUPP, "command %u the other way round", cmd);
	}
	MUST(!ops[WEFT_CMD_MAX + 1], "a command that is not in the header");
}

void check_seen(uint32_t first, uint32_t last)
{
	uint32_t i, type;

	for (i = first; i <= last; i++) {
		for (type = 1; type <= sets[i].max; type++) {
			bool hidden = sets[i].type[type] == SECRET || type == sets[i].request;

			if (type != sets[i].pad && hidden != !(sets[i].seen & BIT(type)))
				wrong("%s: attribute %u was never seen, or is not to be", sets[i].name, type);
			if (hidden && !(sets[i].asked & BIT(type)))
				wrong("%s: attribute %u was never accepted", sets[i].name, type);
		}
	}
}

void family_listen(void)
{
	if (mnl_socket_setsockopt(sock, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
		wrong("cannot join the group of events: %s", strerror(errno));
}

bool family_event(int ms, take_fn take, void *data)
{
	struct pollfd fd = { .fd = mnl_socket_get_fd(sock), .events = POLLIN };
	struct answer answer = { WEFT_CMD_EVENT, take, data, 0 };
	uint8_t buf[BUFFER];
	ssize_t n;

	if (poll(&fd, 1, ms) <= 0)
		return false;
	n = mnl_socket_recvfrom(sock, buf, sizeof(buf));
	if (n < 0 || mnl_cb_run(buf, (size_t)n, 0, 0, message_cb, &answer) < 0)
		wrong("events: %s", strerror(errno));
	return answer.n;
}
