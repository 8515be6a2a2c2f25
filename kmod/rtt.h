/* SPDX-License-Identifier: GPL-2.0-only */
/* How long the rack takes to answer, and so when to send again. */
#ifndef WEFT_RTT_H
#define WEFT_RTT_H

#include <linux/types.h>

/**
 * weft_rtt_sample() - a request was answered
 * @first: nanoseconds since it was first sent
 * @last: nanoseconds since it was last sent; the same if it was sent once
 *
 * Which of several copies was answered cannot be known.  An answer that comes
 * much faster than usual after a repetition is taken for one to the first copy:
 * else a machine that has become slow would never learn it.  Any other is taken
 * for one to the last copy: else losses would count as slowness.  Any context.
 */
void weft_rtt_sample(u64 first, u64 last);

/* Jiffies until a request is sent again after @losses time-outs in a row. */
unsigned long weft_rtt_timeout(u8 losses);

/* Jiffies until the directory is asked about retained data. */
unsigned long weft_rtt_query(u8 losses);

/* Nanoseconds until a request is repeated that was refused @nacks times. */
u64 weft_rtt_backoff(u8 nacks);

#endif /* WEFT_RTT_H */
