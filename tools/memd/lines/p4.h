/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the P4 switch is told of the members, and whether there is one.  It answers for those
 * lines that it has (lines.h).
 */
#ifndef WEFT_MEMD_P4_H
#define WEFT_MEMD_P4_H

#include "base/timer.h"
#include "net/deferred.h"

struct weft_msg;

/**
 * struct p4 - the switch
 * @listening: one may be used
 * @in_use: there is one
 * @no_switch: it was looked for in vain: nobody waits for it
 * @txn: of the MEMBERS whose answer is waited for
 * @settled: the version of the members that it has, or that it need not have
 * @changed: millisecond since which that is to be told
 * @answered: millisecond of its last answer
 * @told: millisecond of the last sentence that it is waited for
 * @delay: until it is told again
 * @timer: for that
 * @waiting: deferred calls that end when it knows all
 * @on_settled: then this is called; set by the catalog
 */
struct p4 {
	bool listening;
	bool in_use;
	bool no_switch;
	u32 txn;
	u32 settled;
	u64 changed;
	u64 answered;
	u64 told;
	u32 delay;
	struct timer timer;
	struct deferred_list waiting;
	void (*on_settled)(struct memd *m);
};

void p4_init(struct memd *m);

/* The first blade begins to probe, after members_start(). */
void p4_start(struct memd *m);

/* Nobody waits for the switch any more. */
void p4_stop(struct memd *m);

/* Nodes changed: tell the switch; the same of a version that another blade has said. */
void p4_changed(struct memd *m);
void p4_tell(struct memd *m);

/* True if the switch knows all members, or there is none. */
bool p4_settled(const struct memd *m);

/* @dc is held until p4_settled(). */
void p4_wait(struct memd *m, struct deferred *dc);

/* MEMBERS_ACK. */
void p4_ack(struct memd *m, const struct weft_msg *msg);

#endif /* WEFT_MEMD_P4_H */
