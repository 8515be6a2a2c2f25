// SPDX-License-Identifier: GPL-2.0-only
/* What "weftctl doctor" finds, see finding.h. */
#include "doctor/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char * const finding_names[FINDINGS] = {
	[FOUND_CONFIG_WRONG]		= "config_wrong",
	[FOUND_CONFIG_INCOMPLETE]	= "config_incomplete",
	[FOUND_CONFIG_DIFFERS]		= "config_differs",
	[FOUND_MODULE_MISSING]		= "module_missing",
	[FOUND_MODULE_VERSION]		= "module_version",
	[FOUND_MODULE_OLD]		= "module_old",
	[FOUND_WIRE_VERSION]		= "wire_version",
	[FOUND_NO_KEY]			= "no_key",
	[FOUND_KEY_WRONG]		= "key_wrong",
	[FOUND_KEY_DIFFERS]		= "key_differs",
	[FOUND_REFUSED]			= "refused",
	[FOUND_DOWN]			= "down",
	[FOUND_NOT_MOUNTED]		= "not_mounted",
	[FOUND_NOT_JOINED]		= "not_joined",
	[FOUND_DUPLICATE_ID]		= "duplicate_id",
	[FOUND_INTERFACE_MISSING]	= "interface_missing",
	[FOUND_INTERFACE_DOWN]		= "interface_down",
	[FOUND_ADDRESS_MISSING]		= "address_missing",
	[FOUND_MTU_INTERFACE]		= "mtu_interface",
	[FOUND_MTU_PATH]		= "mtu_path",
	[FOUND_HOST_UNREACHABLE]	= "host_unreachable",
	[FOUND_ROUND_TRIP]		= "round_trip",
	[FOUND_BLADE_DOWN]		= "blade_down",
	[FOUND_BLADE_SILENT]		= "blade_silent",
	[FOUND_BLADE_WAITS]		= "blade_waits",
	[FOUND_BLADE_VERSION]		= "blade_version",
	[FOUND_BLADE_FULL]		= "blade_full",
	[FOUND_BLADE_FILE]		= "blade_file",
	[FOUND_HOMES_DIFFER]		= "homes_differ",
	[FOUND_TWIN_MISSING]		= "twin_missing",
	[FOUND_TWIN_UNKNOWN]		= "twin_unknown",
	[FOUND_TWIN_INCOMPLETE]		= "twin_incomplete",
	[FOUND_WITNESS_SILENT]		= "witness_silent",
	[FOUND_SWITCH_MISSING]		= "switch_missing",
	[FOUND_OTHER_VERSION]		= "other_version",
	[FOUND_DROPS_INTERFACE]		= "drops_interface",
	[FOUND_DROPS_SOCKET]		= "drops_socket",
	[FOUND_DROPS_BLADE]		= "drops_blade",
	[FOUND_RDMA_MODULE]		= "rdma_module",
	[FOUND_RDMA_PORT]		= "rdma_port",
	[FOUND_RDMA_GID]		= "rdma_gid",
	[FOUND_RDMA_MTU]		= "rdma_mtu",
	[FOUND_RDMA_LOSS]		= "rdma_loss",
	[FOUND_RDMA_MEMBER]		= "rdma_member",
	[FOUND_CACHE_FULL]		= "cache_full",
	[FOUND_BLOCKS_LOST]		= "blocks_lost",
	[FOUND_LINES_LOST]		= "lines_lost",
	[FOUND_NO_LEASE]		= "no_lease",
	[FOUND_TIMEOUT]			= "timeout",
	[FOUND_HOLD]			= "hold",
	[FOUND_KERNEL_LOG]		= "kernel_log",
};

void found(struct findings *f, enum finding_id id, uint32_t member,
	   const char *fmt, ...)
{
	struct finding *list, *one;
	char text[1024], *tab, *all;
	va_list args;

	if (f->ignored >> id & 1)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	list = reallocarray(f->list, f->len + 1, sizeof(*list));
	if (list)
		f->list = list;
	tab = strchr(text, '\t');
	if (tab)
		*tab = 0;
	if (!list || asprintf(&all, "%s: %s", text, tab ? tab + 1 : "") < 0) {
		/* Better than to say that all is well. */
		fputs("weftctl: no memory to say all that is wrong\n", stderr);
		abort();
	}
	one = &list[f->len++];
	*one = (struct finding){ id, member, all, all + strlen(text) + 2 };
}

bool found_any(const struct findings *f, enum finding_id id, uint32_t member)
{
	size_t i;

	for (i = 0; i < f->len; i++) {
		if (f->list[i].id == id && (!member || f->list[i].member == member))
			return true;
	}
	return false;
}

void skip(struct findings *f, const char *what, const char *why)
{
	if (f->skipped_len < SKIPPED_MAX)
		f->skipped[f->skipped_len++] = (struct skipped){ what, why };
}

void findings_free(struct findings *f)
{
	while (f->len)
		free(f->list[--f->len].text);
	free(f->list);
	*f = (struct findings){ 0 };
}
