/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netlink family as a client on libmnl sees it: requests, answers, and which of the
 * header's attributes were met in them.
 */
#ifndef WEFT_TEST_NETLINK_FAMILY_H
#define WEFT_TEST_NETLINK_FAMILY_H

#include <errno.h>
#include <inttypes.h>
#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "weft_netlink.h"

#define ATTRS_MAX	32
#define BUCKETS_MAX	64
#define BIT(type)	(1u << (type))
#define MUST(holds, ...) ((holds) ? (void)0 : wrong(__VA_ARGS__))

/* Types of objects. */
enum { CONFIG, STATUS, COUNTER, PEER, HIST, BUCKET, REGION, LINE, LOCK, LOST, BLADE, EVENT, SETS };

/**
 * struct object - one object of an answer
 * @attr: its attributes by their numbers, of one that is repeated the last
 * @has: a bit for each attribute
 * @homes: how many HOMEs a configuration has
 * @twins: how many TWINs
 * @buckets: those of a histogram
 * @n_buckets: how many
 * @set: its type
 */
struct object {
	const struct nlattr *attr[ATTRS_MAX];
	uint32_t has;
	uint32_t homes;
	uint32_t twins;
	const struct nlattr *buckets[BUCKETS_MAX];
	uint32_t n_buckets;
	uint8_t set;
};

/* What is done with each object of an answer. */
typedef void (*take_fn)(const struct object *o, void *data);

/* What a refusal says besides its errno. */
extern struct refusal {
	bool sentence;
	bool place;
	uint32_t missing;
} refusal;

/* Something was wrong. */
extern int bad;

/* Print what is wrong. */
__attribute__((format(printf, 1, 2)))
void wrong(const char *format, ...);

/* Open the socket and find the family; the program ends if there is none. */
void family_find(void);

/* What the family says of its commands is what the header says. */
void family_check_commands(void);

/* Begin a request; attributes are added to what is returned. */
struct nlmsghdr *family_command(uint8_t cmd);

/* Send it.  Return: how many objects the answer has, or the errno of a refusal, negative. */
int family_ask(uint8_t cmd, take_fn take, void *data);

/* Both, for a request without attributes. */
int family_ask_plain(uint8_t cmd, take_fn take, void *data);

/* Join the group of events. */
void family_listen(void);

/* Take what has come within some time.  Return: whether anything has. */
bool family_event(int ms, take_fn take, void *data);

/* The attributes of a nested object. */
void object_nested(struct object *o, uint8_t set, const struct nlattr *nest);

/* Numbers and names of an object; 0 and "" of what it does not have. */
uint64_t number(const struct object *o, uint16_t type);
const char *text(const struct object *o, uint16_t type);

/* Each attribute of these types of objects was in an answer. */
void check_seen(uint32_t first, uint32_t last);

void drive(void);
void hear(void);

#endif /* WEFT_TEST_NETLINK_FAMILY_H */
