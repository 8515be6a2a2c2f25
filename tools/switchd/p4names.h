/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names and numbers on which the P4 program (p4/weft_pna.p4) and weft-switchd
 * agree.  A program that was compiled for others, or lacks one of the tables or
 * registers, is refused (interface.h).  With --foreign it can still be loaded: what
 * needs it then answers with a sentence.
 *
 * p4c-dpdk makes the names of tables and actions from those of the controls that
 * they stand in.
 */
#ifndef WEFT_SWITCHD_P4NAMES_H
#define WEFT_SWITCHD_P4NAMES_H

/*
 * Forwarding: exact match on the destination address; a miss floods.  The
 * entries are learned by weft-switchd.
 */
#define P4_TABLE_L2		"forward_l2"
#define P4_ACTION_L2		"forward_l2_forward_0"
#define P4_ACTION_L2_PORT	"port"

/*
 * Flooding: exact match on the ingress port, gives the mask of the ports that
 * get a copy (bit k: session P4_SESSION_FLOOD + k, that is port k).
 */
#define P4_TABLE_FLOOD		"forward_flood"
#define P4_ACTION_FLOOD		"forward_set_flood_0"
#define P4_ACTION_FLOOD_MASK	"mask"

/* Generations of directory slots: every cell starts with the epoch. */
#define P4_REG_GEN		"generation"

/*
 * Counters of the directory: one register array, shown by the command "dir".
 * P4_STAT_NAMES lists what its cells count, in the order of WEFT_COUNT_*, all of
 * them: "check.sh counters" looks.
 */
#define P4_REG_STAT		"counters"
#define P4_STAT_NAMES		{ "miss", "read", "fwd", "inv", "grant", "busy", \
				  "commit", "query", "abort", "add", \
				  "add_refused", "remove", "drop", "stranger", \
				  "damaged", "members", "enqueue", "handed", \
				  "hand_ack", "passed", "not_passed", "forged" }

/*
 * What the control plane tells the program and pipeline_reset() leaves: the number of
 * the rack, and for each member the number of its port, plus 1 (0: it is not heard).
 */
#define P4_REG_RACK		"rack"
#define P4_REG_STATION		"station"

/* The other registers of the directory, for those who compare or show it. */
#define P4_REG_MEMBERS_VERSION	"members_version"
#define P4_REG_MEMBERS		"members"
#define P4_REG_TAG		"tag"
#define P4_REG_LOCK		"lock"
#define P4_REG_GRANT		"grant"
#define P4_REG_STATUS		"status"
#define P4_REG_COPYSET		"copyset"

/*
 * Ports are numbered in the order of the --port options.  Packets sent to
 * P4_PORT_SINK go nowhere: it is where the original of a packet goes when only
 * its mirrored copies are wanted (DPDK would send the copies of a packet that
 * was dropped without its headers).
 */
#define P4_PORT_MAX		48	/* 32 compute nodes and 16 blades */
#define P4_PORT_SINK		63

/*
 * Mirroring sessions.  Session 0 means "no copy" to the compiler.  The session of a
 * node (1..32) follows from its bit in a copyset; its port is set by --node, that of
 * absent nodes is P4_PORT_SINK.
 */
#define P4_SESSION_NODE(id)	((id) <= 16 ? 1u << ((id) - 1) : 0xFFFF ^ 1u << ((id) - 17))
#define P4_NODE_MAX		32
#define P4_SESSION_FLOOD	0x180	/* + port number */
#define P4_SESSIONS		0x10000
/* Copies that one packet can have: DPDK's limit.  Slots are numbered from 0. */
#define P4_SLOTS		64

#endif /* WEFT_SWITCHD_P4NAMES_H */
