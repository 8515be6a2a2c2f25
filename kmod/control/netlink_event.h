/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens at this node, told to who listens to the family's group "events",
 * see uapi/weft_netlink.h.
 *
 * Nobody listens as a rule: then nothing is done.  Of each kind and rack a few a second are
 * told and the rest counted, so that no program and no member of the rack can make
 * this node do more than that.  All of it comes from base/event.h.  Only while the family
 * is registered, as it is whenever something is mounted.
 */
#ifndef WEFT_KMOD_NETLINK_EVENT_H
#define WEFT_KMOD_NETLINK_EVENT_H

struct weft_rack;
struct weft_told;

/* What listeners were told of a rack.  Return: NULL without memory. */
struct weft_told *weft_told_new(struct weft_rack *rack);

/* Nothing happens in it any more. */
void weft_told_free(struct weft_told *told);

/* After the family is registered, and before it is not any more. */
int weft_netlink_event_init(void);
void weft_netlink_event_exit(void);

#endif /* WEFT_KMOD_NETLINK_EVENT_H */
