/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The list of racks that this machine is in, by number, WEFT_RACKS_MAX at most.  Called by netlink
 * and mounts; nothing else looks a rack up.  Process context.
 *
 * The list is never empty.  A rack that is taken down leaves the list, but the last one: it stays,
 * down, with its counters, until another rack is set up.
 */
#ifndef WEFT_RACKS_H
#define WEFT_RACKS_H

#include <linux/types.h>

struct netlink_ext_ack;
struct weft_config;
struct weft_rack;

/**
 * struct weft_rack_ops - how the module, or a test, makes and frees a rack
 * @make: a rack with this number, down; NULL without memory
 * @free: when the last reference is dropped: it is down and in no list.  May sleep
 */
struct weft_rack_ops {
	struct weft_rack *(*make)(u32 number);
	void (*free)(struct weft_rack *rack);
};

/* @ops stays the caller's.  Return: 0 or -ENOMEM. */
int weft_racks_init(const struct weft_rack_ops *ops);

/* At module exit, with nothing mounted and no command running: take down and free all. */
void weft_racks_exit(void);

/**
 * weft_racks_up() - make this machine a node of the rack with cfg->number
 * @extack: receives a sentence for an error
 *
 * Return: 0; -EBUSY: it is one already; -ENOSPC: it is in WEFT_RACKS_MAX others; -ENOMEM;
 * as weft_member_up().
 */
int weft_racks_up(const struct weft_config *cfg, struct netlink_ext_ack *extack);

/* weft_member_down(), and take @rack off the list.  The caller keeps its reference. */
int weft_racks_down(struct weft_rack *rack, struct netlink_ext_ack *extack);

/* These return a reference for weft_racks_put(), or NULL. */

struct weft_rack *weft_racks_find(u32 number);

/* The only one, up or down.  NULL: there are several. */
struct weft_rack *weft_racks_only(void);

/* The first one whose number is not less than @number. */
struct weft_rack *weft_racks_next(u32 number);

/* One more reference, of a caller that has one. */
struct weft_rack *weft_racks_get(struct weft_rack *rack);

/* Drop a reference; the last one frees the rack.  May sleep. */
void weft_racks_put(struct weft_rack *rack);

#endif /* WEFT_RACKS_H */
