// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks-hammer: processes of several nodes increment records in shared memory,
 * each record guarded by a lock.  Who has the lock to write never meets another
 * in the record; who has it to read never sees it torn; and in the end each record
 * holds exactly as many increments as all processes have counted.
 *
 * With --kill, processes die at random moments, with locks in hand, waiting for
 * them, or half way through taking one.  A writer that dies leaves its name in the
 * record.  Then a record may hold one increment more for each thread that was
 * killed, and a torn record must have the name of a writer in it; whoever finds that is told
 * by the lock that its owner died.  All locks must
 * be there to be taken in the end.
 *
 * With --guard, each record is spread over pages of its own, and the kernel is told
 * that the lock guards them.  With --beside, a thread of each process adds to a
 * number on these pages without the lock: none of its additions may be lost.
 *
 * With --alone, others may spoil the file and what is told about its locks, so nothing
 * is known of other nodes or of the records: none of them is met, no record is judged,
 * whoever cannot go on is ended, and what was done until then is told.
 *
 * With --pause, threads rest between turns: for a rack that is to be at work while something
 * else is looked at, which needs the processors, too.
 */
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

#include "tools/common/random.h"
#include "user.h"

#define LOCKS_MAX	256
#define PROCS_MAX	16
#define THREADS_MAX	16
#define COPIES		7

/* A cache line each, so several share a page. */
struct record {
	_Atomic uint64_t holder;	/* who writes */
	_Atomic uint64_t copy[COPIES];	/* all the same, but for who writes */
};

/* One copy of a record, on a page that the lock guards. */
struct page {
	_Atomic uint64_t holder;
	_Atomic uint64_t copy;
	_Atomic uint64_t beside;	/* added to without the lock */
	char unused[NODE_PAGE - 3 * sizeof(uint64_t)];
};

struct control {
	struct meeting meeting;
	_Atomic uint64_t sum[LOCKS_MAX];	/* increments that were counted */
	_Atomic uint64_t beside;		/* additions that were counted */
	_Atomic uint64_t killed;		/* threads */
	struct record record[LOCKS_MAX] __attribute__((aligned(NODE_PAGE)));
	struct page page[LOCKS_MAX][COPIES];
};

/* What the processes of a node share: it survives those that are killed. */
struct shared {
	_Atomic uint64_t sum[LOCKS_MAX];
	_Atomic uint64_t reads, writes, quick, asked, busy, late, mended, beside;
	_Atomic bool stop;
};

static struct {
	const char *file, *stop;
	unsigned int procs, threads, locks, readers, seconds, kill_ms, rest_us;
	bool guard, beside, alone;
	uint64_t seed;
	struct control *control;
	struct shared *shared;
	struct user user;
	uint32_t slot[LOCKS_MAX];
} job = {
	.file = "/weft/hammer", .procs = 2, .threads = 2, .locks = 4, .readers = 50,
	.seconds = 10, .seed = 1,
};

struct worker {
	pthread_t thread;
	uint32_t cell;
	uint64_t random;
	uint64_t id;
};

static uint64_t below(struct worker *w, uint64_t n)
{
	return random_below(&w->random, n);
}

/* Others shall come by while a lock is held. */
static void linger(struct worker *w)
{
	switch (below(w, 64)) {
	case 0:
		pause_us(below(w, 2000));
		break;
	case 1 ... 8:
		sched_yield();
		break;
	default:
		break;
	}
}

static _Atomic uint64_t *holder_of(unsigned int lock)
{
	return job.guard ? &job.control->page[lock][0].holder :
			   &job.control->record[lock].holder;
}

static _Atomic uint64_t *copy_of(unsigned int lock, unsigned int i)
{
	return job.guard ? &job.control->page[lock][i].copy :
			   &job.control->record[lock].copy[i];
}

static void wrong(const struct worker *w, unsigned int lock, const char *what)
{
	char text[400];
	int at = 0;

	if (job.alone)
		return;
	for (int i = 0; i < COPIES; i++)
		at += snprintf(text + at, sizeof(text) - at, " %llu",
			       (unsigned long long)*copy_of(lock, i));
	node_die("writer %llx, lock %u: %s; holder %llx, copies%s; word %llx",
		 (unsigned long long)w->id, lock, what,
		 (unsigned long long)*holder_of(lock), text,
		 (unsigned long long)job.user.words[job.slot[lock]].word);
}

static bool is_torn(unsigned int lock)
{
	uint64_t first = atomic_load(copy_of(lock, 0));

	for (int i = 1; i < COPIES; i++)
		if (atomic_load(copy_of(lock, i)) != first)
			return true;
	return false;
}

static void read_record(struct worker *w, unsigned int lock)
{
	uint64_t holder = atomic_load(holder_of(lock));
	uint64_t value = atomic_load(copy_of(lock, COPIES - 1));
	bool torn = is_torn(lock);

	if (holder && !job.kill_ms)
		wrong(w, lock, "a writer is here while it is read");
	if (holder && !user_died(&job.user, job.slot[lock]))
		wrong(w, lock, "a reader is not told that a writer died");
	if (torn && !holder)
		wrong(w, lock, "a reader sees it torn");
	linger(w);
	if (atomic_load(holder_of(lock)) != holder || is_torn(lock) != torn ||
	    atomic_load(copy_of(lock, COPIES - 1)) != value)
		wrong(w, lock, "it changes while it is read");
}

static void write_record(struct worker *w, unsigned int lock)
{
	uint64_t value = 0, dead = atomic_load(holder_of(lock));

	if (dead && !job.kill_ms)
		wrong(w, lock, "another writer is here");
	if (dead && !user_died(&job.user, job.slot[lock]))
		wrong(w, lock, "a writer is not told that another one died");
	if (is_torn(lock) && !dead)
		wrong(w, lock, "a writer finds it torn");
	atomic_store(holder_of(lock), w->id);
	for (int i = 0; i < COPIES; i++)
		if (atomic_load(copy_of(lock, i)) > value)
			value = atomic_load(copy_of(lock, i));
	for (int i = 0; i < COPIES; i++) {
		atomic_store(copy_of(lock, i), value + 1);
		if (i == COPIES / 2)
			linger(w);
	}
	if (atomic_load(holder_of(lock)) != w->id || is_torn(lock) ||
	    atomic_load(copy_of(lock, 0)) != value + 1)
		wrong(w, lock, "somebody else has written");
	atomic_store(holder_of(lock), 0);
	/* not always: then the next one hears of it */
	if (user_died(&job.user, job.slot[lock]) && below(w, 4)) {
		if (user_mend(&job.user, job.slot[lock]))
			node_die("MEND: %s", strerror(errno));
		atomic_fetch_add(&job.shared->mended, 1);
	}
}

/* Return: whether it was taken. */
static bool take(struct worker *w, uint32_t slot, uint32_t mode)
{
	uint32_t kind = below(w, 16), flags = 0;
	int64_t deadline = 0;
	int err;

	/* most of the time as programs do it, now and then not */
	if (kind > 3 && user_take(&job.user, w->cell, slot, mode)) {
		job.shared->quick++;
		return true;
	}
	if (kind == 0) {
		flags = WEFT_LOCK_TRY;
	} else if (kind == 1) {
		flags = WEFT_LOCK_UNTIL;
		deadline = (int64_t)(now_ns() + below(w, 20000000));
	}
	err = user_ask(&job.user, slot, mode, flags, deadline);
	job.shared->asked++;
	if (!err)
		return true;
	if (err == EBUSY && flags == WEFT_LOCK_TRY)
		job.shared->busy++;
	else if (err == ETIMEDOUT && flags == WEFT_LOCK_UNTIL)
		job.shared->late++;
	else
		node_die("ACQUIRE of slot %u: %s", slot, strerror(err));
	return false;
}

static void leave(struct worker *w, uint32_t slot, uint32_t mode)
{
	int err;

	/* what stands in an entry only the thread itself can leave */
	if (below(w, 8) || (mode == WEFT_LOCK_READ && user_has(&job.user, w->cell, slot))) {
		user_leave(&job.user, w->cell, slot, mode);
		return;
	}
	err = user_op(&job.user, WEFT_IOC_LOCK_RELEASE, slot, mode, 0, 0);
	if (err)
		node_die("RELEASE of slot %u: %s", slot, strerror(err));
}

static void *work(void *arg)
{
	struct worker *w = arg;

	while (!job.shared->stop) {
		unsigned int lock = below(w, job.locks);
		bool reads = below(w, 100) < job.readers;
		uint32_t mode = reads ? WEFT_LOCK_READ : WEFT_LOCK_WRITE;

		if (!take(w, job.slot[lock], mode))
			continue;
		if (reads)
			read_record(w, lock);
		else
			write_record(w, lock);
		leave(w, job.slot[lock], mode);
		if (reads) {
			job.shared->reads++;
		} else {
			job.shared->sum[lock]++;
			job.shared->writes++;
		}
		if (job.rest_us)
			pause_us(below(w, 2 * job.rest_us));
	}
	return NULL;
}

/* Whoever holds the locks of these pages has them coherent all the same. */
static void *add_beside(void *arg)
{
	struct worker *w = arg;

	while (!job.shared->stop) {
		unsigned int lock = below(w, job.locks);

		atomic_fetch_add(&job.control->page[lock][below(w, COPIES)].beside, 1);
		job.shared->beside++;
		pause_us(below(w, 100000));
	}
	return NULL;
}

static void bind_lock(unsigned int lock)
{
	struct weft_lock_range range = {
		.offset = offsetof(struct control, page) +
			  lock * sizeof(job.control->page[0]),
		.length = sizeof(job.control->page[0]),
	};
	struct weft_lock_bind b = {
		.slot = job.slot[lock], .n = 1, .ranges = (uintptr_t)&range,
	};

	if (ioctl(job.user.fd, WEFT_IOC_LOCK_BIND, &b))
		node_die("cannot say what lock %u guards: %s", lock, strerror(errno));
}

static void open_locks(void)
{
	user_open(&job.user, job.file, LOCKS_MAX);
	for (unsigned int i = 0; i < job.locks; i++) {
		job.slot[i] = user_slot(&job.user, offsetof(struct control, record[i]));
		if (job.guard)
			bind_lock(i);
	}
	job.user.lists = job.user.may_list;
}

/* A process of its own, with its own open file. */
static pid_t start(unsigned int proc, unsigned int life)
{
	struct worker worker[THREADS_MAX], beside;
	pid_t pid = fork();
	unsigned int i;

	if (pid < 0)
		node_die("cannot fork: %s", strerror(errno));
	if (pid)
		return pid;
	open_locks();
	for (i = 0; i < job.threads; i++) {
		worker[i].cell = i * 7 % WEFT_HOLDS_THREADS;
		worker[i].id = (uint64_t)node.number << 48 | (uint64_t)proc << 40 |
			       (uint64_t)life << 8 | (i + 1);
		worker[i].random = random_stream(job.seed, worker[i].id);
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i]))
			node_die("cannot start a thread");
	}
	beside = (struct worker){ .random = worker[0].random ^ 0x5555 };
	if (job.beside && pthread_create(&beside.thread, NULL, add_beside, &beside))
		node_die("cannot start a thread");
	for (i = 0; i < job.threads; i++)
		pthread_join(worker[i].thread, NULL);
	if (job.beside)
		pthread_join(beside.thread, NULL);
	exit(0);
}

static void reap(pid_t pid, bool killed)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		node_die("cannot wait for a process: %s", strerror(errno));
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	if (!killed || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		node_die("a process ended with status %x", status);
	atomic_fetch_add(&job.control->killed, job.threads);
}

/* Whether the time is over, or somebody who waited for something else says so. */
static bool is_over(uint64_t end)
{
	return now_ns() >= end || (job.stop && !access(job.stop, F_OK));
}

/* Run the processes until that, killing some if so told. */
static void run(void)
{
	uint64_t end = now_ns() + job.seconds * 1000000000ull;
	struct worker dice = { .random = job.seed + node.number };
	unsigned int i, life = 1;
	pid_t pid[PROCS_MAX];

	for (i = 0; i < job.procs; i++)
		pid[i] = start(i, 0);
	while (job.kill_ms && !is_over(end)) {
		pause_us(1000 * (1 + below(&dice, 2 * job.kill_ms)));
		i = below(&dice, job.procs);
		kill(pid[i], SIGKILL);
		reap(pid[i], true);
		pid[i] = start(i, life++);
	}
	while (!is_over(end) && !waitpid(-1, NULL, WNOHANG))
		pause_us(20000);
	job.shared->stop = true;
	for (i = 0; i < job.procs; i++)
		reap(pid[i], false);
}

/*
 * The same where nobody can count on anything: those that have not ended by themselves
 * a second after the time are killed, wherever they wait.  Return: how many.
 */
static unsigned int run_alone(void)
{
	uint64_t end = now_ns() + job.seconds * 1000000000ull;
	unsigned int i, left = job.procs, killed = 0;
	pid_t pid[PROCS_MAX];

	for (i = 0; i < job.procs; i++)
		pid[i] = start(i, 0);
	while (left) {
		uint64_t now = now_ns();

		job.shared->stop = now > end;
		for (i = 0; i < job.procs; i++) {
			if (!pid[i] || waitpid(pid[i], NULL, WNOHANG) != pid[i])
				continue;
			pid[i] = 0;
			left--;
		}
		if (!killed && now > end + 1000000000ull)
			for (i = 0; i < job.procs; i++)
				if (pid[i] && !kill(pid[i], SIGKILL))
					killed++;
		pause_us(20000);
	}
	return killed;
}

/* A thread that was killed may have added without counting. */
static void look_beside(void)
{
	uint64_t want = atomic_load(&job.control->beside), found = 0;

	for (unsigned int i = 0; i < job.locks * COPIES; i++)
		found += atomic_load(&job.control->page[i / COPIES][i % COPIES].beside);
	if (found < want || found > want + atomic_load(&job.control->killed))
		node_die("%llu additions beside the locks, %llu were made",
			 (unsigned long long)found, (unsigned long long)want);
}

/* Every lock can be had, and the records are as they should be. */
static void look(void)
{
	unsigned int i;
	int err;

	open_locks();
	for (i = 0; i < job.locks; i++) {
		uint64_t sum = atomic_load(&job.control->sum[i]), value, spare;

		err = user_ask(&job.user, job.slot[i], WEFT_LOCK_WRITE,
			       WEFT_LOCK_UNTIL,
			       (int64_t)(now_ns() + 30 * 1000000000ull));
		if (err)
			node_die("lock %u cannot be had in the end: %s; word %llx", i,
				 strerror(err),
				 (unsigned long long)job.user.words[job.slot[i]].word);
		value = atomic_load(copy_of(i, COPIES - 1));
		spare = atomic_load(&job.control->killed);
		if (value < sum || value > sum + spare || (!spare && is_torn(i)))
			node_die("lock %u: %llu increments, %llu to %llu were made", i,
				 (unsigned long long)value, (unsigned long long)sum,
				 (unsigned long long)(sum + spare));
		user_leave(&job.user, 0, job.slot[i], WEFT_LOCK_WRITE);
	}
	if (job.beside)
		look_beside();
}

static void begin(void)
{
	struct control *c = node_map(job.file, sizeof(*c), NULL);

	job.control = c;
	job.shared = mmap(NULL, sizeof(*job.shared), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (job.shared == MAP_FAILED)
		node_die("out of memory");
	if (!job.alone)
		node_join(&c->meeting, job.file);
}

static void tell(const struct shared *s, uint64_t killed)
{
	printf("node %u: %llu reads, %llu writes; %llu taken without the kernel, %llu with it; busy %llu, late %llu; mended %llu; killed %llu threads by now\n",
	       node.number, (unsigned long long)s->reads, (unsigned long long)s->writes,
	       (unsigned long long)s->quick, (unsigned long long)s->asked,
	       (unsigned long long)s->busy, (unsigned long long)s->late,
	       (unsigned long long)s->mended, (unsigned long long)killed);
}

static const char usage[] =
	"Usage: locks-hammer [OPTION...]\n"
	"Processes of all nodes increment records that are guarded by locks.\n\n"
	"  --file FILE       shared by all nodes (/weft/hammer); remove it before the next run\n"
	"  --node K          this node, from 1 (1)\n"
	"  --nodes N         of so many (1)\n"
	"  --procs N         processes on each node (2)\n"
	"  --threads N       threads of each process (2)\n"
	"  --locks N         locks (4)\n"
	"  --readers PERCENT that only read (50)\n"
	"  --seconds S       how long (10)\n"
	"  --stop FILE       or until this file is there, if that is sooner\n"
	"  --kill MS         kill a process every so many milliseconds, about; 0: never (0)\n"
	"  --pause US        rest for so long between turns, about (0)\n"
	"  --guard           spread the records over pages that the locks guard\n"
	"  --beside          add to these pages without the locks, too\n"
	"  --alone           others spoil the file: meet no other node, judge no record\n"
	"  --seed N          of the random choices (1)\n"
	"  --timeout S       how long to wait for the other nodes (120)\n";

int main(int argc, char **argv)
{
	enum { O_FILE = 256, O_PROCS, O_THREADS, O_LOCKS, O_READERS, O_SECONDS, O_STOP, O_KILL,
	       O_PAUSE, O_GUARD, O_BESIDE, O_ALONE, O_SEED, O_HELP };
	static const struct option options[] = {
		{ "file", required_argument, NULL, O_FILE },
		NODE_OPTIONS,
		{ "procs", required_argument, NULL, O_PROCS },
		{ "threads", required_argument, NULL, O_THREADS },
		{ "locks", required_argument, NULL, O_LOCKS },
		{ "readers", required_argument, NULL, O_READERS },
		{ "seconds", required_argument, NULL, O_SECONDS },
		{ "stop", required_argument, NULL, O_STOP },
		{ "kill", required_argument, NULL, O_KILL },
		{ "pause", required_argument, NULL, O_PAUSE },
		{ "guard", no_argument, NULL, O_GUARD },
		{ "beside", no_argument, NULL, O_BESIDE },
		{ "alone", no_argument, NULL, O_ALONE },
		{ "seed", required_argument, NULL, O_SEED },
		{ "help", no_argument, NULL, O_HELP },
		{ 0 }
	};
	struct shared *s;
	unsigned int i;
	int c;

	node_begin("locks-hammer");
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (node_option(c))
			continue;
		switch (c) {
		case O_FILE: job.file = optarg; break;
		case O_PROCS: job.procs = node_number_of("--procs", optarg, 1, PROCS_MAX); break;
		case O_THREADS: job.threads = node_number_of("--threads", optarg, 1, THREADS_MAX); break;
		case O_LOCKS: job.locks = node_number_of("--locks", optarg, 1, LOCKS_MAX); break;
		case O_READERS: job.readers = node_number_of("--readers", optarg, 0, 100); break;
		case O_SECONDS: job.seconds = node_number_of("--seconds", optarg, 1, 86400); break;
		case O_STOP: job.stop = optarg; break;
		case O_KILL: job.kill_ms = node_number_of("--kill", optarg, 0, 100000); break;
		case O_PAUSE: job.rest_us = node_number_of("--pause", optarg, 0, 1000000); break;
		case O_GUARD: job.guard = true; break;
		case O_BESIDE: job.beside = true; break;
		case O_ALONE: job.alone = true; break;
		case O_SEED: job.seed = node_number_of("--seed", optarg, 1, UINT64_MAX); break;
		case O_HELP: fputs(usage, stdout); return 0;
		default: fputs(usage, stderr); return 2;
		}
	}
	if (optind < argc) {
		fputs(usage, stderr);
		return 2;
	}
	node_check();
	if (job.alone && job.kill_ms)
		node_die("--alone and --kill do not go together: one of them");
	begin();
	s = job.shared;
	if (job.alone) {
		unsigned int killed = run_alone();

		tell(s, killed * job.threads);
		return 0;
	}
	node_meet();
	run();
	for (i = 0; i < job.locks; i++)
		atomic_fetch_add(&job.control->sum[i], s->sum[i]);
	atomic_fetch_add(&job.control->beside, s->beside);
	tell(s, atomic_load(&job.control->killed));
	node_meet();
	look();
	node_meet();
	return 0;
}
