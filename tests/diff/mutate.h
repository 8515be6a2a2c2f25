/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors put into the model on purpose: for each, the test has to find a
 * difference, else it would not find the same error in the P4 program.
 */
#ifndef WEFT_TESTS_DIFF_MUTATE_H
#define WEFT_TESTS_DIFF_MUTATE_H

#include "directory.h"

#define MUTATIONS(M)							\
	M(NONE, "")							\
	M(PICK, "another provider is chosen")				\
	M(PICK_SPREAD, "the provider is always the lowest node")	\
	M(SWITCH_FLAG, "an answer does not say that it is the switch's")	\
	M(BUSY_FLAG, "a GRANT does not say that the lock is held")	\
	M(TARGETS, "an invalidation goes to the requester as well")	\
	M(ONE_TARGET, "an invalidation misses one sharer")		\
	M(UPGRADE, "an upgrade needs no read-only copy")		\
	M(DIRECT, "who can read the home copy itself is sent it all the same")	\
	M(DIRECT_DEAD, "who misses what a node had that has left is not sent it either")	\
	M(GRANT_OLD, "the answer has the grant number before it was raised")	\
	M(GRANT_WRAP, "the grant number stops at its largest value")	\
	M(TAKE_TWICE, "a repeated request raises the grant number again")	\
	M(COMMIT_GRANT, "a COMMIT with an old grant number counts")	\
	M(COMMIT_TXN, "a COMMIT of another transaction counts")		\
	M(COMMIT_OWNED, "a COMMIT does not note the owner in the grant number")	\
	M(ABORT, "an ABORT does not free the lock")			\
	M(JOIN, "a GETS does not join the copyset")			\
	M(JOIN_STATUS, "a GETS leaves the status as it was")		\
	M(HOLDER, "a NACK does not say who is busy")			\
	M(QUERY_LOCK, "a QUERY does not tell the lock")			\
	M(ADD_OLD, "an ADD of an old generation counts")		\
	M(ADD_WHY, "a refused ADD gives the wrong reason")		\
	M(DROP, "a DROP leaves the tag")				\
	M(DROP_ENTRY, "a DROP leaves the entry")			\
	M(REMOVE_ABSENT, "REMOVE_ACK of a line that is not here keeps the copyset")	\
	M(REMOVE_LOCK, "a REMOVE does not take the lock")		\
	M(MEMBERS_OLD, "an old MEMBERS counts")				\
	M(MEMBERS_ROUND, "versions of MEMBERS do not go round")		\
	M(MEMBERS_NODE, "a node can change the members")		\
	M(STRANGER, "somebody who is no member is served")		\
	M(OWNER, "a transaction of somebody else is served")		\
	M(OWNER_BLADE, "a blade cannot end a transaction of a node")	\
	M(SLOT_KIND, "the kind of a line does not matter for its slot")	\
	M(SLOT_REGION, "the region of a line does not matter for its slot")	\
	M(LOCK_OWNER, "any node can hand a lock over")			\
	M(LOCK_EPOCH, "a hand-over counts in any epoch")		\
	M(LOCK_AGAIN, "a repeated hand-over is not answered again")	\
	M(LOCK_READERS, "a hand-over forgets the readers")		\
	M(LOCK_JOIN, "a reader of a free lock does not join")		\
	M(LOCK_FREE, "who frees a lock does not hear of it")		\
	M(LOCK_ALONE, "a writer is not told to wait for readers")	\
	M(LOCK_RELAY, "a request passed on counts as the sender's")	\
	M(LOCK_STRANGER, "a lock can go to a node that is no member")	\
	M(LOCK_FROZEN, "a frozen lock is served")			\
	M(LOCK_THAW, "a REMOVE does not freeze a lock")			\
	M(LOCK_REMOVE_OLD, "a REMOVE of an old generation freezes a lock")	\
	M(LOCK_ADD, "an ADD forgets who holds a lock")			\
	M(PASS_GRANT, "a PASS from before the lock was taken counts")	\
	M(PASS_TAKEN, "a PASS goes on though another has the lock")	\
	M(PASS_STRANGER, "a line can be passed to a node that is no member")	\
	M(PASS_LENT, "a PASS does not say to whom the line is lent")	\
	M(PASS_LOCK, "a PASS does not take the lock")			\
	M(COUNTER, "a refusal is counted as a miss")			\
	M(COUNT_ABORT, "an ABORT is not counted")			\
	M(COUNT_OTHER, "COUNT tells another counter")			\
	M(HSUM, "the header sum is not mended")				\
	M(HSUM_ZERO, "a header sum of 0 is written as such")				\
	M(DAMAGED, "a message with a wrong sum is taken")		\
	M(STATUS, "a status that does not exist is taken")		\
	M(TYPE_LIMIT, "messages of type 32 are looked at")		\
	M(VERSION, "messages of another version are taken")		\
	M(UDP_SUM, "messages with a UDP checksum are taken")		\
	M(FRAGMENT, "fragments are taken")				\
	M(OPTIONS, "packets with IP options are taken")			\
	M(IP_SUM, "the IP checksum of copies is not mended")		\
	M(UDP_SOURCE, "messages from another UDP port are taken")	\
	M(RACK, "messages of another rack are taken")			\
	M(STATION, "a message counts at any port")			\
	M(STATION_BLADE, "a message of a blade counts at any port")	\
	M(GROUP_SOURCE, "answers come from the group's address")	\
	M(HAIRPIN, "a frame goes back to where it came from")		\
	M(FLOOD_BACK, "flooding includes the port it came from")

#define MUTATION_ENUM(name, text) MUTATE_##name,
enum mutation { MUTATIONS(MUTATION_ENUM) N_MUTATIONS };
#undef MUTATION_ENUM

/* What each gets wrong, for people. */
extern const char *const mutation_texts[N_MUTATIONS];

/* weft_switch_handle() with one of the errors. */
enum weft_dir_dest mutated_handle(enum mutation mutation, struct weft_switch *sw, u32 port,
				  struct weft_msg *msg, u32 *targets);

#endif /* WEFT_TESTS_DIFF_MUTATE_H */
