/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text for people: names that others chose, times, amounts, words for numbers of netlink.  All of
 * it is in memory that the next 15 calls leave alone, and cut at TEXT_MAX.
 */
#ifndef WEFTCTL_TEXT_H
#define WEFTCTL_TEXT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_MAX	1280

__attribute__((format(printf, 1, 2)))
const char *text_format(const char *fmt, ...);

/* A name: what would steer a terminal as \ooo. */
const char *text_safe(const char *name);

/*
 * A member, by its id in messages: "node 3", "memory blade 2"; blades are numbered from 1 for
 * people, as 'weftctl blade' has them.
 */
const char *text_member(uint32_t id);

/* And where it is: "memory blade 2 (10.0.0.102)". */
const char *text_place(uint32_t id, struct in_addr address);

const char *text_address(struct in_addr a);

/* The numbers of a set, from 1, with commas between them: "1,2,5"; "" if it is empty. */
const char *text_set(uint32_t set);

/* A length of time with three digits or four and its unit. */
const char *text_duration(double ns);

/* A time of day here, hh:mm:ss.uuuuuu, of microseconds since 1970. */
const char *text_clock(uint64_t usec);

/* Now, in such microseconds. */
uint64_t text_now(void);

/* The first line of a file of the kernel's, "" without one.  Return: whether there is one. */
__attribute__((format(printf, 3, 4)))
bool text_line(char *line, int len, const char *path, ...);

/* enum weft_state, enum weft_line_op, enum weft_event_kind. */
const char *word_state(uint32_t state);
const char *word_op(uint32_t op);
const char *word_event(uint32_t kind);

#endif /* WEFTCTL_TEXT_H */
