/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A rack in one process, around real memory blades: the network between them,
 * with faults, and a switch, which is tools/directory/directory.c.
 *
 * Two kinds of network.  Loopback needs no privileges: each node has a socket at
 * 127.0.0.ID.  TUN is a network namespace with a tun interface whose other end
 * we are: everything that a blade sends comes by here, and a P4 switch can be
 * played.
 */
#ifndef WEFT_TESTS_MEMD_RIG_H
#define WEFT_TESTS_MEMD_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include "directory.h"
#include "tests/common/check.h"
#include "tools/common/clock.h"

#define RIG_NODES	8
#define RIG_BLADES	3

/**
 * struct rig_faults - what happens to datagrams, in parts of 1000
 * @loss: is lost
 * @dup: comes twice
 * @reorder: is late by some milliseconds
 */
struct rig_faults {
	int loss;
	int dup;
	int reorder;
};

extern unsigned long rig_joined;	/* messages behind another one in a datagram */
extern unsigned long rig_hints;	/* answers without a tag, in a rack with a key */
extern struct rig_faults rig_faults;
extern struct weft_switch rig_switch;	/* counters and entries */
extern bool rig_p4;			/* there is a switch (the core: no P4) */

/* A message for node @id; set by who plays the nodes. */
extern void (*rig_take)(u32 id, const struct weft_msg *msg);

void rig_open(bool tun, unsigned int seed);
void rig_close(void);

/* The end of what the blades have said: what a sanitizer reports is there. */
void rig_show(void);

/* The switch is restarted: it knows nothing. */
void rig_switch_restart(void);

/* What limits in time are multiplied with, on a machine that is slow: WEFT_TEST_SCALE. */
u32 rig_scale(void);

u32 rig_addr(u32 id);

/*
 * A blade is at another address from now on, as its twin has taken over.  Messages that nodes
 * get from where it was are counted, and so are those from where it is not yet; neither
 * arrives, but for TWIN.  Address 0: it is where it was at first.
 */
void rig_move(u32 id, u32 addr);
extern unsigned long rig_from_former;
extern unsigned long rig_from_elsewhere;

/*
 * A member is cut off when so many datagrams more have left it or come to it: none does any
 * more, until rig_heal().  Two blades hear each other all the same.  A rack with TUN, or a node.
 */
void rig_cut(u32 id, u32 after);
void rig_heal(u32 id);
bool rig_is_cut(u32 id);

/* How many have, since rig_cut(). */
u32 rig_passed(u32 id);

/* Of the rack: this run's ports begin with it, the first WEFT_FLOWS of which are the rack's. */
u32 rig_port(void);

int rig_socket(u32 node);	/* on loopback: a node's */
const char *rig_dir(void);	/* for files, removed at the end */
u32 rig_random(u32 n);

/*
 * The rack has a key if WEFT_RIG_KEY is set in the environment; then this is it, blades
 * are started with it, and all that is sent has a tag, but for what is sent raw.
 */
extern struct weft_key rig_key;

/* The rack's clock, as nodes know it from the first blade. */
void rig_clock_set(struct weft_stamp stamp);
struct weft_stamp rig_stamp(void);

/* Bytes of payload in a full fragment at MTU 1500. */
u32 rig_fragment(void);

/* Write a message; @buf is as large as a datagram may be.  Return: its bytes. */
size_t rig_pack(const struct weft_msg *msg, u8 *buf);

/* Send from node @from to a member; rack is set. */
void rig_send(u32 from, u32 to, struct weft_msg *msg);

/*
 * Send bytes to a blade as if they came from that address and port, whoever has them,
 * without faults and switch.  A rack with TUN only.
 */
void rig_send_raw(u32 addr, u16 port, u32 to, const void *buf, size_t len);

/* What a blade has sent to the switch last; the payload is gone. */
extern struct weft_msg rig_asked;

/* Deliver what is there; wait for up to @ms if nothing is. */
void rig_pump(int ms);

/**
 * rig_memd_start() - run a memory blade, $WEFT_MEMD or that of the build, and wait until
 *	it listens; with $WEFT_RIG_THREADS threads, if that is set
 * @id: of the blade
 * @args: more arguments, NULL at the end
 */
void rig_memd_start(u32 id, const char *const *args);

/* Its process. */
pid_t rig_memd_pid(u32 id);

/* Send it a signal that does not end it; after SIGSTOP it has stopped. */
void rig_memd_signal(u32 id, int sig);

/* How large the files are that it may write. */
struct rlimit;
void rig_memd_limit(u32 id, const struct rlimit *l);

/* Stop it with a signal.  Return: wait status. */
int rig_memd_stop(u32 id, int sig);

/* Whichever run, with SIGKILL. */
void rig_memd_stop_all(void);

/*
 * The blades of a rack with TUN of @count, one or two: number @i, from 0, or all.  Each
 * has a backing file of its own, which it finds again.  SIGTERM must end them well.
 */
void rig_blade_start(u32 count, u32 i);
void rig_blades_start(u32 count);
void rig_blades_stop(u32 count, int sig);

/**
 * struct rig_job - what a program is told to do
 * @blades: one or two
 * @faults: of the network, once the nodes have joined
 * @times: how often it does what it does
 * @restarts: of a blade, killed, or of the switch, meanwhile
 * @moves: a region's lines get other homes, so often
 */
struct rig_job {
	u32 blades;
	struct rig_faults faults;
	unsigned long times;
	long restarts;
	long moves;
};

/*
 * Take the arguments of such a program, open a rack with TUN and start its blades:
 *
 *	switch|plain BLADES LOSS DUP REORDER TIMES [SEED [RESTARTS [MOVES]]]
 */
struct rig_job rig_begin(int argc, char **argv);

/* What a program tests, one after the other; the last one has no name. */
struct rig_test {
	const char *name;
	void (*run)(void);
};

/*
 * Run the test that is called @name, all if that is NULL, and say how it was.
 * Return: exit status.
 */
int rig_run(const struct rig_test *tests, const char *name);

#endif /* WEFT_TESTS_MEMD_RIG_H */
