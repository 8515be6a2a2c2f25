// SPDX-License-Identifier: GPL-2.0-only
/* The rack that requests are about, see rack.h. */
#include "base/rack.h"

static bool chosen;
static uint32_t rack;

void rack_choose(uint32_t number)
{
	chosen = true;
	rack = number;
}

void rack_choose_none(void)
{
	chosen = false;
}

bool rack_chosen(uint32_t *number)
{
	*number = rack;
	return chosen;
}

bool rack_is_other(uint32_t number)
{
	return chosen && number != rack;
}
