/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recovery of a directory that has lost its entries ("Lives of a directory" in docs/protocol.md),
 * and of regions that move: give back all blocks, claim locks, repeat OPENs.  Runs on the work
 * queue of fs/callback only, one at a time.
 */
#ifndef WEFT_RECOVERY_H
#define WEFT_RECOVERY_H

#include <linux/types.h>

struct weft_call;
struct weft_rack;

/**
 * weft_recover() - RENEW: the directory of a blade begins a new life
 * @blade: whose directory
 * @life: number of the new life
 * @valid: WEFT_RENEW_LATE: the rack went on without this node, drop all instead;
 *	WEFT_RENEW_CRASHED: contents that the blade had not synced may be older now
 *
 * Writes back the blade's blocks that only this node has, claims locks that programs hold, drops
 * all other lines of the blade.  Process context.
 *
 * Return: 0, or an error: the blade has to repeat it.
 */
int weft_recover(struct weft_rack *rack, u8 blade, u32 life, u32 valid);

/* RENEW during an unmount: wait until the eviction of inodes has given all blocks back. */
int weft_recover_leaving(struct weft_rack *rack, u8 blade);

/**
 * weft_recover_move() - MOVE: a region gets other homes
 * @move: MOVE: region, homes, policy, life
 * @leaving: the file system is being unmounted, or none is mounted
 *
 * As weft_recover() for the region's lines: writes back to the new homes, claims locks there.
 * Process context.
 *
 * Return: 0, or an error: the blade has to repeat it.
 */
int weft_recover_move(struct weft_rack *rack, const struct weft_call *move, bool leaving);

/*
 * The rack has forgotten this node, and other nodes may own what it has: drop all lines.
 * Process context.  Return: 0.
 */
int weft_recover_all_lost(struct weft_rack *rack);

/* The progress of recoveries, a count that grows as long as one goes on.  Any context. */
u64 weft_recover_done(const struct weft_rack *rack);

/*
 * The first blade has lost its open state: repeat the OPENs of all regions.  Process context.
 * Return: 0; -EINTR, -ETIMEDOUT: it does not answer.
 */
int weft_recover_opens(struct weft_rack *rack);

#endif /* WEFT_RECOVERY_H */
