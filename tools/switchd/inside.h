/* SPDX-License-Identifier: GPL-2.0-only */
/* What pipeline.c, which builds and runs a program, and tables.c share. */
#ifndef WEFT_SWITCHD_INSIDE_H
#define WEFT_SWITCHD_INSIDE_H

#include <rte_swx_ctl.h>

#include "compiled.h"
#include "p4names.h"
#include "pipeline.h"

/**
 * struct pipeline - a program at work
 * @p: DPDK's pipeline
 * @ctl: DPDK's handle for changing tables
 * @spec: the program
 * @flow: counters of the ports
 * @sink: everything for ports that do not exist
 * @n_ports: number of real ports
 * @drop_port: number of the port that DPDK adds for dropped packets
 * @compiled: the program, if it was translated
 * @ports: where packets come from
 * @next_port: the next one whose turn it is
 */
struct pipeline {
	struct rte_swx_pipeline *p;
	struct rte_swx_ctl_pipeline *ctl;
	const struct spec *spec;
	struct port_flow *flow;
	struct port *sink;
	unsigned int n_ports;
	unsigned int drop_port;
	struct compiled compiled;
	struct port *ports[P4_PORT_MAX];
	unsigned int next_port;
};

/** pipeline_session_set() - copies of mirroring session @session leave by @port */
int pipeline_session_set(struct pipeline *pl, unsigned int session, unsigned int port);

#endif /* WEFT_SWITCHD_INSIDE_H */
