// SPDX-License-Identifier: GPL-2.0-only
/* ioctls of the files of regions, see regionfile.h. */
#include "kernel/regionfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/rack.h"
#include "base/text.h"
#include "kernel/mountpoint.h"

int regionfile_path(const char *name, char path[PATH_MAX])
{
	struct mountpoints m;
	uint32_t chosen;
	int rc = 0;

	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		return 0;
	}
	mountpoints_read(&m);
	if (!m.len)
		rc = fail("weft is not mounted here: give the path of the region's file, or mount it first");
	else
		snprintf(path, PATH_MAX, "%s/%s", m.list[0], name);
	/* mounts of one rack show the same; which rack is meant only people know */
	if (m.len > 1 && !rack_chosen(&chosen))
		rc = fail("weft is mounted at %s and at %s: give the path of the region's file, or --rack",
			  m.list[0], m.list[1]);
	mountpoints_free(&m);
	return rc;
}

int regionfile_id(const char *name, char path[PATH_MAX], uint32_t *id)
{
	struct stat st;
	int rc = regionfile_path(name, path);

	if (rc)
		return rc;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return fail("there is no region %s: 'ls' of the mount lists them", path);
	*id = (uint32_t)st.st_ino;
	return 0;
}

/* Return: as ioctl(), errno is in @err; or an exit status after a sentence. */
static int call(const char *path, unsigned long request, void *what, int *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

	/* an owner who may not read may write */
	if (fd < 0 && errno == EACCES)
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	*err = 0;
	if (fd < 0)
		return fail("cannot open %s: %s", path, strerror(errno));
	rc = ioctl(fd, request, what);
	*err = rc ? errno : 0;
	close(fd);
	return rc;
}

/* A refusal that needs no more than the path in front of it. */
struct why {
	int err;
	const char *text;
};

/* @own ends with errno 0: what has failed. */
static int explain(const char *path, int err, const struct why *own)
{
	if (err == ENOTTY)
		return fail("%s is no region, or the module is older than weftctl", path);
	while (own->err && own->err != err)
		own++;
	if (own->err)
		return fail("%s: %s", path, own->text);
	return fail("%s: %s: %s", path, own->text, strerror(err));
}

#define NOT_THERE	"a memory blade is not there: 'weftctl doctor' says which, start it and try again"

/* --- Policies ----------------------------------------------------------------- */

int regionfile_set_policy(const char *name, const struct weft_policy *p)
{
	const bool mirror = (p->policy & WEFT_POLICY_DURABILITY) == WEFT_POLICY_MIRROR;
	const struct why refusals[] = {
		{ EPERM, "only its owner and root may set policies: run weftctl as one of them" },
		{ EHOSTDOWN, NOT_THERE },
		{ EOPNOTSUPP, mirror ?
		  "durability=mirror needs a twin of every memory blade: start all of them with --peers ADDRESS/TWIN" :
		  "durability=sync needs a disk at every memory blade: start all of them with --backing" },
		{ ETIMEDOUT, "not everybody has answered: a node that has it open may not follow this yet; 'weftctl doctor' says who is silent; then set it again" },
		{ EIO, "the first memory blade cannot write its file: its log says why" },
		{ 0, p->which & WEFT_POLICY_DURABILITY ? "cannot set durability" : "cannot set the policy" },
	};
	struct weft_policy what = *p;
	char path[PATH_MAX];
	int rc = regionfile_path(name, path), err = 0;

	if (!rc)
		rc = call(path, WEFT_IOC_POLICY_SET, &what, &err);
	return err ? explain(path, err, refusals) : rc;
}

/* --- Nodes -------------------------------------------------------------------- */

static int explain_nodes(const char *path, const struct weft_nodes *n, int err)
{
	static const struct why refusals[] = {
		{ EPERM, "only its owner and root may say for which nodes it is: run weftctl as one of them" },
		{ EHOSTDOWN, NOT_THERE },
		{ EOPNOTSUPP, "it is older than the last start of a memory blade, and the P4 switch may have lines of it that nobody can name: copy it to a new region, and set that one's nodes" },
		{ ETIMEDOUT, "not everybody has answered: 'weftctl region show' says for which nodes it is; then try again" },
		{ EAGAIN, "a memory blade was started again meanwhile: try again" },
		{ EIO, "a memory blade cannot write its file: its log says why" },
		{ 0, "cannot say for which nodes it is" },
	};
	bool several = n->users & (n->users - 1);
	const char *text = text_set(n->users);

	if (err == EBUSY)
		return fail("%s: programs of node%s %s have it open: end them, or allow th%s", path,
			    several ? "s" : "", n->users ? text : "all",
			    several ? "ese nodes" : "is node");
	if (err == ETIMEDOUT && n->users)
		return fail("%s: node%s %s do%s not answer: try again, or take %s for dead with 'weftctl node fence'",
			    path, several ? "s" : "", text, several ? "" : "es",
			    several ? "them" : "it");
	return explain(path, err, refusals);
}

int regionfile_set_nodes(const char *name, uint32_t nodes)
{
	struct weft_nodes n = { .nodes = nodes };
	char path[PATH_MAX];
	int rc = regionfile_path(name, path), err = 0;

	if (!rc)
		rc = call(path, WEFT_IOC_NODES_SET, &n, &err);
	return err ? explain_nodes(path, &n, err) : rc;
}

/* --- What is lost --------------------------------------------------------------- */

int regionfile_accept_lost(const char *path, uint64_t *blocks)
{
	static const struct why refusals[] = {
		{ EPERM, "only its owner and root may accept what is lost: run weftctl as one of them" },
		{ ETIMEDOUT, "a memory blade does not answer: 'weftctl doctor' says which; then accept it again" },
		{ 0, "cannot accept what is lost" },
	};
	struct weft_lost lost = { 0 };
	int err, rc = call(path, WEFT_IOC_LOST_ACCEPT, &lost, &err);

	*blocks = lost.blocks;
	return err ? explain(path, err, refusals) : rc;
}
