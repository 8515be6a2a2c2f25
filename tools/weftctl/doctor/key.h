/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl doctor" sees of the rack's key, and of who has not got it. */
#ifndef WEFTCTL_KEY_H
#define WEFTCTL_KEY_H

#include "doctor/patient.h"

void examine_key(struct patient *p);

#endif /* WEFTCTL_KEY_H */
