// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which thread of a memory blade has a line: the program for the kernel says the same as
 * the function, what is about no line goes to the first thread, and each blade's lines fall
 * into all shares.
 */
#include "tests/common/check.h"
#include "tools/common/random.h"
#include "tools/memd/base/options.h"
#include "tools/memd/base/share.h"
#include "wire.h"

static u64 state = 1;

static bool load(const u8 *buf, size_t len, const struct sock_filter *f, u32 *a)
{
	u32 n = BPF_SIZE(f->code) == BPF_W ? 4 : 1;

	CHECK(BPF_MODE(f->code) == BPF_ABS && BPF_SIZE(f->code) != BPF_H);
	if (f->k + n > len)
		return false;
	*a = n == 4 ? get_unaligned_be32(buf + f->k) : buf[f->k];
	return true;
}

static u32 compute(u16 op, u32 a, u32 with)
{
	switch (BPF_OP(op)) {
	case BPF_RSH:
		return a >> with;
	case BPF_LSH:
		return a << with;
	case BPF_OR:
		return a | with;
	case BPF_XOR:
		return a ^ with;
	case BPF_MUL:
		return a * with;
	case BPF_MOD:
		return a % with;
	default:
		CHECK_FAIL("no such operation: %x", op);
	}
}

/* What the kernel does with it. */
static u32 run(const struct sock_filter *code, const u8 *buf, size_t len)
{
	u32 a = 0, x = 0, memory[BPF_MEMWORDS] = { 0 }, at;

	for (at = 0; at < SHARE_PROGRAM; at++) {
		const struct sock_filter *f = &code[at];
		bool yes;

		switch (BPF_CLASS(f->code)) {
		case BPF_LD:
			if (BPF_MODE(f->code) == BPF_MEM)
				a = memory[f->k];
			else if (!load(buf, len, f, &a))
				return 0;
			break;
		case BPF_ST:
			memory[f->k] = a;
			break;
		case BPF_ALU:
			a = compute(f->code, a, BPF_SRC(f->code) == BPF_X ? x : f->k);
			break;
		case BPF_JMP:
			yes = BPF_OP(f->code) == BPF_JGE ? a >= f->k : a == f->k;
			CHECK(BPF_OP(f->code) == BPF_JGE || BPF_OP(f->code) == BPF_JEQ);
			at += yes ? f->jt : f->jf;
			break;
		case BPF_MISC:
			x = a;
			break;
		default: /* BPF_RET */
			return BPF_RVAL(f->code) == BPF_A ? a : f->k;
		}
	}
	CHECK_FAIL("the program has no end");
}

static void same(u32 threads)
{
	struct sock_filter code[SHARE_PROGRAM];
	u8 buf[WEFT_WIRE_HDR_LEN];
	u32 i, want;

	share_program(code, threads);
	for (i = 0; i < 200000; i++) {
		struct weft_msg msg = {
			.type = (u8)(1 + random_u32(&state) % WEFT_MSG_REPLY),
			.src = 1,
			.line = weft_line_key(random_u32(&state) & WEFT_REGION_MAX,
					      random_u32(&state) % 3,
					      (u64)random_u32(&state) << random_u32(&state) % 8 >>
					      random_u32(&state) % 32),
		};

		weft_wire_pack_plain(&msg, buf);
		want = msg.type >= WEFT_MSG_CALL || msg.type == WEFT_MSG_MEMBERS_ACK ?
			0 : share_of(msg.line, threads);
		CHECK_EQ(run(code, buf, sizeof(buf)), want);
		CHECK(want < threads);
	}
	for (i = 0; i < WEFT_WIRE_LINE_AT + 8; i++)
		CHECK_EQ(run(code, buf, i), 0);
}

/* Runs that one blade of @blades has of a region of each size, by thread. */
static void even(u32 threads, u32 blades, u32 first, u32 regions, u32 runs)
{
	u32 n[THREADS_MAX] = { 0 }, all = 0, r, i;

	for (r = first; r < first + regions; r++) {
		for (i = 0; i < runs; i++) {
			u64 line = weft_line_key(r, WEFT_KIND_PAGE, (u64)i * 64);

			if (weft_line_home(line, blades))
				continue;
			n[share_of(line, threads)]++;
			/* a run has one owner */
			CHECK_EQ(share_of(line + 63, threads), share_of(line, threads));
			all++;
		}
	}
	for (i = 0; i < threads; i++)
		if (n[i] * threads < all * 8 / 10 || n[i] * threads > all * 12 / 10)
			CHECK_FAIL("thread %u of %u has %u of %u runs (%u blades, regions %u to %u)",
				   i, threads, n[i], all, blades, first, first + regions - 1);
}

int main(void)
{
	u32 threads, blades;

	for (threads = 1; threads <= THREADS_MAX; threads++) {
		same(threads);
		for (blades = 1; blades <= 4; blades++) {
			even(threads, blades, 1, 1, 16384);
			even(threads, blades, 70000, 1, 16384);
			/* many that are small */
			even(threads, blades, 1000, 16384, 1);
			even(threads, blades, 1000, 4096, 4);
		}
	}
	return check_result();
}
