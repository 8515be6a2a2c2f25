/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plain switch: learns addresses, forwards, floods.  What an ordinary
 * Ethernet switch does, without any P4 program.
 */
#ifndef WEFT_SWITCHD_L2_H
#define WEFT_SWITCHD_L2_H

#include "learn.h"
#include "port.h"

/**
 * l2_work() - forward what waits in the ports' queues
 * @ports: the ports
 * @n_ports: how many
 * @learn: which station is where; kept up to date by the caller
 */
void l2_work(struct port **ports, unsigned int n_ports, const struct learn *learn);

#endif /* WEFT_SWITCHD_L2_H */
