/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The P4 switch: it is told all members until it answers, then asked once a second whether it is
 * there.  It answers for those lines that it has (lines.h).  The catalog says when members change,
 * and has calls wait for it.
 */
#ifndef WEFT_MEMD_P4_H
#define WEFT_MEMD_P4_H

#include "base/timer.h"
#include "net/deferred.h"

/* The switch, as this blade knows it. */
struct p4 {
	bool listening;		/* one may be used */
	bool in_use;		/* there is one */
	bool no_switch;		/* it was looked for in vain: nobody waits for it */
	u32 txn;		/* of the MEMBERS whose answer is waited for */
	u32 settled;	/* the version of the members that it has, or that it need not have */
	u64 changed;		/* millisecond since which that is to be told */
	u64 answered;		/* millisecond of its last answer */
	u64 told;		/* millisecond of the last sentence that it is waited for */
	u32 delay;		/* until it is told again */
	struct timer timer;	/* for that */
	struct deferred_list waiting;	/* deferred calls that end when it knows all */
	void (*on_settled)(struct memd *m);	/* then this is called; set by the catalog */
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
