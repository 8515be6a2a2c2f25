/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The catalog of regions: names, sizes, attributes.  Calls that only the first blade serves;
 * front/calls.c hands them in.  Blocks and lines are taken away by lines/trim.c.
 */
#ifndef WEFT_MEMD_CATALOG_H
#define WEFT_MEMD_CATALOG_H

#include "net/reply.h"

enum answer catalog_call(struct memd *m, struct request *q);

#endif /* WEFT_MEMD_CATALOG_H */
