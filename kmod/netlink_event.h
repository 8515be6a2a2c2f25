/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens at this node, told to who listens to the family's group "events",
 * see uapi/weft_netlink.h.
 *
 * Nobody listens as a rule: then nothing is done.  Of each kind a few a second are
 * told and the rest counted, so that no program and no member of the rack can make
 * this node do more than that.  What joins and leaves is taken from the chain of
 * node.h.  Only while the family is registered, as it is whenever something is mounted.
 */
#ifndef WEFT_KMOD_NETLINK_EVENT_H
#define WEFT_KMOD_NETLINK_EVENT_H

#include <linux/types.h>

/* A region was made by the current process, or unlinked by it or by another node. */
void weft_event_created(u32 region, const char *name, size_t len);
void weft_event_removed(u32 region, const char *name, size_t len, bool here);

/* A file that was closed held a lock @holds times, as when a process dies. */
void weft_event_abandoned(u32 region, u64 offset, u32 holds);

/* Modified blocks that could not be brought home. */
void weft_event_lost(u32 region, u64 blocks);

/* The current process gets a signal instead of the byte at @offset. */
void weft_event_failed(u32 region, u64 offset, int err);

/* A request for a block was sent @tries times.  Any context. */
void weft_event_unanswered(u32 region, u64 offset, u32 tries);

/* After the family is registered, and before it is not any more. */
int weft_event_init(void);
void weft_event_exit(void);

#endif /* WEFT_KMOD_NETLINK_EVENT_H */
