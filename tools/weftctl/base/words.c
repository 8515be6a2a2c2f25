// SPDX-License-Identifier: GPL-2.0-only
/* Words for numbers of the netlink family, see words.h. */
#include "base/words.h"

#include <stddef.h>

#include "weft_netlink.h"

static const char *name_of(const char * const *names, size_t n, uint32_t value)
{
	return value < n ? names[value] : "unknown";
}

const char *word_state(uint32_t state)
{
	static const char * const names[] = {
		[WEFT_STATE_NONE]	= "none",
		[WEFT_STATE_SHARED]	= "shared",
		[WEFT_STATE_MODIFIED]	= "modified",
	};

	return name_of(names, sizeof(names) / sizeof(names[0]), state);
}

const char *word_op(uint32_t op)
{
	static const char * const names[] = {
		[WEFT_LINE_OP_NONE]	= "none",
		[WEFT_LINE_OP_READ]	= "read",
		[WEFT_LINE_OP_WRITE]	= "write",
		[WEFT_LINE_OP_PUT]	= "put",
		[WEFT_LINE_OP_CLEAN]	= "clean",
		[WEFT_LINE_OP_COMMIT]	= "commit",
		[WEFT_LINE_OP_TAKE]	= "take",
	};

	return name_of(names, sizeof(names) / sizeof(names[0]), op);
}
