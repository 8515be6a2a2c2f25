// SPDX-License-Identifier: GPL-2.0-only
/* A rack in one process, see rig.h. */
#include "rig.h"

#include "tests/stations.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "call.h"
#include "tests/common/argument.h"
#include "tests/common/folder.h"
#include "tests/common/ports.h"
#include "tools/common/random.h"

#define HEADERS		28
#define DATAGRAM_MAX	9216

/* A datagram on its way. */
struct parcel {
	struct parcel *next;
	u64 when;
	u32 from;
	u32 to;
	size_t len;
	u8 buf[];
};

unsigned long rig_joined;
unsigned long rig_from_former;
unsigned long rig_from_elsewhere;
unsigned long rig_hints;
struct rig_faults rig_faults;
struct weft_switch rig_switch;
struct weft_msg rig_asked;
bool rig_p4;
struct weft_key rig_key;
void (*rig_take)(u32 id, const struct weft_msg *msg);

static int tun_fd = -1;
static int node_fd[RIG_NODES + 1];
static struct parcel *parcels;
static uint64_t random_state = 1;
static char dir[FOLDER_MAX];
static u32 port;
static u32 clock_epoch, clock_ahead;
static u32 moved[RIG_BLADES], former[RIG_BLADES];	/* blades whose twin has taken over */

/* Members that are to be cut off, by id. */
static struct {
	bool set;
	u32 after;
	u32 passed;
} cuts[WEFT_BLADE_MAX + 1];

/* --- small things ----------------------------------------------------------- */

u32 rig_random(u32 n)
{
	return (u32)random_below(&random_state, n);
}

static bool chance(int per_mille)
{
	return per_mille && rig_random(1000) < (u32)per_mille;
}

u32 rig_addr(u32 id)
{
	/* blades are apart, see weft_switch_addr() */
	u32 host;

	if (weft_is_blade(id) && id - WEFT_BLADE_MIN < RIG_BLADES && moved[id - WEFT_BLADE_MIN])
		return moved[id - WEFT_BLADE_MIN];
	host = weft_is_blade(id) ? 101 + 4 * (id - WEFT_BLADE_MIN) : id;

	return (tun_fd >= 0 ? 0x0A570000u : 0x7F000000u) | host;
}

void rig_move(u32 id, u32 addr)
{
	former[id - WEFT_BLADE_MIN] = addr ? rig_addr(id) : 0;
	moved[id - WEFT_BLADE_MIN] = addr;
	rig_from_former = 0;
}

static u32 id_of(u32 addr)
{
	u32 host = addr & 255, i;

	for (i = 0; i < RIG_BLADES; i++)
		if (moved[i] && addr == moved[i])
			return WEFT_BLADE_MIN + i;
	return host > 100 ? WEFT_BLADE_MIN + (host - 101) / 4 : host;
}

u32 rig_port(void)
{
	return port;
}

void rig_cut(u32 id, u32 after)
{
	cuts[id].set = true;
	cuts[id].after = after;
	cuts[id].passed = 0;
}

void rig_heal(u32 id)
{
	cuts[id].set = false;
}

bool rig_is_cut(u32 id)
{
	return cuts[id].set && cuts[id].passed >= cuts[id].after;
}

u32 rig_passed(u32 id)
{
	return cuts[id].passed;
}

/* Of a datagram at this member.  Return: false if it gets no further. */
static bool passes(u32 addr)
{
	u32 id = id_of(addr);

	if (id > WEFT_BLADE_MAX)
		return true;
	if (rig_is_cut(id))
		return false;
	cuts[id].passed++;
	return true;
}

int rig_socket(u32 node)
{
	return node_fd[node];
}

const char *rig_dir(void)
{
	return dir;
}

/* --- key and clock ------------------------------------------------------------ */

static u32 ticks(void)
{
	return (u32)(now_ms() * WEFT_TICK_HZ / 1000);
}

void rig_clock_set(struct weft_stamp stamp)
{
	clock_epoch = stamp.epoch;
	clock_ahead = stamp.tick - ticks();
}

struct weft_stamp rig_stamp(void)
{
	return (struct weft_stamp){ clock_epoch, ticks() + clock_ahead };
}

u32 rig_fragment(void)
{
	return weft_wire_fragment(1500 - HEADERS, &rig_key);
}

size_t rig_pack(const struct weft_msg *msg, u8 *buf)
{
	if (msg->len)
		memcpy(buf + WEFT_WIRE_HDR_LEN, msg->payload, msg->len);
	return weft_wire_pack(msg, buf, &rig_key, rig_stamp());
}

/* As weft-memd makes it. */
static void make_key(void)
{
	const char *build = getenv("BUILD");
	u8 bytes[WEFT_KEY_LEN];
	char command[256], text[WEFT_KEY_TEXT + 2];
	FILE *f;

	snprintf(command, sizeof(command), "'%s/bin/weft-memd' --make-key '%s/key' >/dev/null",
		 build ? build : "build", dir);
	if (system(command))
		CHECK_FAIL("no key can be made");
	snprintf(command, sizeof(command), "%s/key", dir);
	f = fopen(command, "r");
	if (!f || !fgets(text, sizeof(text), f) || weft_key_parse(bytes, text, strlen(text)))
		CHECK_FAIL("%s cannot be read", command);
	fclose(f);
	weft_key_init(&rig_key, bytes);
}

/* --- opening ---------------------------------------------------------------- */

static void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		CHECK_FAIL("%s: %s", path, strerror(errno));
	close(fd);
}

static void new_namespace(void)
{
	char map[64];
	unsigned int uid = getuid(), gid = getgid();

	if (!unshare(CLONE_NEWNET))
		return;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
		printf("skipped: no network namespace can be made here: %s\n", strerror(errno));
		exit(77);
	}
	put_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	put_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	put_file("/proc/self/gid_map", map);
}

static void set_addr(int fd, const char *name, u32 addr, u32 mask)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	struct ifreq ifr;

	memset(&ifr, 0, sizeof(ifr));
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	a.sin_addr.s_addr = htonl(addr);
	memcpy(&ifr.ifr_addr, &a, sizeof(a));
	if (addr && ioctl(fd, SIOCSIFADDR, &ifr))
		CHECK_FAIL("address of %s: %s", name, strerror(errno));
	a.sin_addr.s_addr = htonl(mask);
	memcpy(&ifr.ifr_netmask, &a, sizeof(a));
	if (mask && ioctl(fd, SIOCSIFNETMASK, &ifr))
		CHECK_FAIL("netmask of %s: %s", name, strerror(errno));
	if (ioctl(fd, SIOCGIFFLAGS, &ifr))
		CHECK_FAIL("flags of %s: %s", name, strerror(errno));
	ifr.ifr_flags |= IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr))
		CHECK_FAIL("bringing up %s: %s", name, strerror(errno));
}

static void open_tun(void)
{
	int fd, i;
	struct ifreq ifr;
	char alias[16];

	new_namespace();
	tun_fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (tun_fd < 0) {
		printf("skipped: no /dev/net/tun here: %s\n", strerror(errno));
		exit(77);
	}
	memset(&ifr, 0, sizeof(ifr));
	ifr.ifr_flags = IFF_TUN | IFF_NO_PI;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "rack0");
	if (ioctl(tun_fd, TUNSETIFF, &ifr)) {
		printf("skipped: no tun interface can be made here: %s\n", strerror(errno));
		exit(77);
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	set_addr(fd, "lo", 0, 0);
	for (i = 0; i < RIG_BLADES; i++) {
		snprintf(alias, sizeof(alias), i ? "rack0:%d" : "rack0", i);
		set_addr(fd, alias, rig_addr(WEFT_BLADE_MIN + (u32)i), 0xFFFFFF00);
	}
	close(fd);
	port = WEFT_WIRE_UDP_PORT;
}

static void open_loopback(void)
{
	u32 i;

	port = ports_claim();
	for (i = 1; i <= RIG_NODES; i++) {
		struct sockaddr_in a = {
			.sin_family = AF_INET,
			.sin_port = htons((u16)port),
			.sin_addr.s_addr = htonl(rig_addr(i)),
		};

		node_fd[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		/* a blade holds the port at all addresses, and shares it with its user */
		(void)!setsockopt(node_fd[i], SOL_SOCKET, SO_REUSEPORT, &(int){ 1 }, sizeof(int));
		if (bind(node_fd[i], (struct sockaddr *)&a, sizeof(a)))
			CHECK_FAIL("port %u: %s", port, strerror(errno));
	}
}

/* A check has failed. */
static void give_up(void)
{
	rig_show();
	rig_close();
}

u32 rig_scale(void)
{
	return check_scale();
}

void rig_open(bool tun, unsigned int seed)
{
	check_at_end = give_up;
	random_state = seed;
	folder_make(dir, sizeof(dir), folder_usual(), "memd");
	if (getenv("WEFT_RIG_KEY"))
		make_key();
	rig_switch.slots = calloc(WEFT_SWITCH_SLOTS, sizeof(*rig_switch.slots));
	if (!rig_switch.slots)
		CHECK_FAIL("out of memory");
	stations_by_id(&rig_switch);
	if (tun)
		open_tun();
	else
		open_loopback();
}

void rig_close(void)
{
	rig_memd_stop_all();
	folder_remove();
	dir[0] = 0;
}

void rig_show(void)
{
	char command[160];

	if (!dir[0])
		return;
	snprintf(command, sizeof(command), "tail -n 60 '%s'/*.log >&2 2>/dev/null", dir);
	(void)!system(command);
}

/* The administrator's options come with a restart again. */
void rig_switch_restart(void)
{
	struct weft_slot *slots = rig_switch.slots;

	memset(slots, 0, WEFT_SWITCH_SLOTS * sizeof(*slots));
	memset(&rig_switch, 0, sizeof(rig_switch));
	rig_switch.slots = slots;
	stations_by_id(&rig_switch);
}

/* --- network ---------------------------------------------------------------- */

static void to_blade(u32 from, u16 from_port, u32 to, const void *buf, size_t len)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons((u16)port),
		.sin_addr.s_addr = htonl(to),
	};
	u8 p[HEADERS + DATAGRAM_MAX];
	u32 sum = 0;
	int i;

	/* if it does not take it, it is lost, as on a wire */
	if (tun_fd < 0) {
		(void)!sendto(node_fd[id_of(from)], buf, len, 0,
			      (struct sockaddr *)&a, sizeof(a));
		return;
	}
	memset(p, 0, HEADERS);
	p[0] = 0x45;
	put_unaligned_be16((u16)(HEADERS + len), p + 2);
	p[8] = 64;
	p[9] = IPPROTO_UDP;
	put_unaligned_be32(from, p + 12);
	put_unaligned_be32(to, p + 16);
	for (i = 0; i < 20; i += 2)
		sum += get_unaligned_be16(p + i);
	sum = (sum & 0xFFFF) + (sum >> 16);
	put_unaligned_be16((u16)~(sum + (sum >> 16)), p + 10);
	put_unaligned_be16(from_port, p + 20);
	put_unaligned_be16((u16)port, p + 22);
	put_unaligned_be16((u16)(len + 8), p + 24);
	memcpy(p + HEADERS, buf, len);
	(void)!write(tun_fd, p, HEADERS + len);
}

/*
 * Does a message come from where a blade was, or a call or an answer from where it is not
 * yet?  Without twins none does.
 */
static bool is_elsewhere(const struct parcel *p, const struct weft_msg *msg)
{
	struct weft_call c;
	u32 i;

	if (msg->type == WEFT_MSG_CALL && !weft_call_unpack(&c, msg->payload, msg->len) &&
	    c.op == WEFT_CALL_TWIN)
		return false;
	for (i = 0; i < RIG_BLADES; i++)
		if (former[i] && p->from == former[i]) {
			rig_from_former++;
			return true;
		}
	if ((msg->type != WEFT_MSG_CALL && msg->type != WEFT_MSG_REPLY) ||
	    !weft_is_blade(msg->src) || p->from == rig_addr(msg->src))
		return false;
	rig_from_elsewhere++;
	return true;
}

static void arrive(struct parcel *p)
{
	struct weft_msg msg;
	size_t at, n;
	int err;

	if (!passes(p->to))
		return;
	if (weft_is_blade(id_of(p->to))) {
		to_blade(p->from, (u16)port, p->to, p->buf, p->len);
		return;
	}
	/* what a stranger is answered */
	if (id_of(p->to) > RIG_NODES)
		return;
	for (at = 0; at < p->len; at += n) {
		n = weft_wire_first(p->buf + at, p->len - at);
		err = weft_wire_unpack(&msg, p->buf + at, n, &rig_key);
		/* why a JOIN with a wrong key is refused: a hint, and no more */
		if (err == -ENOKEY && msg.type == WEFT_MSG_REPLY) {
			rig_hints++;
			continue;
		}
		CHECK_EQ(err, 0);
		if (is_elsewhere(p, &msg))
			continue;
		rig_joined += at > 0;
		if (rig_take)
			rig_take(id_of(p->to), &msg);
	}
}

/* The last hop, where things go wrong. */
static void hop(u32 from, u32 to, const void *buf, size_t len)
{
	int copies = chance(rig_faults.dup) ? 2 : 1;

	while (copies--) {
		struct parcel *p, **at;

		if (chance(rig_faults.loss))
			continue;
		p = malloc(sizeof(*p) + len);
		if (!p)
			CHECK_FAIL("out of memory");
		p->when = now_ms();
		if (chance(rig_faults.reorder))
			p->when += 1 + rig_random(8);
		p->from = from;
		p->to = to;
		p->len = len;
		memcpy(p->buf, buf, len);
		for (at = &parcels; *at && (*at)->when <= p->when; )
			at = &(*at)->next;
		p->next = *at;
		*at = p;
	}
}

/* What a switch has rewritten: the header.  It does not know what stands behind it. */
static void hop_msg(u32 from, u32 to, const struct weft_msg *msg, const u8 *was, size_t len)
{
	u8 buf[DATAGRAM_MAX];

	CHECK_EQ(weft_wire_pack(msg, buf, &rig_key, msg->stamp), len);
	memcpy(buf + WEFT_WIRE_HDR_LEN, was + WEFT_WIRE_HDR_LEN, len - WEFT_WIRE_HDR_LEN);
	hop(from, to, buf, len);
}

/* Through the switch. */
static void forward(u32 from, u32 to, const void *buf, size_t len)
{
	struct weft_msg msg;
	u32 targets, id;
	int err = weft_wire_unpack(&msg, buf, len, NULL);
	u8 was;

	if (!passes(from))
		return;
	/* a switch has no key: it takes what its sum says is whole */
	if (err && !(err == -EKEYREJECTED && rig_key.set)) {
		/* several messages in one; and what only the tests send */
		hop(from, to, buf, len);
		return;
	}
	was = msg.type;
	if (to == WEFT_WIRE_GROUP) {
		rig_asked = msg;
		rig_asked.payload = NULL;
	}
	switch (rig_p4 ? weft_switch_handle(&rig_switch, id_of(from), &msg, &targets) :
		WEFT_TO_HOME) {
	case WEFT_TO_HOME:
		if (to == WEFT_WIRE_GROUP)
			break;	/* to all: nobody listens */
		if (was == msg.type)
			hop(from, to, buf, len);
		else
			hop_msg(from, to, &msg, buf, len);
		break;
	case WEFT_TO_SENDER:
		hop_msg(to == WEFT_WIRE_GROUP ? weft_switch_addr(from) : to, from, &msg,
			buf, len);
		break;
	case WEFT_TO_NODES:
		for (id = 1; targets; id++, targets >>= 1)
			if (targets & 1)
				hop_msg(from, rig_addr(id), &msg, buf, len);
		break;
	default:
		break;
	}
}

void rig_send(u32 from, u32 to, struct weft_msg *msg)
{
	u8 buf[DATAGRAM_MAX];

	forward(rig_addr(from), rig_addr(to), buf, rig_pack(msg, buf));
}

void rig_send_raw(u32 addr, u16 from_port, u32 to, const void *buf, size_t len)
{
	CHECK(tun_fd >= 0);
	to_blade(addr, from_port, rig_addr(to), buf, len);
}

/* Read everything that blades have sent.  Return: whether there was anything. */
static bool read_all(void)
{
	u8 buf[HEADERS + DATAGRAM_MAX];
	struct sockaddr_in a = { 0 };
	bool any = false;
	ssize_t n;
	u32 i;

	while (tun_fd >= 0 && (n = read(tun_fd, buf, sizeof(buf))) > 0) {
		any = true;
		/* the kernel's own, IPv6 for one, come here, too */
		if (n < HEADERS || buf[0] != 0x45 || buf[9] != IPPROTO_UDP ||
		    get_unaligned_be16(buf + 22) != port)
			continue;
		CHECK_EQ(get_unaligned_be16(buf + 26), 0);
		forward(get_unaligned_be32(buf + 12), get_unaligned_be32(buf + 16),
			buf + HEADERS, (size_t)n - HEADERS);
	}
	for (i = 1; tun_fd < 0 && i <= RIG_NODES; i++) {
		socklen_t len = sizeof(a);

		/* always the same length */
		while ((n = recvfrom(node_fd[i], buf, sizeof(buf), 0,
				     (struct sockaddr *)&a, &len)) > 0) {
			any = true;
			forward(ntohl(a.sin_addr.s_addr), rig_addr(i), buf, (size_t)n);
		}
	}
	return any;
}

void rig_pump(int ms)
{
	struct pollfd p[RIG_NODES + 1];
	bool any = read_all();
	nfds_t n = 0;
	u32 i;

	while (parcels && parcels->when <= now_ms()) {
		struct parcel *first = parcels;

		parcels = first->next;
		arrive(first);
		free(first);
		any = true;
	}
	if (any || !ms)
		return;
	if (parcels)
		ms = 1;
	if (tun_fd >= 0)
		p[n++] = (struct pollfd){ .fd = tun_fd, .events = POLLIN };
	for (i = 1; tun_fd < 0 && i <= RIG_NODES; i++)
		p[n++] = (struct pollfd){ .fd = node_fd[i], .events = POLLIN };
	poll(p, n, ms);
}

/* --- programs --------------------------------------------------------------- */

static int per_mille(const char *text)
{
	return (int)argument(text, 0, 1000);
}

struct rig_job rig_begin(int argc, char **argv)
{
	struct rig_job job;

	if (argc < 7) {
		fprintf(stderr, "usage: %s switch|plain BLADES LOSS DUP REORDER TIMES [SEED [RESTARTS [MOVES]]]\n",
			argv[0]);
		exit(2);
	}
	job = (struct rig_job){
		.blades = (u32)argument(argv[2], 1, 2),
		.faults = { per_mille(argv[3]), per_mille(argv[4]), per_mille(argv[5]) },
		.times = argument(argv[6], 1, INT32_MAX),
		.restarts = argc > 8 ? (long)argument(argv[8], 0, INT32_MAX) : 0,
		.moves = argc > 9 ? (long)argument(argv[9], 0, INT32_MAX) : 0,
	};
	rig_open(true, argc > 7 ? argument_u32(argv[7]) : 1);
	rig_p4 = !strcmp(argv[1], "switch");
	rig_blades_start(job.blades);
	return job;
}

int rig_run(const struct rig_test *tests, const char *name)
{
	for (; tests->name; tests++) {
		u64 begin = now_ms();

		if (name && strcmp(name, tests->name) != 0)
			continue;
		tests->run();
		printf("ok %s (%llu ms)\n", tests->name,
		       (unsigned long long)(now_ms() - begin));
		fflush(stdout);
	}
	rig_close();
	return check_result();
}
