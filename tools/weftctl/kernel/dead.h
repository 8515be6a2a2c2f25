/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes that die, as the kernel and the memory blades know of them.  Every function returns
 * 0, or an exit status after it has said what is wrong, unless told.
 */
#ifndef WEFTCTL_DEAD_H
#define WEFTCTL_DEAD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* A node is to be taken for dead. */
int dead_fence(uint32_t node);

/**
 * struct lost - blocks in a row that are lost, as in enum weft_a_lost
 */
struct lost {
	uint32_t region;
	uint32_t block;
	uint64_t offset;
	uint64_t length;
};

/**
 * dead_lost() - the blocks that are lost at a blade
 * @blade: its id
 * @address: for sentences
 * @region: of this one only, 0: of all
 * @silent: set to whether it does not answer, which is no failure then
 * @take: gets them as they come
 */
int dead_lost(uint32_t blade, struct in_addr address, uint32_t region, bool *silent,
	      void (*take)(const struct lost *l, void *arg), void *arg);

/* The same of all regions without a sentence.  Return: 0, or a negative errno. */
int dead_lost_try(uint32_t blade, void (*take)(const struct lost *l, void *arg), void *arg);

#endif /* WEFTCTL_DEAD_H */
