/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory blades: which there are, where they are, of which regions they are the homes, as the
 * first blade has it; and what is lost at them.  People number blades from 1.  Sets of blades:
 * bit n-1 is blade n.  Every function that returns int returns 0, or an exit status after it has
 * said what is wrong, unless told.
 */
#ifndef WEFTCTL_BLADES_H
#define WEFTCTL_BLADES_H

#include "kernel/kernel.h"

/* The number of a blade; 33 to 48, their ids, stand for 1 to 16. */
bool blades_number(const char *text, uint32_t *number);

/* Numbers of blades with commas between them. */
int blades_parse(const char *text, uint32_t *homes);

/* As in enum weft_a_blade. */
struct blade {
	uint32_t number;	/* 1 and up */
	struct in_addr address;
	bool joined;
	bool drains;
	uint64_t bytes;
	uint64_t needed;
	uint32_t regions;
};

/* Blades of the rack. */
struct blade_list {
	struct blade list[WEFT_HOMES_MAX];	/* them, by their numbers */
	size_t len;
};

extern const struct column blade_columns[];

int blades_read(struct blade_list *b);

/* The blade with this number, or NULL. */
const struct blade *blades_find(const struct blade_list *b, uint32_t number);

/* Add, drain or use a blade: enum weft_blade_action; @address to add it. */
int blades_set(uint32_t number, uint32_t action, struct in_addr address);

/* A region, 0: all, is to be at home there; 0: at all blades that are in use. */
int blades_spread(uint32_t region, uint32_t homes, const char *name);

/**
 * blades_wait() - wait until something is so
 * @is_so: 1: it is; 0: not yet; or a negative exit status after it has said what is wrong
 * @ms: how long at most
 *
 * Return: 0; EXIT_FAILED after it has said that @what is not so yet.
 */
int blades_wait(int (*is_so)(void *arg), void *arg, uint32_t ms, const char *what);

/* Addresses of @c, homes and twins, as the members of the rack have them now. */
void blades_now(struct config *c, const struct peers *peers);

/**
 * blades_config() - kernel_config_get(), with blades_now() and the blades that were added
 * @c: receives it, also which blades need not be asked: @drained
 * @silent: set to 1, the bit of the first blade, if it did not answer: what only it knows is
 *	not in @c then; else 0
 */
int blades_config(struct config *c, uint32_t *silent);

/*
 * Say of each blade in @silent, bits, that it does not answer.  Return: 0 if there is none, else
 * EXIT_FAILED.
 */
int blades_silent(uint32_t silent, const struct in_addr *homes);

/* Blocks in a row that are lost, as in enum weft_a_lost. */
struct lost {
	uint32_t region;
	const char *name;	/* of the region, for lost_columns */
	uint32_t block;
	uint64_t offset;
	uint64_t length;
};

extern const struct column lost_columns[];

/**
 * blades_lost() - the blocks that are lost at a blade
 * @blade: its id
 * @address: for sentences
 * @region: of this one only, 0: of all
 * @silent: set to whether it does not answer, which is no failure then
 * @take: gets them as they come
 */
int blades_lost(uint32_t blade, struct in_addr address, uint32_t region, bool *silent,
		row_fn *take, void *arg);

/* The same without a sentence.  Return: as genl_call(). */
int blades_lost_try(uint32_t blade, uint32_t region, row_fn *take, void *arg,
		    struct genl_refusal *why);

#endif /* WEFTCTL_BLADES_H */
