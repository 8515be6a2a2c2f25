/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl doctor" looks at. */
#ifndef WEFTCTL_EXAMINE_H
#define WEFTCTL_EXAMINE_H

#include <time.h>

#include "config/conf.h"
#include "doctor/finding.h"
#include "doctor/kernellog.h"
#include "kernel/kernel.h"

/**
 * struct patient - a node, and what was found
 * @findings: what was found
 * @state: what there is of the node
 * @config: how it is set up; if it is not, how the file would
 * @config_known: there is one or the other
 * @twins_named: memory blades for which it names a twin, bit 0 for the first one; where they
 *	are it says as the rack has it now
 * @interface_mtu: of the interface, 0 if not known
 * @status: what it does, if it is up
 * @peers: whom it knows, if it is up
 * @file: name of the configuration file, NULL: the one that is read unless told
 * @file_found: what was found under that name
 * @conf: what it says
 * @log: of the kernel
 * @log_read: we may read it
 * @before: the node's counters when the examination began
 * @begun: when that was, now_ns()
 * @first_told: the first memory blade answers
 */
struct patient {
	struct findings findings;
	enum kernel_state state;
	struct config config;
	bool config_known;
	uint32_t twins_named;
	uint32_t interface_mtu;
	struct status status;
	struct peers peers;
	const char *file;
	enum conf_found file_found;
	struct conf conf;
	struct warnings log;
	bool log_read;
	struct counters before;
	uint64_t begun;
	bool first_told;
};

/* Each returns 0, or an exit status after a sentence if it cannot be gone on. */

/* The module, the configuration; fills the patient in. */
int examine_setup(struct patient *p);

/* The interface, by what the kernel says of it. */
void examine_interface(struct patient *p);

/* Other machines: whether they answer, in time, and datagrams of full size. */
void examine_hosts(struct patient *p);

/* Datagrams that came and were thrown away here. */
void examine_drops(struct patient *p);

/* The same at memory blade @id, called @name, whose counters are @c. */
void examine_blade_drops(struct patient *p, uint32_t id, const char *name,
			 const struct counters *c);

/* The RDMA device of the interface, if it has one. */
void examine_rdma(struct patient *p);

/* The rack's key, and messages of those who have not got it. */
void examine_key(struct patient *p);

/* The same at memory blade @id, called @name, whose counters are @c. */
void examine_blade_refused(struct patient *p, uint32_t id, const char *name,
			   const struct counters *c);

/* The twin of memory blade @id, called @name, whose counters are @c. */
void examine_twin(struct patient *p, uint32_t id, const char *name,
		  const struct counters *c);

/* Memory blades and the switch. */
int examine_rack(struct patient *p);

/* What the node has met by now: mounts, its cache, its log. */
int examine_node(struct patient *p);

#endif /* WEFTCTL_EXAMINE_H */
