/* SPDX-License-Identifier: GPL-2.0-only */
/* For which nodes a region is: as people write it, as it is set.  Bit n-1 is node n, 0: all. */
#ifndef WEFTCTL_NODES_H
#define WEFTCTL_NODES_H

#include <stdbool.h>
#include <stdint.h>

#define NODES_KEY	"nodes="
#define NODES_TEXT_MAX	96	/* all 32, each with a comma */

/* "1,2,5", or "all". */
const char *nodes_text(uint32_t nodes, char text[NODES_TEXT_MAX]);

/**
 * nodes_parse() - read what stands behind NODES_KEY
 * @nodes: receives it
 *
 * Return: 0, or EXIT_USAGE after it has said what is wrong.
 */
int nodes_parse(const char *text, uint32_t *nodes);

/**
 * nodes_set() - say for which nodes a region is
 * @name: of the region; with a slash in it: the path of its file
 *
 * Return: an exit status, after it has said what is wrong.
 */
int nodes_set(const char *name, uint32_t nodes);

#endif /* WEFTCTL_NODES_H */
