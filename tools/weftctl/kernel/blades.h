/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the memory blades are: one whose twin has taken over is not where it was set up, others
 * were added since.
 */
#ifndef WEFTCTL_BLADES_H
#define WEFTCTL_BLADES_H

#include "kernel/kernel.h"

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

#endif /* WEFTCTL_BLADES_H */
