/* SPDX-License-Identifier: GPL-2.0-only */
/* What locks guard, as open files say it. */
#ifndef WEFT_BIND_H
#define WEFT_BIND_H

#include <linux/types.h>

struct weft_lock_bind;
struct weft_lockfile;
struct weft_slots;

/* The ioctl: 0 or a negative errno.  @weak: the file may not write. */
long weft_lockbind_ioctl(struct weft_lockfile *lf, bool weak,
			 const struct weft_lock_bind __user *arg);

/* The file goes: what nobody says any more is forgotten. */
void weft_lockbind_forget(struct weft_slots *slots, struct weft_lockfile *lf)
	__must_hold(&slots->lock);

#endif /* WEFT_BIND_H */
