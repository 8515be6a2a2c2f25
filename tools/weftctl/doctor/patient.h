/* SPDX-License-Identifier: GPL-2.0-only */
/* A node as "weftctl doctor" sees it, and what was found. */
#ifndef WEFTCTL_PATIENT_H
#define WEFTCTL_PATIENT_H

#include <time.h>

#include "config/conf.h"
#include "doctor/finding.h"
#include "doctor/kernellog.h"
#include "kernel/kernel.h"

/* A node, and what was found. */
struct patient {
	struct findings findings;	/* what was found */
	enum kernel_state state;	/* what there is of the node */
	struct config config;	/* how it is set up; if it is not, how the file would */
	bool config_known;	/* there is one or the other */
	/*
	 * memory blades for which it names a twin, bit 0 for the first one; where they are it
	 * says as the rack has it now
	 */
	uint32_t twins_named;
	uint32_t interface_mtu;	/* of the interface, 0 if not known */
	struct status status;	/* what it does, if it is up */
	struct peers peers;	/* whom it knows, if it is up */
	/* name of the configuration file, NULL: the one that is read unless told */
	const char *file;
	enum conf_found file_found;	/* what was found under that name */
	struct conf conf;	/* what it says */
	struct warnings log;	/* of the kernel */
	bool log_read;	/* we may read it */
	struct counters before;	/* the node's counters when the examination began */
	uint64_t begun;	/* when that was, now_ns() */
	bool first_told;	/* the first memory blade answers */
};

#endif /* WEFTCTL_PATIENT_H */
