/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The P4 program on DPDK's pipeline, between ports in memory.
 */
#ifndef WEFT_TESTS_DIFF_RIG_H
#define WEFT_TESTS_DIFF_RIG_H

#include "model.h"
#include "pipeline.h"

struct rig {
	struct spec *spec;
	struct port_flow flow;
	struct port *port[PORTS_MAX];
	unsigned int n_ports;
	struct pipeline *pl;
	bool quiet;	/* do not tell differences */
};

/**
 * rig_open() - load a program
 * @rig: to be filled in
 * @path: the .spec
 * @compiled: what tools/switchd/compile made of it, or NULL
 * @n_ports: number of ports
 * @err: why not
 *
 * Return: 0 or a negative errno.
 */
int rig_open(struct rig *rig, const char *path, const char *compiled,
	     unsigned int n_ports, char *err);
void rig_close(struct rig *rig);

/**
 * rig_wire() - the same stations, nodes, flooding and registers as the model
 * @rig: the program
 * @model: has the generations @epoch
 * @epoch: what the switch's generations start with
 * @err: why not
 */
int rig_wire(struct rig *rig, const struct model *model, u32 epoch, char *err);

/**
 * rig_compare_slot() - are the registers of a slot as in the model?
 *
 * Return: true, or false after saying what is different.
 */
bool rig_compare_slot(const struct rig *rig, const struct model *model, u32 index);

/* The same for members and counters. */
bool rig_compare_globals(const struct rig *rig, const struct model *model);

#endif /* WEFT_TESTS_DIFF_RIG_H */
