// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of nodes for a lock line that is installed: weft_lockdir_handle() of
 * tools/directory/lockdir.c.  The queue itself is at its holder; here is who that is
 * (in the cell "lock"), in which epoch ("grant"), and who reads ("copyset").
 */
#ifndef WEFT_QUEUE_P4
#define WEFT_QUEUE_P4

#include "weft_headers.p4"
#include "weft_registers.p4"
#include "weft_bits.p4"

/* Not now, or not you; the reason is in info already. */
control RefuseLock(inout headers_t hdr, inout metadata_t meta)
{
	apply {
		hdr.weft.flags = WEFT_F_SWITCH;
		hdr.weft.type = message_t.nack;
		meta.counter = WEFT_COUNT_BUSY;
		if (hdr.weft.info == WEFT_WHY_NOT_MEMBER)
			meta.counter = WEFT_COUNT_STRANGER;
		meta.to = destination_t.sender;
	}
}

control Acquire(inout headers_t hdr, inout metadata_t meta, in bit<32> asker)
{
	RefuseLock() refuse;
	bit<32> frozen;
	bit<32> readers;
	bit<8> write;

	apply {
		write = hdr.weft.flags & WEFT_F_EXCL;
		frozen = meta.grant & WEFT_EPOCH_FROZEN;
		readers = meta.copyset | asker;
		if (meta.lock == 0 && frozen == 0) {
			if (write != 0) {
				meta.grant = meta.grant + WEFT_EPOCH_STEP;
				meta.lock = asker;
				lock.write(meta.slot, meta.lock);
				grant.write(meta.slot, meta.grant);
			} else {
				copyset.write(meta.slot, readers);
			}
		}
		hdr.weft.holder = meta.lock;
		hdr.weft.grant = meta.grant;
		readers = readers ^ asker;
		readers = readers & meta.members;
		hdr.weft.copyset = readers;
		if (frozen != 0) {
			hdr.weft.info = WEFT_WHY_MOVING;
			refuse.apply(hdr, meta);
		} else {
			hdr.weft.flags = hdr.weft.flags | WEFT_F_SWITCH;
			meta.to = destination_t.nodes;
			if (write != 0 && meta.lock == asker) {
				hdr.weft.status = STATUS_M;
				hdr.weft.type = message_t.grant;
				meta.counter = WEFT_COUNT_GRANT;
				meta.targets = asker;
				if (readers != 0) {
					hdr.weft.type = message_t.inv;
					meta.counter = WEFT_COUNT_INV;
					meta.targets = readers;
				}
			} else if (write == 0 && meta.lock == 0) {
				hdr.weft.status = STATUS_S;
				hdr.weft.type = message_t.grant;
				meta.counter = WEFT_COUNT_GRANT;
				meta.targets = asker;
			} else {
				hdr.weft.type = message_t.enqueue;
				meta.counter = WEFT_COUNT_ENQUEUE;
				meta.targets = meta.lock;
			}
		}
	}
}

/* Once, in the epoch that the message names; again, as long as nothing followed. */
control Hand(inout headers_t hdr, inout metadata_t meta)
{
	RefuseLock() refuse;
	bit<32> frozen;
	bit<32> next;
	bit<32> strangers;
	bool done;

	apply {
		frozen = meta.grant & WEFT_EPOCH_FROZEN;
		strangers = hdr.weft.holder | hdr.weft.copyset;
		strangers = strangers | meta.members;
		strangers = strangers ^ meta.members;
		next = hdr.weft.grant + WEFT_EPOCH_STEP;
		if (strangers != 0) {
			hdr.weft.copyset = meta.members;
			hdr.weft.info = WEFT_WHY_NOT_MEMBER;
			refuse.apply(hdr, meta);
		} else if (frozen != 0) {
			hdr.weft.info = WEFT_WHY_MOVING;
			refuse.apply(hdr, meta);
		} else {
			done = false;
			if (meta.grant == hdr.weft.grant && meta.lock == meta.node) {
				lock.write(meta.slot, hdr.weft.holder);
				grant.write(meta.slot, next);
				copyset.write(meta.slot, hdr.weft.copyset);
				done = true;
			} else if (meta.grant == next && meta.lock == hdr.weft.holder) {
				done = true;
			}
			hdr.weft.grant = next;
			hdr.weft.flags = hdr.weft.flags | WEFT_F_SWITCH;
			if (done) {
				hdr.weft.type = message_t.handed;
				meta.targets = hdr.weft.holder | hdr.weft.copyset;
				if (hdr.weft.holder == 0)
					meta.targets = meta.targets | meta.node;
				meta.counter = WEFT_COUNT_HANDED;
				meta.to = destination_t.nodes;
			} else {
				hdr.weft.type = message_t.hand_ack;
				meta.counter = WEFT_COUNT_HAND_ACK;
				meta.to = destination_t.sender;
			}
		}
	}
}

control LockRequest(inout headers_t hdr, inout metadata_t meta)
{
	NodeBit() node_bit;
	Acquire() acquire;
	Hand() hand;
	RefuseLock() refuse;
	bit<32> asker;
	bit<32> part;
	bit<8> relayed;
	bool foreign;

	apply {
		part = hdr.weft.txn >> WEFT_TXN_SEQ_BITS;
		foreign = false;
		if (part != (bit<32>)hdr.weft.src)
			foreign = true;
		part = part - WEFT_NODE_MIN;
		asker = 1;
		asker = asker << part;
		part = asker & meta.members;
		relayed = hdr.weft.flags & WEFT_F_RELAY;
		if (hdr.weft.type != message_t.acquire)
			relayed = 0;
		meta.to = destination_t.nobody;
		/* who passes a request on asks for a member */
		if (!foreign || (relayed != 0 && part != 0)) {
			node_bit.apply(hdr, meta);
			/* any number, if it is not the transaction's */
			if (hdr.weft.src > WEFT_NODE_MAX)
				meta.node = 0;
			part = meta.node & meta.members;
			if (part == 0) {
				hdr.weft.info = WEFT_WHY_NOT_MEMBER;
				refuse.apply(hdr, meta);
			} else if (hdr.weft.type == message_t.acquire) {
				acquire.apply(hdr, meta, asker);
			} else if (hdr.weft.type == message_t.hand) {
				hand.apply(hdr, meta);
			} else if (hdr.weft.type == message_t.query) {
				part = meta.grant & WEFT_EPOCH_FROZEN;
				if (part != 0) {
					hdr.weft.info = WEFT_WHY_MOVING;
					refuse.apply(hdr, meta);
				} else {
					hdr.weft.flags = WEFT_F_SWITCH;
					hdr.weft.holder = meta.lock;
					hdr.weft.grant = meta.grant;
					hdr.weft.copyset = meta.copyset & meta.members;
					hdr.weft.type = message_t.info;
					meta.counter = WEFT_COUNT_QUERY;
					meta.to = destination_t.sender;
				}
			}
		}
	}
}

#endif /* WEFT_QUEUE_P4 */
