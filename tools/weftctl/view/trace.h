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

/* An event of a block or a lock. */
struct traced {
	uint64_t usec;	/* microseconds of CLOCK_MONOTONIC */
	const char *event;	/* what it is, a word that programs may rely on */
	uint32_t region;	/* number */
	uint64_t index;	/* of the block in the region; of a lock: its offset */
	bool lock;	/* it is about a lock */
	bool by_process;	/* a process did it; else the network or a timer */
	int32_t pid;	/* of the thread */
	char comm[TRACE_COMM_MAX];	/* its name */
	uint32_t self;	/* this node */
	uint32_t node;	/* another node that it is about, 0 for none */
	char access;	/* 'r', 'w' or 0: what for */
	bool has_at;	/* @at is known */
	uint64_t at;	/* offset in the region of the byte that a program touched */
	bool has_took;	/* @took is known */
	uint64_t took;	/* ns */
	char words[TRACE_WORDS_MAX];	/* all of it for people */
};

/* Kinds of lines. */
enum trace_line {
	TRACE_EVENT,	/* an event of ours */
	TRACE_LOST,	/* some were lost, as they came faster than they were read */
	TRACE_OTHER,	/* something else */
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

/* A process or a node that used a block, and how. */
struct user {
	uint32_t region;	/* of the block */
	uint64_t index;	/* of the block */
	char access;	/* 'r' or 'w' */
	uint32_t node;	/* another node; 0: a process of this one */
	int32_t pid;	/* of the process */
	char comm[TRACE_COMM_MAX];	/* its name */
	uint64_t first;	/* the lowest byte that it touched */
	uint64_t last;	/* the highest */
	uint64_t count;	/* how often it had to wait, or wanted it */
};

/* All of them. */
struct users {
	struct user list[USERS_MAX];	/* those that were seen */
	size_t len;
	uint64_t more;	/* events of others, for whom there was no room */
};

/* One more event; those that say nothing about who uses a block are passed over. */
void users_add(struct users *u, const struct traced *t);

void users_print(struct users *u, const struct regions *known);
void users_json(struct json *j, struct users *u, const struct regions *known);

/* "REGION:OFFSET" of a block or a lock, by the region's name if it has one. */
const char *trace_place(const struct regions *known, uint32_t region, uint64_t index, bool lock);

/* Where in the region that is, in bytes. */
uint64_t trace_offset(const struct regions *known, uint32_t region, uint64_t index, bool lock);

#endif /* WEFTCTL_TRACE_H */
