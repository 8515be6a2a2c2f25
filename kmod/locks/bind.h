/* SPDX-License-Identifier: GPL-2.0-only */
/* Which blocks locks guard, as programs say.  For lockfile.c. */
#ifndef WEFT_BIND_H
#define WEFT_BIND_H

#include <linux/types.h>

struct weft_lock_bind;
struct weft_lockfile;
struct weft_slots;

/* WEFT_IOC_LOCK_BIND.  @weak: the file may not be written to.  Return: 0 or a negative errno. */
long weft_lockbind_ioctl(struct weft_lockfile *lf, bool weak,
			 const struct weft_lock_bind __user *arg);

/* The file is closed: a lock whose guard no other file has said guards nothing any more. */
void weft_lockbind_forget(struct weft_slots *slots, struct weft_lockfile *lf)
	__must_hold(&slots->lock);

#endif /* WEFT_BIND_H */
