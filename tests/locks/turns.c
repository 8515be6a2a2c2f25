// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks-turns: the nodes take a lock in turns and write to pages that it guards.
 *
 * Each turn finds in all pages what the one before has written, and is timed: until
 * the lock is here, and until all pages have been written to.  In the end each page
 * has as many turns as all nodes have had.
 *
 * No node has two turns in a row as long as another one is to have one: who has the
 * lock could else be done with all of its turns before anybody else asks for it.
 */
#include <getopt.h>

#include "user.h"

#define PAGES_MAX	256
#define ROUNDS_MAX	1000000
#define NOT_MINE_US	100	/* pause of who had the last turn */

/* @last and @done count in the first page only. */
struct page {
	_Atomic uint64_t turns;
	_Atomic uint32_t last;	/* node that had the last turn */
	_Atomic uint32_t done;	/* nodes that have had all of theirs */
	char unused[NODE_PAGE - 2 * sizeof(uint64_t)];
};

struct control {
	struct meeting meeting;
	struct page lock;	/* stands here; nobody touches it */
	struct page page[PAGES_MAX];
};

static struct {
	const char *file;
	unsigned int pages, rounds, pause_us;
	bool bind, reads;
	struct control *control;
	struct user user;
	uint32_t slot;
} job = {
	.file = "/weft/turns", .pages = 4, .rounds = 500, .bind = true,
};

static void bind_pages(void)
{
	struct weft_lock_range range = {
		.offset = offsetof(struct control, page),
		.length = job.pages * sizeof(struct page),
	};
	struct weft_lock_bind b = {
		.slot = job.slot, .n = 1, .ranges = (uintptr_t)&range,
	};

	if (job.bind && ioctl(job.user.fd, WEFT_IOC_LOCK_BIND, &b))
		node_die("cannot say what the lock guards: %s", strerror(errno));
}

/* Has this node had the last turn, and are there others that wait for theirs? */
static bool others_turn(void)
{
	const struct page *first = &job.control->page[0];

	return !job.reads && atomic_load(&first->last) == node.number &&
	       atomic_load(&first->done) + 1 < node.count;
}

/* All pages say the same; then they say one more.  @last: turn of this node. */
static void touch(bool last)
{
	struct page *p = job.control->page;
	uint64_t turns = atomic_load(&p[0].turns);

	for (unsigned int i = 0; i < job.pages; i++) {
		uint64_t found = atomic_load(&p[i].turns);

		if (found != turns)
			node_die("page %u is of turn %llu, the first one of %llu", i,
				 (unsigned long long)found, (unsigned long long)turns);
		if (!job.reads)
			atomic_store(&p[i].turns, turns + 1);
	}
	if (job.reads)
		return;
	atomic_store(&p[0].last, node.number);
	if (last)
		atomic_fetch_add(&p[0].done, 1);
}

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static double median(uint64_t *ns)
{
	qsort(ns, job.rounds, sizeof(*ns), by_value);
	return ns[job.rounds / 2] / 1000.0;
}

static void run(void)
{
	uint32_t mode = job.reads ? WEFT_LOCK_READ : WEFT_LOCK_WRITE;
	uint64_t *lock = calloc(job.rounds, sizeof(*lock));
	uint64_t *data = calloc(job.rounds, sizeof(*data));
	uint64_t *both = calloc(job.rounds, sizeof(*both));

	if (!lock || !data || !both)
		node_die("out of memory");
	for (unsigned int i = 0; i < job.rounds;) {
		uint64_t begin = now_ns(), got, end;
		int err = user_ask(&job.user, job.slot, mode, 0, 0);

		if (err)
			node_die("cannot take the lock: %s", strerror(err));
		got = now_ns();
		if (others_turn()) {
			user_leave(&job.user, 0, job.slot, mode);
			pause_us(NOT_MINE_US);
			continue;
		}
		touch(i + 1 == job.rounds);
		end = now_ns();
		user_leave(&job.user, 0, job.slot, mode);
		lock[i] = got - begin;
		data[i] = end - got;
		both[i++] = end - begin;
		if (job.pause_us)
			pause_us(job.pause_us);
	}
	printf("node %u: %u turns, median us: lock %.1f, data %.1f, both %.1f\n",
	       node.number, job.rounds, median(lock), median(data), median(both));
	free(lock);
	free(data);
	free(both);
}

static void look(void)
{
	uint64_t want = job.reads ? 0 : (uint64_t)job.rounds * node.count;

	int err = user_ask(&job.user, job.slot, WEFT_LOCK_READ, 0, 0);

	if (err)
		node_die("cannot take the lock in the end: %s", strerror(err));
	for (unsigned int i = 0; i < job.pages; i++)
		if (atomic_load(&job.control->page[i].turns) != want)
			node_die("page %u: %llu turns, there were %llu", i,
				 (unsigned long long)job.control->page[i].turns,
				 (unsigned long long)want);
	user_leave(&job.user, 0, job.slot, WEFT_LOCK_READ);
}

static const char usage[] =
	"Usage: locks-turns [OPTION...]\n"
	"The nodes take a lock in turns and write to pages that it guards.\n\n"
	"  --file FILE    shared by all nodes (/weft/turns); remove it before the next run\n"
	"  --node K       this node, from 1 (1)\n"
	"  --nodes N      of so many (1)\n"
	"  --pages N      that the lock guards (4)\n"
	"  --rounds N     turns of each node (500)\n"
	"  --pause US     between its turns (0)\n"
	"  --unbound      do not say what the lock guards\n"
	"  --reads        read-lock it, and write nothing\n"
	"  --timeout S    how long to wait for the other nodes (120)\n";

int main(int argc, char **argv)
{
	enum { O_FILE = 256, O_PAGES, O_ROUNDS, O_PAUSE, O_UNBOUND, O_READS, O_HELP };
	static const struct option options[] = {
		{ "file", required_argument, NULL, O_FILE },
		NODE_OPTIONS,
		{ "pages", required_argument, NULL, O_PAGES },
		{ "rounds", required_argument, NULL, O_ROUNDS },
		{ "pause", required_argument, NULL, O_PAUSE },
		{ "unbound", no_argument, NULL, O_UNBOUND },
		{ "reads", no_argument, NULL, O_READS },
		{ "help", no_argument, NULL, O_HELP },
		{ 0 }
	};
	int c;

	node_begin("locks-turns");
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (node_option(c))
			continue;
		switch (c) {
		case O_FILE: job.file = optarg; break;
		case O_PAGES: job.pages = node_number_of("--pages", optarg, 1, PAGES_MAX); break;
		case O_ROUNDS: job.rounds = node_number_of("--rounds", optarg, 1, ROUNDS_MAX); break;
		case O_PAUSE: job.pause_us = node_number_of("--pause", optarg, 0, 10000000); break;
		case O_UNBOUND: job.bind = false; break;
		case O_READS: job.reads = true; break;
		case O_HELP: fputs(usage, stdout); return 0;
		default: fputs(usage, stderr); return 2;
		}
	}
	if (optind < argc) {
		fputs(usage, stderr);
		return 2;
	}
	node_check();
	job.control = node_map(job.file, sizeof(*job.control), NULL);
	node_join(&job.control->meeting, job.file);
	user_open(&job.user, job.file, 1);
	job.slot = user_slot(&job.user, offsetof(struct control, lock));
	bind_pages();
	node_meet();
	run();
	node_meet();
	look();
	node_meet();
	return 0;
}
