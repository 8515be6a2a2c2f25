/* SPDX-License-Identifier: GPL-2.0-only */
/* How long the rack takes to answer, and so when to send again. */
#ifndef WEFT_RTT_H
#define WEFT_RTT_H

#include <linux/types.h>

/*
 * A request was answered this long after it was first sent.  Any context.
 *
 * Repeated or not: on a loaded machine all answers can be late, and a mean of
 * those that were in time would never learn it.  What a real loss adds is more
 * than the truth, but rare.
 */
void weft_rtt_sample(u64 nsec);

/* Jiffies until a request is sent again after @losses time-outs in a row. */
unsigned long weft_rtt_timeout(u8 losses);

/* Jiffies until the directory is asked about retained data. */
unsigned long weft_rtt_query(u8 losses);

/* Nanoseconds until a request is repeated that was refused @nacks times. */
u64 weft_rtt_backoff(u8 nacks);

#endif /* WEFT_RTT_H */
