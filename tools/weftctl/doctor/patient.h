/* SPDX-License-Identifier: GPL-2.0-only */
/* A node as "weftctl doctor" sees it, and what was found. */
#ifndef WEFTCTL_PATIENT_H
#define WEFTCTL_PATIENT_H

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

#endif /* WEFTCTL_PATIENT_H */
