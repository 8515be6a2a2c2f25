/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Codec of calls: what a node asks the catalog of regions and members at the first blade (id 33),
 * what that blade tells other blades, and what blades tell nodes.  Nodes and blades use it; it
 * checks what a node is told so that no receiver has to (weft_call_read()).
 */
#ifndef WEFT_CORE_CALL_H
#define WEFT_CORE_CALL_H

#include "wire.h"
#include "weft.h"

/*
 * A CALL carries one struct weft_call; its REPLY carries one, too, and repeats txn and nonce, of
 * which the caller chooses nonce at random.  The caller repeats a CALL until the REPLY comes.  The
 * blade keeps the last replies to each member and repeats them for a repeated txn, so that every
 * call takes effect once.  A member numbers calls and transactions by one sequence.
 */

#define WEFT_NAME_MAX		255
#define WEFT_CALL_LIST_MAX	1024	/* bytes of a list, so that a reply fits MTU 1500 */
#define WEFT_REGION_SIZE_MAX	(1ull << 48)	/* 36 bits of index, 4 KiB blocks */

/*
 * Operations, with the fields that each uses: call > reply.  33: the first blade.
 */
enum weft_call_op {
	/* node, life, addr, valid: WEFT_JOIN_* > members, peers, used: lease, valid: dead nodes */
	WEFT_CALL_JOIN = 1,
	WEFT_CALL_LEAVE,	/* node, life */
	WEFT_CALL_PEERS,	/* > as JOIN */
	WEFT_CALL_LOOKUP,	/* name > region and attributes */
	WEFT_CALL_CREATE,	/* name, valid, mode, uid, gid, block > valid and as LOOKUP */
	WEFT_CALL_GETATTR,	/* region > attributes */
	WEFT_CALL_SETATTR,	/* region, valid, attributes > attributes */
	WEFT_CALL_UNLINK,	/* name, region that it must mean (0: any) > region */
	/* region, valid: WEFT_OPEN_*, mode, uid, gid > attributes; counts once a node */
	WEFT_CALL_OPEN,
	WEFT_CALL_CLOSE,	/* region: last close on this node, all its copies are gone */
	WEFT_CALL_READDIR,	/* cookie > list of names, cookie, size: last region there is */
	/* > size, used: bytes; cookie: regions, region: how many more there may be */
	WEFT_CALL_STATFS,
	WEFT_CALL_STATS,	/* > list of named counters of the blade (weftctl) */
	WEFT_CALL_REGION,	/* 33 to blade: attributes, members: nodes that have it open */
	WEFT_CALL_FORGET,	/* 33 to blade: a region is gone */
	WEFT_CALL_MEMBERS,	/* 33 to blade: members, nodes: unknown to the switch as yet */
	WEFT_CALL_RECALLED,	/* blade to node: region, size: drop copies beyond (truncate) */
	/* blade to node: life, valid: WEFT_RENEW_*: give all lines back > EINPROGRESS, used */
	WEFT_CALL_RENEW,
	WEFT_CALL_CLAIM,	/* node to blade: life, region (0: all), list of held locks */
	/* blade to node: region and attributes, of which policy or nodes have changed > EBUSY */
	WEFT_CALL_CHANGED,
	WEFT_CALL_FENCE,	/* 33 to all: members: dead nodes, life, cookie: number */
	WEFT_CALL_FENCE_NODE,	/* members: one node, to be declared dead */
	/* region (0: all), cookie, valid: WEFT_LOST_* > lost blocks, cookie, used: accepted */
	WEFT_CALL_LOST,
	WEFT_CALL_SYNC,		/* node to blade: write all that is at home to the disk */
	WEFT_CALL_TWIN,		/* blade to all: node: its id, addr: where it is now, life: view */
	/* 33 to blade: region, homes, life, valid: WEFT_REHOME_* > EINPROGRESS, used */
	WEFT_CALL_REHOME,
	/* 33 to node: region, homes, policy, life: give back to these homes, claim > as RENEW */
	WEFT_CALL_MOVE,
	WEFT_CALL_SPREAD,	/* region (0: all), homes (0: all in use): begin to move there */
	WEFT_CALL_BLADE,	/* node: a blade, valid: WEFT_BLADE_*, addr > list of blades */
	WEFT_CALL_MAX
};

/*
 * CREATE.  The reply says whether the region is new: a node that creates a region uses it without
 * being asked for permission.
 */
#define WEFT_CREATE_EXCL	0x01	/* EEXIST if the name is there */
#define WEFT_CREATE_NEW		0x02	/* REPLY: it was not */
#define WEFT_CREATE_UNLIMITED	0x04	/* the caller has CAP_SYS_RESOURCE: no quota */

/* SETATTR: which attributes to set. */
#define WEFT_SET_SIZE		0x01
#define WEFT_SET_MODE		0x02
#define WEFT_SET_OWNER		0x04
#define WEFT_SET_MTIME		0x08
#define WEFT_SET_GROW		0x10	/* with SIZE: at least so large; never shrinks */
#define WEFT_SET_UNLIMITED	0x20	/* with SIZE: the caller has CAP_SYS_RESOURCE: no quota */
/* SETATTR of policies, without attributes. */
#define WEFT_SET_DURABILITY	0x1000
#define WEFT_SET_DEATH		0x2000
#define WEFT_SET_LOSS		0x4000
#define WEFT_SET_POLICY		(WEFT_SET_DURABILITY | WEFT_SET_DEATH | WEFT_SET_LOSS)
/* SETATTR of the nodes that may use it, alone; REPLY, err EBUSY: members still use it. */
#define WEFT_SET_NODES		0x8000

/*
 * OPEN: the right by which a program is let in, as the kernel of its node found, which alone knows
 * all groups of a user.  mode: the access, 3 bits rwx; uid: of the user; gid, with GROUP: of the
 * group.  The catalog knows owner and mode better than the node, and refuses what does not fit
 * (EACCES).
 */
#define WEFT_OPEN_KEEP		0	/* no new user is let in: only keep the region open */
#define WEFT_OPEN_OWNER		1
#define WEFT_OPEN_GROUP		2
#define WEFT_OPEN_OTHER		3
#define WEFT_OPEN_CAPABLE	4	/* by a capability of the node's root: believed */
#define WEFT_OPEN_NEW		5	/* the user has created the region */

/*
 * Policies of a region in calls and in the files of blades: WEFT_POLICY_* (weft.h), and above them
 * the number of the change, which wraps.  Answers overtake each other; an older one is dropped.
 */
#define WEFT_POLICY_CHANGE_SHIFT 16
#define WEFT_POLICY_CHANGE	(1u << WEFT_POLICY_CHANGE_SHIFT)

/* JOIN of a blade: its contents are in a file (--backing). */
#define WEFT_JOIN_BACKING	0x01
/* JOIN of a node: after EAGAIN ("not yet") it asks again under another txn. */
#define WEFT_JOIN_ASKS_AGAIN	0x02

/* RENEW: other nodes have not waited for this one: all that it has of the blade is void. */
#define WEFT_RENEW_LATE		0x01
/* RENEW: the blade's machine has ended: contents that were not on its disk may be older now. */
#define WEFT_RENEW_CRASHED	0x02

/*
 * err of a REPLY in a rack with a key, for no other reason: the call was not carried out, as it is
 * too old or too new by the rack's clock, or older than the calls whose replies the blade keeps.
 * The caller takes the time from the first blade's REPLY and calls again under another txn,
 * WEFT_CALL_TRIES times in a row at most.
 */
#define WEFT_CALL_WRONG_TIME	ETIME
#define WEFT_CALL_TRIES		3

/* LOST: accept the loss: the blocks of the region are what their homes have. */
#define WEFT_LOST_ACCEPT	0x01

/* Kinds of addresses in a list of peers. */
#define WEFT_PEER_MEMBER	0	/* of the member */
#define WEFT_PEER_TWIN		1	/* of the twin of a blade, which stands by */

/* REHOME: the phase of a region's move, see docs/protocol.md, "Homes that move". */
#define WEFT_REHOME_COPY	1	/* new homes take the contents that old homes send */
#define WEFT_REHOME_FREEZE	2	/* old homes serve nobody, send what was written since */
#define WEFT_REHOME_SYNC	3	/* new homes have it on their disks */
#define WEFT_REHOME_ADOPT	4	/* the new homes take over; nodes give back and claim */
#define WEFT_REHOME_THAW	5	/* homes serve nodes; the others forget the contents */

/* REGION, and the REPLY to GETATTR: the homes serve nobody, as after WEFT_REHOME_FREEZE. */
#define WEFT_REGION_FROZEN	0x01

/* BLADE: the order; 0: none, only the list. */
#define WEFT_BLADE_ADD		1	/* addr: it may join; new regions use it */
#define WEFT_BLADE_DRAIN	2	/* move all that it has to others; it gets nothing new */
#define WEFT_BLADE_USE		3	/* regions use it again */
/*
 * An entry of its list: u8 id, u8 of these bits, u16 0, u32 addr, u64 bytes, u64 bytes that
 * regions may come to need there, u32 regions that have lines there, u32 0.
 */
#define WEFT_BLADE_IN		0x01	/* it has joined */
#define WEFT_BLADE_DRAINS	0x02	/* no region uses it, or the last ones are moving away */
#define WEFT_BLADE_LEN		32

/* Bytes of an entry of the other lists; of DIR and COUNTER without the name. */
#define WEFT_CLAIM_LEN		16
#define WEFT_PEER_LEN		8
#define WEFT_LOST_LEN		24
#define WEFT_DIR_LEN		9
#define WEFT_COUNTER_LEN	9

/**
 * struct weft_call - one call or reply
 * @op: enum weft_call_op
 * @err: REPLY: 0 or a positive Linux errno.  To a JOIN, without a tag: ENOKEY if only one side has
 *	a key, EKEYREJECTED if the keys differ
 * @node: member that joins or leaves
 * @valid: WEFT_SET_*, WEFT_CREATE_*, WEFT_OPEN_*, WEFT_JOIN_*, WEFT_RENEW_* of that operation;
 *	REPLY to JOIN and PEERS: bits of members that are dead
 * @region: id, 1..WEFT_REGION_MAX; REPLY to STATFS: a number of regions
 * @mode: permission bits
 * @uid: owner
 * @gid: group
 * @block: bytes of a block
 * @members: bits of nodes
 * @addr: IPv4 address in host byte order
 * @life: number of a life, which differs after each restart: of the node; RENEW, CLAIM: of the
 *	directory; MOVE, REHOME, CLAIM of a region: of this move; TWIN: the view, which grows each
 *	time that the blade's twin takes over
 * @size: bytes of the region
 * @used: bytes in use; REPLY to RENEW with err EINPROGRESS: the node's progress, a number that
 *	only grows; REPLY to JOIN and PEERS: the lease, milliseconds, 0 for none
 * @mtime: nanoseconds since 1970
 * @cookie: position in a list; 0 at the start, and at the end
 * @policy: of the region, with the number of the change
 * @nodes: bits of nodes that may use the region, 0: all; MEMBERS: nodes that the switch must not
 *	know yet
 * @homes: of the region: bits of blades, bit 0 is blade 33; see weft_line_blade()
 * @name_len: bytes of @name, without the 0 that unpacking adds
 * @name: no '/', not "." or ".."
 * @list_len: bytes of @list
 * @list: big-endian entries of one of these kinds:
 *	peers: u8 id, u8 WEFT_PEER_*, u16 view (its last 16 bits; 0 without a twin), u32 addr;
 *	names: u32 region, u32 mode, u8 name_len, name;
 *	counters: u64 value, u8 name_len, name;
 *	blocks: u32 region, u32 bytes of a block, u64 first, u64 number;
 *	locks: u64 line, u32 epoch, u8 permission, three u8 0
 */
struct weft_call {
	u16 op;
	u16 err;
	u32 node;
	u32 valid;
	u32 region;
	u32 mode;
	u32 uid;
	u32 gid;
	u32 block;
	u32 members;
	u32 addr;
	u32 life;
	u64 size;
	u64 used;
	u64 mtime;
	u64 cookie;
	u32 policy;
	u32 nodes;
	u32 homes;
	u16 name_len;
	u16 list_len;
	char name[WEFT_NAME_MAX + 1];
	u8 list[WEFT_CALL_LIST_MAX];
};

#define WEFT_CALL_FIXED_LEN	92
#define WEFT_CALL_LEN_MAX	(WEFT_CALL_FIXED_LEN + WEFT_NAME_MAX + WEFT_CALL_LIST_MAX)

/*
 * Write a call, whose lengths are within their limits, as payload of WEFT_CALL_LEN_MAX bytes at
 * most.  Return: bytes written.
 */
u32 weft_call_pack(const struct weft_call *call, void *buf);

/*
 * Check and read a payload.  Return: 0, or -EBADMSG: lengths that do not fit, an unknown
 * operation, a name with '/' or 0 in it.
 */
int weft_call_unpack(struct weft_call *call, const void *buf, u32 len);

/**
 * weft_call_read() - unpack what a blade tells a node, CALL or REPLY, and check all of it
 * @msg: the message; the payload is in one piece
 *
 * Afterwards each field is within its bounds, fields that the operation needs are there, and each
 * entry of the list makes sense.  Of a REPLY with an error @err, @addr, @members, @nodes count.
 *
 * Return: 0, or -EBADMSG: that is not so, no node is told such a thing, or only the first blade
 * may say it.
 */
int weft_call_read(struct weft_call *call, const struct weft_msg *msg);

/* Do all bits of @policy have a meaning? */
static inline bool weft_policy_valid(u32 policy)
{
	return !(policy & (WEFT_POLICY_CHANGE - 1) & ~(u32)WEFT_POLICY_ALL) &&
	       (policy & WEFT_POLICY_DURABILITY) <= WEFT_POLICY_MIRROR;
}

/* Is @policy of a later change than @known? */
static inline bool weft_policy_newer(u32 policy, u32 known)
{
	u32 ahead = ((policy >> WEFT_POLICY_CHANGE_SHIFT) -
		     (known >> WEFT_POLICY_CHANGE_SHIFT)) & 0xFFFF;

	return ahead && ahead < 0x8000;
}

/* @known with the policies that the WEFT_SET_* bits of @valid name taken from @policy. */
static inline u32 weft_policy_change(u32 known, u32 policy, u32 valid)
{
	u32 mask = (valid & WEFT_SET_DURABILITY ? WEFT_POLICY_DURABILITY : 0) |
		   (valid & WEFT_SET_DEATH ? WEFT_POLICY_BLOCK : 0) |
		   (valid & WEFT_SET_LOSS ? WEFT_POLICY_SIGBUS : 0);

	return ((known & ~mask) | (policy & mask)) + WEFT_POLICY_CHANGE;
}

#endif /* WEFT_CORE_CALL_H */
