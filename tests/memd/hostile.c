// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random and forged messages at a memory blade that works: nothing happens to it, nor to
 * what it keeps.  Two nodes work; meanwhile come, from addresses that any machine could
 * use:
 *
 *   random	any bytes, some of them with right sums
 *   strangers	what a member could send, from addresses that are no member's
 *   members	the same from the addresses and ports of two nodes that have joined, and
 *		what a switch could answer: these get behind the filter of senders
 *
 * Of the last, how many came to what handles them is counted, by type and by what is
 * called, and each has to have had its share.
 *
 *	memd-hostile PACKETS		at least as many of each kind (1000000)
 */
#include <signal.h>
#include <sys/wait.h>

#include "fake.h"
#include "forge.h"
#include "tests/common/argument.h"

#define BLADE		WEFT_BLADE_MIN
#define LINES		16
#define ROUNDS		50
#define ROUNDS_MAX	1000	/* until each call and each effect has been seen */
#define HOSTILE		3	/* nodes 3 and 4 have joined */
#define STRANGER	5	/* nodes 5 to 8 have not */
#define SETTLE_MS	30000

/* What the blade has a handler for, from nodes. */
static const u8 handled[] = {
	WEFT_MSG_GETS, WEFT_MSG_GETM, WEFT_MSG_PUT, WEFT_MSG_COMMIT, WEFT_MSG_ABORT,
	WEFT_MSG_QUERY, WEFT_MSG_ACQUIRE, WEFT_MSG_HAND, WEFT_MSG_PASS, WEFT_MSG_READ,
	WEFT_MSG_WB, WEFT_MSG_CHASE, WEFT_MSG_CALL, WEFT_MSG_REPLY,
};

/* From a switch. */
static const u8 answers[] = {
	WEFT_MSG_ADD_ACK, WEFT_MSG_REMOVE_ACK, WEFT_MSG_DROP_ACK, WEFT_MSG_NACK,
	WEFT_MSG_MEMBERS_ACK,
};

/* Calls that a node may make; the others are no node's. */
static const u16 callable[] = {
	WEFT_CALL_LEAVE, WEFT_CALL_PEERS, WEFT_CALL_LOOKUP, WEFT_CALL_CREATE,
	WEFT_CALL_GETATTR, WEFT_CALL_SETATTR, WEFT_CALL_UNLINK, WEFT_CALL_OPEN,
	WEFT_CALL_CLOSE, WEFT_CALL_READDIR, WEFT_CALL_STATFS, WEFT_CALL_STATS,
	WEFT_CALL_CLAIM, WEFT_CALL_SYNC,
};

/* What shows that the blade has done something for one of them. */
static const char *const effects[] = {
	"reads", "no_such_line", "refused_busy", "lines_added", "calls", "calls_repeated",
	"calls_refused",
};

static struct forge about = {
	.spared_name = "r", .lines = LINES, .blade = BLADE,
};

/* Of the messages of members: that fit their sender, that do not, and what came of it. */
static struct {
	u64 sent[128];
	u64 in[128];
	u64 misfits;
	u64 refused;
	u64 answered[WEFT_CALL_MAX];
	u64 effect[sizeof(effects) / sizeof(effects[0])];
} members;

static u64 strangers_sent, strangers_refused;
static void (*fakes_take)(u32 id, const struct weft_msg *msg);

static void nobody_locks(struct fake *f, const struct weft_msg *msg)
{
	(void)f;
	(void)msg;
}

/* What the blade answers to the hostile nodes: they go on as nodes do, too. */
static void take(u32 id, const struct weft_msg *msg)
{
	struct weft_call c;

	if ((id == HOSTILE || id == HOSTILE + 1) && msg->type == WEFT_MSG_REPLY) {
		CHECK(!weft_call_unpack(&c, msg->payload, msg->len));
		members.answered[c.op] += c.err != ENOTCONN;
	}
	fakes_take(id, msg);
}

/* --- the kinds -------------------------------------------------------------- */

static void random_packet(void)
{
	struct forged f;

	forge_random(&f);
	if (!forge_spares(&about, &f))
		rig_send_raw(rig_addr(1 + rig_random(RIG_NODES)), (u16)rig_port(), BLADE,
			     f.buf, f.len);
}

/*
 * A node that has not joined; a member's name at another address; or a member's own
 * address, but a port that anybody may have.
 */
static void stranger_packet(void)
{
	u8 type = handled[rig_random(sizeof(handled))];
	u32 who = STRANGER + rig_random(RIG_NODES - STRANGER + 1);
	u8 src = (u8)(rig_random(2) ? who : HOSTILE);
	u16 port = (u16)(rig_random(4) ? rig_port() : 1024 + rig_random(60000));
	struct forged f;

	if (!rig_random(4))
		src = (u8)(1 + rig_random(WEFT_BLADE_MAX));
	forge_node(&about, type, src, &f);
	if (rig_random(2))
		forge_mutate(&f);
	if (forge_spares(&about, &f))
		return;
	strangers_sent++;
	rig_send_raw(rig_addr(who), port, BLADE, f.buf, f.len);
}

/* Does the filter of senders have to let it through? */
static bool fits(const struct forged *f, u32 src)
{
	struct weft_msg m;

	if (weft_wire_unpack(&m, f->buf, f->len, about.key) || m.rack || m.src != src ||
	    m.type >= 128)
		return false;
	members.sent[m.type]++;
	return true;
}

static void member_packet(void)
{
	static struct forged f;
	static u8 src;
	u32 addr;

	/* now and then the last one once more: it may change nothing */
	if (f.len && src != BLADE && !rig_random(16)) {
		members.misfits += !fits(&f, src);
		rig_send_raw(rig_addr(src), (u16)rig_port(), BLADE, f.buf, f.len);
		return;
	}
	src = (u8)(HOSTILE + rig_random(2));
	addr = rig_addr(src);
	if (rig_random(4)) {
		forge_node(&about, rig_random(64) ? handled[rig_random(sizeof(handled))] :
			   (u8)rig_random(128), src, &f);
	} else {
		src = BLADE;
		addr = weft_switch_addr(rig_addr(BLADE));
		forge_switch(&about, &rig_asked, &f);
	}
	if (!rig_random(3))
		forge_mutate(&f);
	if (forge_spares(&about, &f)) {
		f.len = 0;
		return;
	}
	members.misfits += !fits(&f, src);
	rig_send_raw(addr, (u16)rig_port(), BLADE, f.buf, f.len);
}

/* --- the rack goes on ------------------------------------------------------- */

/* A block is written by one node, read by the other. */
static void exchange(u32 region, u32 i, u32 round)
{
	struct fake *writer = &fakes[1 + round % 2], *reader = &fakes[2 - round % 2];
	struct fake_line *w = fake_line(writer, region, i);
	struct fake_line *r = fake_line(reader, region, i);

	CHECK(fake_get(writer, w, WEFT_M));
	memset(w->data, (int)round, 4096);
	fake_settle();
	CHECK(fake_get(reader, r, WEFT_S));
	CHECK(fake_is_filled(r, 4096, (u8)round));
	fake_settle();
}

static u64 stat(const char *name)
{
	return fake_stat(&fakes[1], BLADE, name);
}

/* What the blade has refused because of who sent it, or from where. */
static u64 stat_refused(void)
{
	return stat("strangers") + stat("wrong_address") + stat("wrong_port");
}

static u64 stat_in(u8 type)
{
	char name[32] = "in_";
	u32 i;

	strcat(name, weft_msg_name(type));
	for (i = 3; name[i]; i++)
		if (name[i] >= 'A' && name[i] <= 'Z')
			name[i] = (char)(name[i] + 'a' - 'A');
	return stat(name);
}

/* Add what the blade counts to the tally, or with @sign -1 what it had counted before. */
static void count(int sign)
{
	u32 i;

	for (i = 0; i < sizeof(handled); i++)
		members.in[handled[i]] += (u64)sign * stat_in(handled[i]);
	for (i = 0; i < sizeof(answers); i++)
		members.in[answers[i]] += (u64)sign * stat_in(answers[i]);
	for (i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
		members.effect[i] += (u64)sign * stat(effects[i]);
	members.refused += (u64)sign * stat_refused();
}

static long rss(void)
{
	char command[128];
	long kib = -1;
	FILE *f;

	snprintf(command, sizeof(command),
		 "grep -h VmRSS /proc/$(pgrep -P %d -x weft-memd)/status", getpid());
	f = popen(command, "r");
	if (f && fscanf(f, "VmRSS: %ld", &kib) != 1)
		kib = -1;
	if (f)
		pclose(f);
	return kib;
}

/* @n of one kind, at a pace that the blade keeps up with: lost ones test nothing. */
static void send_many(void (*packet)(void), long n)
{
	long i;

	for (i = 0; i < n; i++) {
		packet();
		if (i % 16 == 0)
			fake_step(0);
	}
	/* until it has taken them all: it answers in order */
	(void)stat("nodes");
}

/*
 * They join, and have the victim open, with the size that it had: what the rounds before
 * made of it does not decide how much of this one comes to what handles it.
 */
static void attackers_begin(void)
{
	u32 i;

	CHECK_EQ(fake_set_size(&fakes[1], about.victim, LINES * 4096), 0);
	for (i = HOSTILE; i < STRANGER; i++) {
		struct weft_call c;

		CHECK_EQ(fake_join(&fakes[i]), 0);
		CHECK_EQ(fake_call_region(&fakes[i], WEFT_CALL_OPEN, about.victim, &c), 0);
	}
}

static void one_round(u32 round, long n)
{
	u64 before;

	exchange(about.spared, round % LINES, round);
	attackers_begin();
	send_many(random_packet, n);
	before = stat_refused();
	send_many(stranger_packet, n);
	strangers_refused += stat_refused() - before;
	count(-1);
	send_many(member_packet, n);
	count(1);
}

/* Some are rare: in a short run it is luck whether they come in the first rounds. */
static bool all_seen(void)
{
	u32 i;

	for (i = 0; i < sizeof(callable) / sizeof(callable[0]); i++)
		if (!members.answered[callable[i]])
			return false;
	for (i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
		if (!members.effect[i])
			return false;
	return true;
}

/* --- what came of it -------------------------------------------------------- */

/* Each handler has had most of what was for it: the filter let it through. */
static void check_handlers(const u8 *types, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		printf("  %-12s %llu sent, %llu came\n", weft_msg_name(types[i]),
		       (unsigned long long)members.sent[types[i]],
		       (unsigned long long)members.in[types[i]]);
		CHECK(members.sent[types[i]] > 0);
		CHECK(members.in[types[i]] >= members.sent[types[i]] / 4 * 3);
	}
}

static void check_all(long n)
{
	u64 sent = 0;
	u32 i;

	printf("behind the filter:\n");
	check_handlers(handled, sizeof(handled));
	check_handlers(answers, sizeof(answers));
	for (i = 0; i < sizeof(handled); i++)
		sent += members.sent[handled[i]];
	printf("  %llu of nodes fit, %llu did not, %llu were refused as strangers'\n",
	       (unsigned long long)sent, (unsigned long long)members.misfits,
	       (unsigned long long)members.refused);
	/* one in many makes its node leave, and comes back in the next round */
	CHECK(members.refused <= members.misfits + sent / 10);
	for (i = 0; i < sizeof(callable) / sizeof(callable[0]); i++) {
		printf("  call %-2u     %llu answered\n", callable[i],
		       (unsigned long long)members.answered[callable[i]]);
		CHECK(members.answered[callable[i]] > 0);
	}
	for (i = 0; i < sizeof(effects) / sizeof(effects[0]); i++) {
		printf("  %-16s %llu\n", effects[i], (unsigned long long)members.effect[i]);
		CHECK(members.effect[i] > 0);
	}
	printf("strangers: %llu sent, %llu refused\n", (unsigned long long)strangers_sent,
	       (unsigned long long)strangers_refused);
	CHECK(strangers_refused > strangers_sent / 2);
	printf("the blade took %llu for damaged; %llu renewals\n",
	       (unsigned long long)stat("bad_messages"), (unsigned long long)stat("renewals"));
	CHECK(stat("bad_messages") > (u64)n / 8);
}

/* Unlink a region that is not spared, whatever its name has become on the wire. */
static bool unlink_one(void)
{
	struct weft_call list = { .op = WEFT_CALL_READDIR }, c;
	u32 at, len;

	CHECK_EQ(fake_call(&fakes[1], BLADE, &list, SETTLE_MS), 0);
	for (at = 0; at + 9 <= list.list_len; at += 9 + len) {
		len = list.list[at + 8];
		if (get_unaligned_be32(list.list + at) == about.spared)
			continue;
		memset(&c, 0, sizeof(c));
		c.op = WEFT_CALL_UNLINK;
		c.name_len = (u16)len;
		memcpy(c.name, list.list + at + 9, len);
		CHECK_EQ(fake_call(&fakes[1], BLADE, &c, SETTLE_MS), 0);
		return true;
	}
	CHECK_EQ(list.cookie, 0);
	return false;
}

/* The attackers go; what they made goes, and what they attacked can be used. */
static void clean_up(void)
{
	u64 end = now_ms() + SETTLE_MS;
	struct weft_call c;
	u32 i;

	for (i = HOSTILE; i < STRANGER; i++)
		CHECK_EQ(fake_leave(&fakes[i]), 0);
	CHECK_EQ(fake_set_size(&fakes[1], about.victim, LINES * 4096), 0);
	CHECK_EQ(fake_open(&fakes[1], about.victim, 4096), 0);
	CHECK_EQ(fake_open(&fakes[2], about.victim, 4096), 0);
	for (i = 0; i < LINES; i++)
		exchange(about.victim, i, 100 + i);
	fake_evict_all();
	CHECK_EQ(fake_call_region(&fakes[1], WEFT_CALL_CLOSE, about.victim, &c), 0);
	CHECK_EQ(fake_call_region(&fakes[2], WEFT_CALL_CLOSE, about.victim, &c), 0);
	while (unlink_one())
		;
	while (stat("reserved_bytes") != LINES * 4096 && now_ms() < end)
		fake_step(20);
	CHECK_EQ(stat("reserved_bytes"), LINES * 4096);
	CHECK_EQ(stat("regions"), 1);
	CHECK_EQ(stat("nodes"), 2);
}

int main(int argc, char **argv)
{
	const char *const args[] = { "--switch", "auto", "--memory", "16M", NULL };
	long n = argc > 1 ? argument_u32(argv[1]) : 1000000, before, after;
	u64 begin = now_ms();
	int status;
	u32 i;

	rig_open(true, 5);
	rig_p4 = true;
	rig_memd_start(BLADE, args);
	fake_init(1);
	for (i = 1; i <= RIG_NODES; i++)
		about.life[i] = fakes[i].life;
	fake_take_lock = nobody_locks;
	fakes_take = rig_take;
	rig_take = take;
	CHECK_EQ(fake_join(&fakes[1]), 0);
	CHECK_EQ(fake_join(&fakes[2]), 0);
	CHECK_EQ(fake_create(&fakes[1], "r", LINES * 4096, 0, &about.spared), 0);
	CHECK_EQ(fake_create(&fakes[1], "v", LINES * 4096, 0, &about.victim), 0);
	CHECK_EQ(fake_open(&fakes[1], about.spared, 4096), 0);
	CHECK_EQ(fake_open(&fakes[2], about.spared, 4096), 0);
	for (i = 0; i < LINES; i++)
		exchange(about.spared, i, i);
	/* what the attackers make a blade keep, it keeps once */
	one_round(0, n / ROUNDS);
	before = rss();
	for (i = 1; i < ROUNDS || (i < ROUNDS_MAX && !all_seen()); i++)
		one_round(i, n / ROUNDS);
	exchange(about.spared, 0, 200);
	after = rss();
	n = n / ROUNDS * i;
	printf("%ld of each kind in %u rounds, %llu ms; %ld KiB before, %ld after\n", n, i,
	       (unsigned long long)(now_ms() - begin), before, after);
	check_all(n);
	CHECK(before > 0 && after < before + 8192);
	clean_up();
	status = rig_memd_stop(BLADE, SIGTERM);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	rig_close();
	return check_result();
}
