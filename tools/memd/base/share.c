// SPDX-License-Identifier: GPL-2.0-only
/* Shares of threads, as a program for the kernel; see share.h. */
#include "base/share.h"

#include "wire.h"

void share_program(struct sock_filter code[SHARE_PROGRAM], u32 threads)
{
	enum { HI, PART };	/* places in the program's memory */
	const struct sock_filter program[SHARE_PROGRAM] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, WEFT_WIRE_TYPE_AT),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, WEFT_MSG_CALL, 25, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, WEFT_MSG_MEMBERS_ACK, 24, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WEFT_WIRE_LINE_AT),
		BPF_STMT(BPF_ST, HI),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, SHARE_MIX_2),
		BPF_STMT(BPF_ST, PART),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WEFT_WIRE_LINE_AT + 4),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 6),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_MEM, HI),
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 26),
		BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_MEM, PART),
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, SHARE_MIX_1),
		BPF_STMT(BPF_ST, PART),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 15),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_MEM, PART),
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, SHARE_MIX_2),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 16),
		BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, threads),
		BPF_STMT(BPF_RET | BPF_A, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};

	memcpy(code, program, sizeof(program));
}
