/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every program needs that runs on several nodes at once: mapping a file
 * that all of them share, meeting the others, and giving up in time with a
 * sentence that says what to do.
 *
 * Shared files start as zeros and zeros are a valid start, so it does not
 * matter which node creates them.  Header only: the programs that use it lie in
 * different directories and are linked from one object each.
 */
#ifndef WEFT_TOOLS_DEMO_NODE_H
#define WEFT_TOOLS_DEMO_NODE_H

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/clock.h"
#include "tools/common/number.h"

#define NODE_MAX	32
#define NODE_PAGE	4096u

/**
 * struct meeting - where the nodes of one run wait for each other
 * @joined:	bit k-1: node k takes part; nobody can be in twice
 * @failed:	bit k-1: node k gave up, the others need not wait
 * @arrived:	grows by one per node and round, is never set back
 *
 * One page of shared memory of its own: whoever waits polls it, and should
 * disturb nobody else's data by that.
 */
struct meeting {
	_Atomic uint64_t joined;
	_Atomic uint64_t failed;
	_Atomic uint64_t arrived;
	char unused[NODE_PAGE - 3 * sizeof(uint64_t)];
};

/**
 * struct node - this process among the others
 * @program:	name that messages start with
 * @number:	1..count
 * @count:	nodes that take part
 * @timeout:	seconds that a meeting may take
 * @pause_us:	longest pause between two looks at a meeting
 * @rounds:	meetings so far
 * @meeting:	shared with the others, NULL before node_join()
 * @meeting_file: its name, for messages
 */
struct node {
	const char *program;
	unsigned int number;
	unsigned int count;
	unsigned int timeout;
	unsigned int pause_us;
	uint64_t rounds;
	struct meeting *meeting;
	const char *meeting_file;
};

/*
 * One process is one node; the signal handler has to find it, too.  Weak, so that
 * all files of a program that include this share one.
 */
__attribute__((weak)) struct node node = {
	.program = "weft", .number = 1, .count = 1, .timeout = 120, .pause_us = 1000
};

static inline uint64_t node_bit(unsigned int number)
{
	return 1ull << (number - 1);
}

/**
 * node_die() - leave with a sentence, and let the other nodes know
 * @fmt:	the sentence, without the end of line
 */
__attribute__((noreturn, format(printf, 1, 2)))
static inline void node_die(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s: ", node.program);
	if (node.count > 1)
		fprintf(stderr, "node %u: ", node.number);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	if (node.meeting)
		atomic_fetch_or(&node.meeting->failed, node_bit(node.number));
	exit(1);
}

/* A shared page that cannot be had ends in SIGBUS: say so, then go. */
static inline void node_on_sigbus(int sig)
{
	static const char text[] =
		": a page of shared memory could not be had (SIGBUS): is the memory blade up, is the file long enough?\n";

	(void)sig;
	if (write(2, node.program, strlen(node.program)) < 0 ||
	    write(2, text, sizeof(text) - 1) < 0)
		_exit(3);
	_exit(3);
}

/**
 * node_begin() - first call of main()
 * @program:	name that messages start with
 */
static inline void node_begin(const char *program)
{
	struct sigaction sa = { .sa_handler = node_on_sigbus };

	node.program = program;
	setlinebuf(stdout);
	sigaction(SIGBUS, &sa, NULL);
}

/**
 * node_number_of() - a number from the command line
 * @option:	name of the option, for the message
 * @text:	what was given, see number_size()
 * @min:	smallest allowed
 * @max:	largest allowed
 */
static inline uint64_t node_number_of(const char *option, const char *text,
				      uint64_t min, uint64_t max)
{
	uint64_t value;

	if (number_size(text, min, max, &value))
		node_die("%s %s: give a number from %llu to %llu", option, text,
			 (unsigned long long)min, (unsigned long long)max);
	return value;
}

/**
 * node_numbers_of() - several numbers from the command line, as 1,2,4
 * @option:	name of the option, for messages
 * @list:	what was given; it is taken apart
 * @min:	smallest allowed
 * @max:	largest allowed
 * @numbers:	become these
 * @room:	as many are allowed
 *
 * Return: how many there are.
 */
static inline unsigned int node_numbers_of(const char *option, char *list,
					   uint64_t min, uint64_t max,
					   unsigned int *numbers, unsigned int room)
{
	unsigned int n = 0;
	char *item;

	for (item = strtok(list, ","); item; item = strtok(NULL, ",")) {
		if (n == room)
			node_die("%s: at most %u numbers", option, room);
		numbers[n++] = node_number_of(option, item, min, max);
	}
	return n;
}

/* The options of such programs that say who they are, among the other ones. */
enum { NODE_OPTION_NODE = 512, NODE_OPTION_NODES, NODE_OPTION_TIMEOUT };

#define NODE_OPTIONS							\
	{ "node", required_argument, NULL, NODE_OPTION_NODE },		\
	{ "nodes", required_argument, NULL, NODE_OPTION_NODES },	\
	{ "timeout", required_argument, NULL, NODE_OPTION_TIMEOUT }

/**
 * node_option() - take what getopt_long() found, if it is one of these
 * @option:	what it found; the argument is in optarg
 */
static inline bool node_option(int option)
{
	switch (option) {
	case NODE_OPTION_NODE:
		node.number = node_number_of("--node", optarg, 1, NODE_MAX);
		return true;
	case NODE_OPTION_NODES:
		node.count = node_number_of("--nodes", optarg, 1, NODE_MAX);
		return true;
	case NODE_OPTION_TIMEOUT:
		node.timeout = node_number_of("--timeout", optarg, 1, 86400);
		return true;
	default:
		return false;
	}
}

/**
 * node_check() - after the options: is this a node of the run?
 */
static inline void node_check(void)
{
	if (node.number > node.count) {
		unsigned int number = node.number;

		node.number = 1;
		node_die("--node %u: there are only %u nodes (--nodes)",
			 number, node.count);
	}
}

/**
 * node_open() - open a shared file and make it at least so long
 * @path:	the file
 * @size:	bytes wanted; 0 = the file must exist and is taken as it is
 * @real_size:	set to the size of the file, may be NULL
 *
 * Growing is safe when several nodes do it at once: nobody shrinks.
 */
static inline int node_open(const char *path, uint64_t size, uint64_t *real_size)
{
	struct stat st;
	int fd;

	fd = open(path, O_RDWR | O_CLOEXEC | (size ? O_CREAT : 0), 0666);
	if (fd < 0)
		node_die("cannot open %s: %s", path, strerror(errno));
	if (fstat(fd, &st))
		node_die("cannot ask for the size of %s: %s", path, strerror(errno));
	if ((uint64_t)st.st_size < size) {
		if (ftruncate(fd, size))
			node_die("cannot make %s %llu bytes long: %s", path,
				 (unsigned long long)size, strerror(errno));
		st.st_size = size;
	}
	if (real_size)
		*real_size = st.st_size;
	return fd;
}

/**
 * node_map() - map a shared file from its start
 * @path:	the file
 * @size:	bytes wanted; 0 = the whole existing file
 * @real_size:	set to the number of bytes mapped, may be NULL
 */
static inline void *node_map(const char *path, uint64_t size, uint64_t *real_size)
{
	uint64_t there;
	void *at;
	int fd;

	fd = node_open(path, size, &there);
	if (!size)
		size = there;
	if (!size)
		node_die("%s is empty", path);
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		node_die("cannot map %s (%llu bytes): %s", path,
			 (unsigned long long)size, strerror(errno));
	close(fd);
	if (real_size)
		*real_size = size;
	return at;
}

/**
 * node_join() - take part in a run
 * @m:		the meeting place, zeros at first
 * @file:	the file that it is in, for messages
 */
static inline void node_join(struct meeting *m, const char *file)
{
	uint64_t before = atomic_fetch_or(&m->joined, node_bit(node.number));

	node.meeting_file = file;
	if (before & node_bit(node.number))
		node_die("a node %u has been here before: is it still running? If not, remove %s first",
			 node.number, file);
	node.meeting = m;
}

/* The nodes of a set, as "1, 3". */
static inline const char *node_list(uint64_t set, char *text, size_t len)
{
	unsigned int k;
	size_t at = 0;

	text[0] = '\0';
	for (k = 1; k <= node.count && at < len; k++)
		if (set & node_bit(k))
			at += snprintf(text + at, len - at, "%s%u",
				       at ? ", " : "", k);
	return text;
}

/**
 * node_meet() - wait until all nodes have called this as often
 *
 * Polls with growing pauses, so that waiting costs the others little; ends
 * after the time limit, or as soon as a node has given up.  What the nodes
 * wrote before the meeting is visible to all of them after it.
 */
static inline void node_meet(void)
{
	struct meeting *m = node.meeting;
	uint64_t deadline = now_ns() + node.timeout * 1000000000ull;
	uint64_t all = ++node.rounds * node.count;
	unsigned int pause = 5;
	uint64_t set;
	char text[160];

	atomic_fetch_add(&m->arrived, 1);
	while (atomic_load(&m->arrived) < all) {
		set = atomic_load(&m->failed);
		if (set) {
			/* It is not this node's failure: do not add to the list. */
			node.meeting = NULL;
			node_die("node %s gave up, so do I",
				 node_list(set, text, sizeof(text)));
		}
		if (now_ns() > deadline) {
			set = ~atomic_load(&m->joined);
			node_die("waited %u s in vain at meeting %llu of %s (never came: node %s)",
				 node.timeout, (unsigned long long)node.rounds,
				 node.meeting_file,
				 *node_list(set, text, sizeof(text)) ? text : "none");
		}
		pause_us(pause);
		if (pause < node.pause_us)
			pause += 1 + pause / 2;
	}
}

/**
 * node_wait_a_bit() - between two looks at memory that somebody will change soon
 * @looks:	counts; 0 before the first
 *
 * Spins at first.  Then sleeps each time: where one machine emulates several
 * nodes, one that spins takes the processor from the one it waits for.  Returns
 * true after a sleep, a good moment to look at the time.
 */
static inline bool node_wait_a_bit(uint32_t *looks)
{
	if (++*looks < 2000)
		return false;
	pause_us(20);
	return true;
}

#endif /* WEFT_TOOLS_DEMO_NODE_H */
