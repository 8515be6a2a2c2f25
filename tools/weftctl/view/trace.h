/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's trace: what a line of it says, in words; who used the blocks. */
#ifndef WEFTCTL_TRACE_H
#define WEFTCTL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/regions.h"
#include "tools/common/json.h"

#define TRACE_WORDS_MAX	192
#define TRACE_COMM_MAX	17

/**
 * struct traced - an event of a block or a lock
 * @usec: microseconds of CLOCK_MONOTONIC
 * @event: what it is, a word that programs may rely on
 * @region: number
 * @index: of the block in the region; of a lock: its offset
 * @lock: it is about a lock
 * @by_process: a process did it; else the network or a timer
 * @pid: of the thread
 * @comm: its name
 * @self: this node
 * @node: another node that it is about, 0 for none
 * @access: 'r', 'w' or 0: what for
 * @has_at: @at is known
 * @at: offset in the region of the byte that a program touched
 * @has_took: @took is known
 * @took: ns
 * @words: all of it for people
 */
struct traced {
	uint64_t usec;
	const char *event;
	uint32_t region;
	uint64_t index;
	bool lock;
	bool by_process;
	int32_t pid;
	char comm[TRACE_COMM_MAX];
	uint32_t self;
	uint32_t node;
	char access;
	bool has_at;
	uint64_t at;
	bool has_took;
	uint64_t took;
	char words[TRACE_WORDS_MAX];
};

/**
 * enum trace_line - what a line is
 * @TRACE_EVENT: an event of ours
 * @TRACE_LOST: some were lost, as they came faster than they were read
 * @TRACE_OTHER: something else
 */
enum trace_line {
	TRACE_EVENT,
	TRACE_LOST,
	TRACE_OTHER,
};

/**
 * traceline_read() - read one line, without its newline
 * @self: id of this node; 0: not known
 * @t: TRACE_EVENT: filled in
 * @lost: TRACE_LOST: how many
 */
enum trace_line traceline_read(const char *line, uint32_t self, struct traced *t,
			       uint64_t *lost);

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
uint64_t trace_offset(const struct regions *known, uint32_t region, uint64_t index, bool lock);

#endif /* WEFTCTL_TRACE_H */
