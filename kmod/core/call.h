/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls: what a node asks the catalog of regions and members at the first
 * memory blade (id 33), and what that blade tells the other blades.
 *
 * A CALL message carries one struct weft_call; the REPLY carries one, too, and
 * repeats txn, and nonce, which the caller chooses at random.  The caller repeats a CALL
 * until the REPLY comes; the blade keeps the reply to the last calls of each member and
 * repeats it for a repeated txn, so that every call takes effect once.  Calls of one
 * member are numbered by the same sequence as its transactions.
 */
#ifndef WEFT_CORE_CALL_H
#define WEFT_CORE_CALL_H

#include "wire.h"
#include "weft.h"

#define WEFT_NAME_MAX		255
#define WEFT_CALL_LIST_MAX	1024	/* bytes of a list, so that a reply fits MTU 1500 */
#define WEFT_REGION_SIZE_MAX	(1ull << 48)	/* 36 bits of index, 4 KiB blocks */

/* Operations.  Which fields each uses: in > what the reply fills in. */
enum weft_call_op {
	WEFT_CALL_JOIN = 1,	/* node, life, addr, valid: WEFT_JOIN_* > members, list of peers,
				   used: lease, valid: dead nodes */
	WEFT_CALL_LEAVE,	/* node, life */
	WEFT_CALL_PEERS,	/* > members, list of peers, used: lease, valid: dead nodes */
	WEFT_CALL_LOOKUP,	/* name > region and attributes */
	WEFT_CALL_CREATE,	/* name, valid, mode, uid, gid, block > valid, region, attributes */
	WEFT_CALL_GETATTR,	/* region > attributes */
	WEFT_CALL_SETATTR,	/* region, valid, attributes > attributes */
	WEFT_CALL_UNLINK,	/* name, region that it must mean (0: any) > region */
	WEFT_CALL_OPEN,		/* region, valid: WEFT_OPEN_*, mode, uid, gid: this node has it open
				   (counts once a node) > attributes */
	WEFT_CALL_CLOSE,	/* region: last close on this node; all its copies are gone */
	WEFT_CALL_READDIR,	/* cookie > list of names, cookie, size: last region there is */
	WEFT_CALL_STATFS,	/* > size: bytes in all, used: bytes in use, cookie: regions,
				   region: how many more there may be */
	WEFT_CALL_STATS,	/* > list of named counters of the blade (weftctl) */
	WEFT_CALL_REGION,	/* blade 33 to another blade: attributes of a region, members:
				   nodes that have it open */
	WEFT_CALL_FORGET,	/* blade 33 to another blade: a region is gone */
	WEFT_CALL_MEMBERS,	/* blade 33 to another blade: members, nodes: those of them that the
				   switch is not to know yet */
	WEFT_CALL_RECALLED,	/* blade to node: copies beyond size must go (truncate) */
	WEFT_CALL_RENEW,	/* blade to node: life, valid: WEFT_RENEW_LATE; give all lines back */
	WEFT_CALL_CLAIM,	/* node to blade: life, region (0: all), list of locks that programs
				   hold */
	WEFT_CALL_CHANGED,	/* blade to node: region and attributes, whose policy has changed;
				   nodes without this one: give all back > EBUSY: in use */
	WEFT_CALL_FENCE,	/* blade 33 to all: members: dead nodes, life, cookie: number */
	WEFT_CALL_FENCE_NODE,	/* members: one node, which is to be taken for dead */
	WEFT_CALL_LOST,		/* region (0: all), cookie, valid: WEFT_LOST_* > list of blocks
				   that are lost, cookie; used: how many are accepted */
	WEFT_CALL_SYNC,		/* node to blade: what is at home there is to be on its disk */
	WEFT_CALL_TWIN,		/* blade to all: node: its id, addr: where it is now, life: view */
	WEFT_CALL_REHOME,	/* blade 33 to another blade: region, homes, life, valid: WEFT_REHOME_*:
				   do that, and say when it is done > EINPROGRESS, used */
	WEFT_CALL_MOVE,		/* blade 33 to node: region, homes, policy, life: its lines have these
				   homes from now on; give all of them back, to there, and claim
				   locks > EINPROGRESS, used: as RENEW */
	WEFT_CALL_SPREAD,	/* region (0: all), homes (0: all blades that are in use): its lines
				   are to move there; answered when that is noted */
	WEFT_CALL_BLADE,	/* node: a blade, valid: WEFT_BLADE_*, addr > list of blades */
	WEFT_CALL_MAX
};

/*
 * CREATE.  Who creates a region is not asked for permission to use it, so that the
 * caller has to know whether it did.
 */
#define WEFT_CREATE_EXCL	0x01	/* EEXIST if the name is there */
#define WEFT_CREATE_NEW		0x02	/* REPLY: it was not */
#define WEFT_CREATE_UNLIMITED	0x04	/* who creates it has CAP_SYS_RESOURCE: no quota */

/* SETATTR: which attributes to set. */
#define WEFT_SET_SIZE		0x01
#define WEFT_SET_MODE		0x02
#define WEFT_SET_OWNER		0x04
#define WEFT_SET_MTIME		0x08
#define WEFT_SET_GROW		0x10	/* with SIZE: at least so large; never shrinks */
#define WEFT_SET_UNLIMITED	0x20	/* with SIZE: who does it has CAP_SYS_RESOURCE: no quota */
/* ... or which policies, and nothing else */
#define WEFT_SET_DURABILITY	0x1000
#define WEFT_SET_DEATH		0x2000
#define WEFT_SET_LOSS		0x4000
#define WEFT_SET_POLICY		(WEFT_SET_DURABILITY | WEFT_SET_DEATH | WEFT_SET_LOSS)
/* ... or which nodes may use it, and nothing else; REPLY, err EBUSY: members still do */
#define WEFT_SET_NODES		0x8000

/*
 * OPEN: by which of its rights a program of the node is let in, as the node's kernel has found,
 * which alone knows all groups of a user.  mode: what for, as 3 bits rwx; uid: of the user;
 * gid, with GROUP: the group.  Who the owner is and what the mode allows, the catalog knows
 * better than the node, and refuses what does not fit (EACCES).
 */
#define WEFT_OPEN_KEEP		0	/* nobody is let in yet, or was before: only keep it */
#define WEFT_OPEN_OWNER		1
#define WEFT_OPEN_GROUP		2
#define WEFT_OPEN_OTHER		3
#define WEFT_OPEN_CAPABLE	4	/* root of the node, or who else may all: believed */
#define WEFT_OPEN_NEW		5	/* who has made it is not asked for permission */

/*
 * Policies of a region as calls and the blades' files carry them: WEFT_POLICY_* (weft.h), and
 * above them a number that each change raises, and that goes round: answers overtake each
 * other, and what is older is dropped.
 */
#define WEFT_POLICY_CHANGE_SHIFT 16
#define WEFT_POLICY_CHANGE	(1u << WEFT_POLICY_CHANGE_SHIFT)

/* JOIN of a blade: it has a file that its contents are in (--backing). */
#define WEFT_JOIN_BACKING	0x01
/* JOIN of a node: it may be told EAGAIN: not yet, and asks again, under another txn. */
#define WEFT_JOIN_ASKS_AGAIN	0x02

/* RENEW: others have not waited for this node: nothing of it counts any more. */
#define WEFT_RENEW_LATE		0x01
/* ... the blade's machine has ended: what was at home, but not on its disk, may be older */
#define WEFT_RENEW_CRASHED	0x02

/*
 * In a rack with a key, err of a REPLY: nothing was done, as the call is too old or too
 * new by the rack's clock, or older than those whose replies the blade keeps.  The
 * caller takes the time from the first blade's REPLY and calls anew, under another txn,
 * WEFT_CALL_TRIES times in a row at most.  No call has this error for another reason.
 */
#define WEFT_CALL_WRONG_TIME	ETIME
#define WEFT_CALL_TRIES		3

/* LOST: what is lost of the region is well as it is. */
#define WEFT_LOST_ACCEPT	0x01

/* Kinds of addresses in a list of peers. */
#define WEFT_PEER_MEMBER	0	/* where it is */
#define WEFT_PEER_TWIN		1	/* of a blade: where its twin is, which stands by */

/* REHOME: how far a region is on its way to other homes; see docs/protocol.md, "Homes that move". */
#define WEFT_REHOME_COPY	1	/* homes-to-be take contents of other blades, which send them */
#define WEFT_REHOME_FREEZE	2	/* nobody is served; what was written since is sent */
#define WEFT_REHOME_SYNC	3	/* homes-to-be: it is on the disk */
#define WEFT_REHOME_ADOPT	4	/* these are the homes; nodes give back and claim */
#define WEFT_REHOME_THAW	5	/* nodes are served; who is no home any more forgets the contents */

/* REGION, and the REPLY to GETATTR: nobody is served, as after WEFT_REHOME_FREEZE. */
#define WEFT_REGION_FROZEN	0x01

/* BLADE: what is to become of it; 0: only say which there are. */
#define WEFT_BLADE_ADD		1	/* addr: it may join; regions made from then on use it */
#define WEFT_BLADE_DRAIN	2	/* all that it has moves to others, and nothing new comes */
#define WEFT_BLADE_USE		3	/* regions use it again */
/* ... and the list: u8 id, u8 of these bits, u16 0, u32 addr, u64 bytes, u64 bytes that regions
   may come to need there, u32 regions that have lines there, u32 0 each */
#define WEFT_BLADE_IN		0x01	/* it has joined */
#define WEFT_BLADE_DRAINS	0x02	/* no region uses it, or the last ones are leaving it */
#define WEFT_BLADE_LEN		32

#define WEFT_CLAIM_LEN		16	/* bytes of a lock in the list of a CLAIM */
/* Bytes of an entry of the other lists, of the last two without the name. */
#define WEFT_PEER_LEN		8
#define WEFT_LOST_LEN		24
#define WEFT_DIR_LEN		9
#define WEFT_COUNTER_LEN	9

/**
 * struct weft_call - one call or reply
 * @op: enum weft_call_op
 * @err: REPLY: 0 or a positive Linux errno; to a JOIN, and without a tag, ENOKEY if only
 *	one of both sides has a key, EKEYREJECTED if they have different ones
 * @node: member that joins or leaves
 * @valid: WEFT_SET_*; CREATE: WEFT_CREATE_*; OPEN: WEFT_OPEN_*; JOIN: WEFT_JOIN_*; RENEW:
 *	WEFT_RENEW_*; REPLY to JOIN and PEERS: those of the members that are dead
 * @region: id, 1..WEFT_REGION_MAX; REPLY to STATFS: a number of regions
 * @mode: permission bits
 * @uid: owner
 * @gid: group
 * @block: bytes of a block
 * @members: bits of the nodes
 * @addr: IPv4 address in host byte order
 * @life: number of the node's life, differs after each restart; RENEW, CLAIM: of
 *	the directory's; MOVE, REHOME, CLAIM of a region: of this move; TWIN: number of the view,
 *	which grows each time that a blade's twin takes over
 * @size: bytes of the region
 * @used: bytes in use; REPLY to RENEW with err EINPROGRESS: how much the node has
 *	done so far, a number that only grows; to JOIN and PEERS: milliseconds without
 *	a sign of a node after which it is taken for dead, 0: never
 * @mtime: nanoseconds since 1970
 * @cookie: position in a list; 0 at the start, and at the end
 * @policy: of the region, see above
 * @nodes: bits of those that may use the region, 0: all; MEMBERS: those that the switch is not
 *	to know yet
 * @homes: of the region: bits of the blades that are homes of its lines, bit 0 is blade 33;
 *	see weft_line_blade()
 * @name_len: bytes of @name, without the 0 that unpacking adds
 * @name: no '/', not "." or ".."
 * @list_len: bytes of @list
 * @list: peers (u8 id, u8 kind, u16 view, u32 addr each, blades too; kind is WEFT_PEER_*, view
 *	the last 16 bits of that of a blade that has a twin, else 0) or directory entries (u32 region,
 *	u32 mode, u8 name_len, name each) or counters (u64 value, u8 name_len, name each) or
 *	blocks (u32 region, u32 bytes of a block, u64 first, u64 how many each) or locks
 *	(u64 line, u32 epoch, u8 permission, three times u8 0 each); big-endian
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

/**
 * weft_call_pack() - write a call as payload
 * @call: the call; lengths within their limits
 * @buf: WEFT_CALL_LEN_MAX bytes
 *
 * Return: bytes written.
 */
u32 weft_call_pack(const struct weft_call *call, void *buf);

/**
 * weft_call_unpack() - check and read a payload
 *
 * Return: 0, or -EBADMSG: lengths that do not fit, an unknown operation, a name
 * with '/' or 0 in it.
 */
int weft_call_unpack(struct weft_call *call, const void *buf, u32 len);

/**
 * weft_call_read() - what a node is told by a CALL or a REPLY of a blade
 * @msg: it; the payload is in one piece
 *
 * Whoever takes something out of @call relies on this: each field is within its bounds,
 * those that the operation cannot do without are there, each entry of its list makes
 * sense.  Of a REPLY with an error @err, @addr, @members, @nodes count.
 *
 * Return: 0, or -EBADMSG: that is not so, it is nothing that a node is told, or by another
 * blade than the first one, which alone does.
 */
int weft_call_read(struct weft_call *call, const struct weft_msg *msg);

/* Are these policies that there are? */
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

/* @known after those of @policy that the WEFT_SET_* of @valid name have changed. */
static inline u32 weft_policy_change(u32 known, u32 policy, u32 valid)
{
	u32 mask = (valid & WEFT_SET_DURABILITY ? WEFT_POLICY_DURABILITY : 0) |
		   (valid & WEFT_SET_DEATH ? WEFT_POLICY_BLOCK : 0) |
		   (valid & WEFT_SET_LOSS ? WEFT_POLICY_SIGBUS : 0);

	return ((known & ~mask) | (policy & mask)) + WEFT_POLICY_CHANGE;
}

#endif /* WEFT_CORE_CALL_H */
