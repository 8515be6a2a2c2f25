// SPDX-License-Identifier: GPL-2.0-only
/* For which nodes a region is, see nodes.h. */
#include "command/nodes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fail.h"
#include "kernel/regions.h"
#include "tools/common/number.h"
#include "weft.h"
#include "weft_wire.h"

const char *nodes_text(uint32_t nodes, char text[NODES_TEXT_MAX])
{
	size_t len = 0;
	unsigned int id;

	if (!nodes)
		return "all";
	for (id = WEFT_NODE_MIN; id <= WEFT_NODE_MAX; id++)
		if (nodes & UINT32_C(1) << (id - WEFT_NODE_MIN))
			len += (size_t)snprintf(text + len, NODES_TEXT_MAX - len, "%s%u",
						len ? "," : "", id);
	return text;
}

int nodes_parse(const char *text, uint32_t *nodes)
{
	char copy[4 * NODES_TEXT_MAX], *rest = copy, *one;
	uint64_t id;

	*nodes = 0;
	if (!strcmp(text, "all"))
		return 0;
	if (strlen(text) >= sizeof(copy))
		return misuse("region", NODES_KEY "'%s': it is too long", text);
	strcpy(copy, text);
	while ((one = strsep(&rest, ","))) {
		if (number_decimal(one, WEFT_NODE_MIN, WEFT_NODE_MAX, &id))
			return misuse("region", NODES_KEY "'%s': it may be 'all', or numbers of nodes from 1 to 32 with commas between, as in " NODES_KEY "1,2",
				      text);
		*nodes |= UINT32_C(1) << (id - WEFT_NODE_MIN);
	}
	return 0;
}

static int explain(const char *path, const struct weft_nodes *n, int err)
{
	bool several = n->users & (n->users - 1);
	char text[NODES_TEXT_MAX];

	switch (err) {
	case EPERM:
		return fail("%s: only its owner and root may say for which nodes it is: run weftctl as one of them",
			    path);
	case EBUSY:
		return fail("%s: programs of node%s %s have it open: end them, or allow th%s",
			    path, several ? "s" : "", nodes_text(n->users, text),
			    several ? "ese nodes" : "is node");
	case EOPNOTSUPP:
		return fail("%s: it is older than the last start of a memory blade, and the P4 switch may have lines of it that nobody can name: copy it to a new region, and set that one's nodes",
			    path);
	case EHOSTDOWN:
		return fail("%s: a memory blade is not there: 'weftctl doctor' says which, start it and try again",
			    path);
	case ETIMEDOUT:
		if (!n->users)
			return fail("%s: not everybody has answered: 'weftctl region show' says for which nodes it is; then try again",
				    path);
		return fail("%s: node%s %s do%s not answer: try again, or take %s for dead with 'weftctl node fence'",
			    path, several ? "s" : "", nodes_text(n->users, text),
			    several ? "" : "es", several ? "them" : "it");
	case EAGAIN:
		return fail("%s: a memory blade was started again meanwhile: try again", path);
	case EIO:
		return fail("%s: a memory blade cannot write its file: its log says why", path);
	case ENOTTY:
		return fail("%s is no region, or the module is older than weftctl", path);
	default:
		return fail("%s: cannot say for which nodes it is: %s", path, strerror(err));
	}
}

int nodes_set(const char *name, uint32_t nodes)
{
	struct weft_nodes n = { .nodes = nodes };
	char path[PATH_MAX];
	int rc = regions_file(name, path), fd;

	if (!rc)
		rc = regions_open(path, &fd);
	if (rc)
		return rc;
	rc = ioctl(fd, WEFT_IOC_NODES_SET, &n) ? explain(path, &n, errno) : 0;
	close(fd);
	return rc;
}
