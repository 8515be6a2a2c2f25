/* SPDX-License-Identifier: GPL-2.0-only */
/* Command line of weft-memd.  front/main.c has it read, all layers see it. */
#ifndef WEFT_MEMD_OPTIONS_H
#define WEFT_MEMD_OPTIONS_H

#include <stdarg.h>
#include <stdio.h>

#include "types.h"

#define BLADES_MAX	(WEFT_BLADE_MAX - WEFT_BLADE_MIN + 1)

#define THREADS_MAX	16

#define REGIONS_MAX	16384	/* a full catalog fits half a log several times */
#define BLADE_BYTES_MAX	(1ull << 43)	/* memory of a blade: 8T */

#define PAIR_PORT	4794	/* TCP: a blade's other machine, the witness */

#define USER_MEMORY_HALF	(~0ull)	/* of what all blades have */

#define ERR_MAX		512	/* buffers for sentences */

/* Note down in @err, ERR_MAX bytes, a sentence why something does not work. */
__attribute__((format(printf, 2, 3)))
static inline int fail(char *err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(err, ERR_MAX, fmt, args);
	va_end(args);
	return -1;
}

/* Not of the command line: how this machine came to serve; see role.h. */
struct role {
	/* Number that grows each time that a blade's standby takes over; 0: it has no standby */
	u32 view;
	bool taken;	/* it has taken over, and its copy is what crashed machines leave */
	bool had_switch;	/* a P4 switch was in use then, and has lines of this blade */
};

/* The command line. */
struct options {
	u8 id;			/* of this blade, WEFT_BLADE_MIN and up */
	const char *interface;	/* that leads to the rack, or NULL */
	u32 address;		/* IPv4 address in host byte order, or 0: the interface's first */
	u16 port;		/* UDP port */
	u32 rack;		/* number of the rack */
	u64 memory;		/* bytes */
	u32 user_regions;	/* regions that one user may have, 0: any number */
	/* Bytes that one user's regions may have, 0: any, or USER_MEMORY_HALF */
	u64 user_memory;
	u32 locks;		/* lock lines, 0: as the memory is large */
	u32 threads;		/* that take messages; 0: one */
	/* Milliseconds without a sign of a node after which it is taken for dead; 0: never */
	u32 lease;
	const char *backing;	/* file that keeps regions and contents, or NULL */
	const char *key;	/* file with the key of the rack, or NULL */
	/* File to make with a new key, and nothing else is done, or NULL */
	const char *make_key;
	/* Directory to copy the key to, and nothing else is done, or NULL */
	const char *hand_key;
	bool use_switch;	/* a P4 switch may be used if there is one */
	bool rdma;		/* data may go by RDMA */
	bool deeds;		/* then nodes may read blocks by themselves */
	u32 peers[BLADES_MAX];	/* addresses of all blades, in the order of their ids */
	/* Addresses of their standbys, 0: none; of this blade's, the other machine */
	u32 standbys[BLADES_MAX];
	u32 blades;		/* how many there are */
	u32 witness;		/* address of the witness, or 0 */
	u16 pair_port;		/* TCP port of pairs and witness */
	/* Command that is run when this machine takes over, or NULL */
	const char *on_takeover;
	/* This machine is to, an administrator is sure that the other one is off */
	bool take_over;
	bool alone;	/* it is to serve without having heard of its partner, or of the witness */
	const char *be_witness;	/* file of the witness, which this is, or NULL */
	struct role role;
	bool background;	/* leave the terminal when ready */
	bool verbose;		/* tell more */
};

enum options_result {
	OPTIONS_OK,
	OPTIONS_DONE,		/* --help, --version: printed */
	OPTIONS_BAD,		/* sentence in err */
};

/**
 * options_again() - a command line without what it says of one start only
 * @argv: options_parse() has found nothing wrong with it
 * @again: receives up to @argc of it, and NULL
 */
void options_again(int argc, char **argv, char **again);

/**
 * options_parse() - read the command line
 * @err: receives a sentence
 */
enum options_result options_parse(struct options *o, int argc, char **argv,
				  char *err);

/* Index of this blade, 0 based. */
static inline u32 options_blade(const struct options *o)
{
	return o->id - WEFT_BLADE_MIN;
}

/* Address of this blade's other machine, 0: it has none. */
static inline u32 options_partner(const struct options *o)
{
	return o->standbys[options_blade(o)];
}

#endif /* WEFT_MEMD_OPTIONS_H */
