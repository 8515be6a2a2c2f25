/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Giving lines back, because their home does not know any more who has what: see
 * "Lives of a directory" in docs/protocol.md.
 */
#ifndef WEFT_RECOVERY_H
#define WEFT_RECOVERY_H

#include <linux/types.h>

struct weft_call;
struct weft_rack;

/**
 * weft_recover() - the directory of a blade begins a new life
 * @blade: whose
 * @life: its number
 * @valid: WEFT_RENEW_LATE: others have not waited for us, what we have modified does not
 *	count; WEFT_RENEW_CRASHED: what was at home there may be older now
 *
 * What only this node has of the blade's blocks is written home, locks that programs
 * hold are claimed, everything else of the blade is dropped.  Process context.
 *
 * Return: 0, or what went wrong: to be done again.
 */
int weft_recover(struct weft_rack *rack, u8 blade, u32 life, u32 valid);

/**
 * weft_recover_leaving() - the same while the file system is being unmounted
 *
 * Whoever evicts the inodes gives their blocks back.  Return: 0: all are gone.
 */
int weft_recover_leaving(struct weft_rack *rack, u8 blade);

/**
 * weft_recover_move() - a region gets other homes
 * @move: MOVE: region, homes, policy, life
 * @leaving: the file system is being unmounted, or none is mounted
 *
 * What a new life is to a blade's blocks and locks, this is to those of the region: what only
 * this node has of them is written to the new homes, locks that programs hold are claimed there.
 * Process context.
 *
 * Return: 0, or what went wrong: to be done again.
 */
int weft_recover_move(struct weft_rack *rack, const struct weft_call *move, bool leaving);

/*
 * This node is no member any more, though nobody has unmounted: whatever it has may
 * be another's by now.  All of it is dropped.  Returns 0.  Process context.
 */
int weft_recover_all_lost(struct weft_rack *rack);

/*
 * What renewals have done so far, a number that grows as long as one is at work: blades
 * that wait for us are told.  Any context.
 */
u64 weft_recover_done(const struct weft_rack *rack);

/*
 * The first blade has forgotten which regions are open here.  Returns 0, or -EINTR or -ETIMEDOUT:
 * it has not heard of all of them.  Process context.
 */
int weft_recover_opens(struct weft_rack *rack);

#endif /* WEFT_RECOVERY_H */
