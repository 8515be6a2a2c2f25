// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-stress: threads on several nodes work on the same few pages, with loads,
 * stores and atomics of all sizes, and write down every access.  weft-check
 * judges the logs.
 *
 * The accesses are chosen at random (repeatable by --seed), in bursts on one
 * page: a burst gives the node a chance to use what it has just been given, so
 * that a run has many accesses for its page transfers, and sometimes a second
 * page is mixed in.  Half of the accesses go to the first lines of a page: there
 * the same bytes are contended, elsewhere mostly the page.  With --pause a thread
 * sleeps between its bursts: for a run that has to last while something is done to
 * the rack, and not to use up its processors.
 *
 * Logs stay in private memory while the run lasts and go to files of the node
 * afterwards.  Nothing else of the run is shared but the pages and the meeting.
 */
#include <getopt.h>
#include <pthread.h>
#include <sched.h>

#include "tools/common/random.h"
#include "tools/demo/node.h"
#include "history/history.h"

struct thread {
	pthread_t thread;
	uint32_t id;
	uint64_t random;
	uint32_t *writes;	/* how often this thread wrote, by byte of lane */
	struct history_record *log;
	uint64_t count;
};

static struct {
	uint8_t *data;
	uint32_t pages;
	uint32_t threads;	/* of all nodes */
	uint32_t threads_here;
	uint64_t ops;		/* a thread */
	uint32_t burst;
	uint32_t pause_us;	/* between two bursts, on the average */
	uint64_t deadline;
	uint64_t seed;
	const char *out;
} job = { .pages = 64, .threads_here = 2, .ops = 200000, .burst = 16, .seed = 1 };

/*
 * The accesses themselves.  Plain moves and locked instructions; the signal
 * fence keeps the compiler from moving one before another, the processor is
 * free to do what x86 may do.
 */
#define ACCESS(type)							\
static uint64_t access_##type(void *at, struct history_record *r)	\
{									\
	_Atomic type *p = at;						\
	type old = r->expect;						\
									\
	switch (r->op) {						\
	case OP_READ:							\
		return atomic_load_explicit(p, memory_order_relaxed);	\
	case OP_WRITE:							\
		atomic_store_explicit(p, r->wrote, memory_order_relaxed); \
		return 0;						\
	case OP_XCHG:							\
		return atomic_exchange(p, r->wrote);			\
	case OP_ADD:							\
		return atomic_fetch_add(p, 1);				\
	default:							\
		atomic_compare_exchange_strong(p, &old, r->wrote);	\
		return old;						\
	}								\
}
ACCESS(uint8_t)
ACCESS(uint16_t)
ACCESS(uint32_t)
ACCESS(uint64_t)

static void do_access(struct thread *t, struct history_record *r)
{
	void *at = job.data + r->offset;

	atomic_signal_fence(memory_order_seq_cst);
	switch (r->size) {
	case 1: r->seen = access_uint8_t(at, r); break;
	case 2: r->seen = access_uint16_t(at, r); break;
	case 4: r->seen = access_uint32_t(at, r); break;
	default: r->seen = access_uint64_t(at, r); break;
	}
	atomic_signal_fence(memory_order_seq_cst);
	if (r->op == OP_ADD)
		r->wrote = r->size == 8 ? r->seen + 1 :
			(r->seen + 1) & ((1ull << 8 * r->size) - 1);
	t->log[t->count++] = *r;
}

/*
 * A new value for each lane that an access of @size bytes at @offset writes;
 * false if one of them has been written as often as it can.
 */
static bool new_value(struct thread *t, uint32_t offset, uint32_t size,
		      uint64_t *value)
{
	uint32_t lane = history_lane(offset), i;
	uint64_t v;

	for (i = 0; i < size; i += lane)
		if (t->writes[offset + i] >= history_writes_max(lane, job.threads))
			return false;
	*value = 0;
	if (history_kind(offset) == KIND_WIDE) {
		v = ++t->writes[offset] * (uint64_t)job.threads + t->id;
		for (i = 0; i < size; i += lane)
			*value |= v << 8 * i;
		return true;
	}
	for (i = 0; i < size; i += lane) {
		v = ++t->writes[offset + i] * (uint64_t)job.threads + t->id;
		*value |= v << 8 * i;
	}
	return true;
}

/* One access (or two: a cmpxchg wants to know what to expect) in a page. */
static void random_access(struct thread *t, uint32_t page)
{
	uint64_t x = random_u64(&t->random);
	uint32_t line = x & 1 ? x >> 1 & 7 : x >> 1 & 63;
	uint32_t offset = page * HISTORY_PAGE + line * HISTORY_LINE;
	enum history_kind kind = history_kind(offset);
	struct history_record r = { .size = history_lane(offset), .op = OP_READ };
	uint32_t what = x >> 8 & 15;
	bool write = what < 8;

	if (kind == KIND_WIDE)
		r.size = write ? 8 : r.size << (x >> 12) % (r.size == 1 ? 4 : 3);
	else if (kind == KIND_SPLIT)
		r.size <<= (x >> 12) % 3;
	/* One of the places of that size in the line; most go to the first few. */
	what = x >> 16 & 1 ? x >> 20 & 1 : x >> 20;
	r.offset = offset + what % (HISTORY_LINE / r.size) * r.size;

	what = x >> 8 & 7;
	if (!write) {
		do_access(t, &r);
	} else if (kind == KIND_COUNTER) {
		if (t->writes[r.offset] >= history_writes_max(r.size, job.threads))
			return;
		t->writes[r.offset]++;
		r.op = OP_ADD;
		do_access(t, &r);
	} else if (what < 2 && kind != KIND_WIDE) {
		do_access(t, &r);
		r.expect = r.seen;
		r.op = OP_CAS;
		/* Some must fail, too: ask for what is hardly there. */
		if ((x >> 40 & 7) == 0)
			r.expect ^= 1;
		if (new_value(t, r.offset, r.size, &r.wrote))
			do_access(t, &r);
	} else if (new_value(t, r.offset, r.size, &r.wrote)) {
		r.op = what < 5 ? OP_WRITE : OP_XCHG;
		do_access(t, &r);
	}
}

/* From no time to twice --pause, so that threads do not fall into step. */
static void rest(struct thread *t)
{
	uint64_t ns = random_u64(&t->random) % (2000ull * job.pause_us);
	struct timespec pause = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&pause, NULL);
}

static void *run(void *arg)
{
	struct thread *t = arg;
	uint32_t pages[2], n, i;
	uint64_t x;

	while (t->count + 1 < job.ops && now_ns() < job.deadline) {
		x = random_u64(&t->random);
		pages[0] = (x & 0xffffffff) % job.pages;
		pages[1] = (x & 3) ? pages[0] : (x >> 32) % job.pages;
		n = 1 + (x >> 34) % (2 * job.burst);
		for (i = 0; i < n && t->count + 1 < job.ops; i++)
			random_access(t, pages[random_u64(&t->random) >> 40 & 1]);
		if (job.pause_us)
			rest(t);
		else if ((x >> 60) == 0)
			sched_yield();
	}
	return NULL;
}

static void save(struct thread *t, uint64_t run_id)
{
	struct history_head head = {
		.magic = HISTORY_MAGIC, .type = HISTORY_LOG,
		.node = node.number, .nodes = node.count,
		.thread = t ? t->id : 0, .threads = job.threads,
		.pages = job.pages, .run = run_id,
		.count = t ? t->count : (uint64_t)job.pages * HISTORY_PAGE,
	};
	char path[4200];
	int err;

	if (t) {
		snprintf(path, sizeof(path), "%s/stress-log.%u", job.out, t->id);
		err = history_write(path, &head, t->log,
				    t->count * sizeof(*t->log));
	} else {
		head.type = HISTORY_IMAGE;
		snprintf(path, sizeof(path), "%s/stress-image.%u", job.out,
			 node.number);
		err = history_write(path, &head, job.data, head.count);
	}
	if (err)
		node_die("cannot write %s: %s", path, strerror(errno));
}

/* One page beside the meeting that the run is known by. */
struct control {
	struct meeting meeting;
	_Atomic uint64_t run;
	_Atomic uint64_t options;
};

static struct control *begin(const char *dir, struct thread **threads)
{
	static char path[4096], data_path[4096];
	uint64_t zero = 0, options, i;
	struct control *control;
	struct thread *t;

	snprintf(path, sizeof(path), "%s/stress-meeting", dir);
	snprintf(data_path, sizeof(data_path), "%s/stress-data", dir);
	control = node_map(path, sizeof(struct meeting) + NODE_PAGE, NULL);
	node_join(&control->meeting, path);
	job.data = node_map(data_path, (uint64_t)job.pages * HISTORY_PAGE, NULL);

	options = random_stream(job.pages, job.threads);
	if (!atomic_compare_exchange_strong(&control->options, &zero, options) &&
	    zero != options)
		node_die("another node was started with other --pages or --threads");
	zero = 0;
	atomic_compare_exchange_strong(&control->run, &zero,
				       random_stream(now_ns(), getpid()));
	if (node.number == 1)
		for (i = 0; i < (uint64_t)job.pages * HISTORY_PAGE; i++)
			if (job.data[i])
				node_die("%s has been used before: remove it", data_path);

	*threads = calloc(job.threads_here, sizeof(**threads));
	if (!*threads)
		node_die("out of memory");
	for (i = 0; i < job.threads_here; i++) {
		t = &(*threads)[i];
		t->id = (node.number - 1) * job.threads_here + i;
		t->random = random_stream(job.seed, t->id);
		t->writes = calloc((size_t)job.pages * HISTORY_PAGE, sizeof(*t->writes));
		t->log = calloc(job.ops, sizeof(*t->log));
		if (!t->writes || !t->log)
			node_die("out of memory: give fewer --ops");
		/* No page faults of our own while it runs. */
		memset(t->log, 0xff, job.ops * sizeof(*t->log));
	}
	return control;
}

static const char usage[] =
"usage: weft-stress [--dir DIR] --node K --nodes N --out DIR [OPTIONS]\n"
"Works on DIR/stress-data on N nodes at once and writes the logs of this node to\n"
"the directory given with --out; weft-check judges the logs of all nodes.  The\n"
"files DIR/stress-* must not exist before.\n"
"  --dir DIR      shared directory (default /weft)\n"
"  --node K       this node, 1..N          --nodes N    all nodes (default 1)\n"
"  --threads T    on each node (default 2) --pages P    of data (default 64)\n"
"  --ops N        accesses of a thread (default 200000)\n"
"  --seconds S    end earlier when so much time is over (default 600)\n"
"  --burst N      accesses to a page in a row, on the average (default 16)\n"
"  --pause US     sleep between bursts, on the average (default 0)\n"
"  --seed S       other choices\n"
"  --timeout S    longest wait for the other nodes (default 120)\n";

enum {
	O_DIR = 256, O_OUT, O_THREADS, O_PAGES, O_OPS, O_SECONDS, O_BURST, O_PAUSE, O_SEED,
	O_HELP,
};

static const struct option options[] = {
	{ "dir", required_argument, NULL, O_DIR },
	{ "out", required_argument, NULL, O_OUT },
	NODE_OPTIONS,
	{ "threads", required_argument, NULL, O_THREADS },
	{ "pages", required_argument, NULL, O_PAGES },
	{ "ops", required_argument, NULL, O_OPS },
	{ "seconds", required_argument, NULL, O_SECONDS },
	{ "burst", required_argument, NULL, O_BURST },
	{ "pause", required_argument, NULL, O_PAUSE },
	{ "seed", required_argument, NULL, O_SEED },
	{ "help", no_argument, NULL, O_HELP },
	{ }
};

int main(int argc, char **argv)
{
	const char *dir = "/weft";
	uint64_t seconds = 600, start, done = 0;
	struct control *control;
	struct thread *threads;
	uint32_t i;
	int c, err;

	node_begin("weft-stress");
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (node_option(c))
			continue;
		switch (c) {
		case O_DIR: dir = optarg; break;
		case O_OUT: job.out = optarg; break;
		case O_THREADS: job.threads_here = node_number_of("--threads", optarg, 1, 16); break;
		case O_PAGES: job.pages = node_number_of("--pages", optarg, 1, 65536); break;
		case O_OPS: job.ops = node_number_of("--ops", optarg, 2, 1u << 28); break;
		case O_SECONDS: seconds = node_number_of("--seconds", optarg, 1, 86400); break;
		case O_BURST: job.burst = node_number_of("--burst", optarg, 1, 1 << 20); break;
		case O_PAUSE: job.pause_us = node_number_of("--pause", optarg, 0, 1000000); break;
		case O_SEED: job.seed = node_number_of("--seed", optarg, 0, UINT64_MAX); break;
		case O_HELP: fputs(usage, stdout); return 0;
		default: fputs(usage, stderr); return 2;
		}
	}
	node_check();
	job.threads = node.count * job.threads_here;
	if (optind < argc || !job.out) {
		fputs(usage, stderr);
		return 2;
	}
	if (job.threads > HISTORY_THREADS)
		node_die("%u threads are too many, at most %u in all", job.threads,
			 HISTORY_THREADS);
	control = begin(dir, &threads);

	node_meet();
	start = now_ns();
	job.deadline = start + seconds * 1000000000ull;
	for (i = 0; i < job.threads_here; i++) {
		err = pthread_create(&threads[i].thread, NULL, run, &threads[i]);
		if (err)
			node_die("cannot start a thread: %s", strerror(err));
	}
	for (i = 0; i < job.threads_here; i++) {
		pthread_join(threads[i].thread, NULL);
		done += threads[i].count;
	}
	printf("node %u: %llu accesses in %.2f s\n", node.number,
	       (unsigned long long)done, (now_ns() - start) / 1e9);

	node_meet();
	for (i = 0; i < job.threads_here; i++)
		save(&threads[i], atomic_load(&control->run));
	save(NULL, atomic_load(&control->run));
	node_meet();
	return 0;
}
