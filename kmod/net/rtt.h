/* SPDX-License-Identifier: GPL-2.0-only */
/* How long the rack takes to answer, and so when to send again. */
#ifndef WEFT_RTT_H
#define WEFT_RTT_H

#include <linux/types.h>

/*
 * What is read ahead or written home goes in large numbers at a time, and each
 * waits for those before it: that says nothing about a request that is alone, and
 * such a request nothing about it.
 */
enum weft_rtt_what {
	WEFT_RTT_ASK,		/* a request, somebody waits for it */
	WEFT_RTT_AHEAD,		/* a request of reading ahead */
	WEFT_RTT_HOME,		/* a block on its way home */
	WEFT_RTT_PASS,		/* what is passed on with a lock comes after it */
	WEFT_RTT_KINDS
};

/**
 * weft_rtt_sample() - an answer came
 * @nsec: after so long
 *
 * Only if it is known which copy of the request it answers: see @doubt of struct
 * weft_block.  Any context.
 */
void weft_rtt_sample(enum weft_rtt_what what, u64 nsec);

/* Jiffies until it is sent again after @losses time-outs in a row. */
unsigned long weft_rtt_timeout(enum weft_rtt_what what, u8 losses);

/* Jiffies until the directory is asked about retained data. */
unsigned long weft_rtt_query(u8 losses);

/* Nanoseconds after a lock that what is passed on with it is waited for. */
u64 weft_rtt_patience(void);

/* Nanoseconds until a request is repeated that was refused @nacks times. */
u64 weft_rtt_backoff(u8 nacks);

#endif /* WEFT_RTT_H */
