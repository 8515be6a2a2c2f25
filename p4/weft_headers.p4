// SPDX-License-Identifier: GPL-2.0-only
/*
 * Headers and metadata of the switch program.
 *
 * weft_t is the header of a weft message as kmod/core/wire.h lays it out; the
 * numbers come from uapi/weft_wire.h, which C includes as well.
 */
#ifndef WEFT_HEADERS_P4
#define WEFT_HEADERS_P4

#include "weft_wire.h"

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8>  IPV4_NO_OPTIONS = 0x45;
const bit<8>  PROTOCOL_UDP = 17;
/* No fragment: "may be fragmented" or not, and offset 0. */
const bit<16> IPV4_WHOLE = 0x0000;
const bit<16> IPV4_WHOLE_DF = 0x4000;
/* Magic and version, which stand next to each other. */
const bit<16> WEFT_MAGIC = WEFT_WIRE_MAGIC * 256 + WEFT_WIRE_VERSION;

/* Messages that the switch looks at, and those that it makes of them. */
enum bit<8> message_t {
	gets		= WEFT_MSG_GETS,
	getm		= WEFT_MSG_GETM,
	put		= WEFT_MSG_PUT,
	commit		= WEFT_MSG_COMMIT,
	abort		= WEFT_MSG_ABORT,
	query		= WEFT_MSG_QUERY,
	add		= WEFT_MSG_ADD,
	remove		= WEFT_MSG_REMOVE,
	drop		= WEFT_MSG_DROP,
	members		= WEFT_MSG_MEMBERS,
	count		= WEFT_MSG_COUNT,
	acquire		= WEFT_MSG_ACQUIRE,
	hand		= WEFT_MSG_HAND,
	pass		= WEFT_MSG_PASS,

	inv		= WEFT_MSG_INV,
	fwd		= WEFT_MSG_FWD,
	read		= WEFT_MSG_READ,
	grant		= WEFT_MSG_GRANT,
	nack		= WEFT_MSG_NACK,
	commit_ack	= WEFT_MSG_COMMIT_ACK,
	info		= WEFT_MSG_INFO,
	add_ack		= WEFT_MSG_ADD_ACK,
	remove_ack	= WEFT_MSG_REMOVE_ACK,
	drop_ack	= WEFT_MSG_DROP_ACK,
	members_ack	= WEFT_MSG_MEMBERS_ACK,
	count_ack	= WEFT_MSG_COUNT_ACK,
	enqueue		= WEFT_MSG_ENQUEUE,
	handed		= WEFT_MSG_HANDED,
	passed		= WEFT_MSG_PASSED,
	hand_ack	= WEFT_MSG_HAND_ACK
}

/* Status of a line. */
const bit<8> STATUS_I = WEFT_I;
const bit<8> STATUS_S = WEFT_S;
const bit<8> STATUS_M = WEFT_M;

/* Kind of a line that is a lock, where Slot leaves it. */
const bit<64> KIND_LOCK = WEFT_KIND_LOCK << 2;
const bit<64> KIND_MASK = WEFT_LINE_KIND_MASK << 2;

/* Where a packet goes.  It is the directory's work unless it goes on. */
enum bit<8> destination_t {
	on	= 0,	/* by its Ethernet address, as it is */
	home	= 1,	/* by its Ethernet address */
	node	= 2,	/* to the one node of metadata_t.targets */
	nodes	= 3,	/* a copy to each node of metadata_t.targets */
	sender	= 4,	/* back to where it came from */
	nobody	= 5
}

/* Counter of what is not counted: nobody reads it. */
const bit<32> COUNT_REST = WEFT_COUNTERS;

header ethernet_t {
	bit<48>		destination;
	bit<48>		source;
	bit<16>		type;
}

header ipv4_t {
	bit<8>		version_ihl;
	bit<8>		tos;
	bit<16>		length;
	bit<16>		id;
	bit<16>		fragment;	/* 3 flags, offset */
	bit<8>		ttl;
	bit<8>		protocol;
	bit<16>		checksum;
	bit<32>		source;
	bit<32>		destination;
}

header udp_t {
	bit<16>		source;
	bit<16>		destination;
	bit<16>		length;
	bit<16>		checksum;
}

header weft_t {
	bit<16>		magic;		/* and version */
	message_t	type;
	bit<8>		flags;
	bit<16>		length;
	bit<16>		hsum;
	bit<32>		txn;
	bit<64>		line;
	bit<8>		src;
	bit<8>		status;
	bit<16>		info;
	bit<32>		copyset;
	bit<32>		provider;
	bit<32>		holder;
	bit<32>		nonce;
	bit<64>		data_version;
	bit<16>		offset;
	bit<8>		size;
	bit<8>		zero;
	bit<32>		grant;
	bit<32>		psum;
	bit<32>		rack;
}

struct headers_t {
	ethernet_t	ethernet;
	ipv4_t		ipv4;
	udp_t		udp;
	weft_t		weft;
}

/*
 * What is known about a packet besides its headers.  Nothing of it has a value
 * before it is written: a software switch does not clear it between packets.
 */
struct metadata_t {
	bit<64>		slot;		/* of the line */
	bit<64>		kind;		/* of the line: KIND_LOCK, or something else */

	/* What the registers say, before the message. */
	bit<64>		tag;
	bit<32>		members;
	bit<32>		lock;
	bit<32>		grant;
	bit<32>		copyset;
	bit<8>		status;

	bit<32>		node;		/* bit of the sender in a copyset */

	/* What comes of the message. */
	destination_t	to;
	bit<32>		targets;
	bit<32>		counter;	/* WEFT_COUNT_* or COUNT_REST */
}

#endif /* WEFT_HEADERS_P4 */
