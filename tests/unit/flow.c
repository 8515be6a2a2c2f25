// SPDX-License-Identifier: GPL-2.0-only
/* Flows: which source port a message has, and which are believed. */
#include "flow.h"
#include "tests/common/check.h"
#include "wire.h"

#define PORT	4793
#define RUNS	7000u

static void only_contents_are_spread(void)
{
	u32 type;

	for (type = 0; type < 256; type++) {
		bool data = type == WEFT_MSG_DATA || type == WEFT_MSG_WB;
		u32 i, flow, others = 0;

		for (i = 0; i < 64; i++) {
			flow = weft_flow((u8)type, weft_line_key(7, WEFT_KIND_PAGE, i * 64));
			CHECK(flow < WEFT_FLOWS);
			others += flow != 0;
			CHECK(weft_flow_fits((u8)type, (u16)(PORT + flow), PORT));
		}
		CHECK_EQ(others, data ? 64 : 0);
		for (i = 1; i < WEFT_FLOWS; i++)
			CHECK_EQ(weft_flow_fits((u8)type, (u16)(PORT + i), PORT), data);
		CHECK(weft_flow_fits((u8)type, PORT, PORT));
		CHECK(!weft_flow_fits((u8)type, PORT - 1, PORT));
		CHECK(!weft_flow_fits((u8)type, PORT + WEFT_FLOWS, PORT));
		CHECK(!weft_flow_fits((u8)type, 0, PORT));
	}
}

/* What may stand in one datagram goes by one flow; and all of them are used alike. */
static void lines_are_spread(void)
{
	u32 seen[WEFT_FLOWS] = { 0 }, blades, i, flow, block;

	for (i = 0; i < RUNS; i++) {
		flow = weft_flow(WEFT_MSG_DATA, weft_line_key(3, WEFT_KIND_PAGE, i * 64ull));
		seen[flow]++;
		for (block = 1; block < 64; block++)
			CHECK_EQ(weft_flow(WEFT_MSG_DATA, weft_line_key(3, WEFT_KIND_PAGE,
									i * 64ull + block)), flow);
	}
	for (i = 1; i < WEFT_FLOWS; i++)
		CHECK(seen[i] > RUNS / (WEFT_FLOWS - 1) * 3 / 4);

	/* those of one blade, too, however many there are */
	for (blades = 2; blades <= 16; blades++) {
		u32 of[WEFT_FLOWS] = { 0 };

		for (i = 0; i < RUNS; i++) {
			u64 line = weft_line_key(3, WEFT_KIND_PAGE, i * 64ull);

			if (!weft_line_home(line, blades))
				of[weft_flow(WEFT_MSG_WB, line)]++;
		}
		for (i = 1; i < WEFT_FLOWS; i++)
			CHECK(of[i] > RUNS / blades / (WEFT_FLOWS - 1) / 2);
	}
}

int main(void)
{
	only_contents_are_spread();
	lines_are_spread();
	return check_result();
}
