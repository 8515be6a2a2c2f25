// SPDX-License-Identifier: GPL-2.0-only
/* flock() and fcntl() locks are refused, see reclock.h. */
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>

#include "base/compat.h"
#include "fs/reclock.h"

#define SAY_INTERVAL	(60 * HZ)	/* one sentence: any user may ask for locks in a loop */

/* What is not printed is not worth a line that counts it. */
static struct ratelimit_state say =
	RATELIMIT_STATE_INIT_FLAGS(say, SAY_INTERVAL, 1, RATELIMIT_MSG_ON_RELEASE);

int weft_reclock(struct file *file, int cmd, struct file_lock *fl)
{
	if (cmd != F_GETLK && weft_lock_type(fl) == F_UNLCK)
		return 0;
	if (__ratelimit(&say))
		pr_info("weft: %s (process %d) asked for a lock by flock() or fcntl(), refused with ENOLCK: it would hold on this node only; let programs use pthread locks with libweft-preload.so, or libweft\n",
			current->comm, task_tgid_nr(current));
	return -ENOLCK;
}
