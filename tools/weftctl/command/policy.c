// SPDX-License-Identifier: GPL-2.0-only
/* Policies of a region, see policy.h. */
#include "command/policy.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fail.h"
#include "kernel/regions.h"

#define VALUES_MAX	4

static const struct {
	const char *name;
	uint32_t mask;
	struct {
		const char *name;
		uint32_t bits;
	} value[VALUES_MAX];
} policies[POLICIES] = {
	{ "durability", WEFT_POLICY_DURABILITY,
	  { { "write-back", WEFT_POLICY_WRITE_BACK }, { "release", WEFT_POLICY_RELEASE },
	    { "sync", WEFT_POLICY_SYNC }, { "mirror", WEFT_POLICY_MIRROR } } },
	{ "on-owner-death", WEFT_POLICY_BLOCK,
	  { { "pass", 0 }, { "block", WEFT_POLICY_BLOCK } } },
	{ "on-loss", WEFT_POLICY_SIGBUS,
	  { { "revert", 0 }, { "sigbus", WEFT_POLICY_SIGBUS } } },
};

const char *policy_name(size_t nth)
{
	return policies[nth].name;
}

const char *policy_value(size_t nth, uint32_t bits)
{
	size_t i;

	for (i = 0; i < VALUES_MAX && policies[nth].value[i].name; i++) {
		if ((bits & policies[nth].mask) == policies[nth].value[i].bits)
			return policies[nth].value[i].name;
	}
	return "unknown";
}

static int no_such_value(size_t nth, const char *value)
{
	char those[64];
	size_t i, len = 0;

	for (i = 0; i < VALUES_MAX && policies[nth].value[i].name; i++)
		len += (size_t)snprintf(those + len, sizeof(those) - len, "%s%s",
					i ? ", " : "", policies[nth].value[i].name);
	return misuse("region", "%s='%s': it may be %s", policies[nth].name, value, those);
}

int policy_parse(const char *text, struct weft_policy *p)
{
	size_t len = strcspn(text, "="), nth, i;
	const char *value = text + len + 1;

	for (nth = 0; nth < POLICIES; nth++) {
		if (text[len] && strlen(policies[nth].name) == len &&
		    !memcmp(policies[nth].name, text, len))
			break;
	}
	if (nth == POLICIES)
		return misuse("region", "'%s' is no policy: durability=, on-owner-death=, on-loss= or nodes= and what it is to be",
			      text);
	if (p->which & policies[nth].mask)
		return misuse("region", "%s is given twice", policies[nth].name);
	for (i = 0; i < VALUES_MAX && policies[nth].value[i].name; i++) {
		if (strcmp(policies[nth].value[i].name, value))
			continue;
		p->which |= policies[nth].mask;
		p->policy |= policies[nth].value[i].bits;
		return 0;
	}
	return no_such_value(nth, value);
}

static int explain(const char *path, const struct weft_policy *p, int err)
{
	switch (err) {
	case EPERM:
		return fail("%s: only its owner and root may set policies: run weftctl as one of them",
			    path);
	case EOPNOTSUPP:
		if ((p->policy & WEFT_POLICY_DURABILITY) == WEFT_POLICY_MIRROR)
			return fail("%s: durability=mirror needs a twin of every memory blade: start all of them with --peers ADDRESS/TWIN",
				    path);
		return fail("%s: durability=sync needs a disk at every memory blade: start all of them with --backing",
			    path);
	case EHOSTDOWN:
		return fail("%s: a memory blade is not there: 'weftctl doctor' says which, start it and try again",
			    path);
	case ETIMEDOUT:
		return fail("%s: not everybody has answered: a node that has it open may not follow this yet; 'weftctl doctor' says who is silent; then set it again",
			    path);
	case EIO:
		return fail("%s: the first memory blade cannot write its file: its log says why", path);
	case ENOTTY:
		return fail("%s is no region, or the module is older than weftctl", path);
	default:
		return fail("%s: cannot set %s: %s", path, p->which & WEFT_POLICY_DURABILITY ?
			    "durability" : "the policy", strerror(err));
	}
}

int policy_set(const char *name, const struct weft_policy *p)
{
	char path[PATH_MAX];
	int rc = regions_file(name, path), fd;

	if (!rc)
		rc = regions_open(path, &fd);
	if (rc)
		return rc;
	rc = ioctl(fd, WEFT_IOC_POLICY_SET, p) ? explain(path, p, errno) : 0;
	close(fd);
	return rc;
}
