/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The members of the rack: ids, addresses, lives.  The first blade decides (catalog/join.c); the
 * others learn from it (catalog/follow.c).  All layers above look here.
 */
#ifndef WEFT_MEMD_MEMBERS_H
#define WEFT_MEMD_MEMBERS_H

#include "base/blade.h"
#include "wire.h"

#define MEMBER_ALIVE_MS	3000	/* heard of that recently: certainly alive */

struct weft_call;

/* Node or blade. */
struct member {
	u32 addr;	/* IPv4 address, 0 if unknown */
	/* Blade: address of its other machine, which does not serve; 0: it has none */
	u32 standby;
	/* Blade: number that its standby has raised when it took over last; 0: not heard yet */
	u32 view;
	u32 life;	/* number of its life */
	u64 heard;	/* millisecond of the last message */
	u64 asked;	/* millisecond of its last JOIN, repetitions included */
	/* Node: it is a member; blade: it has joined (only the first blade knows) */
	bool in;
	/*
	 * Its JOIN is not answered yet: the other blades hear of it, then the switch, but
	 * nobody else does until they know it
	 */
	bool joining;
	bool gave_up;	/* has sent LEAVE meanwhile */
	bool dying;	/* others may have heard in a former life of this blade that it is dead */
	/* Blade: it has a file that its contents are in (only the first blade knows) */
	bool backing;
	/* Blade: regions may use it; one that was added before it has joined does not count */
	bool used;
	bool drains;	/* blade: regions are not to use it any more */
};

/* All of them. */
struct members {
	struct member by_id[WEFT_BLADE_MAX + 1];
	u32 mask;		/* bits of the nodes, with those that are about to be members */
	/*
	 * Those of @mask whose former life another blade may not be through with: the switch
	 * does not know them yet, or it would take what that life had for theirs
	 */
	u32 coming;
	/* Bits of nodes that are members, and that are not heard any more, see fence.h */
	u32 dead;
	u32 version;			/* of @mask, begins with the seconds since 1970 */
	/*
	 * Set by the catalog: another blade does not answer; or with @err: what it was told
	 * failed there
	 */
	void (*blade_lost)(struct memd *m, u8 blade, u16 err);
};

void members_init(struct memd *m);

/* Of any member, in a mask of 64 bits. */
static inline u64 members_bit(u32 id)
{
	return 1ull << id;
}

/* Each node of a mask. */
#define for_each_node(nodes, id) \
	for ((id) = WEFT_NODE_MIN; (id) <= WEFT_NODE_MAX; (id)++) \
		if ((nodes) & weft_node_bit(id))

/* A blade by its index, 0 based. */
static inline struct member *members_blade(const struct memd *m, u32 i)
{
	return &m->b->members->by_id[WEFT_BLADE_MIN + i];
}

/* The addresses of blades are known from --peers. */
void members_start(struct memd *m);

/* Is it dead, and still a member?  Then nothing is taken from it. */
static inline bool members_is_dead(const struct memd *m, u32 id)
{
	return m->b->members->dead & weft_node_bit(id);
}

/* Is it a member, with that address?  Not @m's own blade. */
bool members_has(const struct memd *m, u32 id, u32 from);

/*
 * The sender of a message if it is a member and @from its address, or NULL.  That is a sign of
 * life of it: only for what has come just now.
 */
struct member *members_sender(struct memd *m, u32 id, u32 from);

/* A blade's standby has taken over: it is there from now on. */
void members_move(struct memd *m, u32 id);

/* Count a message that members_sender() has refused. */
void members_refused(struct memd *m, u32 id, u32 from);

/* The nodes that are members for everybody: without those that are joining. */
u32 members_joined(const struct members *ms);

/* Put the nodes @nodes into @call, and the addresses of these and the blades. */
void members_list(struct memd *m, u32 nodes, struct weft_call *call);

#endif /* WEFT_MEMD_MEMBERS_H */
