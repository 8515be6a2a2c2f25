/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Constants of the weft wire format.
 *
 * Nothing but #define lines: the P4 program includes this file as well as C. The layout of the
 * header, field by field, is in kmod/core/wire.h (C) and p4/weft_headers.p4 (P4); what each
 * message means, who sends it and how it is answered is the message table of docs/protocol.md.
 */
#ifndef _UAPI_WEFT_WIRE_H
#define _UAPI_WEFT_WIRE_H

/*
 * A message is a UDP datagram: a 64-byte header, then the payload.  Several DATA
 * may stand one behind the other in one datagram.
 */
#define WEFT_WIRE_MAGIC		0x57
#define WEFT_WIRE_VERSION	1
#define WEFT_WIRE_HDR_LEN	64
/* UDP checksum 0: the header has its own sum, the payload its own hash. */
#define WEFT_WIRE_UDP_PORT	4793
/*
 * Where a switch sends what it addresses to nodes by their bit (239.87.69.70): all copies of one
 * multicast are the same bytes.  Homes use the same address to talk to the switch itself.
 */
#define WEFT_WIRE_GROUP		0xEF574546
#define WEFT_WIRE_GROUP_MAC	0x01005E574546

/* Members: compute nodes 1..32 (bit id-1 of a copyset), blades 33..48. */
#define WEFT_NODE_MIN		1
#define WEFT_NODE_MAX		32
#define WEFT_BLADE_MIN		33
#define WEFT_BLADE_MAX		48

/*
 * A transaction id is {member, sequence}: 6 bits and 26 bits.  It is never used
 * twice and never 0.
 */
#define WEFT_TXN_SEQ_BITS	26
#define WEFT_TXN_SEQ_MASK	0x03FFFFFF

/*
 * Grant number of a directory entry: raised by STEP each time that a transaction takes the
 * entry's lock, so that a late copy of a request, a COMMIT or an ABORT cannot be taken for a new
 * one.  Its lowest bit says whether the status is M.
 */
#define WEFT_GRANT_OWNED	1
#define WEFT_GRANT_STEP		2

/* Status of a line at its directory, permission of a copy at a node. */
#define WEFT_I			0	/* no copy; the home has the data */
#define WEFT_S			1	/* read-only copies; the home has the data */
#define WEFT_M			2	/* one owner, which has the data */

/*
 * A line: hi = region (24 bits), kind (4), index bits 35..32 (4); lo = the
 * index's low 32 bits.  Page lines are indexed by block.
 */
#define WEFT_LINE_REGION_SHIFT	8
#define WEFT_LINE_KIND_SHIFT	4
#define WEFT_LINE_KIND_MASK	0xF
#define WEFT_LINE_INDEX_HI_MASK	0xF
#define WEFT_REGION_MAX		0x00FFFFFF
#define WEFT_KIND_PAGE		0
#define WEFT_KIND_LOCK		1

/*
 * Epoch of a lock line's entry (field grant): raised by STEP each time that the holder of its
 * queue changes.  Its lowest bit says that the entry is frozen because its home takes it back.
 */
#define WEFT_EPOCH_FROZEN	1
#define WEFT_EPOCH_STEP		2

/* Blocks: a power of two. */
#define WEFT_BLOCK_MIN		4096
#define WEFT_BLOCK_MAX		2097152

/*
 * Message types.  1..31 may be answered by a directory (the switch looks at
 * these and forwards all others unseen); 32.. go from member to member.
 */
#define WEFT_MSG_GETS		1	/* node->dir: read permission, with data */
#define WEFT_MSG_GETM		2	/* node->dir: write permission */
#define WEFT_MSG_PUT		3	/* node->dir: wants to leave the copyset */
#define WEFT_MSG_COMMIT		4	/* node->dir: end of a busy transaction, and whose retained data it had */
#define WEFT_MSG_ABORT		5	/* node->dir: this node has no such transaction any more */
#define WEFT_MSG_QUERY		6	/* node->dir: what does the entry say? */
#define WEFT_MSG_ADD		7	/* home->switch: install the line */
#define WEFT_MSG_REMOVE		8	/* home->switch: lock the line to take it back */
#define WEFT_MSG_DROP		9	/* home->switch: forget the locked line */
#define WEFT_MSG_MEMBERS	10	/* home->switch: who is in the rack */
#define WEFT_MSG_COUNT		11	/* member->switch: read counter number nonce */
#define WEFT_MSG_ACQUIRE	12	/* node->dir: wants a lock; EXCL: to write */
#define WEFT_MSG_HAND		13	/* holder->dir: the lock goes to holder, or to nobody */
#define WEFT_MSG_PASS		14	/* owner->dir: (part of) the block, for a node that has not asked yet */
#define WEFT_MSG_SWITCH_MAX	31	/* the switch looks at types up to this one */

#define WEFT_MSG_INV		32	/* dir->sharers: give up the copy, answer the requester */
#define WEFT_MSG_FWD		33	/* dir->provider: send the data, keep a read-only copy */
#define WEFT_MSG_READ		34	/* dir or node->home: send the home copy to the requester */
#define WEFT_MSG_GRANT		35	/* dir->requester: yours, nobody else is asked */
#define WEFT_MSG_NACK		36	/* dir->requester: not now (reason in info) */
#define WEFT_MSG_COMMIT_ACK	37	/* dir->requester, and its provider: retained data may go */
#define WEFT_MSG_INFO		38	/* dir->node: answer to QUERY */
#define WEFT_MSG_ADD_ACK	39	/* switch->home */
#define WEFT_MSG_REMOVE_ACK	40	/* switch->home */
#define WEFT_MSG_DROP_ACK	41	/* switch->home */
#define WEFT_MSG_MEMBERS_ACK	42	/* switch->home */
#define WEFT_MSG_COUNT_ACK	43	/* switch->member: value in holder */
#define WEFT_MSG_ENQUEUE	44	/* dir->holder of the queue: the transaction's node waits */
#define WEFT_MSG_HANDED		45	/* dir->new holder and readers: it is yours */
#define WEFT_MSG_PASSED		46	/* dir->next owner or reader: what the owner passes on, as DATA */

#define WEFT_MSG_DATA		48	/* provider->requester: (part of) the block */
#define WEFT_MSG_INV_ACK	49	/* sharer->requester: copy given up, no data here */
#define WEFT_MSG_WB		50	/* owner->home: (part of) the modified block */
#define WEFT_MSG_WB_ACK		51	/* home->node that waits for the write-back */
/* 52 had another meaning once */
#define WEFT_MSG_CHASE		53	/* node->node: your transaction blocks me, is it alive? */
#define WEFT_MSG_HAND_ACK	54	/* new holder or dir->old holder: it has arrived */
#define WEFT_MSG_LANDED		55	/* provider->requester: the block is where it was to land */

#define WEFT_MSG_CALL		64	/* node->blade or blade->blade: catalog, membership */
#define WEFT_MSG_REPLY		65	/* answer to CALL */

/* Flags. */
#define WEFT_F_BUSY		0x01	/* the transaction holds the entry's lock: it must COMMIT */
#define WEFT_F_HAVE		0x02	/* GETM: the requester has a read-only copy (upgrade) */
#define WEFT_F_SWITCH		0x04	/* this answer comes from the directory in the switch */
#define WEFT_F_EXCL		0x08	/* READ, DATA: for a GETM; ACQUIRE, ENQUEUE: to write */
#define WEFT_F_RELAY		0x10	/* READ, ACQUIRE, ENQUEUE: passed on by a node that no longer has it */
#define WEFT_F_INSTALLED	0x20	/* ADD_ACK, DROP_ACK, REMOVE_ACK: the line is in the switch */
#define WEFT_F_DIRECT		0x20	/* GETS, GETM: the requester can read the home copy itself */
#define WEFT_F_MORE		0x40	/* REPLY: the list goes on */
#define WEFT_F_LENT		0x80	/* DATA: to read, the owner stays the owner; WB: it has died since */

/* Reasons, field info of NACK and of ADD_ACK without WEFT_F_INSTALLED. */
#define WEFT_WHY_BUSY		1	/* another transaction holds the line (field holder) */
#define WEFT_WHY_NOT_HOLDER	2	/* PUT from a node that is not in the copyset */
#define WEFT_WHY_MOVING		3	/* the line moves between home and switch: ask again */
#define WEFT_WHY_NOT_MEMBER	4	/* join first */
#define WEFT_WHY_NO_LINE	5	/* no such region, or beyond its end */
#define WEFT_WHY_GEN		6	/* ADD, DROP: field nonce has the slot's generation */
#define WEFT_WHY_FULL		7	/* ADD: another line has the slot */

/*
 * Versions of the list of members (MEMBERS, field nonce) wrap around: a version is at least as
 * new as another if it is at most this far ahead of it.
 */
#define WEFT_NEWER_MAX		0x7FFFFFFF

/*
 * Slots of the directory in the switch: twice as many pairs of 32 bits would not fit one stage
 * of a Tofino.
 */
#define WEFT_SWITCH_SLOTS	65536
#define WEFT_SWITCH_SLOT_MASK	0xFFFF
/* The switch checks field src of a message, 8 bits, against the port that it came by. */
#define WEFT_SWITCH_SENDERS	256

/*
 * Counters of the directory in the switch, 32 bits each, free running: what came
 * of the messages that it looked at.
 */
#define WEFT_COUNT_MISS		0	/* line not installed, sent on to its home */
#define WEFT_COUNT_READ		1	/* home asked for the data */
#define WEFT_COUNT_FWD		2	/* a node asked for the data */
#define WEFT_COUNT_INV		3	/* copyset invalidated */
#define WEFT_COUNT_GRANT	4
#define WEFT_COUNT_BUSY		5	/* refused: another transaction holds the line */
#define WEFT_COUNT_COMMIT	6
#define WEFT_COUNT_QUERY	7
#define WEFT_COUNT_ABORT	8
#define WEFT_COUNT_ADD		9	/* answered: the line is installed */
#define WEFT_COUNT_ADD_REFUSED	10
#define WEFT_COUNT_REMOVE	11
#define WEFT_COUNT_DROP		12
#define WEFT_COUNT_STRANGER	13	/* refused: not a member */
#define WEFT_COUNT_DAMAGED	14	/* wrong header sum, dropped */
#define WEFT_COUNT_MEMBERS	15
#define WEFT_COUNT_ENQUEUE	16	/* a lock's queue holder told of a waiter */
#define WEFT_COUNT_HANDED	17	/* a lock handed over */
#define WEFT_COUNT_HAND_ACK	18	/* hand-over that had happened before */
#define WEFT_COUNT_PASSED	19	/* (part of) a block passed on by its owner */
#define WEFT_COUNT_NOT_PASSED	20	/* ... dropped: another transaction was faster */
#define WEFT_COUNT_FORGED	21	/* not at the port of the member that it names, dropped */
#define WEFT_COUNTERS		32	/* a power of two */

#endif /* _UAPI_WEFT_WIRE_H */
