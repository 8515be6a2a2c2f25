// SPDX-License-Identifier: GPL-2.0-only
/* What happens at random, see chance.h. */
#include "chance.h"

#include "tools/common/random.h"

static u64 state;

void chance_begin(u32 seed, u32 story)
{
	state = random_stream(seed, story);
}

u32 chance_below(u32 n)
{
	return (u32)random_below(&state, n);
}

u64 chance_bits(void)
{
	return random_u64(&state);
}
