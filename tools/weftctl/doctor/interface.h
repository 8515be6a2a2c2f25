/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl doctor" sees of the rack's interface, its queues and its RDMA device. */
#ifndef WEFTCTL_INTERFACE_H
#define WEFTCTL_INTERFACE_H

#include "doctor/patient.h"

/* By what the kernel says of it. */
void examine_interface(struct patient *p);

/* Datagrams that came and were thrown away: nothing is lost by that but time. */
void examine_drops(struct patient *p);

/* Are so many of all more than an accident? */
bool drops_are_much(uint64_t drops, uint64_t all);

void examine_rdma(struct patient *p);

#endif /* WEFTCTL_INTERFACE_H */
