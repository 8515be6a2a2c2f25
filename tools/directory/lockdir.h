/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The directory engine for lock lines.  A lock's entry knows which nodes have it
 * cached to read, and which node holds its queue, if there is a writer: the
 * queue itself is at that node (Soul 4.2).  A hand-over changes the holder by
 * comparing the epoch; it is never refused because of requests that are on
 * their way to the old holder: those are sent back here by it.
 *
 * An entry uses the cells of struct weft_dir_entry: @lock is the bit of the
 * queue's holder, 0 for no queue; @grant is the epoch (WEFT_EPOCH_*); @status
 * is not used; @copyset are the nodes that must give the lock up before the
 * holder has it, or at least those that have it cached if there is no holder.
 * Both pairs of cells are read and written once for a message, with two
 * comparisons at most, in this order.
 */
#ifndef WEFT_DIRECTORY_LOCKDIR_H
#define WEFT_DIRECTORY_LOCKDIR_H

#include "directory.h"

/**
 * weft_lockdir_handle() - serve one message at the entry of its lock
 * @e: the entry
 * @members: nodes of the rack
 * @msg: ACQUIRE, HAND or QUERY; rewritten into the outgoing message (txn, src,
 *	line, nonce, payload and rack stay)
 * @targets: nodes to send to, for WEFT_TO_NODES
 *
 * The caller serializes calls for one entry.  Any context.
 */
enum weft_dir_dest weft_lockdir_handle(struct weft_dir_entry *e, u32 members,
				       struct weft_msg *msg, u32 *targets);

#endif /* WEFT_DIRECTORY_LOCKDIR_H */
