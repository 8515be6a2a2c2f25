// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a home tells the switch about a line: add(), remove_line() and drop() of
 * tools/directory/directory.c.
 */
#ifndef WEFT_INSTALL_P4
#define WEFT_INSTALL_P4

#include "weft_headers.p4"
#include "weft_registers.p4"
#include "weft_answer.p4"
#include "weft_end.p4"
#include "weft_lock.p4"

control Add(inout headers_t hdr, inout metadata_t meta, in bool fresh)
{
	WithOwned() with_owned;

	apply {
		if (meta.tag == 0 && fresh) {
			meta.tag = hdr.weft.line;
			with_owned.apply(hdr, meta);
			meta.lock = 0;
			if (meta.kind == KIND_LOCK) {
				meta.grant = hdr.weft.grant;
				meta.lock = hdr.weft.holder;
			}
			tag.write(meta.slot, meta.tag);
			lock.write(meta.slot, meta.lock);
			grant.write(meta.slot, meta.grant);
			status.write(meta.slot, hdr.weft.status);
			copyset.write(meta.slot, hdr.weft.copyset);
		}
		hdr.weft.info = WEFT_WHY_GEN;
		if (fresh)
			hdr.weft.info = WEFT_WHY_FULL;
		hdr.weft.flags = 0;
		meta.counter = WEFT_COUNT_ADD_REFUSED;
		if (meta.tag == hdr.weft.line) {
			hdr.weft.flags = WEFT_F_INSTALLED;
			meta.counter = WEFT_COUNT_ADD;
		}
		hdr.weft.type = message_t.add_ack;
	}
}

control Drop(inout headers_t hdr, inout metadata_t meta, in bool fresh)
{
	apply {
		hdr.weft.flags = 0;
		if (meta.tag == hdr.weft.line) {
			if (fresh) {
				tag.write(meta.slot, 0);
				lock.write(meta.slot, 0);
				grant.write(meta.slot, 0);
				status.write(meta.slot, STATUS_I);
				copyset.write(meta.slot, 0);
			} else {
				hdr.weft.flags = WEFT_F_INSTALLED;
			}
		}
		hdr.weft.type = message_t.drop_ack;
		meta.counter = WEFT_COUNT_DROP;
	}
}

/*
 * REMOVE of a lock line: freeze() of tools/directory/directory.c.  It moves whoever has
 * it; a late copy must not freeze it again.
 */
control Freeze(inout headers_t hdr, inout metadata_t meta, in bit<32> slot_generation)
{
	Describe() describe;

	apply {
		if (slot_generation == hdr.weft.nonce) {
			meta.grant = meta.grant | WEFT_EPOCH_FROZEN;
			grant.write(meta.slot, meta.grant);
			describe.apply(hdr, meta);
			hdr.weft.flags = WEFT_F_INSTALLED;
			hdr.weft.holder = meta.lock;
			hdr.weft.type = message_t.remove_ack;
			meta.counter = WEFT_COUNT_REMOVE;
		} else {
			hdr.weft.nonce = slot_generation;
			hdr.weft.flags = 0;
			hdr.weft.info = WEFT_WHY_GEN;
			hdr.weft.type = message_t.nack;
			meta.counter = WEFT_COUNT_BUSY;
		}
	}
}

/* Locks a line for its home, which drops it when it has the entry. */
control Remove(inout headers_t hdr, inout metadata_t meta, in bit<32> slot_generation)
{
	Take() take;
	Describe() describe;
	Refuse() refuse;
	bool granted;

	apply {
		granted = true;
		hdr.weft.flags = WEFT_F_INSTALLED | WEFT_F_BUSY;
		if (meta.tag != hdr.weft.line) {
			hdr.weft.flags = 0;
			meta.status = STATUS_I;
			meta.copyset = 0;
			meta.grant = 0;
		} else {
			take.apply(hdr, meta);
			if (meta.lock != hdr.weft.txn)
				granted = false;
		}
		describe.apply(hdr, meta);
		if (granted) {
			hdr.weft.nonce = slot_generation;
			hdr.weft.type = message_t.remove_ack;
			meta.counter = WEFT_COUNT_REMOVE;
		} else {
			hdr.weft.flags = 0;
			refuse.apply(hdr, meta);
		}
	}
}

control Install(inout headers_t hdr, inout metadata_t meta)
{
	Add() add;
	Drop() drop;
	Remove() remove;
	Freeze() freeze;
	bit<32> now;
	bool fresh;

	apply {
		meta.to = destination_t.sender;
		now = generation.read(meta.slot);
		if (hdr.weft.type == message_t.remove) {
			if (meta.kind == KIND_LOCK && meta.tag == hdr.weft.line)
				freeze.apply(hdr, meta, now);
			else
				remove.apply(hdr, meta, now);
		} else {
			fresh = false;
			if (now == hdr.weft.nonce) {
				fresh = true;
				now = now + 1;
				generation.write(meta.slot, now);
			}
			hdr.weft.nonce = now;
			if (hdr.weft.type == message_t.add)
				add.apply(hdr, meta, fresh);
			else
				drop.apply(hdr, meta, fresh);
		}
	}
}

#endif /* WEFT_INSTALL_P4 */
