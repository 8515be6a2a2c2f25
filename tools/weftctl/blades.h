/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the memory blades are: one whose twin has taken over is not where it was set up, others
 * were added since.
 */
#ifndef WEFTCTL_BLADES_H
#define WEFTCTL_BLADES_H

#include "kernel.h"

/* Addresses of @c, homes and twins, as the members of the rack have them now. */
void blades_now(struct config *c, const struct peers *peers);

/*
 * kernel_config_get(), with blades_now(), those that were added, and which need not be asked:
 * @drained.
 */
int blades_config(struct config *c);

#endif /* WEFTCTL_BLADES_H */
