/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory blades by an administrator (weftctl blade): one is added, one is used no more.
 * front/calls.c calls it, at the first blade only.
 */
#ifndef WEFT_MEMD_ADMIN_H
#define WEFT_MEMD_ADMIN_H

#include "net/reply.h"

/* BLADE. */
enum answer admin_call(struct memd *m, struct request *q);

#endif /* WEFT_MEMD_ADMIN_H */
