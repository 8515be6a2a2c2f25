/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl doctor" sees of datagrams that came and were thrown away. */
#ifndef WEFTCTL_DROPS_H
#define WEFTCTL_DROPS_H

#include "doctor/patient.h"

void examine_drops(struct patient *p);

/* The same at memory blade @id, called @name, whose counters are @c. */
void examine_blade_drops(struct patient *p, uint32_t id, const char *name,
			 const struct counters *c);

#endif /* WEFTCTL_DROPS_H */
