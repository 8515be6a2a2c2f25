/* SPDX-License-Identifier: GPL-2.0-only */
/* Who used the blocks that were traced: processes here, and other nodes. */
#ifndef WEFTCTL_TRACESUM_H
#define WEFTCTL_TRACESUM_H

#include "kernel/regions.h"
#include "tools/common/json.h"
#include "view/traceline.h"

#define USERS_MAX	256

/**
 * struct user - who used a block, and how
 * @region: of the block
 * @index: of the block
 * @access: 'r' or 'w'
 * @node: another node; 0: a process of this one
 * @pid: of the process
 * @comm: its name
 * @first: the lowest byte that it touched
 * @last: the highest
 * @count: how often it had to wait, or wanted it
 */
struct user {
	uint32_t region;
	uint64_t index;
	char access;
	uint32_t node;
	int32_t pid;
	char comm[TRACE_COMM_MAX];
	uint64_t first;
	uint64_t last;
	uint64_t count;
};

/**
 * struct users - all of them
 * @list: those that were seen
 * @len: how many
 * @more: events of others, for whom there was no room
 */
struct users {
	struct user list[USERS_MAX];
	size_t len;
	uint64_t more;
};

/* One more event; those that say nothing about who uses a block are passed over. */
void users_add(struct users *u, const struct traced *t);

void users_print(struct users *u, const struct regions *known);
void users_json(struct json *j, struct users *u, const struct regions *known);

/* "REGION:OFFSET" of a block or a lock, by the region's name if it has one. */
#define TRACE_PLACE_MAX	(256 + 32)
void trace_place(char place[TRACE_PLACE_MAX], const struct regions *known,
		 uint32_t region, uint64_t index, bool lock);

/* Where in the region that is, in bytes. */
uint64_t trace_offset(const struct regions *known, uint32_t region, uint64_t index,
		      bool lock);

#endif /* WEFTCTL_TRACESUM_H */
