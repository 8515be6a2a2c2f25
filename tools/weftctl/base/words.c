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

const char *word_event(uint32_t kind)
{
	static const char * const names[] = {
		[WEFT_EVENT_KIND_NODE_JOINED]		= "node_joined",
		[WEFT_EVENT_KIND_NODE_LEFT]		= "node_left",
		[WEFT_EVENT_KIND_MEMBER_SILENT]		= "member_silent",
		[WEFT_EVENT_KIND_MEMBER_HEARD]		= "member_heard",
		[WEFT_EVENT_KIND_REGION_CREATED]	= "region_created",
		[WEFT_EVENT_KIND_REGION_REMOVED]	= "region_removed",
		[WEFT_EVENT_KIND_LOCK_ABANDONED]	= "lock_abandoned",
		[WEFT_EVENT_KIND_BLOCKS_LOST]		= "blocks_lost",
		[WEFT_EVENT_KIND_ACCESS_FAILED]		= "access_failed",
		[WEFT_EVENT_KIND_UNANSWERED]		= "unanswered",
		[WEFT_EVENT_KIND_DIRECTORY]		= "directory",
		[WEFT_EVENT_KIND_LOCK_OWNER_DIED]	= "lock_owner_died",
		[WEFT_EVENT_KIND_NODE_DEAD]		= "node_dead",
		[WEFT_EVENT_KIND_BLADE_MOVED]		= "blade_moved",
	};

	return name_of(names, sizeof(names) / sizeof(names[0]), kind);
}
