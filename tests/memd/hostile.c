// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random and mutated packets at a memory blade that works: nothing happens to
 * it, nor to what it keeps.
 *
 *	memd-hostile PACKETS		as many of each kind (1000000)
 */
#include <signal.h>
#include <sys/wait.h>

#include "fake.h"

#define BLADE	WEFT_BLADE_MIN
#define LINES	16

static u32 region;

/* Give a changed header right sums again. */
static void mend(u8 *b, size_t len)
{
	u32 sum = 0, i;

	put_unaligned_be16((u16)len, b + 4);
	put_unaligned_be32(weft_wire_psum(b + WEFT_WIRE_HDR_LEN,
					  len - WEFT_WIRE_HDR_LEN), b + 56);
	put_unaligned_be16(0, b + 6);
	for (i = 0; i < WEFT_WIRE_HDR_LEN; i += 2)
		sum += get_unaligned_be16(b + i);
	sum = (sum & 0xFFFF) + (sum >> 16);
	put_unaligned_be16((u16)~((sum & 0xFFFF) + (sum >> 16)), b + 6);
}

static void random_packet(void)
{
	u8 b[1500];
	u32 len = rig_random(4) ? rig_random(200) : rig_random(sizeof(b)), i;

	for (i = 0; i < len; i++)
		b[i] = (u8)rig_random(256);
	/* half of them begin like ours, half of these have right sums */
	if (len >= WEFT_WIRE_HDR_LEN && rig_random(2)) {
		b[0] = WEFT_WIRE_MAGIC;
		b[1] = WEFT_WIRE_VERSION;
		b[2] = (u8)rig_random(70);
		if (rig_random(2))
			mend(b, len);
	}
	rig_send_raw(3 + rig_random(3), BLADE, b, len);
}

/*
 * Any call but JOIN: who joins is a node, and one that dies with a line locked, as this
 * one would, is in the way of others.
 */
static u16 some_op(void)
{
	u16 op;

	do
		op = (u16)(1 + rig_random(WEFT_CALL_MAX - 1));
	while (op == WEFT_CALL_JOIN);
	return op;
}

/* What a node could have sent, of an id that is no member. */
static size_t plausible(u8 *b)
{
	u8 payload[1408] = { 0 };
	struct weft_msg m = {
		.type = (u8)(rig_random(3) ? 1 + rig_random(16) : 32 + rig_random(34)),
		.flags = (u8)rig_random(64), .src = (u8)(1 + rig_random(8)),
		.status = (u8)rig_random(3), .info = 1408,
		.line = weft_line_key(region, 0, rig_random(LINES)),
		.copyset = rig_random(256), .grant = rig_random(64),
		.version = rig_random(100), .size = 4096, .payload = payload,
		.txn = weft_txn(1 + rig_random(48), rig_random(1000)),
		.holder = weft_txn(33, rig_random(1000)), .nonce = rig_random(100),
	};
	struct weft_call c = {
		.op = some_op(),
		.node = 1 + rig_random(8), .valid = rig_random(16),
		.region = region, .size = rig_random(100000),
		.life = rig_random(2000), .name_len = 1, .name = "r",
	};

	if (m.type == WEFT_MSG_WB || m.type == WEFT_MSG_DATA)
		m.len = sizeof(payload);
	if (m.type >= WEFT_MSG_CALL)
		m.len = weft_call_pack(&c, payload);
	weft_wire_pack_plain(&m, b);
	memcpy(b + WEFT_WIRE_HDR_LEN, payload, m.len);
	return WEFT_WIRE_HDR_LEN + m.len;
}

/* From the addresses of nodes that are not in the rack. */
static void mutated_packet(void)
{
	u8 b[1500] = { 0 };
	size_t len = plausible(b);
	u32 n = rig_random(4), i;

	for (i = 0; i < n; i++)
		b[rig_random((u32)len)] ^= (u8)(1 << rig_random(8));
	if (!rig_random(8))
		len = rig_random((u32)len + 1);
	if (len >= WEFT_WIRE_HDR_LEN && rig_random(4))
		mend(b, len);
	rig_send_raw(4 + rig_random(5), BLADE, b, len);
}

/* The rack goes on: a block is written by one node, read by the other. */
static void work(u32 round)
{
	u32 i = round % LINES, k;
	struct fake_line *w = fake_line(&fakes[1 + round % 2], region, i);
	struct fake_line *r = fake_line(&fakes[2 - round % 2], region, i);

	CHECK(fake_get(&fakes[1 + round % 2], w, WEFT_M));
	memset(w->data, (int)round, 4096);
	fake_settle();
	CHECK(fake_get(&fakes[2 - round % 2], r, WEFT_S));
	for (k = 0; k < 4096; k++)
		CHECK_EQ(r->data[k], (u8)round);
	fake_settle();
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

int main(int argc, char **argv)
{
	const char *const args[] = { "--switch", "none", "--memory", "16M", NULL };
	long n = argc > 1 ? atol(argv[1]) : 1000000, i, before, after;
	int status;
	u64 begin = rig_now();

	rig_open(false, 5);
	rig_memd_start(BLADE, args);
	fake_init(1);
	CHECK_EQ(fake_join(&fakes[1]), 0);
	CHECK_EQ(fake_join(&fakes[2]), 0);
	CHECK_EQ(fake_create(&fakes[1], "r", LINES * 4096, 0, &region), 0);
	CHECK_EQ(fake_open(&fakes[1], region, 4096), 0);
	CHECK_EQ(fake_open(&fakes[2], region, 4096), 0);
	for (i = 0; i < LINES; i++)
		work((u32)i);
	before = rss();
	for (i = 0; i < n; i++) {
		random_packet();
		mutated_packet();
		/* at a pace that the blade keeps up with: lost ones test nothing */
		if (i % 64 == 0)
			fake_step(0);
		if (i % (n / 50 + 1) == 0)
			work((u32)(i / (n / 50 + 1)));
	}
	work(200);
	after = rss();
	printf("%ld random and %ld mutated packets in %llu ms; %ld KiB before, %ld after\n",
	       n, n, (unsigned long long)(rig_now() - begin), before, after);
	printf("the blade took %llu for damaged, %llu for strangers'\n",
	       (unsigned long long)fake_stat(&fakes[1], BLADE, "bad_messages"),
	       (unsigned long long)fake_stat(&fakes[1], BLADE, "strangers"));
	CHECK(fake_stat(&fakes[1], BLADE, "bad_messages") > (u64)n / 8);
	CHECK(before > 0 && after < before + 8192);
	CHECK_EQ(fake_stat(&fakes[1], BLADE, "reserved_bytes"), LINES * 4096);
	CHECK_EQ(fake_stat(&fakes[1], BLADE, "nodes"), 2);
	status = rig_memd_stop(BLADE, SIGTERM);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	printf("hostile: %lu checks\n", rig_checks);
	rig_close();
	return 0;
}
