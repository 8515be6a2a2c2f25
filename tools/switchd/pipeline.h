/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A P4 program at work: DPDK's SWX pipeline, built from a struct spec, between
 * the queues of ports.
 *
 * Everything runs in the calling thread.  Tables are only changed while no
 * packet is in the pipeline, so that a packet never meets half a change.
 */
#ifndef WEFT_SWITCHD_PIPELINE_H
#define WEFT_SWITCHD_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "port.h"
#include "spec.h"

struct pipeline;

/**
 * pipeline_create() - build a program between ports
 * @spec: the program; must live as long as the pipeline
 * @ports: the ports, in the order of their numbers; they share one port_flow
 * @n_ports: 1 to P4_PORT_MAX
 * @err: why not
 *
 * All mirroring sessions of nodes lead to P4_PORT_SINK at first, those of
 * flooding to their ports.  If the program has a table for it (p4names.h),
 * flooding goes from each port to all others.
 *
 * Return: the pipeline, or NULL.
 */
struct pipeline *pipeline_create(const struct spec *spec, struct port **ports,
				 unsigned int n_ports, char *err);

/** pipeline_free() - the ports stay */
void pipeline_free(struct pipeline *pl);

/**
 * pipeline_work() - process what waits in the ports' queues
 * @pl: the pipeline
 *
 * Return: true if nothing is left, neither in the queues nor in the pipeline;
 *	false if there is more to do, after a large number of instructions.
 */
bool pipeline_work(struct pipeline *pl);

/** pipeline_drained() - true if there is nothing to do */
bool pipeline_drained(const struct pipeline *pl);

/** pipeline_dropped() - number of packets that the program has dropped */
uint64_t pipeline_dropped(const struct pipeline *pl);

/*
 * Tables.  Entries are text, in DPDK's form:
 *	match VALUE... [action NAME [ARGUMENT VALUE]...]
 * They take effect with pipeline_commit().
 */
bool pipeline_has_table(const struct pipeline *pl, const char *table);
uint32_t pipeline_table_size(const struct pipeline *pl, const char *table);
int pipeline_entry_set(struct pipeline *pl, const char *table,
		       const char *entry, char *err);
int pipeline_entry_delete(struct pipeline *pl, const char *table,
			  const char *entry, char *err);
int pipeline_commit(struct pipeline *pl, char *err);
/* Packets that found an entry in the table, and that did not. */
int pipeline_table_stats(struct pipeline *pl, const char *table,
			 uint64_t *hits, uint64_t *misses);

/** pipeline_l2_set() - frames for @mac leave by @port; to be committed */
int pipeline_l2_set(struct pipeline *pl, uint64_t mac, unsigned int port, char *err);
/** pipeline_l2_delete() - frames for @mac are flooded; to be committed */
int pipeline_l2_delete(struct pipeline *pl, uint64_t mac, char *err);
/** pipeline_flood_set() - what @port sends to all goes to @mask; to be committed */
int pipeline_flood_set(struct pipeline *pl, unsigned int port, uint64_t mask, char *err);
/**
 * pipeline_node_set() - copies for node @node (1..32) leave by @port; at once
 *
 * The directory, if the program has one, hears it at that port only.
 */
int pipeline_node_set(struct pipeline *pl, unsigned int node, unsigned int port,
		      char *err);
/** pipeline_station_set() - the directory hears @member at @port only; at once */
int pipeline_station_set(struct pipeline *pl, unsigned int member, unsigned int port,
			 char *err);

/*
 * Registers.  pipeline_register_size() returns 0 for an array that is not in
 * the program.
 */
uint32_t pipeline_register_size(const struct pipeline *pl, const char *name);
int pipeline_register_read(struct pipeline *pl, const char *name,
			   uint32_t index, uint64_t *value);
int pipeline_register_write(struct pipeline *pl, const char *name,
			    uint32_t index, uint64_t value);

/**
 * pipeline_reset() - all registers as after a restart
 * @pl: the pipeline
 * @epoch: what the cells of P4_REG_GEN start with; all others start as the
 *	program says, but for those that the control plane writes (P4_REG_RACK,
 *	P4_REG_STATION), which stay
 */
void pipeline_reset(struct pipeline *pl, uint64_t epoch);

#endif /* WEFT_SWITCHD_PIPELINE_H */
