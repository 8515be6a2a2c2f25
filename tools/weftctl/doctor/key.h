/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl doctor" sees of the rack's key, and of who has not got it. */
#ifndef WEFTCTL_KEY_H
#define WEFTCTL_KEY_H

#include "doctor/patient.h"

void examine_key(struct patient *p);

/* The same at memory blade @id, called @name, whose counters are @c. */
void examine_blade_refused(struct patient *p, uint32_t id, const char *name,
			   const struct counters *c);

#endif /* WEFTCTL_KEY_H */
