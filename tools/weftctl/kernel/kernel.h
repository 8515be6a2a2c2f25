/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The node as the kernel keeps it: what the commands of uapi/weft_netlink.h ask
 * and change, as plain structures.  Every function that returns int returns 0,
 * or an exit status after it has said what is wrong.
 */
#ifndef WEFTCTL_KERNEL_H
#define WEFTCTL_KERNEL_H

#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "tools/common/hist.h"
#include "weft_netlink.h"

struct genl_refusal;

/* Set-up of a node, as in enum weft_a_config. */
struct config {
	uint32_t id;	/* of the node */
	uint32_t rack;	/* number of the rack on this machine */
	/*
	 * the one that messages say, another one than @rack if this machine is a node of the
	 * rack more than once
	 */
	uint32_t joins;
	bool joins_set;	/* @joins is given; if not it is @rack */
	char ifname[IF_NAMESIZE];	/* interface */
	struct in_addr homes[WEFT_HOMES_MAX];	/* addresses of the memory blades */
	/* of each of them, where it goes on if its machine dies; 0: nowhere */
	struct in_addr twins[WEFT_HOMES_MAX];
	unsigned int homes_len;
	/* bits of those that no region uses any more; only of blades_config() */
	uint32_t drained;
	struct in_addr address;	/* the node's own; 0 to set: the interface's first */
	uint32_t mtu;	/* longest datagram; 0 to set: the interface's */
	uint32_t timeout_ms;	/* how long programs wait for the network; 0 to set: leave it */
	uint32_t hold_us;	/* how long a block stays after it came */
	bool hold_set;	/* @hold_us is given */
	uint32_t wire_version;	/* of the messages */
	/* file with the rack's key, "" if it has none; the kernel does not know it */
	char key_path[PATH_MAX];
	uint8_t key[WEFT_KEY_BYTES];	/* what it says, to set; wiped by kernel_config_set() */
};

/* Up to which blade have they got twins?  How many that are, 0: none has. */
static inline unsigned int config_twins(const struct config *c)
{
	unsigned int n = c->homes_len;

	while (n && !c->twins[n - 1].s_addr)
		n--;
	return n;
}

/* State of a node, as in enum weft_a_status. */
struct status {
	bool joined;	/* it is a member of its rack */
	uint32_t life;	/* number of its life */
	bool key_set;	/* the rack has a key */
	uint32_t fingerprint;	/* of the key */
	/* counter of the last message that was refused for who sent it, "": none */
	char refused[32];
	struct in_addr refused_from;	/* where it came from */
	uint64_t refused_ms;	/* how long ago */
	uint32_t answered_ms;	/* since the first memory blade last answered */
	uint32_t members;	/* nodes of the rack, bit id - 1 */
	bool lease_known;	/* it is a member, and knows the lease */
	/* a node that is silent for so long is taken for dead; 0: none is */
	uint32_t lease_ms;
	uint64_t regions;	/* that it knows */
	uint64_t lines;	/* blocks in its cache */
	uint64_t cache_bytes;	/* what they take */
	uint64_t cache_max;	/* what they may take */
};

#define COUNTER_NAME_MAX	256

/* One counter. */
struct counter {
	char name[COUNTER_NAME_MAX];	/* as the kernel, the blade or the switch calls it */
	uint64_t value;	/* its value */
};

/* A list of counters, in the order in which they came. */
struct counters {
	struct counter *list;	/* of malloc(), grows */
	size_t len;
};

#define REGION_NAME_MAX	256

#define HIST_NAME_MAX	64

/* How long something takes. */
struct kernel_hist {
	char name[HIST_NAME_MAX];	/* as the kernel calls it */
	struct hist_list times;	/* what it has counted */
};

/* A list of them, in the order in which they came. */
struct hists {
	struct kernel_hist *list;	/* of malloc(), grows */
	size_t len;
};

/* A member of the rack. */
struct peer {
	uint32_t id;	/* nodes 1..32, memory blades 33..48 */
	struct in_addr address;	/* its own */
	bool self;	/* this node */
	bool joined;	/* a node that is a member now */
	bool rdma;	/* data goes to it by RDMA */
	char why_udp[64];	/* why not, "" if there is nothing to be said of that */
	/* of a memory blade: where it goes on if its machine dies; 0: nowhere */
	struct in_addr twin;
	/* of a memory blade with a twin: grows each time that it does; 0: not heard of */
	uint32_t view;
};

#define PEERS_MAX	48

struct peers {
	struct peer list[PEERS_MAX];
	size_t len;
};

extern const struct column peer_columns[];

/* How far a node is set up. */
enum kernel_state {
	KERNEL_NO_MODULE,
	KERNEL_DOWN,
	KERNEL_UP,
};

/**
 * kernel_open() - reach the module
 * @load: load it if it is not there
 */
int kernel_open(bool load);

void kernel_close(void);

/* Racks of this machine. */
struct racks {
	struct config list[WEFT_RACKS_MAX];	/* by their numbers */
	size_t len;
};

/* All of them, or only the one that was chosen; none if the node is not set up. */
int kernel_racks(struct racks *r);

/**
 * kernel_choose_of() - choose the rack of a configuration file
 * @file: what the file says; NULL: there is none
 *
 * Only if there are several racks and none is chosen.  Return: 0, or what was said.
 */
int kernel_choose_of(const struct config *file);

/* Like kernel_open(), without a sentence about a module that is not there. */
int kernel_state(enum kernel_state *state);

int kernel_config_set(struct config *c);
int kernel_config_clear(void);
int kernel_config_get(struct config *c);

/* Only @c->timeout_ms and @c->hold_us. */
int kernel_tune(const struct config *c);

/* Another node is to be taken for dead. */
int kernel_fence(uint32_t node);

int kernel_status(struct status *s);
int kernel_peers(struct peers *p);

int kernel_stats(struct counters *c);

/* As in enum weft_a_line. */
struct line {
	uint32_t region;
	uint64_t index;
	uint32_t state;
	uint32_t op;
	uint32_t waiters;
	uint32_t misses;
	uint32_t revocations;
	bool dirty;
	bool revoking;
	bool ahead;
};

/* As in enum weft_a_lock. */
struct lock_info {
	uint32_t region;
	uint64_t offset;
	uint32_t state;
	uint32_t want;
	uint32_t readers;
	uint32_t waiters;
	uint32_t queue;
	uint32_t grants;
	uint32_t hand_overs;
	bool writer;
	bool open;
	bool tenured;
	bool revoking;
};

/*
 * Lines and locks of the node, each given to @take as it comes: these lists are long.  Of
 * @region only, or of all if that is 0.
 */
int kernel_lines(uint32_t region, row_fn *take, void *arg);
int kernel_locks(uint32_t region, row_fn *take, void *arg);
extern const struct column line_columns[], lock_columns[];

/* As in enum weft_a_event, in microseconds; strings are "" if they are not there. */
struct event {
	uint32_t kind;
	uint32_t rack;
	uint64_t usec;
	uint32_t missed;
	uint32_t member;
	uint32_t region;
	char name[REGION_NAME_MAX];
	bool has_offset;
	uint64_t offset;
	uint64_t count;
	uint32_t err;
	struct in_addr address;
	uint32_t pid;
	char comm[32];
	bool by_switch;
};

extern const struct column event_columns[];

/* Begins to listen to events; @fd is what to wait for. */
int kernel_events_begin(int *fd);

/* Takes those that have come; @lost: some did not, as they were not taken in time. */
int kernel_events_take(row_fn *take, void *arg, bool *lost);

int kernel_hists(struct hists *h);
void hists_free(struct hists *h);

/**
 * kernel_blade_stats() - counters of a memory blade
 * @address: for sentences
 * @silent: set to whether it does not answer, which is no failure then
 */
int kernel_blade_stats(uint32_t blade, struct in_addr address, struct counters *c, bool *silent);

/* The same without a sentence.  Return: 0, or a negative errno. */
int kernel_blade_try(uint32_t blade, struct counters *c, struct genl_refusal *why);

/**
 * kernel_switch_stats() - ask the directory in the switch
 * @absent: NULL: it is an error if none answers; else filled in
 */
int kernel_switch_stats(struct counters *c, bool *absent);

/* Value of the counter @name, 0 if there is none. */
uint64_t counters_get(const struct counters *c, const char *name);

/* The sum of some, whose names have a blank between them. */
uint64_t counters_sum(const struct counters *c, const char *names);

/* One more, a struct counter. */
int counters_add(void *row, void *arg);

void counters_free(struct counters *c);

#endif /* WEFTCTL_KERNEL_H */
