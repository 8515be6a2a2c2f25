// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-lockbench dlm: makes the kernel's DLM ready on this node.
 *
 * DLM is told by a daemon who is a member, and when a lockspace may begin.  Of a cluster
 * that does not change while something is measured all that is known before, so that this
 * program can say it instead: no corosync and no dlm_controld are needed.  It runs on
 * all nodes at once; the lockspace stays until the machine goes down.
 */
#include <linux/dlm_device.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "arena.h"
#include "dlm.h"

#define CONFIG	"/sys/kernel/config"
#define CLUSTER	CONFIG "/dlm/cluster"
#define MEMBERS	CLUSTER "/spaces/" DLM_SPACE "/nodes"
#define CONTROL	"/sys/kernel/dlm/" DLM_SPACE
#define DEVICE	"/dev/dlm-control"

static void put(const char *directory, const char *name, const void *value, size_t len)
{
	char path[256];
	ssize_t done;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd < 0 ? -1 : write(fd, value, len);
	if (done != (ssize_t)len)
		node_die("dlm: cannot write %s: %s", path, strerror(errno));
	close(fd);
}

static void put_number(const char *directory, const char *name, unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	put(directory, name, text, strlen(text));
}

static void make(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		node_die("dlm: cannot make %s: %s", path, strerror(errno));
}

/* Who is a member, and where.  What has no address cannot be connected with. */
static void name_members(const struct sockaddr_in *first)
{
	char path[128];
	unsigned int k;

	make(CLUSTER);
	make(CLUSTER "/spaces/" DLM_SPACE);
	for (k = 1; k <= node.count; k++) {
		struct sockaddr_storage at = { 0 };
		struct sockaddr_in *in = (struct sockaddr_in *)&at;

		in->sin_family = AF_INET;
		in->sin_addr.s_addr = htonl(ntohl(first->sin_addr.s_addr) + k - 1);
		snprintf(path, sizeof(path), CLUSTER "/comms/%u", k);
		make(path);
		put_number(path, "nodeid", k);
		put(path, "addr", &at, sizeof(at));
		if (k == node.number)
			put_number(path, "local", 1);
		snprintf(path, sizeof(path), MEMBERS "/%u", k);
		make(path);
		put_number(path, "nodeid", k);
		put_number(path, "weight", 1);
	}
}

/* Returns when the lockspace of all members is there. */
static int create(void)
{
	struct {
		struct dlm_write_request request;
		char name[sizeof(DLM_SPACE)];
	} question = { .request = {
		.version = { DLM_DEVICE_VERSION_MAJOR, DLM_DEVICE_VERSION_MINOR,
			     DLM_DEVICE_VERSION_PATCH },
		.cmd = DLM_USER_CREATE_LOCKSPACE,
		.is64bit = true,
	} };
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	ssize_t minor;

	if (fd < 0)
		node_die("dlm: %s: %s", DEVICE, strerror(errno));
	memcpy((char *)&question + offsetof(struct dlm_write_request, i.lspace.name), DLM_SPACE,
	       sizeof(DLM_SPACE));
	minor = write(fd, &question, sizeof(question.request) + sizeof(DLM_SPACE) - 1);
	if (minor < 0)
		node_die("dlm: no lockspace: %s", strerror(errno));
	return 0;
}

/* What create() waits for: who its members are is said, so it may start. */
static void let_begin(void)
{
	put_number(CONTROL, "id", 1);
	put_number(CONTROL, "control", 1);
	put_number(CONTROL, "event_done", 0);
}

/**
 * bench_dlm() - join the lockspace, with all other nodes
 * @b: the options; its peer is the address of the first node, those of the others follow
 */
int bench_dlm(const struct lockbench *b)
{
	uint64_t end = now_ns() + node.timeout * 1000000000ull;
	bool begun = false;
	int status = 1;
	pid_t pid;

	if (!b->peer.sin_port)
		node_die("dlm: give --peer ADDRESS, that of the first node");
	if (!access(DLM_DEVICE, F_OK))
		node_die("dlm: there is a lockspace '%s' already", DLM_SPACE);
	if (access(CONFIG "/dlm", F_OK) && mount("configfs", CONFIG, "configfs", 0, NULL))
		node_die("dlm: cannot mount configfs at %s: %s", CONFIG, strerror(errno));
	if (access(CONFIG "/dlm", F_OK))
		node_die("dlm: this kernel has no DLM: is the module dlm loaded?");
	name_members(&b->peer);
	pid = fork();
	if (pid < 0)
		node_die("fork: %s", strerror(errno));
	if (!pid)
		_exit(create());
	while (!waitpid(pid, &status, WNOHANG) && now_ns() < end) {
		if (!begun && !access(CONTROL "/event_done", F_OK)) {
			begun = true;
			let_begin();
		}
		pause_us(1000);
	}
	if (status)
		node_die("dlm: no lockspace within %u s: do all nodes make it?", node.timeout);
	return 0;
}
