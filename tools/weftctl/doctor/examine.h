/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl doctor" sees on this machine. */
#ifndef WEFTCTL_EXAMINE_H
#define WEFTCTL_EXAMINE_H

#include "doctor/patient.h"

/* Each returns 0, or an exit status after a sentence if it cannot be gone on. */

/* The module, the configuration; fills the patient in. */
int examine_setup(struct patient *p);

/* What the node has met by now: mounts, its cache, its log. */
int examine_node(struct patient *p);

#endif /* WEFTCTL_EXAMINE_H */
