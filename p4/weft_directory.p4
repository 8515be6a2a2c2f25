// SPDX-License-Identifier: GPL-2.0-only
/*
 * The directory in the switch: weft_switch_handle() of kmod/core/directory.c.
 * tests/diff compares the two, message by message.
 *
 * The registers are touched in this order, each by one control that is applied in
 * one place, so once a packet at most, each by one read-modify-write that compares
 * at most two values:
 *
 *	members, generation, tag, lock, status and copyset, counters
 *
 * No table is looked up in between: a software switch may work on other packets
 * during a look-up.
 */
#ifndef WEFT_DIRECTORY_P4
#define WEFT_DIRECTORY_P4

#include "weft_headers.p4"
#include "weft_members.p4"
#include "weft_slot.p4"
#include "weft_generation.p4"
#include "weft_tag.p4"
#include "weft_bits.p4"
#include "weft_lock.p4"
#include "weft_entry.p4"
#include "weft_request.p4"
#include "weft_home.p4"
#include "weft_count.p4"

/* For ADD, DROP and COMMIT: the grant number that they leave. */
control NewGrant(in headers_t hdr, out bit<32> grant)
{
	apply {
		if (hdr.weft.type == message_t.drop) {
			grant = 0;
		} else {
			grant = hdr.weft.grant | WEFT_GRANT_OWNED;
			if (hdr.weft.status != STATUS_M)
				grant = grant ^ WEFT_GRANT_OWNED;
		}
	}
}

/* Whom a message must come from, and whether it is about a line. */
control Admit(inout headers_t hdr, inout metadata_t meta)
{
	apply {
		meta.to = destination_t.home;
		meta.changed = false;
		meta.counter = COUNT_NOTHING;
		meta.look = false;
		meta.install = false;
		meta.update = false;
		if ((bit<8>)hdr.weft.type <= WEFT_MSG_QUERY) {
			if (hdr.weft.line != 0)
				meta.look = true;
		} else if ((bit<8>)hdr.weft.type <= WEFT_MSG_MEMBERS) {
			meta.to = destination_t.nobody;
			if (hdr.weft.src >= WEFT_BLADE_MIN &&
			    hdr.weft.src <= WEFT_BLADE_MAX) {
				if (hdr.weft.type == message_t.members) {
					meta.update = true;
					meta.to = destination_t.sender;
					meta.changed = true;
					meta.counter = WEFT_COUNT_MEMBERS;
				} else if (hdr.weft.line != 0) {
					meta.look = true;
					meta.install = true;
				}
			}
		} else if (hdr.weft.type == message_t.count) {
			hdr.weft.type = message_t.count_ack;
			meta.to = destination_t.sender;
			meta.changed = true;
			meta.counter = hdr.weft.nonce & (WEFT_COUNTERS - 1);
		}
	}
}

/*
 * What a message does at its slot: meta.serve if it is for the entry, meta.install
 * if it is for the slot.  Everything else is decided here.
 */
control Decide(inout headers_t hdr, inout metadata_t meta)
{
	NodeBit() node_bit;
	bit<32> owner;
	bit<32> known;

	apply {
		meta.serve = false;
		if (meta.install) {
			if (hdr.weft.type == message_t.remove)
				meta.serve = meta.here;
		} else if (!meta.here) {
			meta.counter = WEFT_COUNT_MISS;
		} else {
			owner = hdr.weft.txn >> WEFT_TXN_SEQ_BITS;
			if (owner != (bit<32>)hdr.weft.src) {
				meta.to = destination_t.nobody;
			} else {
				node_bit.apply(hdr, meta.node);
				known = meta.node & meta.members;
				if (known != 0 || hdr.weft.type == message_t.abort) {
					meta.serve = true;
				} else {
					hdr.weft.flags = WEFT_F_SWITCH;
					hdr.weft.info = WEFT_WHY_NOT_MEMBER;
					hdr.weft.type = message_t.nack;
					meta.to = destination_t.sender;
					meta.changed = true;
					meta.counter = WEFT_COUNT_STRANGER;
				}
			}
		}
	}
}

control Directory(inout headers_t hdr, inout metadata_t meta)
{
	Admit() admit;
	Members() members;
	Slot() slot;
	Generation() generation;
	Tag() tag;
	Decide() decide;
	NewGrant() new_grant;
	Lock() lock;
	Entry() entry;
	Request() request;
	Home() home;
	Count() count;

	apply {
		if (meta.damaged) {
			meta.to = destination_t.nobody;
			meta.changed = false;
			meta.counter = WEFT_COUNT_DAMAGED;
		} else {
			admit.apply(hdr, meta);
			members.apply(hdr, meta);
			if (meta.look) {
				slot.apply(hdr, meta.slot);
				if (meta.install)
					generation.apply(hdr, meta);
				tag.apply(hdr, meta);
				decide.apply(hdr, meta);
				if (meta.serve || meta.set) {
					new_grant.apply(hdr, meta.new_grant);
					lock.apply(hdr, meta);
					entry.apply(hdr, meta);
				}
				if (meta.serve)
					request.apply(hdr, meta);
				else if (meta.install)
					home.apply(hdr, meta);
			}
		}
		if (meta.counter != COUNT_NOTHING)
			count.apply(hdr, meta);
	}
}

#endif /* WEFT_DIRECTORY_P4 */
