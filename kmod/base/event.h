/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events at this node: those that an administrator may want to hear of go to one listener
 * (control/netlink_event.c), in any context; changes of its membership to a notifier chain, which
 * may sleep.  Any layer tells them; nothing here knows of netlink or keeps an event.
 */
#ifndef WEFT_EVENT_H
#define WEFT_EVENT_H

#include <linux/gfp.h>
#include <linux/notifier.h>
#include <linux/types.h>

struct weft_node;

/**
 * struct weft_event - an event
 * @node: this machine in the rack of the event
 * @kind: enum weft_event_kind; it says which of the others are told
 * @member: WEFT_A_EVENT_MEMBER, if not 0
 * @region: WEFT_A_EVENT_REGION, if not 0
 * @name: of the region, or NULL
 * @name_len: its length
 * @has_offset: @offset is told
 * @offset: WEFT_A_EVENT_OFFSET
 * @count: WEFT_A_EVENT_COUNT, if not 0
 * @err: WEFT_A_EVENT_ERRNO, if not 0
 * @addr: WEFT_A_EVENT_ADDRESS, if not 0
 * @process: the current process is told
 * @by_switch: WEFT_A_EVENT_SWITCH
 */
struct weft_event {
	const struct weft_node *node;
	u32 kind;
	u32 member;
	u32 region;
	const char *name;
	size_t name_len;
	bool has_offset;
	u64 offset;
	u64 count;
	u32 err;
	__be32 addr;
	bool process;
	bool by_switch;
};

/**
 * weft_event_listen() - set the function that is called with each event
 * @listener: runs in the context of the event, and may allocate with these flags; NULL: none
 *
 * Called before the first mount and after the last unmount, when no event is being told.
 */
void weft_event_listen(void (*listener)(const struct weft_event *event, gfp_t gfp));

/* A region was made by the current process, or unlinked by it or by another node. */
void weft_event_created(const struct weft_node *node, u32 region, const char *name, size_t len);
void weft_event_removed(const struct weft_node *node, u32 region, const char *name,
			size_t len, bool here);

/* A file was closed that held a lock @holds times, as when a process dies. */
void weft_event_abandoned(const struct weft_node *node, u32 region, u64 offset, u32 holds);

/* A lock has come that a node, or a process of another node, died with.  Any context. */
void weft_event_owner_died(const struct weft_node *node, u32 region, u64 offset);

/* Modified blocks could not be written home. */
void weft_event_lost(const struct weft_node *node, u32 region, u64 blocks);

/* The current process gets a signal instead of the byte at @offset. */
void weft_event_failed(const struct weft_node *node, u32 region, u64 offset, int err);

/* A request for a block was sent @tries times.  Any context. */
void weft_event_unanswered(const struct weft_node *node, u32 region, u64 offset, u32 tries);

/* The first blade says that a node is dead.  Process context. */
void weft_event_dead(const struct weft_node *node, u32 member);

/* A blade goes on at the address of its twin.  Any context. */
void weft_event_moved(const struct weft_node *node, u32 member, __be32 addr);

/* --- membership -------------------------------------------------------------- */

/*
 * The data of a notification is a struct weft_node_event.  Some notifications come with a lock of
 * the node held: the listener takes all from the data and calls nothing of the node.
 */
enum weft_node_event_type {
	WEFT_EVENT_UP,
	WEFT_EVENT_DOWN,
	WEFT_EVENT_JOINED,	/* @members is set */
	WEFT_EVENT_LEFT,
	WEFT_EVENT_MEMBERS,	/* a node joined or left */
	WEFT_EVENT_BLADE_LOST,	/* the first memory blade does not answer */
	WEFT_EVENT_BLADE_BACK,
};

struct weft_node_event {
	struct weft_node *node;
	u32 members;
	u32 blade;
};

int weft_node_notifier_register(struct notifier_block *nb);
int weft_node_notifier_unregister(struct notifier_block *nb);

void weft_node_event(enum weft_node_event_type type, const struct weft_node_event *event);

#endif /* WEFT_EVENT_H */
