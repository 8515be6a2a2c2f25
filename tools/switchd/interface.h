/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What weft-switchd and its P4 program have to agree on: the constants of
 * weft_wire.h and p4names.h.  A program from before or after a change of them would
 * load all the same, and lose messages.
 */
#ifndef WEFT_SWITCHD_INTERFACE_H
#define WEFT_SWITCHD_INTERFACE_H

#include "spec.h"

/**
 * interface_check() - does a program belong to this weft-switchd?
 * @spec: the program
 * @path: its file, for the sentence
 * @err: why not, and what to do
 *
 * It does if "make p4" noted the same hash of these constants in it as the Makefile
 * did in weft-switchd, and if everything is there that p4names.h names.
 *
 * Return: 0, or -EINVAL.
 */
int interface_check(const struct spec *spec, const char *path, char *err);

#endif /* WEFT_SWITCHD_INTERFACE_H */
