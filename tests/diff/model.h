/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the switch must do with a frame, in plain C: the directory is
 * weft_switch_handle(), the definition; what is around it (which frames are
 * messages, addresses, sums, forwarding) is written down here once more, simply.
 */
#ifndef WEFT_TESTS_DIFF_MODEL_H
#define WEFT_TESTS_DIFF_MODEL_H

#include "directory.h"
#include "frame.h"
#include "mutate.h"

#define PORTS_MAX	48
/* Members with an address in the forwarding table; the others are unknown. */
#define MEMBERS_KNOWN	44

/* What came of frames, besides WEFT_COUNT_*. */
enum tally {
	TALLY_COUNT = WEFT_COUNTERS,	/* COUNT answered */
	TALLY_REFUSED,			/* from somebody who must not send it */
	TALLY_UNSEEN,			/* a message of type 1..31 that means nothing */
	TALLY_OTHER_RACK,		/* of type 1..31, from another rack */
	TALLY_PASSED,			/* not for the directory */
	TALLY_FORWARDED,
	TALLY_HAIRPIN,			/* for a station behind the port it came from */
	TALLY_FLOODED,
	TALLY_UPGRADE,			/* INV without a provider */
	TALLY_TO_NODE,			/* exactly one copy */
	TALLY_TO_NODES,
	TALLY_FROM_GROUP,		/* answer to what was sent to the group */
	TALLY_ZERO_SUM,			/* mended sum is 0 */
	N_TALLIES,
};

extern const char *const tally_names[N_TALLIES];

/**
 * struct outcome - what comes out for one frame
 * @ports: at which ports, one bit each
 * @len: length
 * @bytes: the same at all of them
 */
struct outcome {
	u64 ports;
	u32 len;
	u8 bytes[FRAME_ROOM];
};

/**
 * struct model - the switch
 * @sw: its directory
 * @n_ports: how many ports it has
 * @node_port: port of each node, or -1
 * @flood: for each port, where it floods to
 * @mutation: which detail to get wrong
 * @tally: how often what came of it
 */
struct model {
	struct weft_switch sw;
	unsigned int n_ports;
	int node_port[WEFT_NODE_MAX + 1];
	u64 flood[PORTS_MAX];
	enum mutation mutation;
	u64 tally[N_TALLIES];
};

/* Returns 0 or -ENOMEM.  @epoch: all generations start with it. */
int model_init(struct model *m, unsigned int n_ports, u32 epoch);
void model_free(struct model *m);

/* A frame comes in at @port. */
void model_frame(struct model *m, unsigned int port, const u8 *bytes, u32 len,
		 struct outcome *out);

/* The address of a member, and where it is: -1 if nobody knows. */
u64 member_mac(unsigned int member);
int member_port(const struct model *m, unsigned int member);

static inline struct weft_slot *model_slot(struct model *m, u64 line)
{
	return &m->sw.slots[weft_line_slot(line)];
}

#endif /* WEFT_TESTS_DIFF_MODEL_H */
