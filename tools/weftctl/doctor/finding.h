/* SPDX-License-Identifier: GPL-2.0-only */
/* What "weftctl doctor" finds: names that stay what they are, and sentences. */
#ifndef WEFTCTL_FINDING_H
#define WEFTCTL_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finding_id {
	FOUND_CONFIG_WRONG,
	FOUND_CONFIG_INCOMPLETE,
	FOUND_CONFIG_DIFFERS,
	FOUND_MODULE_MISSING,
	FOUND_MODULE_VERSION,
	FOUND_MODULE_OLD,
	FOUND_WIRE_VERSION,
	FOUND_NO_KEY,
	FOUND_KEY_WRONG,
	FOUND_KEY_DIFFERS,
	FOUND_REFUSED,
	FOUND_DOWN,
	FOUND_NOT_MOUNTED,
	FOUND_NOT_JOINED,
	FOUND_DUPLICATE_ID,
	FOUND_INTERFACE_MISSING,
	FOUND_INTERFACE_DOWN,
	FOUND_ADDRESS_MISSING,
	FOUND_MTU_INTERFACE,
	FOUND_MTU_PATH,
	FOUND_HOST_UNREACHABLE,
	FOUND_ROUND_TRIP,
	FOUND_BLADE_DOWN,
	FOUND_BLADE_SILENT,
	FOUND_BLADE_WAITS,
	FOUND_BLADE_VERSION,
	FOUND_BLADE_FULL,
	FOUND_BLADE_FILE,
	FOUND_HOMES_DIFFER,
	FOUND_TWIN_MISSING,
	FOUND_TWIN_UNKNOWN,
	FOUND_TWIN_INCOMPLETE,
	FOUND_WITNESS_SILENT,
	FOUND_SWITCH_MISSING,
	FOUND_OTHER_VERSION,
	FOUND_DROPS_INTERFACE,
	FOUND_DROPS_SOCKET,
	FOUND_DROPS_BLADE,
	FOUND_RDMA_MODULE,
	FOUND_RDMA_PORT,
	FOUND_RDMA_GID,
	FOUND_RDMA_MTU,
	FOUND_RDMA_LOSS,
	FOUND_RDMA_MEMBER,
	FOUND_CACHE_FULL,
	FOUND_BLOCKS_LOST,
	FOUND_LINES_LOST,
	FOUND_NO_LEASE,
	FOUND_TIMEOUT,
	FOUND_HOLD,
	FOUND_KERNEL_LOG,
	FINDINGS,
};

extern const char * const finding_names[FINDINGS];

/**
 * struct finding - one of them
 * @id: what it is
 * @member: of the rack that it is about, 0: this node
 * @text: the sentence
 * @remedy: where in it begins what to do
 */
struct finding {
	enum finding_id id;
	uint32_t member;
	char *text;
	const char *remedy;
};

/* What could not be looked at, and why. */
struct skipped {
	const char *what;
	const char *why;
};

#define FOUND_LATELY_S	3600	/* what is longer ago is no finding any more */

#define SKIPPED_MAX	8

/**
 * struct findings - all of them
 * @list: of malloc(), grows
 * @len: how many
 * @ignored: those that nobody wants to know, bit @id
 * @skipped: what was not looked at
 * @skipped_len: how many
 */
struct findings {
	struct finding *list;
	size_t len;
	uint64_t ignored;
	struct skipped skipped[SKIPPED_MAX];
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
void found(struct findings *f, enum finding_id id, uint32_t member,
	   const char *fmt, ...);

/* Whether there is one; of @member only, unless that is 0. */
bool found_any(const struct findings *f, enum finding_id id, uint32_t member);

void skip(struct findings *f, const char *what, const char *why);

void findings_free(struct findings *f);

#endif /* WEFTCTL_FINDING_H */
