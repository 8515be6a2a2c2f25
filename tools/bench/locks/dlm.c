// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's distributed lock manager (DLM).  Its lock guards what its value block holds:
 * 32 bytes that come with it.
 *
 * A program speaks with it by reading and writing a device; no library is needed for
 * that.  The lock is kept in mode NL between two uses, as users of DLM do, and converted from
 * there and back.  Who makes a lock first in the rack is its master: others send it messages.
 */
#include <linux/dlm_device.h>
#include <stddef.h>

#include "dlm.h"

/* l->state points to it. */
struct held {
	struct dlm_lksb status;
	char name[32];
	uint64_t block[DLM_USER_LVB_LEN / sizeof(uint64_t)];
};

static int device = -1;

/* What is asked for is all that is under way, so the first answer is the one. */
static void await(const struct lock *l, struct held *h, uint32_t mode)
{
	struct {
		struct dlm_lock_result result;
		char block[DLM_USER_LVB_LEN];
	} answer;
	ssize_t len;

	do
		len = read(device, &answer, sizeof(answer));
	while (len < 0 && errno == EINTR);
	if (len < (ssize_t)sizeof(answer.result))
		node_die("lock %s: no answer: %s", l->kind->name,
			 len < 0 ? strerror(errno) : "it is short");
	if (answer.result.lksb.sb_status)
		node_die("lock %s: mode %u: %s", l->kind->name, mode,
			 strerror(abs(answer.result.lksb.sb_status)));
	if (answer.result.lvb_offset)
		memcpy(h->block, answer.block, sizeof(h->block));
}

static void ask(const struct lock *l, uint32_t mode, uint32_t flags)
{
	struct held *h = (struct held *)(uintptr_t)l->state;
	/* the name stands behind the rest */
	union {
		struct dlm_write_request request;
		char bytes[sizeof(struct dlm_write_request) + sizeof(h->name)];
	} question = { .request = {
		.version = { DLM_DEVICE_VERSION_MAJOR, DLM_DEVICE_VERSION_MINOR,
			     DLM_DEVICE_VERSION_PATCH },
		.cmd = DLM_USER_LOCK,
		.is64bit = true,
	} };
	struct dlm_lock_params *p = &question.request.i.lock;
	size_t namelen = strlen(h->name);
	ssize_t id;

	p->mode = (uint8_t)mode;
	p->namelen = (uint8_t)namelen;
	p->flags = flags;
	p->lkid = h->status.sb_lkid;
	p->lksb = &h->status;
	/* not called: that is what a library would do */
	p->castaddr = &h->status;
	memcpy(p->lvb, h->block, sizeof(p->lvb));
	memcpy(question.bytes + offsetof(struct dlm_write_request, i.lock.name), h->name,
	       namelen);
	id = write(device, &question, sizeof(question.request) + namelen);
	if (id < 0)
		node_die("lock %s: mode %u: %s", l->kind->name, mode, strerror(errno));
	if (id > 0 && !(flags & DLM_LKF_CONVERT))
		h->status.sb_lkid = (uint32_t)id;
	await(l, h, mode);
}

static size_t dlm_size(const struct lock_place *p)
{
	(void)p;
	return 0;
}

static void dlm_init(struct lock *l)
{
	struct held *h = calloc(1, sizeof(*h));

	if (!h)
		node_die("out of memory");
	if (device < 0)
		device = open(DLM_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0)
		node_die("lock %s: %s: %s: was weft-lockbench dlm run on each node?",
			 l->kind->name, DLM_DEVICE, strerror(errno));
	snprintf(h->name, sizeof(h->name), "%llx", (unsigned long long)l->name);
	l->state = (uintptr_t)h;
	l->data = h->block;
	l->data_size = 0;
	ask(l, DLM_LOCK_NL, DLM_LKF_VALBLK);
}

static void dlm_rdlock(struct lock *l)
{
	ask(l, DLM_LOCK_PR, DLM_LKF_CONVERT | DLM_LKF_VALBLK);
}

static void dlm_wrlock(struct lock *l)
{
	ask(l, DLM_LOCK_EX, DLM_LKF_CONVERT | DLM_LKF_VALBLK);
}

static void dlm_unlock(struct lock *l)
{
	ask(l, DLM_LOCK_NL, DLM_LKF_CONVERT | DLM_LKF_VALBLK);
}

const struct lock_kind lock_dlm = {
	.name = "dlm",
	.what = "the kernel's distributed lock manager; what it guards is in its value block",
	.size = dlm_size,
	.init = dlm_init,
	.rdlock = dlm_rdlock,
	.wrlock = dlm_wrlock,
	.unlock = dlm_unlock,
};
