// SPDX-License-Identifier: GPL-2.0-only
/*
 * The directory in the switch: weft_switch_handle() of tools/directory/directory.c.
 * tests/diff compares the two, message by message.
 */
#ifndef WEFT_DIRECTORY_P4
#define WEFT_DIRECTORY_P4

#include "weft_headers.p4"
#include "weft_registers.p4"
#include "weft_sum.p4"
#include "weft_slot.p4"
#include "weft_request.p4"
#include "weft_install.p4"
#include "weft_members.p4"
#include "weft_pass.p4"
#include "weft_queue.p4"

/* Messages that only a home may send. */
control FromHome(inout headers_t hdr, inout metadata_t meta)
{
	Install() install;
	Members() members_message;

	apply {
		meta.to = destination_t.nobody;
		if (hdr.weft.src >= WEFT_BLADE_MIN && hdr.weft.src <= WEFT_BLADE_MAX) {
			if (hdr.weft.type == message_t.members)
				members_message.apply(hdr, meta);
			else if (hdr.weft.line != 0)
				install.apply(hdr, meta);
		}
	}
}

/*
 * Raises the counter of what came of a message.  COUNT reads the one that it names
 * instead.
 */
control Count(inout headers_t hdr, in metadata_t meta)
{
	bit<32> value;

	apply {
		value = counters.read(meta.counter);
		if (hdr.weft.type == message_t.count_ack) {
			hdr.weft.holder = value;
		} else {
			value = value + 1;
			counters.write(meta.counter, value);
		}
	}
}

/* A sound message from a member of this rack. */
control Serve(inout headers_t hdr, inout metadata_t meta)
{
	Request() request;
	LockRequest() lock_request;
	Pass() pass;
	FromHome() from_home;

	apply {
		if ((bit<8>)hdr.weft.type <= WEFT_MSG_QUERY) {
			if (meta.tag == hdr.weft.line && hdr.weft.line != 0) {
				if (meta.kind == KIND_LOCK)
					lock_request.apply(hdr, meta);
				else
					request.apply(hdr, meta);
			} else if (hdr.weft.line != 0) {
				meta.counter = WEFT_COUNT_MISS;
			}
		} else if ((bit<8>)hdr.weft.type <= WEFT_MSG_MEMBERS) {
			from_home.apply(hdr, meta);
		} else if (hdr.weft.type == message_t.count) {
			hdr.weft.type = message_t.count_ack;
			meta.counter = hdr.weft.nonce & (WEFT_COUNTERS - 1);
			meta.to = destination_t.sender;
		} else if ((bit<8>)hdr.weft.type <= WEFT_MSG_PASS) {
			if (meta.tag == hdr.weft.line && hdr.weft.line != 0) {
				if (meta.kind == KIND_LOCK)
					lock_request.apply(hdr, meta);
				else if (hdr.weft.type == message_t.pass)
					pass.apply(hdr, meta);
				else
					meta.to = destination_t.nobody;
			} else if (hdr.weft.line != 0) {
				meta.counter = WEFT_COUNT_MISS;
			}
		}
	}
}

/*
 * For messages of type 1..31; meta.to is destination_t.on.  A message of another rack
 * goes on as it is.  One that comes in at another port than that of the member that it
 * names is dropped: a machine can write any address, but it cannot sit behind the port
 * of another one.
 */
control Directory(inout headers_t hdr, inout metadata_t meta, in PortId_t from)
{
	Check() check;
	Slot() slot;
	Serve() serve;
	Count() count;
	bit<32> part;
	bit<16> rest;

	apply {
		/* what a damaged message reads does no harm, and memory is slow */
		slot.apply(hdr, meta);
		check.apply(hdr, rest);
		meta.counter = COUNT_REST;
		/*
		 * Also refused is a status that no message has: nobody would
		 * accept what the switch tells of it later.
		 */
		if (rest == 0xFFFF && hdr.weft.status <= STATUS_M) {
			part = rack.read(0);
			if (part == hdr.weft.rack) {
				part = (bit<32>)hdr.weft.src;
				part = station.read(part);
				part = part - 1;
				if (part == (bit<32>)from) {
					serve.apply(hdr, meta);
				} else {
					meta.counter = WEFT_COUNT_FORGED;
					meta.to = destination_t.nobody;
				}
			}
		} else {
			meta.counter = WEFT_COUNT_DAMAGED;
			meta.to = destination_t.nobody;
		}
		count.apply(hdr, meta);
	}
}

#endif /* WEFT_DIRECTORY_P4 */
