/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames: the 4 KiB pieces of memory, or of the backing file, that contents of blocks are kept in.
 * A block has a chain of them.  lines/ stores and loads, rdma/ holds what a card reads.
 */
#ifndef WEFT_MEMD_FRAMES_H
#define WEFT_MEMD_FRAMES_H

#include <pthread.h>

#include "store/backing.h"
#include "base/flush.h"

/*
 * A new version of a block goes to new frames before the old ones are given back, so that the end
 * of the process at any time leaves the one or the other.
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
 *
 * A network card may read frames in memory by itself (rdma.h).  Meanwhile their chain is
 * held: when it is given back it stays as it is until it is not held any more.  A card also
 * has to let go of memory before that is returned to the system.
 *
 * The cards of nodes may read them, too, of which nobody hears here.  A chain that they were
 * told of has a mark meanwhile, which they read after it (rdma/card.h): the mark goes first.
 */

#define FRAME_NONE	0u

#define FRAMES_PER_CHUNK	1024u	/* what a card lets go of together */

/* The user of frames that has network cards read them. */
struct frames_card {
	/*
	 * Memory of frames @from .. @to - 1, all of one chunk, goes back to the system; false:
	 * it is in use, and frames_back_late() will follow when it is not, if ever: until then
	 * it stays ours.  The pool's lock is held: nothing of it may be called from there
	 */
	bool (*let_go)(struct frames_card *card, u32 from, u32 to);
};

/* The chunk of a frame, 0 based. */
static inline u32 frames_chunk(u32 frame)
{
	return (frame - 1) / FRAMES_PER_CHUNK;
}

/* Frames that were given back, but are not free yet. */
struct rest {
	u32 first[2];	/* of those that keep their memory, and of those that do not */
};

struct frames {
	bool shared;	/* several threads have blocks; what is in a chain is its owner's */
	pthread_mutex_t lock;	/* then, for what is not in a chain */
	struct backing *backing;	/* where they are, if it has a file */
	u8 *mem;		/* where they are otherwise */
	u32 *next;		/* by frame: next one of the block, or of the free ones */
	/* By frame, in memory: hashes of the fragments that begin in it; 0: not known */
	u64 *hash;
	u32 fragment;		/* bytes from one to the next */
	u32 hashes;		/* how many of them a frame has */
	u32 *sum;	/* by frame, in a file: sum that the contents must have; 0: they have it */
	u32 total;		/* frames 1..total exist */
	u32 fresh;		/* this one and those after it were never used */
	u32 free;		/* first of the free ones before @fresh */
	u32 n_free;		/* length of that list */
	u32 used;
	struct rest resting;	/* given back since @flush began, or at all if none is running */
	struct rest flushing;	/* given back before it */
	struct rest flushed;	/* given back before the last one that has ended: may be cleared */
	struct flush flush;	/* brings the file to the disk */
	u32 back_from;		/* with @back_to, run of frames whose memory is to be returned */
	u32 back_to;		/* first after it */
	struct frames_card *card;	/* who has cards read frames, or NULL */
	/* By frame, then: how often its chain is held, and what is to be done later */
	u16 *hold;
	u32 held;		/* frames that were given back, and are held */
	/*
	 * By first frame of a chain: its mark, big-endian, 0: it has none; the owner of the
	 * chain writes it.  NULL: no chain has any
	 */
	u64 *mark;
};

/* The record of a frame in the backing file. */
struct frame_id {
	u32 frame;	/* number */
	u32 region;
	u32 sum;	/* of the contents */
	u64 piece;	/* which 4 KiB of it */
	u64 version;	/* of the block */
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
 *	has been brought to the disk, see frames_flush(); or others are held
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
 * frames_unmark() - what nodes' cards read of a chain is not what they would be told from here on
 *
 * For its owner.  They see that before anything that is done afterwards.
 */
void frames_unmark(struct frames *f, u32 first);

/**
 * frames_attach() - from here on chains can be held
 *
 * Return: false: frames are in a file, or there is no memory.
 */
bool frames_attach(struct frames *f, struct frames_card *card);

/* No chain is held any more, nor will be; no card has any memory. */
void frames_detach(struct frames *f);

/**
 * frames_hold() - a chain is to stay as it is, its contents and its memory
 *
 * For who may give it back, frames_drop() for anybody.
 *
 * Return: false: it cannot be held any more often.
 */
bool frames_hold(struct frames *f, u32 first);
void frames_drop(struct frames *f, u32 first);

/* The card can let go of a chunk now, of which it could not: return what was to be. */
void frames_back_late(struct frames *f, u32 chunk);

/* Where a frame's contents are; frames of successive numbers are adjacent. */
static inline u8 *frames_memory(const struct frames *f, u32 frame)
{
	return f->mem + (size_t)(frame - 1) * FRAME_SIZE;
}

/* The frame that follows in a chain, or FRAME_NONE. */
static inline u32 frames_next(const struct frames *f, u32 frame)
{
	return f->next[frame];
}

/**
 * frames_flush() - begin to bring the file to the disk, or see whether it is there
 *
 * Return: true if a flush is running.
 */
bool frames_flush(struct frames *f);

/* Up to @n frames that may be free by now are.  Return: whether there are more. */
bool frames_settle(struct frames *f, u32 n);

/**
 * frames_scan() - what the backing file holds
 * @ids: receives an array, to be freed
 * @n: its length
 *
 * Then frames_claim() for what is to be kept, then frames_scanned(), which clears all other
 * records: when what is kept is on the disk.
 *
 * Return: 0 or -1 with errno.
 */
int frames_scan(struct frames *f, struct frame_id **ids, size_t *n);
void frames_claim(struct frames *f, const struct frame_id *id, u32 next);
int frames_scanned(struct frames *f);

/* Has the frame the contents that its record says? */
bool frames_intact(struct frames *f, const struct frame_id *id);

/* Return: false if a chain that was claimed has other contents than it should have. */
bool frames_check(struct frames *f, u32 first);

#endif /* WEFT_MEMD_FRAMES_H */
