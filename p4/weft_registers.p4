// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of the directory in the switch.
 *
 * A message touches each of these at most once, by one read-modify-write, in this
 * order, and what is written depends on at most two comparisons with the cell
 * (besides what is known from the cells before):
 *
 *	rack, station		only read
 *	members_version		MEMBERS: not newer than the message
 *	members			MEMBERS: that version was taken
 *	generation		ADD, DROP: equal to the message's, then raised
 *	tag			ADD: empty; DROP: equal to the message's line
 *	lock, grant		take: lock is 0 (GETS: and there is an owner);
 *				COMMIT, ABORT: lock and grant are the message's;
 *				PASS: lock is 0 and grant is the message's;
 *				of a lock line: holder of its queue and epoch.
 *				ACQUIRE: there is none and it is not frozen; HAND:
 *				both are the message's; REMOVE: freezes it
 *	status, copyset		only read, or only written; ACQUIRE adds a reader
 *	counters		raised, or read by COUNT
 *
 * That is what a Tofino can do, where lock and grant are the halves of a pair, and
 * so are status and copyset.  This program reads all cells of a line's slot first,
 * so that a processor fetches them at the same time, and writes when it knows what.
 * There is no table in between: a software switch may work on other packets during
 * a look-up.
 */
#ifndef WEFT_REGISTERS_P4
#define WEFT_REGISTERS_P4

#include "weft_wire.h"

/*
 * Written by the control plane only: the number of the rack that is served, and for
 * each member (whatever src says) the port that it is behind, plus 1; 0: it is not
 * heard.
 */
Register<bit<32>, bit<32>>(1) rack;
Register<bit<32>, bit<32>>(WEFT_SWITCH_SENDERS) station;

/* Nodes of the rack, and the version of that list. */
Register<bit<32>, bit<32>>(1) members_version;
Register<bit<32>, bit<32>>(1) members;

/*
 * Raised by each ADD and DROP that is accepted, so that a late copy of one changes
 * nothing.  The control plane lets all of them start with a number that was never
 * used before.
 */
Register<bit<32>, bit<64>>(WEFT_SWITCH_SLOTS) generation;

/* The installed line, 0 for none: no line is called 0. */
Register<bit<64>, bit<64>>(WEFT_SWITCH_SLOTS) tag;

/* The busy transaction or 0, and how often the lock was taken. */
Register<bit<32>, bit<64>>(WEFT_SWITCH_SLOTS) lock;
Register<bit<32>, bit<64>>(WEFT_SWITCH_SLOTS) grant;

Register<bit<8>, bit<64>>(WEFT_SWITCH_SLOTS) status;
Register<bit<32>, bit<64>>(WEFT_SWITCH_SLOTS) copyset;

/* WEFT_COUNT_*, and COUNT_REST. */
Register<bit<32>, bit<32>>(2 * WEFT_COUNTERS) counters;

#endif /* WEFT_REGISTERS_P4 */
