/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl doctor" sees on this machine. */
#ifndef WEFTCTL_EXAMINE_H
#define WEFTCTL_EXAMINE_H

#include "doctor/patient.h"

/* Each returns 0, or an exit status after a sentence if it cannot be gone on. */

/* The module, the configuration; fills the patient in. */
int examine_setup(struct patient *p);

/* Examine mounts, the cache, the kernel log; last, as it waits for counters to grow. */
int examine_node(struct patient *p);

#endif /* WEFTCTL_EXAMINE_H */
