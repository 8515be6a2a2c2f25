// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages that somebody else than a member has made, or has recorded and repeats: each
 * type, at a memory blade that works.  Nothing changes, and the blade's counters say what
 * came.  That the same bytes do change something when they come from where they should
 * is the control.
 *
 *	memd-gate			WEFT_RIG_KEY=1: in a rack with a key, with two threads
 */
#include <signal.h>

#include "fake.h"
#include "flow.h"
#include "tools/memd/front/gate.h"

#define BLADE	WEFT_BLADE_MIN
#define BLOCK	4096
#define LINES	4
#define MODE	0600
#define OPEN	0666		/* what forgers would have */
#define STRANGER 0x0A57004Du	/* an address of the rack's network that nobody has */
#define HINT_MS	20000
#define MANY	1000		/* calls that are refused */
#define LATER	(11 * WEFT_TICK_HZ)

static u32 region;
static u32 forged_seq = 0x100000;

static const u8 types[] = {
	WEFT_MSG_GETS, WEFT_MSG_GETM, WEFT_MSG_PUT, WEFT_MSG_COMMIT, WEFT_MSG_ABORT,
	WEFT_MSG_QUERY, WEFT_MSG_ADD, WEFT_MSG_REMOVE, WEFT_MSG_DROP, WEFT_MSG_MEMBERS,
	WEFT_MSG_COUNT, WEFT_MSG_ACQUIRE, WEFT_MSG_HAND, WEFT_MSG_PASS, WEFT_MSG_INV,
	WEFT_MSG_FWD, WEFT_MSG_READ, WEFT_MSG_GRANT, WEFT_MSG_NACK, WEFT_MSG_COMMIT_ACK,
	WEFT_MSG_INFO, WEFT_MSG_ADD_ACK, WEFT_MSG_REMOVE_ACK, WEFT_MSG_DROP_ACK,
	WEFT_MSG_MEMBERS_ACK, WEFT_MSG_COUNT_ACK, WEFT_MSG_ENQUEUE, WEFT_MSG_HANDED,
	WEFT_MSG_PASSED, WEFT_MSG_DATA, WEFT_MSG_INV_ACK, WEFT_MSG_WB, WEFT_MSG_WB_ACK,
	WEFT_MSG_CHASE, WEFT_MSG_HAND_ACK, WEFT_MSG_REPLY,
};

/* Calls that only members may make, or that look at who makes them. */
static const u16 ops[] = {
	WEFT_CALL_LOOKUP, WEFT_CALL_CREATE, WEFT_CALL_GETATTR, WEFT_CALL_SETATTR,
	WEFT_CALL_UNLINK, WEFT_CALL_OPEN, WEFT_CALL_CLOSE, WEFT_CALL_READDIR,
	WEFT_CALL_REGION, WEFT_CALL_FORGET, WEFT_CALL_MEMBERS, WEFT_CALL_RECALLED,
	WEFT_CALL_RENEW, WEFT_CALL_CLAIM, WEFT_CALL_LEAVE, WEFT_CALL_JOIN,
	WEFT_CALL_CHANGED,
};

static const char *const refusals[] = {
	"bad_messages", "strangers", "wrong_address", "wrong_port", "no_key", "wrong_key",
	"stale", "unexpected",
};

/**
 * struct way - how a forger sends
 * @name: in words
 * @addr: source address; 0: the right one
 * @port: source port; 0: the right one
 * @tag: what is behind the payload, if the rack has a key
 * @counter: which the blade counts it by
 */
struct way {
	const char *name;
	u32 addr;
	u16 port;
	enum { TAG_RIGHT, TAG_NONE, TAG_OTHER, TAG_OLD, TAG_EPOCH } tag;
	const char *counter;
};

static size_t pack(const struct weft_msg *msg, const struct way *way, u8 *buf)
{
	struct weft_stamp stamp = rig_stamp();
	struct weft_key other;

	weft_key_init(&other, (const u8 *)"this is another key than the rack's");
	stamp.tick -= way->tag == TAG_OLD ? LATER : 0;
	stamp.epoch += way->tag == TAG_EPOCH;
	if (msg->len)
		memcpy(buf + WEFT_WIRE_HDR_LEN, msg->payload, msg->len);
	return weft_wire_pack(msg, buf, way->tag == TAG_NONE ? NULL :
			      way->tag == TAG_OTHER ? &other : &rig_key, stamp);
}

static void send(const struct weft_msg *msg, const struct way *way)
{
	u32 right = weft_is_blade(msg->src) ? weft_switch_addr(rig_addr(BLADE)) :
		    rig_addr(msg->src);
	u8 buf[2048];
	size_t n = pack(msg, way, buf);

	rig_send_raw(way->addr ? way->addr : right,
			way->port ? way->port : WEFT_WIRE_UDP_PORT, BLADE, buf, n);
	fake_step(0);
}

/* As node 1 might send it, or the switch to the blade, which then is in src. */
static void send_type(u8 type, const struct way *way)
{
	static u8 payload[2048];
	struct weft_msg m = {
		.type = type, .src = 1, .txn = weft_txn(1, ++forged_seq),
		.line = weft_line_key(region, 0, 0), .status = WEFT_M, .copyset = 0x80,
		.holder = 0x80, .nonce = 0xFFFFFFF0, .grant = 2, .size = BLOCK,
		.version = 1ull << 40, .payload = payload,
	};

	if (type == WEFT_MSG_NACK || (type >= WEFT_MSG_ADD_ACK && type <= WEFT_MSG_MEMBERS_ACK)) {
		m.src = BLADE;
		m.txn = weft_txn(BLADE, ++forged_seq);
		m.flags = WEFT_F_INSTALLED;
	}
	if (type == WEFT_MSG_ACQUIRE || type == WEFT_MSG_HAND)
		m.line = weft_line_key(region, WEFT_KIND_LOCK, 64);
	memset(payload, 0x66, sizeof(payload));
	if (weft_msg_has_data(type))
		m.info = (u16)(m.len = rig_fragment());
	send(&m, way);
}

static void send_call(u16 op, const struct way *way)
{
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_call c = {
		.op = op, .node = 1, .region = region, .life = 666, .mode = OPEN,
		.valid = op == WEFT_CALL_SETATTR ? WEFT_SET_MODE : 0, .members = 0x80,
		.block = BLOCK, .addr = way->addr ? way->addr : rig_addr(1),
	};
	struct weft_msg m = {
		.type = WEFT_MSG_CALL, .src = 1, .txn = weft_txn(1, ++forged_seq),
		.payload = payload,
	};

	strcpy(c.name, op == WEFT_CALL_CREATE ? "forged" : "root");
	c.name_len = (u16)strlen(c.name);
	m.len = weft_call_pack(&c, payload);
	send(&m, way);
}

static u32 mode_of(u32 which)
{
	struct weft_call c;

	CHECK_EQ(fake_call_region(&fakes[2], WEFT_CALL_GETATTR, which, &c), 0);
	return c.mode;
}

/* Names, attributes, members and contents are as they were. */
static void check_unharmed(void)
{
	struct weft_call c;
	u32 i;

	CHECK_EQ(mode_of(region), MODE);
	CHECK_EQ(fake_call_named(&fakes[2], WEFT_CALL_LOOKUP, "root", &c), 0);
	CHECK_EQ(c.region, region);
	CHECK_EQ(c.size, LINES * BLOCK);
	CHECK_EQ(fake_call_named(&fakes[2], WEFT_CALL_LOOKUP, "forged", &c), ENOENT);
	CHECK_EQ(fake_stat(&fakes[2], BLADE, "nodes"), 2);
	for (i = 0; i < LINES; i++) {
		CHECK(fake_get(&fakes[2], fake_line(&fakes[2], region, i), WEFT_S));
		CHECK(fake_is_filled(fake_line(&fakes[2], region, i), BLOCK, (u8)(10 + i)));
	}
	fake_evict_all();
}

static u64 refused(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++)
		sum += fake_stat(&fakes[2], BLADE, refusals[i]);
	return sum;
}

static void forge(const struct way *way)
{
	u64 sum = refused(), one = fake_stat(&fakes[2], BLADE, way->counter);
	u32 i, n = ARRAY_SIZE(types) + ARRAY_SIZE(ops);

	for (i = 0; i < ARRAY_SIZE(types); i++)
		send_type(types[i], way);
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		send_call(ops[i], way);
	check_unharmed();
	sum = refused() - sum;
	one = fake_stat(&fakes[2], BLADE, way->counter) - one;
	printf("%s: %u sent, %llu refused, %llu of them counted as %s\n", way->name, n,
	       (unsigned long long)sum, (unsigned long long)one, way->counter);
	/* JOIN and LEAVE are answered: there is another one of that id, not of that life */
	CHECK(sum >= n - 2 && sum <= n);
	/* by the address it is told from what is for nodes only */
	CHECK(one >= (way->addr ? n / 2 : n));
}

/* --- the control, and repetitions --------------------------------------------- */

static void settle(void)
{
	u64 end = now_ms() + 300;

	while (now_ms() < end)
		fake_step(5);
}

static void control(void)
{
	static const struct way right = { .name = "right" };

	/* with the node's own numbers: it goes on with them */
	forged_seq = fakes[1].seq;
	send_call(WEFT_CALL_SETATTR, &right);
	fakes[1].seq = forged_seq;
	settle();
	CHECK_EQ(mode_of(region), OPEN);
}

static void set_mode(u32 mode)
{
	struct weft_call c = {
		.op = WEFT_CALL_SETATTR, .region = region, .valid = WEFT_SET_MODE, .mode = mode,
	};

	CHECK_EQ(fake_call(&fakes[1], BLADE, &c, 20000), 0);
}

/* A call that was recorded when it was made, sent again and again. */
static void repeat(void)
{
	static const struct way right = { .name = "right" };
	static u8 record[2048];
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_call c = {
		.op = WEFT_CALL_SETATTR, .region = region, .valid = WEFT_SET_MODE, .mode = OPEN,
	};
	struct weft_msg m = {
		.type = WEFT_MSG_CALL, .src = 1, .txn = weft_txn(1, ++fakes[1].seq),
		.payload = payload, .len = weft_call_pack(&c, payload),
	};
	size_t n = pack(&m, &right, record);
	u64 before;
	u32 i;

	rig_send_raw(rig_addr(1), WEFT_WIRE_UDP_PORT, BLADE, record, n);
	settle();
	CHECK_EQ(mode_of(region), OPEN);
	set_mode(MODE);

	/* its reply is still there: that is repeated, and nothing done */
	before = fake_stat(&fakes[2], BLADE, "calls_repeated");
	rig_send_raw(rig_addr(1), WEFT_WIRE_UDP_PORT, BLADE, record, n);
	settle();
	CHECK_EQ(mode_of(region), MODE);
	CHECK(fake_stat(&fakes[2], BLADE, "calls_repeated") > before);

	/* without a key nothing tells that it is old */
	if (!rig_key.set)
		return;
	for (i = 0; i < 300; i++)
		set_mode(MODE);
	before = fake_stat(&fakes[2], BLADE, "calls_old");
	rig_send_raw(rig_addr(1), WEFT_WIRE_UDP_PORT, BLADE, record, n);
	settle();
	CHECK_EQ(mode_of(region), MODE);
	CHECK_EQ(fake_stat(&fakes[2], BLADE, "calls_old"), before + 1);
	/* who is slow, but alive, is told, asks anew and is served */
	set_mode(MODE);
}

static void blade(void)
{
	static char file[128];
	static const char *const args[] = { "--memory", "64M", "--backing", file, NULL };

	snprintf(file, sizeof(file), "%s/backing", rig_dir());
	rig_memd_start(BLADE, args);
}

/* All that nodes have sent before the blade was restarted, after it. */
static void restarted(void)
{
	static const struct way right = { .name = "right" };
	static u8 record[64][2048];
	static size_t len[64];
	u32 i, n = 0;
	u64 before;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct weft_msg m = {
			.type = types[i], .src = 1, .txn = weft_txn(1, ++fakes[1].seq),
			.line = weft_line_key(region, 0, 0),
		};

		if (weft_msg_has_data(types[i]) || types[i] == WEFT_MSG_REPLY)
			continue;
		len[n] = pack(&m, &right, record[n]);
		n++;
	}
	CHECK_EQ(rig_memd_stop(BLADE, SIGKILL), SIGKILL);
	blade();
	check_unharmed();
	before = fake_stat(&fakes[2], BLADE, "stale");
	for (i = 0; i < n; i++) {
		rig_send_raw(rig_addr(1), WEFT_WIRE_UDP_PORT, BLADE, record[i], len[i]);
		fake_step(0);
	}
	check_unharmed();
	CHECK_EQ(fake_stat(&fakes[2], BLADE, "stale"), before + n);
}

static void set_up(void)
{
	u32 i;

	blade();
	fake_init(1);
	CHECK_EQ(fake_join(&fakes[1]), 0);
	CHECK_EQ(fake_join(&fakes[2]), 0);
	CHECK_EQ(fake_create(&fakes[1], "root", LINES * BLOCK, BLOCK, &region), 0);
	set_mode(MODE);
	CHECK_EQ(fake_open(&fakes[1], region, BLOCK), 0);
	CHECK_EQ(fake_open(&fakes[2], region, BLOCK), 0);
	for (i = 0; i < LINES; i++)
		fake_fill(&fakes[1], fake_line(&fakes[1], region, i), (u8)(10 + i));
	fake_evict_all();
}

/*
 * Calls of who does not have the key, or only has what others have said: they stop no thread, and
 * few of them are answered, however many they are.
 */
static void stops(const struct way *way)
{
	bool hears = way->tag == TAG_NONE || way->tag == TAG_OTHER;
	u64 began = now_ms(), sum, stopped;
	unsigned long hints = rig_hints;
	u32 i;

	/* when the answers of this second are used up there are others in the next one */
	while (hears && rig_hints == hints) {
		CHECK(now_ms() - began < HINT_MS);
		send_call(WEFT_CALL_JOIN, way);
		settle();
	}
	began = now_ms();
	hints = rig_hints;
	sum = refused();
	stopped = fake_stat(&fakes[2], BLADE, "threads_stopped");
	for (i = 0; i < MANY; i++)
		send_call(WEFT_CALL_JOIN, way);
	sum = refused() - sum;
	stopped = fake_stat(&fakes[2], BLADE, "threads_stopped") - stopped;
	settle();
	hints = rig_hints - hints;
	printf("%s: %u calls, %llu refused, threads stopped %llu times, %lu answers\n", way->name,
	       MANY, (unsigned long long)sum, (unsigned long long)stopped, hints);
	CHECK(sum >= MANY / 2);
	/* by timers, and by our questions */
	CHECK(stopped < sum / 4);
	CHECK(hints <= (now_ms() - began + 2000) / 1000 * 2 * GATE_ANSWERS);
	check_unharmed();
}

int main(void)
{
	static const struct way ways[] = {
		{ .name = "a port of a user", .port = 50000, .counter = "wrong_port" },
		{ .name = "the port after those of flows", .port = WEFT_WIRE_UDP_PORT + WEFT_FLOWS,
		  .counter = "wrong_port" },
		{ .name = "a stranger's address", .addr = STRANGER, .counter = "wrong_address" },
		{ .name = "another node's address", .addr = 0x0A570002,
		  .counter = "wrong_address" },
	}, tags[] = {
		{ .name = "no tag", .tag = TAG_NONE, .counter = "no_key" },
		{ .name = "the tag of another key", .tag = TAG_OTHER, .counter = "wrong_key" },
		{ .name = "11 s old", .tag = TAG_OLD, .counter = "stale" },
		{ .name = "of another life of the rack", .tag = TAG_EPOCH, .counter = "stale" },
	};
	u32 i;

	/* a blade with one thread has none that could be stopped */
	if (getenv("WEFT_RIG_KEY"))
		setenv("WEFT_RIG_THREADS", "2", 0);
	rig_open(true, 1);
	rig_p4 = true;
	set_up();
	check_unharmed();
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		forge(&ways[i]);
	for (i = 0; rig_key.set && i < ARRAY_SIZE(tags); i++)
		forge(&tags[i]);
	/* who wants to join without the key, or with another one, hears why it cannot */
	CHECK_EQ(rig_hints, rig_key.set ? 2 : 0);
	for (i = 0; rig_key.set && i < ARRAY_SIZE(tags); i++)
		stops(&tags[i]);
	control();
	set_mode(MODE);
	check_unharmed();
	repeat();
	if (rig_key.set)
		restarted();
	rig_memd_stop(BLADE, SIGTERM);
	rig_close();
	return check_result();
}
