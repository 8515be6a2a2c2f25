/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl doctor" sees of the RDMA device of the interface, if it has one. */
#ifndef WEFTCTL_RDMA_H
#define WEFTCTL_RDMA_H

#include "doctor/patient.h"

void examine_rdma(struct patient *p);

#endif /* WEFTCTL_RDMA_H */
