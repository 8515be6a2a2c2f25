/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink events (group "events" of uapi/weft_netlink.h): base/event hands them over, this sends
 * them to listeners.  Without listeners it does nothing.  Of each kind PER_SECOND are sent for
 * each rack, the rest is counted, so that no program and no member can keep this node busy.
 */
#ifndef WEFT_KMOD_NETLINK_EVENT_H
#define WEFT_KMOD_NETLINK_EVENT_H

struct weft_rack;
struct weft_told;

/* The state of a rack's events.  Return: NULL without memory. */
struct weft_told *weft_told_new(struct weft_rack *rack);

/* When no event of the rack can come any more. */
void weft_told_free(struct weft_told *told);

/* While the family is registered.  Return: 0 or a negative errno. */
int weft_netlink_event_init(void);
void weft_netlink_event_exit(void);

#endif /* WEFT_KMOD_NETLINK_EVENT_H */
