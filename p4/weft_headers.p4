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
const bit<8>  PROTOCOL_UDP = 17;

/* Messages that the switch looks at, and those that it makes of them. */
enum bit<8> message_t {
	none		= 0,
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
	count_ack	= WEFT_MSG_COUNT_ACK
}

/* Status of a line. */
const bit<8> STATUS_I = WEFT_I;
const bit<8> STATUS_S = WEFT_S;
const bit<8> STATUS_M = WEFT_M;

/* Where a message goes. */
enum bit<8> destination_t {
	nobody	= 0,
	sender	= 1,	/* back to where it came from */
	home	= 2,	/* on, by its Ethernet address */
	nodes	= 3	/* a copy to each node of metadata_t.targets */
}

/* Nothing happened that is counted. */
const bit<32> COUNT_NOTHING = WEFT_COUNTERS;

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
	bit<8>		magic;
	bit<8>		version;
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
 * What is known about the packet, besides its headers.  Nothing of it has a
 * value before it is written: a software switch does not clear it between
 * packets.
 */
struct metadata_t {
	/* From the parser: a weft message that the switch has to look at. */
	bool		message;

	bool		damaged;	/* its header is not what was sent */

	/* What it is. */
	bool		look;		/* about a line: look at its slot */
	bool		install;	/* ADD, REMOVE, DROP from a home */
	bool		update;		/* MEMBERS from a home */

	/* What the registers said, in the order in which they are touched. */
	bit<32>		members;	/* nodes of the rack */
	bit<64>		slot;		/* of the line */
	bool		fresh;		/* ADD, DROP: has the slot's generation */
	bit<32>		generation;	/* of the slot, from now on */
	bool		here;		/* the line has the slot, from now on */
	bool		set;		/* ADD, DROP: the entry is to be written */
	bit<32>		node;		/* bit of the sender */
	bool		serve;		/* the message is for the entry */
	bit<32>		new_grant;	/* grant number that ADD, DROP, COMMIT leave */
	bit<32>		lock;		/* busy transaction, from now on */
	bit<32>		grant;		/* grant number, from now on */
	bool		shared;		/* GETS: needs no lock, and changes the entry */
	bool		granted;	/* the transaction has the lock, or needs none */
	bool		commit;		/* COMMIT: changes the entry */
	bit<8>		status;		/* before this message */
	bit<32>		copyset;	/* before this message */

	/* What comes of it. */
	destination_t	to;
	bool		changed;	/* the header sum needs mending */
	bit<32>		targets;
	bit<32>		counter;	/* WEFT_COUNT_*, or COUNT_NOTHING */
}

#endif /* WEFT_HEADERS_P4 */
