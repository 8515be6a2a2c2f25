/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The racks that this machine is in, by their numbers: WEFT_RACKS_MAX at most.  One that it
 * is a node of more than once counts as often, and has a number here for each.
 *
 * There is one always.  The one that is left last stays, down, so that what it has counted
 * can still be read and goes on when it is set up again; it goes when another is set up.
 * Of several, each goes when it is left.
 *
 * Process context.
 */
#ifndef WEFT_RACKS_H
#define WEFT_RACKS_H

#include <linux/types.h>

struct netlink_ext_ack;
struct weft_config;
struct weft_rack;

/**
 * struct weft_rack_ops - how a rack comes and goes
 * @make: a rack with this number that is not up yet; NULL without memory
 * @free: it is down, in no list, and nobody has a reference to it.  May sleep
 */
struct weft_rack_ops {
	struct weft_rack *(*make)(u32 number);
	void (*free)(struct weft_rack *rack);
};

/* @ops stays the caller's.  Return: 0 or -ENOMEM. */
int weft_racks_init(const struct weft_rack_ops *ops);

/* Nothing is mounted and no command runs: all are taken down and go. */
void weft_racks_exit(void);

/**
 * weft_racks_up() - make this machine a node of a rack, which it knows by cfg->number
 * @extack: receives a sentence in case of an error
 *
 * Return: 0; -EBUSY: it is already; -ENOSPC: it is in WEFT_RACKS_MAX others; -ENOMEM;
 * what weft_member_up() says.
 */
int weft_racks_up(const struct weft_config *cfg, struct netlink_ext_ack *extack);

/* What weft_member_down() does and says; @rack stays until the caller puts it. */
int weft_racks_down(struct weft_rack *rack, struct netlink_ext_ack *extack);

/* Each gives a reference, which weft_racks_put() takes back, or NULL. */

struct weft_rack *weft_racks_find(u32 number);

/* The only one, up or down.  NULL: there are several. */
struct weft_rack *weft_racks_only(void);

/* The first one whose number is not less than @number. */
struct weft_rack *weft_racks_next(u32 number);

/* Who has a reference gets another one. */
struct weft_rack *weft_racks_get(struct weft_rack *rack);

/* The last one frees it, and waits for what that has to wait for. */
void weft_racks_put(struct weft_rack *rack);

#endif /* WEFT_RACKS_H */
