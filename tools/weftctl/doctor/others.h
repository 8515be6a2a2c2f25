/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl doctor" sees of other machines. */
#ifndef WEFTCTL_OTHERS_H
#define WEFTCTL_OTHERS_H

#include "doctor/patient.h"

/* Whether they answer, in time, and datagrams of full size. */
void examine_hosts(struct patient *p);

/* Memory blades and the switch.  Return: 0, or an exit status after a sentence. */
int examine_rack(struct patient *p);

#endif /* WEFTCTL_OTHERS_H */
