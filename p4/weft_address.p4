// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses of what the directory sends.
 */
#ifndef WEFT_ADDRESS_P4
#define WEFT_ADDRESS_P4

#include "weft_headers.p4"

/* The switch's own address on the wire: the group's, made a station's. */
const bit<48> SWITCH_MAC = (bit<48>)WEFT_WIRE_GROUP_MAC ^ 0x030000000000;

/*
 * Back to the sender: source and destination change places, which no checksum
 * notices; the ports are the same.  What was sent to the group cannot come from the group, though: hosts
 * drop packets from a multicast address.  The switch has no address of its own; it
 * takes one from the sender's network that is surely not the sender's, nor that of
 * the network or its broadcast: with the last two bits 01 or 10.
 */
control ToSender(inout headers_t hdr)
{
	InternetChecksum() sum;
	bit<48> mac;
	bit<32> address;
	bit<32> last;

	apply {
		mac = hdr.ethernet.destination;
		hdr.ethernet.destination = hdr.ethernet.source;
		hdr.ethernet.source = mac;
		address = hdr.ipv4.destination;
		hdr.ipv4.destination = hdr.ipv4.source;
		hdr.ipv4.source = address;
		if (address == WEFT_WIRE_GROUP) {
			hdr.ethernet.source = SWITCH_MAC;
			sum.clear();
			sum.subtract(hdr.ipv4.checksum);
			sum.subtract(hdr.ipv4.source);
			last = hdr.ipv4.destination & 3;
			address = hdr.ipv4.destination & 0xFFFFFFFC;
			if (last == 1)
				address = address | 2;
			else
				address = address | 1;
			hdr.ipv4.source = address;
			sum.add(hdr.ipv4.source);
			hdr.ipv4.checksum = sum.get();
		}
	}
}

/*
 * To the nodes of a copyset: the group's address, the same for all copies.  It
 * comes from the home that was asked: the sender may be among the nodes (a lock is
 * granted, or handed over), and hosts drop what comes from their own address.
 */
control ToNodes(inout headers_t hdr)
{
	InternetChecksum() sum;

	apply {
		hdr.ethernet.source = hdr.ethernet.destination;
		hdr.ethernet.destination = WEFT_WIRE_GROUP_MAC;
		sum.clear();
		sum.subtract(hdr.ipv4.checksum);
		sum.subtract(hdr.ipv4.source);
		hdr.ipv4.source = hdr.ipv4.destination;
		hdr.ipv4.destination = WEFT_WIRE_GROUP;
		sum.add(hdr.ipv4.destination);
		hdr.ipv4.checksum = sum.get();
	}
}

#endif /* WEFT_ADDRESS_P4 */
