/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which memory blades there are, and which are the homes of a region, as the first blade has it.
 * People number blades from 1.  Sets of blades: bit n-1 is blade n.  Every function that returns
 * int returns 0, or an exit status after it has said what is wrong, unless told.
 */
#ifndef WEFTCTL_HOMES_H
#define WEFTCTL_HOMES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/kernel.h"

#define HOMES_TEXT_MAX	64	/* all 16, each with a comma */

/* "1,2,4". */
const char *homes_text(uint32_t homes, char text[HOMES_TEXT_MAX]);

/* The number of a blade; 33 to 48, their ids, stand for 1 to 16. */
bool homes_number(const char *text, uint32_t *number);

/* Numbers of blades with commas between them. */
int homes_parse(const char *text, uint32_t *homes);

/**
 * struct blade - as in enum weft_a_blade
 * @number: 1 and up
 */
struct blade {
	uint32_t number;
	struct in_addr address;
	bool joined;
	bool drains;
	uint64_t bytes;
	uint64_t needed;
	uint32_t regions;
};

/**
 * struct blade_list - those of the rack
 * @list: them, by their numbers
 * @len: how many
 */
struct blade_list {
	struct blade list[WEFT_HOMES_MAX];
	size_t len;
};

int homes_blades(struct blade_list *b);

/* The same without a sentence.  Return: 0, or a negative errno. */
int homes_blades_try(struct blade_list *b);

/* The blade with this number, or NULL. */
const struct blade *homes_blade(const struct blade_list *b, uint32_t number);

/* What is to become of a blade: enum weft_blade_action; @address to add it. */
int homes_set_blade(uint32_t number, uint32_t action, struct in_addr address);

/* A region, 0: all, is to be at home there; 0: at all blades that are in use. */
int homes_spread(uint32_t region, uint32_t homes, const char *name);

/**
 * homes_wait() - wait until something is so
 * @is_so: 1: it is; 0: not yet; or a negative exit status after it has said what is wrong
 * @ms: how long at most
 *
 * Return: 0; EXIT_FAILED after it has said that @what is not so yet.
 */
int homes_wait(int (*is_so)(void *arg), void *arg, uint32_t ms, const char *what);

#endif /* WEFTCTL_HOMES_H */
