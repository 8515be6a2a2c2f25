/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Learning which station is behind which port, from the source addresses of
 * frames that come in.
 *
 * The plain switch looks addresses up here.  For a P4 program, changes are
 * noted down and written to its forwarding table from time to time.
 */
#ifndef WEFT_SWITCHD_LEARN_H
#define WEFT_SWITCHD_LEARN_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline.h"

/* Stations known at once, and then nobody else until one has aged. */
#define LEARN_MAX	1024
#define LEARN_BUCKETS	1024
/* A station not heard of for so long makes room for another one. */
#define LEARN_AGE_NS	300000000000ull
/* Entries in the P4 table are changed no more often than this... */
#define LEARN_COMMIT_NS	1000000ull
/* ... and after a failure, which nobody expects, than this. */
#define LEARN_RETRY_NS	1000000000ull
/* Entries that can wait for being taken out of the P4 table. */
#define LEARN_GONE_MAX	64

/**
 * struct station - somebody who has sent a frame
 * @mac: address
 * @seen: when it sent the last one
 * @port: where
 * @written: port in the P4 program's table, or -1
 * @next: next of the same bucket, or -1
 */
struct station {
	uint64_t mac;
	uint64_t seen;
	int port;
	int written;
	int next;
};

/**
 * struct learn - the stations
 * @station: all of them, the first @n are in use
 * @bucket: first station of each, or -1
 * @n: number of stations
 * @max: LEARN_MAX, or what the P4 program's table can hold
 * @n_changed: stations whose @written is not their @port
 * @gone: addresses in the P4 program's table that are no stations any more
 * @n_gone: how many
 * @next_commit: not before that time write changes
 * @n_moves: how often a known station appeared at another port
 * @n_refused: frames whose source could not be learned for want of room
 */
struct learn {
	struct station station[LEARN_MAX];
	int bucket[LEARN_BUCKETS];
	unsigned int n;
	unsigned int max;
	unsigned int n_changed;
	uint64_t gone[LEARN_GONE_MAX];
	unsigned int n_gone;
	uint64_t next_commit;
	uint64_t n_moves;
	uint64_t n_refused;
};

/**
 * learn_init() - nobody is known
 * @l: to be filled in
 * @pl: the P4 program whose table will be kept up to date, or NULL
 */
void learn_init(struct learn *l, const struct pipeline *pl);

/**
 * learn_frame() - a frame has come in
 * @l: the stations
 * @frame: its first FRAME_MIN bytes
 * @port: where
 * @now: time in ns
 */
void learn_frame(struct learn *l, const uint8_t *frame, unsigned int port, uint64_t now);

/** learn_lookup() - the port of an address, or -1 (unknown, or a group) */
int learn_lookup(const struct learn *l, const uint8_t *mac);

/** learn_due() - whether learn_commit() has something to do at time @now */
static inline bool learn_due(const struct learn *l, uint64_t now)
{
	return (l->n_changed || l->n_gone) && now >= l->next_commit;
}

/**
 * learn_commit() - write changes to the P4 program's table
 * @l: the stations
 * @pl: the program
 * @now: time in ns
 * @err: why not; it is tried again later
 *
 * Return: 0 or a negative errno.
 */
int learn_commit(struct learn *l, struct pipeline *pl, uint64_t now, char *err);

/** learn_forget() - forget everybody, also in the table of @pl (unless NULL) */
int learn_forget(struct learn *l, struct pipeline *pl, char *err);

#endif /* WEFT_SWITCHD_LEARN_H */
