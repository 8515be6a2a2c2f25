/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Set-up and statistics of a weft node: generic netlink family "weft".
 *
 * A machine may be a node of WEFT_RACKS_MAX racks.  In each rack it has a number, an interface, a
 * cache and counters of its own.  All requests but RACK_GET take RACK, the number of the rack;
 * without it they mean the only rack of this machine.
 *
 * The family exists once the module is loaded, in the first network namespace
 * only.  A command has a type of object, and the attributes of that type:
 *
 * object	attributes		commands config	WEFT_A_CONFIG_*		CONFIG_SET,
 * CONFIG_CLEAR, CONFIG_GET, RACK_GET, TUNE status	WEFT_A_STATUS_*		STATUS_GET
 * counter	WEFT_A_COUNTER_*	STATS_GET, BLADE_STATS_GET, SWITCH_STATS_GET
 * peer		WEFT_A_PEER_*		PEER_GET, NODE_FENCE
 * region	WEFT_A_REGION_*		REGION_GET, REGION_SPREAD
 * line		WEFT_A_LINE_*		LINE_GET lost		WEFT_A_LOST_*		LOST_GET
 * blade	WEFT_A_BLADE_*		BLADE_GET, BLADE_SET
 * lock		WEFT_A_LOCK_*		LOCK_GET hist		WEFT_A_HIST_*		HIST_GET
 * bucket	WEFT_A_BUCKET_*		in a hist event	WEFT_A_EVENT_*		EVENT
 *
 * Reading needs no privilege; CONFIG_SET, CONFIG_CLEAR, TUNE, NODE_FENCE, BLADE_SET and
 * REGION_SPREAD need CAP_NET_ADMIN in the first user namespace.  Requests are checked strictly:
 * an attribute that the command does not know, or that has the wrong size or is out of range, is
 * an error, and nothing is changed.  Of a repeated attribute the last one counts; HOME and TWIN
 * are lists.  Numbers are in host byte order, IPv4 addresses in network byte order, strings end
 * in a 0.
 *
 * An error is answered by an errno and, if the socket asks for it with NETLINK_EXT_ACK, by a
 * sentence that explains it and by the place of the attribute, or the type of a missing one.
 * Errors of all commands:
 *
 *   EPERM	changing needs CAP_NET_ADMIN
 *   EINVAL	an attribute is unknown or malformed, or a needed one is missing,
 *		or two of them contradict each other
 *   ERANGE	the value of an attribute is not among those given below
 *   EOPNOTSUPP	there is no such command; a dump where a single answer is given,
 *		or the other way round
 *   ENOTCONN	the node is not set up (all but CONFIG_SET, STATS_GET, HIST_GET, RACK_GET); this
 *		machine is not in the rack that RACK names (all but CONFIG_SET)
 *   ENOTUNIQ	RACK is missing, and this machine is in several racks (all but CONFIG_SET)
 *   ENOMEM	no memory for the answer
 *
 * Commands that a blade answers (BLADE_*, NODE_FENCE, LOST_GET, REGION_SPREAD) also have:
 *
 *   ENONET	this node has not joined its rack (all but BLADE_STATS_GET)
 *   ETIMEDOUT	the blade has not answered for 5 s, or TIMEOUT_MS if that is less
 *   EPROTO	the blade's answer makes no sense
 *   EINTR	killed while the answer was awaited
 *
 *
 * CONFIG_SET: make this machine a node of a rack (do)
 *
 *   ID		needed, 1..32, no other node of the rack has it
 *   IFINDEX	the interface towards the rack, or
 *   IFNAME	its name; exactly one of the two
 *   HOME	needed, 1..16 times: the addresses of the memory blades in the
 *		order of their ids, the first is that of blade 33
 *   TWIN	the addresses of their twins, which take over if their machines die, in the
 *		same order; 0.0.0.0: none, as for blades behind the last TWIN
 *   RACK	number of the rack, 0 unless given; nodes, blades and the switch
 *		of a rack agree on it and drop messages of other racks.  With a number that
 *		this machine is not in yet it becomes a node of one more rack
 *   JOINS	number of the rack in messages, RACK unless given: a machine can so be
 *		a node of one rack several times, under different numbers of its own
 *   ADDRESS	the node's own, the interface's first unless given
 *   MTU	longest datagram, the interface's unless given
 *   TIMEOUT_MS, HOLD_US  see TUNE
 *   KEY	the key of the rack; no key unless given.  It cannot be read back: to compare
 *		two machines, compare FINGERPRINT
 *
 * Nothing is sent before the first mount.  Errors:
 *
 *   EBUSY	it is a node of this rack already: CONFIG_CLEAR first
 *   ENOSPC	it is in WEFT_RACKS_MAX other racks
 *   ENODEV	there is no such interface
 *   ENETDOWN	the interface is down
 *   EADDRNOTAVAIL the interface has no IPv4 address, or not this one
 *   EADDRINUSE	another program has the UDP port, or another rack the interface: each rack
 *		needs an interface of its own
 *   EINVAL	also: the MTU is greater than the interface's, or that is too small
 *
 *
 * CONFIG_CLEAR: the node leaves its rack (do)
 *
 *   RACK	which
 *
 *   EBUSY	file systems of type weft are still mounted
 *
 *
 * CONFIG_GET: how the node is set up (do)
 *
 *   RACK	in which rack
 *
 * The answer has all attributes of the object but KEY: HOME once for each blade; TWIN once for
 * each blade up to the last one that has a twin.  They are as they were set; PEER_GET says where
 * a blade is now.
 *
 *
 * RACK_GET: the racks that this machine is in (dump, no attributes)
 *
 * One message a rack, by their numbers, with the attributes that CONFIG_GET answers; none
 * if the node is not set up.
 *
 *
 * TUNE: change how a node behaves while it runs (do)
 *
 *   TIMEOUT_MS	how long a program waits for the network before its access fails
 *   HOLD_US	how long a block stays at a node after a program got it, before it is
 *		revoked, so that two writers do not starve each other
 *   RACK	in which rack
 *
 * At least one of the first two.
 *
 *
 * STATUS_GET: what the node is doing (do)
 *
 *   RACK	in which rack
 *
 * The answer has all attributes of the object; FINGERPRINT only if the rack has a key, the three
 * of REFUSED only if a message was refused since the node is up.
 *
 *
 * STATS_GET: counters of this node (dump)
 *
 *   RACK	in which rack
 *
 * One message a counter: NAME and VALUE.  All are read at one time.  They start at 0 when the
 * module is loaded, or when another rack than the last one is set up, and never decrease; the node
 * need not be set up.  Later versions may have more; a name keeps its meaning.
 *
 *
 * BLADE_STATS_GET: counters of a memory blade (dump)
 *
 *   MEMBER	id of the blade, 33 unless given
 *   RACK	of which rack
 *
 * The first message has MEMBER only.  Then the blade is asked over the network, while the next
 * message is received; from there on one message a counter: MEMBER, NAME, VALUE.  Errors:
 *
 *   ENOENT	the rack has no such blade
 *
 *
 * SWITCH_STATS_GET: counters of the directory in the switch (dump)
 *
 *   RACK	of which rack
 *
 * The first message has no attributes.  Then the switch is asked, as above; from
 * there on one message a counter: NAME and VALUE.  They are 32 bits wide, start at
 * 0 when the switch starts, and wrap.  Errors:
 *
 *   ENXIO	no directory in a switch answers
 *   EINTR	killed while it was awaited
 *
 *
 * PEER_GET: members of the rack that this node knows (dump)
 *
 *   RACK	of which rack
 *
 * One message a member: ID and ADDRESS, the flags that hold for it, WHY_UDP; TWIN and VIEW of
 * a memory blade that has a twin, VIEW if the node has heard of one.
 *
 *
 * NODE_FENCE: declare a node dead (dump)
 *
 *   ID		needed, 1..32, which
 *   RACK	of which rack
 *
 * The only message has ID.  Then the first blade is asked over the network, while the next
 * message is received: the list ends without an error when that blade has stopped listening to
 * the node.  It tells all others after that.  Errors:
 *
 *   ENOENT	the rack has no such node
 *   EDEADLK	it is this node
 *
 *
 * LOST_GET: blocks whose last modifications died with their owner (dump)
 *
 *   MEMBER	id of the blade that has their former contents, 33 unless given
 *   REGION	of this region only, by its ID
 *   RACK	of which rack
 *
 * The first message has MEMBER only.  Then the blade is asked, as above; from there on one
 * message for each run of blocks: MEMBER, REGION, BLOCK, OFFSET and LENGTH.  Errors:
 *
 *   ENODEV	the rack has no such blade
 *   ENOENT	the blade knows no such region
 *
 *
 * BLADE_GET: the memory blades of the rack (dump)
 *
 *   RACK	of which rack
 *
 * The first message has no attributes.  Then the first blade is asked, as above; from there on
 * one message a blade: MEMBER, ADDRESS, BYTES, NEEDED, REGIONS, and the flags that hold.
 *
 *
 * BLADE_SET: add, drain or use a memory blade (dump)
 *
 *   MEMBER	needed, which
 *   ACTION	needed, enum weft_blade_action
 *   ADDRESS	where it is; needed to add it
 *   RACK	of which rack
 *
 * The only message has MEMBER.  Then the first blade is asked, as above: the list ends without an
 * error when it has noted the action.  The blade's lines move after that.  Errors of
 * the first blade, with a sentence that begins with "the first blade":
 *
 *   ENXIO	the rack has no such blade
 *   EEXIST	it has one already, at another address
 *   EADDRINUSE	another member is at this address
 *   EINVAL	a blade to add does not have the next number; a blade to drain is the last one that
 *		is used, or the first one, which has the catalog
 *   EIO	the first blade cannot write its file
 *
 *
 * REGION_SPREAD: move regions to other homes (dump)
 *
 *   ID		of which region; all unless given
 *   HOMES	bits of the blades; those that are in use unless given
 *   RACK	of which rack
 *
 * The only message has ID, or 0.  Then the first blade is asked, as above.  The lines move after
 * that.  Errors of the first blade, with the same sentence:
 *
 *   ENOENT	there is no such region
 *   EBUSY	the region is moving just now
 *   ENOSPC	there is no room on these blades
 *   EHOSTDOWN	one of these blades, or of the present homes, does not answer
 *   EINVAL	one of these is no blade, or is drained
 *   EIO	the first blade cannot write its file
 *
 *
 * HIST_GET: how long things take at this node (dump)
 *
 *   RACK	in which rack
 *
 * One message a histogram: NAME, NSEC, and its BUCKETs, the shortest times first.  A bucket ends
 * BELOW a power of 2 and begins at half of it; empty buckets are left out, and the last one has
 * no BELOW.  They start, and are read, as counters; kmod/base/stats.h says what each name means.
 *
 *
 * REGION_GET: regions that this node knows (dump)
 *
 *   RACK	of which rack
 *
 * One message a region: ID, SIZE, BLOCK, LINES, LOCKS, POLICY, NODES, HOMES; NAME while it is in
 * the directory; GONE if it was deleted.  The node knows the regions that were looked up since the
 * mount.  A user has to be able to list the directory to see those with a NAME, and to read the
 * file to see the others.
 *
 *
 * LINE_GET: blocks in the cache of this node (dump)
 *
 *   REGION	of this region only, by its ID
 *   RACK	of which rack
 *
 * One message a block: REGION, INDEX, STATE, OP, WAITERS, MISSES, REVOCATIONS,
 * and the flags that hold.  The counts begin when the block comes into the cache.  Without REGION
 * the list leaves out regions whose file the user may not read.  Errors:
 *
 *   ENOENT	the node knows no such region, or the user may not read its file
 *
 *
 * LOCK_GET: locks that this node has, or asks for (dump)
 *
 *   REGION	of this region only, by its ID
 *   RACK	of which rack
 *
 * One message a lock: REGION, OFFSET, STATE, WANT, READERS, WAITERS, QUEUE, GRANTS,
 * HAND_OVERS, and the flags that hold.  The counts end when no program has the lock open and the
 * node gives it back.  Errors: as LINE_GET.
 *
 * Each message of these three lists is a snapshot of its object; the list as a whole is none.
 *
 *
 * EVENT: something has happened (sent to the group "events", not a request)
 *
 * Each socket in the group gets a message for each event: KIND, TIME, RACK, and the attributes of
 * the kind.  Joining the group needs CAP_NET_ADMIN, as events name processes of all users.  At
 * most 20 events a second are sent of each kind and rack; the next one then has MISSED.  ENOBUFS
 * tells a socket whose buffer was full that it has missed some.
 *
 *   NODE_JOINED	MEMBER: a node, or this one, has become a member of the rack
 *   NODE_LEFT		MEMBER: it is no member any more
 *   MEMBER_SILENT	MEMBER: the first memory blade misses heartbeats
 *   MEMBER_HEARD	MEMBER: it answers again
 *   REGION_CREATED	REGION, NAME, PID, COMM: by a program of this node
 *   REGION_REMOVED	REGION, NAME: unlinked; PID, COMM if by a program of this node
 *   LOCK_ABANDONED	REGION, OFFSET, COUNT: a file was closed, or its process died, while it
 *			held this lock COUNT times.  PID, COMM unless it was found out later
 *   BLOCKS_LOST	REGION, COUNT: modified blocks that could not be written home
 *   ACCESS_FAILED	REGION, OFFSET, ERRNO, PID, COMM: a program was sent SIGBUS for
 *			this byte, or has no memory for it
 *   UNANSWERED		REGION, OFFSET, COUNT: a request for the block that begins there
 *			has no answer and is repeated for the COUNTth time: the block's
 *			owner, or its directory, may be gone
 *   BLADE_MOVED	MEMBER, ADDRESS: the twin of this memory blade has taken over, and is
 *			at this address
 *   NODE_DEAD		MEMBER: the first memory blade has declared this node dead; NODE_LEFT
 *			follows when all members have heard it
 *   DIRECTORY		COUNT misses were answered by the switch, with SWITCH, or by homes;
 *			sent when that changes, and once for the first listener
 *   LOCK_OWNER_DIED	REGION, OFFSET: this node got a lock whose owner, a node or a process of
 *			another node, died with it, and no program has mended it since
 */
#ifndef _UAPI_WEFT_NETLINK_H
#define _UAPI_WEFT_NETLINK_H

#define WEFT_GENL_NAME		"weft"
#define WEFT_GENL_VERSION	1

#define WEFT_GENL_GROUP_EVENTS	"events"

#define WEFT_HOMES_MAX		16

#define WEFT_RACKS_MAX		8	/* racks that a machine can be a node of at a time */

/* Limits and defaults. */
#define WEFT_TIMEOUT_MS_MIN	100
#define WEFT_TIMEOUT_MS_MAX	3600000
#define WEFT_TIMEOUT_MS_DEFAULT	30000
#define WEFT_HOLD_US_MAX	10000
#define WEFT_HOLD_US_DEFAULT	100
#define WEFT_MTU_MIN		1500	/* a call of the catalog has to fit */
#define WEFT_MTU_MAX		9000	/* no member has room for more */

#define WEFT_KEY_BYTES		32

/* Commands, see above; EVENT comes from the kernel only. */
enum weft_cmd {
	WEFT_CMD_CONFIG_SET = 1,
	WEFT_CMD_CONFIG_CLEAR,
	WEFT_CMD_CONFIG_GET,
	WEFT_CMD_TUNE,
	WEFT_CMD_STATUS_GET,
	WEFT_CMD_STATS_GET,
	WEFT_CMD_BLADE_STATS_GET,
	WEFT_CMD_SWITCH_STATS_GET,
	WEFT_CMD_PEER_GET,
	WEFT_CMD_HIST_GET,
	WEFT_CMD_REGION_GET,
	WEFT_CMD_LINE_GET,
	WEFT_CMD_LOCK_GET,
	WEFT_CMD_EVENT,
	WEFT_CMD_RACK_GET,
	WEFT_CMD_NODE_FENCE,
	WEFT_CMD_LOST_GET,
	WEFT_CMD_BLADE_GET,
	WEFT_CMD_BLADE_SET,
	WEFT_CMD_REGION_SPREAD,

	__WEFT_CMD_MAX,
	WEFT_CMD_MAX = __WEFT_CMD_MAX - 1
};

/**
 * enum weft_a_config - attributes of a configuration
 * @WEFT_A_CONFIG_ID: u32, id of the node, 1..32
 * @WEFT_A_CONFIG_RACK: u32
 * @WEFT_A_CONFIG_IFINDEX: u32
 * @WEFT_A_CONFIG_IFNAME: string
 * @WEFT_A_CONFIG_HOME: IPv4 address of a memory blade; repeated
 * @WEFT_A_CONFIG_TIMEOUT_MS: u32, WEFT_TIMEOUT_MS_MIN..MAX
 * @WEFT_A_CONFIG_HOLD_US: u32, 0..WEFT_HOLD_US_MAX
 * @WEFT_A_CONFIG_ADDRESS: the node's own IPv4 address
 * @WEFT_A_CONFIG_MTU: u32, WEFT_MTU_MIN..MAX
 * @WEFT_A_CONFIG_WIRE_VERSION: u32, of the messages; in the answer only
 * @WEFT_A_CONFIG_KEY: WEFT_KEY_BYTES bytes; in no answer
 * @WEFT_A_CONFIG_JOINS: u32
 * @WEFT_A_CONFIG_TWIN: IPv4 address of the twin of a memory blade, in the order of HOME,
 *	0.0.0.0: it has none; repeated
 */
enum weft_a_config {
	WEFT_A_CONFIG_ID = 1,
	WEFT_A_CONFIG_RACK,
	WEFT_A_CONFIG_IFINDEX,
	WEFT_A_CONFIG_IFNAME,
	WEFT_A_CONFIG_HOME,
	WEFT_A_CONFIG_TIMEOUT_MS,
	WEFT_A_CONFIG_HOLD_US,
	WEFT_A_CONFIG_ADDRESS,
	WEFT_A_CONFIG_MTU,
	WEFT_A_CONFIG_WIRE_VERSION,
	WEFT_A_CONFIG_KEY,
	WEFT_A_CONFIG_JOINS,
	WEFT_A_CONFIG_TWIN,

	__WEFT_A_CONFIG_MAX,
	WEFT_A_CONFIG_MAX = __WEFT_A_CONFIG_MAX - 1
};

/**
 * enum weft_a_status - attributes of what a node is doing
 * @WEFT_A_STATUS_JOINED: flag, it is a member of the rack now
 * @WEFT_A_STATUS_LIFE: u32, number of its life, which differs after each restart
 * @WEFT_A_STATUS_ANSWERED_MS: u32, milliseconds since the first memory blade
 *	last answered; counts while JOINED
 * @WEFT_A_STATUS_MEMBERS: u32, the nodes of the rack, bit id - 1
 * @WEFT_A_STATUS_REGIONS: u64, regions that the node knows
 * @WEFT_A_STATUS_LINES: u64, blocks in its cache
 * @WEFT_A_STATUS_CACHE_BYTES: u64, bytes that they take
 * @WEFT_A_STATUS_CACHE_MAX: u64, bytes that they may take
 * @WEFT_A_STATUS_PAD: no meaning
 * @WEFT_A_STATUS_FINGERPRINT: u32, of the key, to compare the keys of two machines
 * @WEFT_A_STATUS_REFUSED: string, counter of the last message that was refused because its sender
 *	had not the rack's key, or not the address of the member that it named
 * @WEFT_A_STATUS_REFUSED_FROM: IPv4 address, where it came from
 * @WEFT_A_STATUS_REFUSED_MS: u64, how many milliseconds ago
 * @WEFT_A_STATUS_RACK: u32, number of the rack
 * @WEFT_A_STATUS_LEASE_MS: u32, milliseconds of silence after which the first memory blade
 *	declares a node dead, 0: never; counts while JOINED
 */
enum weft_a_status {
	WEFT_A_STATUS_JOINED = 1,
	WEFT_A_STATUS_LIFE,
	WEFT_A_STATUS_ANSWERED_MS,
	WEFT_A_STATUS_MEMBERS,
	WEFT_A_STATUS_REGIONS,
	WEFT_A_STATUS_LINES,
	WEFT_A_STATUS_CACHE_BYTES,
	WEFT_A_STATUS_CACHE_MAX,
	WEFT_A_STATUS_PAD,
	WEFT_A_STATUS_FINGERPRINT,
	WEFT_A_STATUS_REFUSED,
	WEFT_A_STATUS_REFUSED_FROM,
	WEFT_A_STATUS_REFUSED_MS,
	WEFT_A_STATUS_RACK,
	WEFT_A_STATUS_LEASE_MS,

	__WEFT_A_STATUS_MAX,
	WEFT_A_STATUS_MAX = __WEFT_A_STATUS_MAX - 1
};

/**
 * enum weft_a_counter - attributes of a counter
 * @WEFT_A_COUNTER_MEMBER: u32, whose counter it is
 * @WEFT_A_COUNTER_NAME: string
 * @WEFT_A_COUNTER_VALUE: u64
 * @WEFT_A_COUNTER_PAD: no meaning
 * @WEFT_A_COUNTER_RACK: u32, number of the rack; in the request only
 */
enum weft_a_counter {
	WEFT_A_COUNTER_MEMBER = 1,
	WEFT_A_COUNTER_NAME,
	WEFT_A_COUNTER_VALUE,
	WEFT_A_COUNTER_PAD,
	WEFT_A_COUNTER_RACK,

	__WEFT_A_COUNTER_MAX,
	WEFT_A_COUNTER_MAX = __WEFT_A_COUNTER_MAX - 1
};

/**
 * enum weft_a_peer - attributes of a member of the rack
 * @WEFT_A_PEER_ID: u32, nodes 1..32, memory blades 33..48
 * @WEFT_A_PEER_ADDRESS: IPv4 address
 * @WEFT_A_PEER_SELF: flag, it is this node
 * @WEFT_A_PEER_JOINED: flag, a node that is a member now
 * @WEFT_A_PEER_RACK: u32, number of the rack; in the request only
 * @WEFT_A_PEER_RDMA: flag, data goes to it by RDMA
 * @WEFT_A_PEER_WHY_UDP: string, a sentence that says why data does not go to it by RDMA; only
 *	while the module for RDMA is loaded
 * @WEFT_A_PEER_TWIN: IPv4 address of the twin of a memory blade
 * @WEFT_A_PEER_VIEW: u32, number of the blade's view, which grows each time that its twin takes
 *	over
 */
enum weft_a_peer {
	WEFT_A_PEER_ID = 1,
	WEFT_A_PEER_ADDRESS,
	WEFT_A_PEER_SELF,
	WEFT_A_PEER_JOINED,
	WEFT_A_PEER_RACK,
	WEFT_A_PEER_RDMA,
	WEFT_A_PEER_WHY_UDP,
	WEFT_A_PEER_TWIN,
	WEFT_A_PEER_VIEW,

	__WEFT_A_PEER_MAX,
	WEFT_A_PEER_MAX = __WEFT_A_PEER_MAX - 1
};

/**
 * enum weft_a_hist - attributes of a histogram
 * @WEFT_A_HIST_NAME: string
 * @WEFT_A_HIST_NSEC: u64, sum of all times
 * @WEFT_A_HIST_BUCKET: nested, enum weft_a_bucket; repeated
 * @WEFT_A_HIST_PAD: no meaning
 * @WEFT_A_HIST_RACK: u32, number of the rack; in the request only
 */
enum weft_a_hist {
	WEFT_A_HIST_NAME = 1,
	WEFT_A_HIST_NSEC,
	WEFT_A_HIST_BUCKET,
	WEFT_A_HIST_PAD,
	WEFT_A_HIST_RACK,

	__WEFT_A_HIST_MAX,
	WEFT_A_HIST_MAX = __WEFT_A_HIST_MAX - 1
};

/**
 * enum weft_a_bucket - attributes of a bucket of a histogram
 * @WEFT_A_BUCKET_BELOW: u64, ns, exclusive upper limit of its times; missing for the longest
 *	times
 * @WEFT_A_BUCKET_COUNT: u64, how many
 * @WEFT_A_BUCKET_PAD: no meaning
 */
enum weft_a_bucket {
	WEFT_A_BUCKET_BELOW = 1,
	WEFT_A_BUCKET_COUNT,
	WEFT_A_BUCKET_PAD,

	__WEFT_A_BUCKET_MAX,
	WEFT_A_BUCKET_MAX = __WEFT_A_BUCKET_MAX - 1
};

/**
 * enum weft_state - what a node may do with a block, or with a lock
 * @WEFT_STATE_NONE: nothing
 * @WEFT_STATE_SHARED: read; others may, too
 * @WEFT_STATE_MODIFIED: write; nobody else has it
 */
enum weft_state {
	WEFT_STATE_NONE,
	WEFT_STATE_SHARED,
	WEFT_STATE_MODIFIED,
};

/**
 * enum weft_line_op - the request of a node for a block that is outstanding
 * @WEFT_LINE_OP_NONE: none
 * @WEFT_LINE_OP_READ: permission to read
 * @WEFT_LINE_OP_WRITE: permission to write
 * @WEFT_LINE_OP_PUT: to leave the copyset
 * @WEFT_LINE_OP_CLEAN: a write-back of the contents
 * @WEFT_LINE_OP_COMMIT: the answer to a COMMIT
 * @WEFT_LINE_OP_TAKE: to get back a block that it passed on and no node took
 */
enum weft_line_op {
	WEFT_LINE_OP_NONE,
	WEFT_LINE_OP_READ,
	WEFT_LINE_OP_WRITE,
	WEFT_LINE_OP_PUT,
	WEFT_LINE_OP_CLEAN,
	WEFT_LINE_OP_COMMIT,
	WEFT_LINE_OP_TAKE,
};

/**
 * enum weft_a_region - attributes of a region
 * @WEFT_A_REGION_ID: u32, its number, 1..16777215
 * @WEFT_A_REGION_NAME: string
 * @WEFT_A_REGION_SIZE: u64, bytes, as far as this node knows
 * @WEFT_A_REGION_BLOCK: u32, bytes of a block
 * @WEFT_A_REGION_LINES: u32, blocks in the cache
 * @WEFT_A_REGION_LOCKS: u32, locks that programs have open
 * @WEFT_A_REGION_GONE: flag, it does not exist any more
 * @WEFT_A_REGION_PAD: no meaning
 * @WEFT_A_REGION_RACK: u32, number of the rack; in the request only
 * @WEFT_A_REGION_POLICY: u32, WEFT_POLICY_* of weft.h, as far as this node knows
 * @WEFT_A_REGION_NODES: u32, bits of the nodes that may use it, 0: all; as far as this node knows
 * @WEFT_A_REGION_HOMES: u32, bits of the memory blades that are homes of its lines, bit 0 for the
 *	first blade; as far as this node knows
 */
enum weft_a_region {
	WEFT_A_REGION_ID = 1,
	WEFT_A_REGION_NAME,
	WEFT_A_REGION_SIZE,
	WEFT_A_REGION_BLOCK,
	WEFT_A_REGION_LINES,
	WEFT_A_REGION_LOCKS,
	WEFT_A_REGION_GONE,
	WEFT_A_REGION_PAD,
	WEFT_A_REGION_RACK,
	WEFT_A_REGION_POLICY,
	WEFT_A_REGION_NODES,
	WEFT_A_REGION_HOMES,

	__WEFT_A_REGION_MAX,
	WEFT_A_REGION_MAX = __WEFT_A_REGION_MAX - 1
};

/**
 * enum weft_a_line - attributes of a block
 * @WEFT_A_LINE_REGION: u32, number of the region, 1..16777215
 * @WEFT_A_LINE_INDEX: u64, number of the block in the region
 * @WEFT_A_LINE_STATE: u32, enum weft_state
 * @WEFT_A_LINE_OP: u32, enum weft_line_op
 * @WEFT_A_LINE_WAITERS: u32, threads that wait for it, or are just using it
 * @WEFT_A_LINE_MISSES: u32, times that it, or the permission to write it, was fetched
 * @WEFT_A_LINE_REVOCATIONS: u32, times that another node took it, or the permission to write it
 * @WEFT_A_LINE_DIRTY: flag, the home does not have its contents
 * @WEFT_A_LINE_REVOKING: flag, it is being revoked from the programs
 * @WEFT_A_LINE_AHEAD: flag, it was read ahead, and no program has used it yet
 * @WEFT_A_LINE_PAD: no meaning
 * @WEFT_A_LINE_RACK: u32, number of the rack; in the request only
 */
enum weft_a_line {
	WEFT_A_LINE_REGION = 1,
	WEFT_A_LINE_INDEX,
	WEFT_A_LINE_STATE,
	WEFT_A_LINE_OP,
	WEFT_A_LINE_WAITERS,
	WEFT_A_LINE_MISSES,
	WEFT_A_LINE_REVOCATIONS,
	WEFT_A_LINE_DIRTY,
	WEFT_A_LINE_REVOKING,
	WEFT_A_LINE_AHEAD,
	WEFT_A_LINE_PAD,
	WEFT_A_LINE_RACK,

	__WEFT_A_LINE_MAX,
	WEFT_A_LINE_MAX = __WEFT_A_LINE_MAX - 1
};

/**
 * enum weft_a_lost - attributes of a run of lost blocks
 * @WEFT_A_LOST_MEMBER: u32, id of the memory blade that has their former contents
 * @WEFT_A_LOST_REGION: u32, number of the region, 1..16777215
 * @WEFT_A_LOST_BLOCK: u32, bytes of a block of it
 * @WEFT_A_LOST_OFFSET: u64, where in the region the first one begins
 * @WEFT_A_LOST_LENGTH: u64, bytes of all of them
 * @WEFT_A_LOST_PAD: no meaning
 * @WEFT_A_LOST_RACK: u32, number of the rack; in the request only
 */
enum weft_a_lost {
	WEFT_A_LOST_MEMBER = 1,
	WEFT_A_LOST_REGION,
	WEFT_A_LOST_BLOCK,
	WEFT_A_LOST_OFFSET,
	WEFT_A_LOST_LENGTH,
	WEFT_A_LOST_PAD,
	WEFT_A_LOST_RACK,

	__WEFT_A_LOST_MAX,
	WEFT_A_LOST_MAX = __WEFT_A_LOST_MAX - 1
};

/**
 * enum weft_blade_action - actions for a memory blade
 * @WEFT_BLADE_ACTION_ADD: it may join, and new regions use it
 * @WEFT_BLADE_ACTION_DRAIN: its lines move to other blades, and no new region uses it
 * @WEFT_BLADE_ACTION_USE: regions use it again
 */
enum weft_blade_action {
	WEFT_BLADE_ACTION_ADD = 1,
	WEFT_BLADE_ACTION_DRAIN,
	WEFT_BLADE_ACTION_USE,
};

/**
 * enum weft_a_blade - attributes of a memory blade
 * @WEFT_A_BLADE_MEMBER: u32, its id, 33..48
 * @WEFT_A_BLADE_ADDRESS: IPv4 address
 * @WEFT_A_BLADE_ACTION: u32, enum weft_blade_action; in the request only
 * @WEFT_A_BLADE_JOINED: flag, it has joined the rack
 * @WEFT_A_BLADE_DRAINS: flag, no region uses it, or the last ones are leaving it
 * @WEFT_A_BLADE_BYTES: u64, bytes that it has for regions
 * @WEFT_A_BLADE_NEEDED: u64, bytes that its regions need there when all are written
 * @WEFT_A_BLADE_REGIONS: u32, regions that have lines there
 * @WEFT_A_BLADE_PAD: no meaning
 * @WEFT_A_BLADE_RACK: u32, number of the rack; in the request only
 */
enum weft_a_blade {
	WEFT_A_BLADE_MEMBER = 1,
	WEFT_A_BLADE_ADDRESS,
	WEFT_A_BLADE_ACTION,
	WEFT_A_BLADE_JOINED,
	WEFT_A_BLADE_DRAINS,
	WEFT_A_BLADE_BYTES,
	WEFT_A_BLADE_NEEDED,
	WEFT_A_BLADE_REGIONS,
	WEFT_A_BLADE_PAD,
	WEFT_A_BLADE_RACK,

	__WEFT_A_BLADE_MAX,
	WEFT_A_BLADE_MAX = __WEFT_A_BLADE_MAX - 1
};

/**
 * enum weft_a_lock - attributes of a lock
 * @WEFT_A_LOCK_REGION: u32, number of the region, 1..16777215
 * @WEFT_A_LOCK_OFFSET: u64, where in the region
 * @WEFT_A_LOCK_STATE: u32, enum weft_state
 * @WEFT_A_LOCK_WANT: u32, enum weft_state, the permission that the node requests
 * @WEFT_A_LOCK_READERS: u32, read locks that programs of this node hold
 * @WEFT_A_LOCK_WAITERS: u32, threads of this node that wait for it in the kernel
 * @WEFT_A_LOCK_QUEUE: u32, other nodes that wait, as far as this one knows
 * @WEFT_A_LOCK_GRANTS: u32, times that a message granted it to this node
 * @WEFT_A_LOCK_HAND_OVERS: u32, times that this node chose the next holder
 * @WEFT_A_LOCK_WRITER: flag, a program of this node holds it to write
 * @WEFT_A_LOCK_OPEN: flag, programs of this node have it open
 * @WEFT_A_LOCK_TENURED: flag, this node keeps the queue
 * @WEFT_A_LOCK_REVOKING: flag, the node has to give it up
 * @WEFT_A_LOCK_PAD: no meaning
 * @WEFT_A_LOCK_RACK: u32, number of the rack; in the request only
 */
enum weft_a_lock {
	WEFT_A_LOCK_REGION = 1,
	WEFT_A_LOCK_OFFSET,
	WEFT_A_LOCK_STATE,
	WEFT_A_LOCK_WANT,
	WEFT_A_LOCK_READERS,
	WEFT_A_LOCK_WAITERS,
	WEFT_A_LOCK_QUEUE,
	WEFT_A_LOCK_GRANTS,
	WEFT_A_LOCK_HAND_OVERS,
	WEFT_A_LOCK_WRITER,
	WEFT_A_LOCK_OPEN,
	WEFT_A_LOCK_TENURED,
	WEFT_A_LOCK_REVOKING,
	WEFT_A_LOCK_PAD,
	WEFT_A_LOCK_RACK,

	__WEFT_A_LOCK_MAX,
	WEFT_A_LOCK_MAX = __WEFT_A_LOCK_MAX - 1
};

/* Kinds of events, see EVENT above. */
enum weft_event_kind {
	WEFT_EVENT_KIND_NODE_JOINED,
	WEFT_EVENT_KIND_NODE_LEFT,
	WEFT_EVENT_KIND_MEMBER_SILENT,
	WEFT_EVENT_KIND_MEMBER_HEARD,
	WEFT_EVENT_KIND_REGION_CREATED,
	WEFT_EVENT_KIND_REGION_REMOVED,
	WEFT_EVENT_KIND_LOCK_ABANDONED,
	WEFT_EVENT_KIND_BLOCKS_LOST,
	WEFT_EVENT_KIND_ACCESS_FAILED,
	WEFT_EVENT_KIND_UNANSWERED,
	WEFT_EVENT_KIND_DIRECTORY,
	WEFT_EVENT_KIND_LOCK_OWNER_DIED,
	WEFT_EVENT_KIND_NODE_DEAD,
	WEFT_EVENT_KIND_BLADE_MOVED,

	__WEFT_EVENT_KIND_MAX
};

/**
 * enum weft_a_event - attributes of an event
 * @WEFT_A_EVENT_KIND: u32, enum weft_event_kind
 * @WEFT_A_EVENT_TIME: u64, ns since 1970
 * @WEFT_A_EVENT_MISSED: u32, events of this kind that were not sent since the last
 * @WEFT_A_EVENT_MEMBER: u32, nodes 1..32, memory blades 33..48
 * @WEFT_A_EVENT_REGION: u32, number of the region
 * @WEFT_A_EVENT_NAME: string, its name
 * @WEFT_A_EVENT_OFFSET: u64, where in the region
 * @WEFT_A_EVENT_COUNT: u64, how many
 * @WEFT_A_EVENT_ERRNO: u32, why, positive
 * @WEFT_A_EVENT_PID: u32, process that did it, or that it was done to
 * @WEFT_A_EVENT_COMM: string, its name
 * @WEFT_A_EVENT_SWITCH: flag, the directory is in the switch
 * @WEFT_A_EVENT_PAD: no meaning
 * @WEFT_A_EVENT_RACK: u32, number of the rack
 * @WEFT_A_EVENT_ADDRESS: IPv4 address, where it is now
 */
enum weft_a_event {
	WEFT_A_EVENT_KIND = 1,
	WEFT_A_EVENT_TIME,
	WEFT_A_EVENT_MISSED,
	WEFT_A_EVENT_MEMBER,
	WEFT_A_EVENT_REGION,
	WEFT_A_EVENT_NAME,
	WEFT_A_EVENT_OFFSET,
	WEFT_A_EVENT_COUNT,
	WEFT_A_EVENT_ERRNO,
	WEFT_A_EVENT_PID,
	WEFT_A_EVENT_COMM,
	WEFT_A_EVENT_SWITCH,
	WEFT_A_EVENT_PAD,
	WEFT_A_EVENT_RACK,
	WEFT_A_EVENT_ADDRESS,

	__WEFT_A_EVENT_MAX,
	WEFT_A_EVENT_MAX = __WEFT_A_EVENT_MAX - 1
};

#endif /* _UAPI_WEFT_NETLINK_H */
