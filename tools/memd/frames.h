/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames: the 4 KiB pieces of memory, or of the backing file, that contents of
 * blocks are kept in.  A block has a chain of them.
 *
 * A new version of a block goes to new frames before the old ones are given
 * back, so that the end of the process at any time leaves the one or the other.
 *
 * The end of the machine leaves any part of what was written since the file was last
 * brought to the disk.  So frames of a file that are given back rest, with their
 * records and contents, until all that was written up to then is on the disk: then
 * what took their place is, too, and their records are cleared.  A record that got to
 * the disk without its contents is known by its sum of them, which is compared when
 * they are read for the first time after a start.
 *
 * In memory a frame has room for the hashes that its contents have on the wire: what is
 * read often is hashed once.  New contents have none (write_frame()).
 */
#ifndef WEFT_MEMD_FRAMES_H
#define WEFT_MEMD_FRAMES_H

#include <pthread.h>

#include "backing.h"
#include "flush.h"

#define FRAME_NONE	0u

/**
 * struct rest - frames that were given back, but are not free yet
 * @first: of those that keep their memory, and of those that do not
 */
struct rest {
	u32 first[2];
};

/**
 * struct frames - the pool
 * @shared: several threads have blocks; what is in a chain is its owner's
 * @lock: then, for what is not in a chain
 * @backing: where they are, if it has a file
 * @mem: where they are otherwise
 * @next: by frame: next one of the block, or of the free ones
 * @hash: by frame, in memory: hashes of the fragments that begin in it; 0: not known
 * @fragment: bytes from one to the next
 * @hashes: how many of them a frame has
 * @sum: by frame, in a file: sum that the contents must have; 0: they have it
 * @total: frames 1..total exist
 * @fresh: this one and those after it were never used
 * @free: first of the free ones before @fresh
 * @n_free: length of that list
 * @used: in use
 * @resting: given back since @flush began, or at all if none is running
 * @flushing: given back before it
 * @flushed: given back before the last one that has ended: may be cleared
 * @flush: brings the file to the disk
 * @back_from: with @back_to, run of frames whose memory is to be returned
 * @back_to: first after it
 */
struct frames {
	bool shared;
	pthread_mutex_t lock;
	struct backing *backing;
	u8 *mem;
	u32 *next;
	u64 *hash;
	u32 fragment;
	u32 hashes;
	u32 *sum;
	u32 total;
	u32 fresh;
	u32 free;
	u32 n_free;
	u32 used;
	struct rest resting;
	struct rest flushing;
	struct rest flushed;
	struct flush flush;
	u32 back_from;
	u32 back_to;
};

/**
 * struct frame_id - what a frame of the backing file holds
 * @frame: number
 * @region: region
 * @piece: which 4 KiB of it
 * @version: of the block
 * @sum: of the contents
 */
struct frame_id {
	u32 frame;
	u32 region;
	u32 sum;
	u64 piece;
	u64 version;
};

/**
 * frames_init() - make the pool
 * @memory: bytes
 * @b: backing file
 * @err: receives a sentence
 */
int frames_init(struct frames *f, u64 memory, struct backing *b, char *err);
void frames_exit(struct frames *f);

/**
 * frames_store() - put a block into new frames
 * @region: region
 * @piece: first of its pieces
 * @n: number of pieces
 * @version: of the block
 * @data: n * FRAME_SIZE bytes
 * @later: set if too few frames are free, but others rest: they will be free when the file
 *	has been brought to the disk, see frames_flush()
 *
 * Does not wait for the disk.
 *
 * Return: the first of the chain, or FRAME_NONE: no frame is free, or the file
 * cannot be written.
 */
u32 frames_store(struct frames *f, u32 region, u64 piece, u32 n, u64 version,
		 const u8 *data, bool *later);

/* Read from a chain.  Return: 0 or -1 (the file cannot be read). */
int frames_load(struct frames *f, u32 first, u32 offset, void *buf, u32 len);

/**
 * frames_keep_hashes() - make room for hashes, unless the frames are in a file
 * @fragment: bytes of a full fragment on the wire
 *
 * Return: false without memory: none are kept.
 */
bool frames_keep_hashes(struct frames *f, u32 fragment);

/**
 * frames_hash() - where the hash of a part of a chain is kept
 * @offset: where it begins, a multiple of the fragment that
 *	frames_keep_hashes() was told
 *
 * The same offset has to be of the same length each time.  As long as the chain is there
 * nobody but the caller changes what stands there.
 *
 * Return: 0 stands there if it is not known; NULL: it is not kept.
 */
u64 *frames_hash(const struct frames *f, u32 first, u32 offset);

/* A chain is read soon: call the beginning into the processor's cache. */
void frames_ahead(const struct frames *f, u32 first);

/**
 * frames_release() - a chain is not used any more
 * @give_back: return its memory to the system; call frames_give_back() at the end
 */
void frames_release(struct frames *f, u32 first, bool give_back);
void frames_give_back(struct frames *f);

/**
 * frames_flush() - begin to bring the file to the disk, or see whether it is there
 *
 * Return: true if it is under way.
 */
bool frames_flush(struct frames *f);

/* Up to @n frames that may be free by now are.  Return: whether there are more. */
bool frames_settle(struct frames *f, u32 n);

/**
 * frames_scan() - what the backing file holds
 * @ids: receives an array, to be freed
 * @n: its length
 *
 * Then frames_claim() for what is to be kept, then frames_scanned().
 *
 * Return: 0 or -1 with errno.
 */
int frames_scan(struct frames *f, struct frame_id **ids, size_t *n);
void frames_claim(struct frames *f, const struct frame_id *id, u32 next);
void frames_scanned(struct frames *f);

/* Has the frame the contents that its record says? */
bool frames_intact(struct frames *f, const struct frame_id *id);

/* Return: false if a chain that was claimed has other contents than it should have. */
bool frames_check(struct frames *f, u32 first);

#endif /* WEFT_MEMD_FRAMES_H */
