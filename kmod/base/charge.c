// SPDX-License-Identifier: GPL-2.0-only
/* Whom memory is charged to, see charge.h. */
#include <linux/workqueue.h>

#include "base/charge.h"

struct mem_cgroup *weft_charge_root;

/*
 * The root group itself is no symbol for modules, but what threads of the kernel allocate
 * is charged to it, and we may ask which group that is.  It is there for ever and not
 * counted, so there is no reference to give back.
 */
static void look(struct work_struct *work)
{
	weft_charge_root = get_mem_cgroup_from_mm(NULL);
}

void weft_charge_init(void)
{
	struct work_struct work;

	INIT_WORK_ONSTACK(&work, look);
	schedule_work(&work);
	flush_work(&work);
	destroy_work_on_stack(&work);
}
