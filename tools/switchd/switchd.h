/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The switch as a whole: ports, a P4 program or the plain switch between them,
 * faults, and the loop that keeps them going.
 */
#ifndef WEFT_SWITCHD_SWITCHD_H
#define WEFT_SWITCHD_SWITCHD_H

#include "control.h"
#include "learn.h"
#include "p4names.h"
#include "pipeline.h"
#include "port.h"
#include "weft_wire.h"

/**
 * struct switchd_config - what to be
 * @spec: file of the P4 program, or "none" for the plain switch
 * @foreign: it need not be weft's own (interface.h)
 * @compiled: library that was compiled from it, or NULL
 * @code: write C code for the program to this file, and do nothing else
 * @ports: descriptions of the ports (port_create())
 * @n_ports: how many
 * @nodes: node id and port name, "ID=NAME"
 * @n_nodes: how many
 * @blades: blade id and port name, "ID=NAME"
 * @n_blades: how many
 * @rack: number of the rack whose directory this is
 * @fault: faults of all ports at first
 * @seed: of the faults
 * @control: path of the control socket, or NULL
 * @epoch: what generations start with
 * @have_epoch: @epoch is set; otherwise it comes from the time
 * @cpu: run on this CPU only, or -1
 * @memory: megabytes for DPDK, or 0
 */
struct switchd_config {
	const char *spec;
	bool foreign;
	const char *compiled;
	const char *code;
	const char *ports[P4_PORT_MAX];
	unsigned int n_ports;
	const char *nodes[WEFT_NODE_MAX];
	unsigned int n_nodes;
	const char *blades[WEFT_BLADE_MAX - WEFT_BLADE_MIN + 1];
	unsigned int n_blades;
	uint32_t rack;
	struct fault_config fault;
	uint64_t seed;
	const char *control;
	uint64_t epoch;
	bool have_epoch;
	int cpu;
	unsigned int memory;
};

/**
 * struct switchd - a switch
 * @ports: the ports
 * @n_ports: how many
 * @flow: what is where
 * @spec: the P4 program, or NULL
 * @pl: the P4 program at work, or NULL
 * @learn: which station is where
 * @control: takes commands, or NULL
 * @seed: of the faults
 * @epoch: what generations started with
 * @epoll: everything to wait for
 * @signals: file descriptor for SIGINT and SIGTERM
 * @quit: leave the loop
 */
struct switchd {
	struct port *ports[P4_PORT_MAX];
	unsigned int n_ports;
	struct port_flow flow;
	struct spec *spec;
	struct pipeline *pl;
	struct learn learn;
	struct control *control;
	uint64_t seed;
	uint64_t epoch;
	int epoll;
	int signals;
	bool quit;
};

/**
 * switchd_create() - open everything
 * @config: what to be
 * @err: why not
 *
 * The control socket comes last: once it is there, frames are forwarded.
 */
struct switchd *switchd_create(const struct switchd_config *config, char *err);

/** switchd_run() - until a signal or the command "quit"; 0 or a negative errno */
int switchd_run(struct switchd *sw, char *err);

void switchd_destroy(struct switchd *sw);

/** switchd_port() - a port by its name, or NULL */
struct port *switchd_port(struct switchd *sw, const char *name);

/**
 * switchd_node() - a node is behind a port: "ID=NAME"
 *
 * Copies for it leave by that port, and it is heard there, and nowhere else.
 */
int switchd_node(struct switchd *sw, const char *node, char *err);

/** switchd_blade() - a memory blade is heard at a port, and nowhere else: "ID=NAME" */
int switchd_blade(struct switchd *sw, const char *blade, char *err);

/**
 * switchd_clear() - forget everything, as a restart would
 * @sw: the switch
 * @err: why not
 *
 * Generations start where none has been before.
 */
int switchd_clear(struct switchd *sw, char *err);

#endif /* WEFT_SWITCHD_SWITCHD_H */
