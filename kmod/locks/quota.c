// SPDX-License-Identifier: GPL-2.0-only
/* What users may have of locks, see quota.h. */
#include <linux/bug.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
#include <linux/xarray.h>

#include "locks/quota.h"

#define USER_PART	16	/* of the node's memory, for one user */
#define ALL_PART	4	/* ... for all together */
#define SAY_INTERVAL	(60 * HZ)

static DEFINE_MUTEX(users_lock);	/* @users, @all */
static DEFINE_XARRAY(users);		/* bytes by uid; no entry: none */
static size_t all;

static unsigned int user_kib;
module_param_named(lock_user_kib, user_kib, uint, 0644);
MODULE_PARM_DESC(lock_user_kib, "KiB of memory that open locks of one user may take (0: a sixteenth of the memory)");

static size_t user_max(void)
{
	size_t kib = READ_ONCE(user_kib);

	return kib ? kib << 10 : (totalram_pages() / USER_PART) << PAGE_SHIFT;
}

static size_t all_max(void)
{
	return max_t(size_t, (totalram_pages() / ALL_PART) << PAGE_SHIFT, user_max());
}

bool weft_lockquota_counts(void)
{
	/* that it may not is no failure to be audited */
	return !ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
}

static void say_full(uid_t uid, bool alone)
{
	static struct ratelimit_state say =
		RATELIMIT_STATE_INIT_FLAGS(say, SAY_INTERVAL, 1, RATELIMIT_MSG_ON_RELEASE);

	if (!__ratelimit(&say))
		return;
	if (alone)
		pr_info("weft: user %u has as many locks open on this node as it may: raise lock_user_kib (%zu) of the module if that is too few\n",
			uid, user_max() >> 10);
	else
		pr_info("weft: the locks that users have open on this node take a quarter of its memory: user %u gets no more\n",
			uid);
}

int weft_lockquota_take(uid_t uid, size_t bytes)
{
	size_t now;
	int err;

	mutex_lock(&users_lock);
	now = xa_to_value(xa_load(&users, uid));
	if (now + bytes > user_max()) {
		say_full(uid, true);
		err = -EDQUOT;
	} else if (all + bytes > all_max()) {
		say_full(uid, false);
		err = -ENOSPC;
	} else {
		err = xa_err(xa_store(&users, uid, xa_mk_value(now + bytes), GFP_KERNEL));
		if (!err)
			all += bytes;
	}
	mutex_unlock(&users_lock);
	return err;
}

void weft_lockquota_return(uid_t uid, size_t bytes)
{
	size_t now;

	if (!bytes)
		return;
	mutex_lock(&users_lock);
	now = xa_to_value(xa_load(&users, uid));
	if (!WARN_ON_ONCE(now < bytes || all < bytes)) {
		now -= bytes;
		all -= bytes;
		/* in the place of an entry: needs no memory */
		xa_store(&users, uid, now ? xa_mk_value(now) : NULL, GFP_KERNEL);
	}
	mutex_unlock(&users_lock);
}

void weft_lockquota_exit(void)
{
	WARN_ON_ONCE(all);
	xa_destroy(&users);
}
