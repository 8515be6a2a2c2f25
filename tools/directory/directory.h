/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The directory engine: for an entry and a request, the next entry and the one
 * message that goes out.  This is the definition; p4/ implements the same for
 * lines that are installed in the switch, and tests/diff compares the two.
 *
 * It keeps to what a switch pipeline can do (design.md, "One directory engine,
 * two implementations"): members, then the slot's generation, then its tag, then
 * its lock, then status and copyset are each read and written at most once, in
 * this order, by a write that depends on two comparisons at most.
 *
 * Concordia 5.1 is the model; unlike there a read miss on an unmodified line
 * takes no lock and needs no commit: joining the copyset is idempotent, and a
 * copyset may always name too many nodes (docs/protocol.md, invariant 2).
 */
#ifndef WEFT_DIRECTORY_H
#define WEFT_DIRECTORY_H

#include "wire.h"

/**
 * struct weft_dir_entry - what a directory knows about a line
 * @lock: the busy transaction, or 0
 * @grant: how often the lock was taken, times WEFT_GRANT_STEP; plus
 *	WEFT_GRANT_OWNED iff @status is M: so one look at lock and grant, which a
 *	switch keeps in one register cell, tells whether a GETS needs the owner
 * @status: WEFT_I, WEFT_S or WEFT_M
 * @copyset: at least the nodes that have a copy; exactly the owner in M
 */
struct weft_dir_entry {
	u32 lock;
	u32 grant;
	u32 status;
	u32 copyset;
};

/* Where the message goes that came in and was rewritten. */
enum weft_dir_dest {
	WEFT_TO_NOBODY,
	WEFT_TO_SENDER,		/* back to where it came from */
	WEFT_TO_HOME,		/* on to the home that it was addressed to */
	WEFT_TO_NODES,		/* a copy to each node of *targets */
};

/**
 * weft_dir_handle() - serve one request at the entry of its line
 * @e: the entry
 * @members: nodes of the rack; others are refused and never sent to
 * @msg: GETS, GETM, PUT, COMMIT, ABORT, QUERY or PASS, or what is for a lock
 *	(lockdir.h); rewritten into the outgoing message (src, txn, line, version,
 *	offset, size, rack and payload stay)
 * @targets: nodes to send to, for WEFT_TO_NODES
 *
 * The caller serializes calls for one entry.  Any context.
 *
 * Return: where @msg goes.  WEFT_TO_NOBODY also for a message that no directory
 * serves, whose sender is not the owner of its transaction (an ABORT may also come from
 * a blade), or that passes on what is not the sender's any more.
 */
enum weft_dir_dest weft_dir_handle(struct weft_dir_entry *e, u32 members,
				   struct weft_msg *msg, u32 *targets);

/**
 * struct weft_slot - a slot of the directory in the switch
 * @gen: raised by each ADD and DROP that is accepted, so that a late copy of
 *	one changes nothing
 * @tag: the installed line, 0 for none
 * @entry: its entry
 */
struct weft_slot {
	u32 gen;
	u64 tag;
	struct weft_dir_entry entry;
};

/**
 * struct weft_switch - the directory in the switch
 * @rack: number of the rack that it serves; messages of others are forwarded
 * @station: for each member, the port that it is behind, plus 1; 0: it is not heard.
 *	The administrator says so: a frame can name any sender and any address, but it
 *	cannot come in at another machine's port
 * @members_version: of the last MEMBERS taken
 * @members: nodes of the rack
 * @count: WEFT_COUNT_*
 * @slots: WEFT_SWITCH_SLOTS slots
 */
struct weft_switch {
	u32 rack;
	u8 station[WEFT_SWITCH_SENDERS];
	u32 members_version;
	u32 members;
	u32 count[WEFT_COUNTERS];
	struct weft_slot *slots;
};

/**
 * weft_switch_handle() - what the switch does with a weft message
 * @sw: the switch
 * @port: number of the port that it came in at
 * @msg: any message; rewritten if the switch serves it
 * @targets: nodes to send to, for WEFT_TO_NODES
 *
 * Return: where it goes.  A message that the switch does not serve (of another rack,
 * for a line that is not installed, of a type that is no request) goes to
 * WEFT_TO_HOME unchanged: forwarded by its Ethernet address.  One that did not come
 * in at the port of the member that it names goes to WEFT_TO_NOBODY.
 */
enum weft_dir_dest weft_switch_handle(struct weft_switch *sw, u32 port,
				      struct weft_msg *msg, u32 *targets);

#endif /* WEFT_DIRECTORY_H */
