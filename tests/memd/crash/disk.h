/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk that remembers, below the code under test: what was written to a file, sector by
 * sector, which of it is certain to be on the disk, and what came since.  The program that
 * this is linked with has libc's calls from here instead of from libc: all of its files.
 *
 * A sector on the disk is what any of the writes since it was last certain has left in it,
 * whatever the others are: so a write of several sectors arrives in any part of it, and
 * writes in any order.  Sectors of 512 bytes; what a disk with longer ones can do is part of
 * what this one can.
 *
 * What it fails to take is not asked of it again, as Linux does: processes see it until the
 * machine ends, and the disk gets it only if something else of the same page is written later.
 * Each file that was open then hears of it once.
 *
 * Threads are not threads: what one was begun for is done when disk_work() says so, as late
 * as one likes.  A sync of it makes certain what was written up to when it was begun.
 */
#ifndef WEFT_TESTS_MEMD_CRASH_DISK_H
#define WEFT_TESTS_MEMD_CRASH_DISK_H

#include <stdbool.h>

#include "types.h"

#define DISK_SECTOR		512u
#define DISK_SECTORS_MAX	16384u
#define DISK_TASKS		4u	/* begun and not done, at most */

/* What a write has left in a sector. */
struct content {
	struct content *next;	/* later */
	u64 time;
	u8 data[DISK_SECTOR];
};

/* @lost: processes see something else than @certain, which nobody will write */
struct sector {
	u64 at;
	u8 certain[DISK_SECTOR];
	struct content *since;
	bool lost;
};

/**
 * struct disk - a file, or what is left of one
 * @fd: memory that has what processes see in it
 * @path: its name
 * @n: number of @sector
 * @sector: those that were ever written, by position
 */
struct disk {
	int fd;
	char path[32];
	u32 n;
	struct sector *sector[DISK_SECTORS_MAX];
};

extern struct disk *disk_recorded;	/* it is this one that remembers; NULL: none */
extern u64 disk_time;			/* counts writes */
extern bool disk_dead;			/* the process has ended: nothing is written */
extern bool disk_fails;			/* what it is asked to bring there is lost */
extern bool disk_longer;		/* files are as long as they may be, see disk_image() */
extern u32 disk_folders;		/* that were synced */

/* Somebody waits for the disk, which has not done it yet. */
extern void (*disk_waited)(void);
/* It has: everything up to @time, or this part of it. */
extern void (*disk_synced)(u64 time, u64 from, u64 to);
/* Mutations: whether that sync is left out: of all, or of a part that begins there. */
extern bool (*disk_leaves_out)(bool all, u64 from);

/* A new one, which is empty; make one empty again. */
void disk_make(struct disk *d);
void disk_empty(struct disk *d);

/* What processes see in @from, for those that see @to; nobody remembers what @to had. */
void disk_copy(const struct disk *from, struct disk *to);

/* What processes see in it now is certain, and all of it. */
void disk_load(struct disk *d);

/*
 * Make @to what may be left of @d: of each sector that has something uncertain @take says
 * how many of its writes arrived.  It may be known how long the file is without them.
 */
void disk_image(const struct disk *d, struct disk *to,
		u32 (*take)(const struct sector *s, u32 n));

/* Whoever has mapped a part of a disk is gone, and syncs it no more. */
void disk_forget_mappings(void);

/* Something was begun in thread @i, of DISK_TASKS, and is not done; do it now, if so. */
bool disk_has_work(u32 i);
void disk_work(u32 i);

/* It is just now that something is done which was begun in a thread. */
bool disk_is_working(void);

#endif /* WEFT_TESTS_MEMD_CRASH_DISK_H */
