/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl doctor" finds: names that stay what they are, and sentences. */
#ifndef WEFTCTL_FINDING_H
#define WEFTCTL_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All that there is, by the names that stay what they are. */
#define FINDINGS_ALL(X)									\
	X(CONFIG_WRONG, config_wrong) X(CONFIG_INCOMPLETE, config_incomplete)			\
	X(CONFIG_DIFFERS, config_differs) X(MODULE_MISSING, module_missing)			\
	X(MODULE_VERSION, module_version) X(MODULE_OLD, module_old)				\
	X(WIRE_VERSION, wire_version) X(NO_KEY, no_key) X(KEY_WRONG, key_wrong)			\
	X(KEY_DIFFERS, key_differs) X(REFUSED, refused) X(DOWN, down)				\
	X(NOT_MOUNTED, not_mounted) X(NOT_JOINED, not_joined)					\
	X(DUPLICATE_ID, duplicate_id) X(INTERFACE_MISSING, interface_missing)			\
	X(INTERFACE_DOWN, interface_down) X(ADDRESS_MISSING, address_missing)			\
	X(MTU_INTERFACE, mtu_interface) X(MTU_PATH, mtu_path)					\
	X(HOST_UNREACHABLE, host_unreachable) X(ROUND_TRIP, round_trip)				\
	X(BLADE_DOWN, blade_down) X(BLADE_SILENT, blade_silent)					\
	X(BLADE_WAITS, blade_waits) X(BLADE_VERSION, blade_version)				\
	X(BLADE_FULL, blade_full) X(BLADE_FILE, blade_file)					\
	X(HOMES_DIFFER, homes_differ) X(TWIN_MISSING, twin_missing)				\
	X(TWIN_UNKNOWN, twin_unknown) X(TWIN_INCOMPLETE, twin_incomplete)			\
	X(WITNESS_SILENT, witness_silent) X(SWITCH_MISSING, switch_missing)			\
	X(OTHER_VERSION, other_version) X(DROPS_INTERFACE, drops_interface)			\
	X(DROPS_SOCKET, drops_socket) X(DROPS_BLADE, drops_blade)				\
	X(RDMA_MODULE, rdma_module) X(RDMA_PORT, rdma_port) X(RDMA_GID, rdma_gid)		\
	X(RDMA_MTU, rdma_mtu) X(RDMA_LOSS, rdma_loss) X(RDMA_MEMBER, rdma_member)		\
	X(CACHE_FULL, cache_full) X(BLOCKS_LOST, blocks_lost) X(LINES_LOST, lines_lost)		\
	X(NO_LEASE, no_lease) X(TIMEOUT, timeout) X(HOLD, hold)					\
	X(KERNEL_LOG, kernel_log)

enum finding_id {
#define FINDING(id, name)	FOUND_##id,
	FINDINGS_ALL(FINDING)
#undef FINDING
	FINDINGS,
};

extern const char * const finding_names[FINDINGS];

/* One of them. */
struct finding {
	enum finding_id id;	/* what it is */
	uint32_t member;	/* of the rack that it is about, 0: this node */
	char *text;	/* the sentence */
	const char *remedy;	/* where in it begins what to do */
};

/* An examination that was not possible, and the reason. */
struct skipped {
	const char *what;
	const char *why;
};

#define FOUND_LATELY_S	3600	/* what is longer ago is no finding any more */

#define SKIPPED_MAX	8

/* All of them. */
struct findings {
	struct finding *list;	/* of malloc(), grows */
	size_t len;
	uint64_t ignored;	/* those that nobody wants to know, bit @id */
	struct skipped skipped[SKIPPED_MAX];	/* what was not looked at */
	size_t skipped_len;
};

/**
 * found() - one more
 * @f: all of them
 * @id: what it is
 * @member: of the rack that it is about, 0: this node
 * @fmt: the sentence: what is wrong, a tab, what to do
 */
__attribute__((format(printf, 4, 5)))
void found(struct findings *f, enum finding_id id, uint32_t member, const char *fmt, ...);

/* Whether there is one; of @member only, unless that is 0. */
bool found_any(const struct findings *f, enum finding_id id, uint32_t member);

void skip(struct findings *f, const char *what, const char *why);

void findings_free(struct findings *f);

#endif /* WEFTCTL_FINDING_H */
