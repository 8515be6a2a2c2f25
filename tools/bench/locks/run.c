// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes of all nodes at one lock: they take it, touch what it guards, and leave
 * it, for some time.
 *
 * What they cost is told by the kernel's counters.  So that only that is counted,
 * the nodes meet before, read their counters, and begin a fixed time after the
 * meeting; afterwards they wait for the last of them in the same way.  In between
 * nothing but the lock and the data is touched.
 */
#include <sys/wait.h>

#include "arena.h"
#include "tools/common/random.h"

#define WARM_UP		4

/* Of one process of this node. */
struct member {
	struct hist lock;
	struct hist data;
	uint64_t reads;
	uint64_t writes;
	uint64_t warm_writes;
	uint64_t datagrams;
	uint64_t ended;
};

/* What this node's processes share. */
struct crew {
	_Atomic uint32_t ready;
	_Atomic uint64_t start;		/* nanoseconds, 0: not known yet */
	struct member member[BENCH_PROCS];
};

static void once(struct lock *l, bool writes, uint64_t *asked, uint64_t *got, uint64_t *used)
{
	l->writes = writes;
	*asked = now_ns();
	if (writes)
		l->kind->wrlock(l);
	else
		l->kind->rdlock(l);
	*got = now_ns();
	arena_touch(l);
	*used = now_ns();
	l->kind->unlock(l);
}

/* A process: returns when it is done. */
static void work(const struct lockbench *b, struct lock *l, unsigned int readers,
		 struct crew *crew)
{
	struct member *m = &crew->member[l->place->proc];
	uint64_t random = random_stream(7, lock_me(l->place)), asked, got, used, end, i;
	bool writes;

	/* The fork has copied a connection to the meeting that is not ours. */
	node.meeting = NULL;
	if (l->kind->init)
		l->kind->init(l);
	for (i = 0; i < WARM_UP; i++)
		once(l, i & 1, &asked, &got, &used);
	m->warm_writes = WARM_UP / 2;
	l->place->messages = 0;
	atomic_fetch_add(&crew->ready, 1);
	while (!atomic_load(&crew->start))
		pause_us(1000);
	pause_until_ns(atomic_load(&crew->start));
	end = atomic_load(&crew->start) + (uint64_t)(b->seconds * 1e9);
	for (i = 0; b->count ? i < b->count : now_ns() < end; i++) {
		writes = random_below(&random, 100) >= readers;
		once(l, writes, &asked, &got, &used);
		hist_add(&m->lock, got - asked);
		hist_add(&m->data, used - asked);
		if (writes)
			m->writes++;
		else
			m->reads++;
		if (b->think_us)
			pause_us(b->think_us);
	}
	m->ended = now_ns();
	m->datagrams = l->place->messages;
}

/* Ends the program if a process did not end well; true: it has ended. */
static bool ended(pid_t pid, int flags)
{
	int status;
	pid_t got = waitpid(pid, &status, flags);

	if (got < 0)
		node_die("cannot wait for a process: %s", strerror(errno));
	if (got && (!WIFEXITED(status) || WEXITSTATUS(status)))
		node_die("a process of this node failed (status 0x%x)", status);
	return got;
}

/* Whatever this process ends of, its children do not stay. */
static pid_t crew_pids[BENCH_PROCS];

static void end_crew(void)
{
	unsigned int i;

	for (i = 0; i < BENCH_PROCS; i++)
		if (crew_pids[i] > 0)
			kill(crew_pids[i], SIGKILL);
}

static void start_crew(const struct lockbench *b, struct lock *l, unsigned int readers,
		       struct crew *crew)
{
	unsigned int i;
	pid_t pid;

	memset(crew, 0, sizeof(*crew));
	for (i = 0; i < b->procs; i++) {
		pid = fork();
		if (pid < 0)
			node_die("cannot fork: %s", strerror(errno));
		if (!pid) {
			memset(crew_pids, 0, sizeof(crew_pids));
			l->place->proc = i;
			work(b, l, readers, crew);
			_exit(0);
		}
		crew_pids[i] = pid;
	}
}

static void await_ready(const struct lockbench *b, struct crew *crew)
{
	uint64_t end = now_ns() + node.timeout * 1000000000ull;
	unsigned int i;

	while (atomic_load(&crew->ready) < b->procs) {
		for (i = 0; i < b->procs; i++)
			if (ended(crew_pids[i], WNOHANG))
				node_die("a process of this node ended too early");
		if (now_ns() > end)
			node_die("the processes of this node are not ready after %u s",
				 node.timeout);
		pause_us(2000);
	}
}

static void await_end(const struct lockbench *b)
{
	uint64_t end = now_ns() + node.timeout * 1000000000ull +
		       (uint64_t)(b->count ? 0 : b->seconds * 1e9);
	unsigned int i;

	for (i = 0; i < b->procs; i++) {
		while (!ended(crew_pids[i], WNOHANG)) {
			if (now_ns() > end)
				node_die("a process of this node has not ended after %u s more than it should take: does it wait for a lock that nobody leaves?",
					 node.timeout);
			pause_us(5000);
		}
		crew_pids[i] = 0;
	}
}

static void gather(const struct lockbench *b, struct crew *crew, struct found *f)
{
	uint64_t start = atomic_load(&crew->start);
	struct member *m;
	unsigned int i;

	memset(f, 0, offsetof(struct found, grown));
	for (i = 0; i < b->procs; i++) {
		m = &crew->member[i];
		hist_join(&f->lock, &m->lock);
		hist_join(&f->data, &m->data);
		f->reads += m->reads;
		f->writes += m->writes;
		f->written += m->writes + m->warm_writes;
		f->datagrams += m->datagrams;
		if (m->ended - start > f->ns)
			f->ns = m->ended - start;
	}
}

static void print(struct json *j, const struct lockbench *b, const struct lock *l,
		  unsigned int readers, const char *who, const struct found *f)
{
	uint64_t acquires = f->reads + f->writes;

	result_begin(j, b, "run", l->kind->name);
	json_u64(j, "nodes", node.count);
	json_u64(j, "procs", b->procs);
	json_u64(j, "readers", readers);
	json_u64(j, "pages", b->pages);
	json_u64(j, "think_us", b->think_us);
	json_string(j, "node", who);
	json_fixed(j, "seconds", (double)f->ns / 1e9);
	json_u64(j, "acquires", acquires);
	json_u64(j, "reads", f->reads);
	json_u64(j, "writes", f->writes);
	json_real(j, "acquires_per_s", f->ns ? (double)acquires * 1e9 / (double)f->ns : 0);
	times_json(j, "lock", &f->lock);
	times_json(j, "data", &f->data);
	if (f->late_ns)
		json_real(j, "late_ms", (double)f->late_ns / 1e6);
}

/* The first node adds up what all have found, and looks whether it can be. */
static void print_all(const struct lockbench *b, struct arena *a, const struct lock *l,
		      unsigned int readers, struct found *all)
{
	double share, sum = 0, squares = 0, least = 0;
	unsigned int k;
	struct json j;

	memset(all, 0, sizeof(*all));
	for (k = 0; k < node.count; k++) {
		const struct found *f = &a->found[k];

		hist_join(&all->lock, &f->lock);
		hist_join(&all->data, &f->data);
		all->reads += f->reads;
		all->writes += f->writes;
		all->written += f->written;
		all->datagrams += f->datagrams;
		if (f->ns > all->ns)
			all->ns = f->ns;
		if (f->late_ns > all->late_ns)
			all->late_ns = f->late_ns;
		tally_add(&all->grown, &f->grown);
		share = (double)(f->reads + f->writes);
		sum += share;
		squares += share * share;
		if (!k || share < least)
			least = share;
	}
	if (l->data_size && arena_written(l) != all->written)
		node_die("lock %s: %llu writes were made, the data has seen %llu",
			 l->kind->name, (unsigned long long)all->written,
			 (unsigned long long)arena_written(l));
	print(&j, b, l, readers, "all", all);
	tally_json(&j, all, all->reads + all->writes);
	json_real(&j, "least_share", sum > 0 ? least * node.count / sum : 0);
	json_real(&j, "jain", squares > 0 ? sum * sum / squares / node.count : 0);
	json_end(&j);
}

static void measure(const struct lockbench *b, struct arena *a, struct crew *crew,
		    struct found *all, const struct lock_kind *kind,
		    unsigned int readers, unsigned int index)
{
	static struct tally before;
	struct found *f = &a->found[node.number - 1];
	struct lock_place place;
	uint64_t start, now;
	struct lock l;
	struct json j;
	char who[16];

	arena_lock(b, a, kind, index, &l, &place);
	start_crew(b, &l, readers, crew);
	await_ready(b, crew);
	node_meet();
	start = now_ns() + b->settle_ms * 1000000ull;
	if (b->count_messages)
		tally_read(&before);
	now = now_ns();
	all->late_ns = now > start ? now - start : 0;
	atomic_store(&crew->start, now > start ? now : start);
	await_end(b);
	pause_until_ns(now_ns() + b->settle_ms * 1000000ull);
	if (b->count_messages)
		tally_read(&all->grown);
	tally_since(&all->grown, &before);
	gather(b, crew, f);
	f->late_ns = all->late_ns;
	f->grown = all->grown;
	snprintf(who, sizeof(who), "%u", node.number);
	print(&j, b, &l, readers, who, f);
	json_end(&j);
	node_meet();
	if (node.number == 1)
		print_all(b, a, &l, readers, all);
	fflush(stdout);
}

/**
 * bench_run() - measure each kind with each share of readers
 * @b: the options
 */
int bench_run(const struct lockbench *b)
{
	unsigned int locks = b->kinds_len * b->readers_len, i;
	struct arena *a = arena_open(b, "run", arena_size(b, locks));
	struct crew *crew = mmap(NULL, sizeof(*crew), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct found *all = malloc(sizeof(*all));

	if (crew == MAP_FAILED || !all)
		node_die("out of memory");
	atexit(end_crew);
	for (i = 0; i < locks; i++)
		measure(b, a, crew, all, b->kinds[i % b->kinds_len],
			b->readers[i / b->kinds_len], i);
	node_meet();
	free(all);
	return 0;
}
