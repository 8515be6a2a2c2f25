/* SPDX-License-Identifier: GPL-2.0-only */
/* The regions that the node knows, by number and by name; their policies as words. */
#ifndef WEFTCTL_REGIONS_H
#define WEFTCTL_REGIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/kernel.h"
#include "weft.h"

/* As in enum weft_a_region. */
struct region {
	uint32_t id;
	char name[REGION_NAME_MAX];	/* "" if it has none any more */
	uint64_t size;
	uint32_t block;
	uint32_t lines;
	uint32_t locks;
	uint32_t policy;
	uint32_t nodes;
	uint32_t homes;
	bool gone;
};

extern const struct column region_columns[];

/* Regions that the node knows, each given to @take as it comes. */
int regions_each(row_fn *take, void *arg);

/* A list of them. */
struct regions {
	struct region *list;	/* in the order of their numbers */
	size_t len;
};

/* Asks for them.  Return: 0, or an exit status after it has said what is wrong. */
int regions_read(struct regions *r);

void regions_free(struct regions *r);

/* NULL: the node does not know it. */
const struct region *regions_by_id(const struct regions *r, uint32_t id);
const struct region *regions_by_name(const struct regions *r, const char *name);

/* Says that there is none that is called @text.  Return: EXIT_FAILED. */
int regions_unknown(const char *text);

/* A number names a region by its number. */
bool regions_is_number(const char *text);

/* Its name, or what stands for one. */
const char *region_name(const struct region *r);

#define POLICIES	3

/* Name of the nth one, with a dash between words; what @bits say that it is. */
const char *policy_name(size_t nth);
const char *policy_value(size_t nth, uint32_t bits);

/**
 * policy_parse() - read "name=value"
 * @text: it
 * @p: gets it besides what stands there
 *
 * Return: 0, or EXIT_USAGE after it has said what is wrong.
 */
int policy_parse(const char *text, struct weft_policy *p);

#define POLICY_NODES	"nodes="

/* Read what stands behind POLICY_NODES: for which nodes, bit n-1 is node n, 0: all. */
int policy_parse_nodes(const char *text, uint32_t *nodes);

#endif /* WEFTCTL_REGIONS_H */
