// SPDX-License-Identifier: GPL-2.0-only
/*
 * soak-worker: work on /weft, and a history of it on standard output (history.h), for
 * tests/soak/soak.sh.  To be run with libweft-preload.so, whose robust mutexes it uses, too.
 *
 *	soak-worker make DIRECTORY
 *					the regions, and the mutexes in them
 *	soak-worker work DIRECTORY NODE FIRST SECONDS STOP SEED KHZ PAUSE_US [KIND...]
 *					a process of each kind, anew when it dies, until STOP is
 *					there, SECONDS at most; the first one is number FIRST
 *	soak-worker look DIRECTORY NODE FIRST KHZ
 *					each slot once
 *	soak-worker now KHZ		what the clock says
 *
 * The clock is the processor's, the same in all user-mode kernels of a machine.  KHZ is its rate.
 * Of a process that waits for long, work says on standard error what the node knows of it;
 * WEFTCTL is the path of weftctl.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "history.h"
#include "tests/common/argument.h"
#include "tools/common/clock.h"
#include "tools/common/random.h"
#include "tools/libweft/lock.h"

#define WORDS	(SOAK_BLOCK / 8)
#define AGAIN_MS 300		/* until a process that died is there again */
#define LOOK_MS	500		/* between looks whether one waits too long, ... */
#define LATE_MS	4000ull		/* ... which is that long: soon it is judged to be wrong */
#define NS_PER_MS 1000000ull
/* the head, and lines that something is under way for, or somebody waits for; not for ever */
#define LATE_COMMAND "timeout 10 %s line show %s | awk 'NR == 1 || $4 != \"none\" || $5 || /revoking/' >&2"

/* What a lock guards. */
struct block {
	uint64_t first;		/* who wrote last */
	uint64_t inside;	/* who is at work on it */
	uint64_t prev;		/* what the last one found */
	uint64_t fill[WORDS - 4];
	uint64_t last;
};

struct record {
	uint64_t tag, check;
	uint64_t unused[6];
};

static uint32_t node, worker, seq;
static uint64_t khz, state;
static enum soak_kind kind;
static char *region;
static int region_fd;
static volatile uint32_t slot_now;
static volatile uint64_t t0_now;

/* What each kind's process is at, for who watches them. */
static struct work {
	volatile uint32_t slot;
	volatile uint64_t t0;	/* since when; 0: nothing */
} *works;

static uint64_t now(void)
{
	return khz ? (uint64_t)((unsigned __int128)__rdtsc() * 1000000 / khz) : 0;
}

/* One write: lines of several processes do not mix. */
static void __attribute__((format(printf, 1, 2))) tell(const char *fmt, ...)
{
	char line[256];
	va_list list;
	int n;

	va_start(list, fmt);
	n = vsnprintf(line, sizeof(line), fmt, list);
	va_end(list);
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(4);
}

static void __attribute__((noreturn)) gives_up(int error, const char *where)
{
	tell("e %u %u %d %u %llu %llu %d %s\n", node, worker, kind, slot_now,
	     (unsigned long long)t0_now, (unsigned long long)now(), error, where);
	_exit(3);
}

static void on_signal(int signal)
{
	gives_up(signal == SIGBUS ? EIO : EFAULT, signal == SIGBUS ? "SIGBUS" : "SIGSEGV");
}

/* --- Regions --------------------------------------------------------------------- */

static void open_region(const char *directory, int flags)
{
	size_t size = soak_size(kind);
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, soak_about[kind].name);
	t0_now = now();
	region_fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
	if (region_fd < 0)
		gives_up(errno, "open");
	if (flags && ftruncate(region_fd, (off_t)size))
		gives_up(errno, "ftruncate");
	region = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, region_fd, 0);
	if (region == MAP_FAILED)
		gives_up(errno, "mmap");
}

static void *lock_of(uint32_t slot)
{
	return region + (size_t)slot * (SOAK_BLOCK / SOAK_LOCKS);
}

static struct block *block_of(uint32_t slot)
{
	return (struct block *)(region + soak_offset(kind, slot));
}

/* Blocks begin as if somebody numbered 0 had written them. */
static uint64_t filling(uint64_t tag, unsigned int i)
{
	return tag ? random_mix(tag ^ (uint64_t)(i + 1) << 48) : 0;
}

static void say_what_they_guard(void)
{
	uint32_t i;

	for (i = 0; i < soak_about[kind].slots; i++) {
		struct weft_range range = { block_of(i), SOAK_BLOCK };
		int error;

		if (kind != SOAK_GUARDED && (kind != SOAK_RELEASE || i % 2))
			continue;
		error = weft_rwlock_init(lock_of(i), &range, 1);
		if (error)
			gives_up(error, "init");
	}
}

static void make(const char *directory)
{
	pthread_mutexattr_t attr;
	uint32_t i;

	for (kind = 0; kind < SOAK_KINDS; kind++) {
		open_region(directory, O_CREAT | O_EXCL);
		if (kind == SOAK_MUTEX) {
			pthread_mutexattr_init(&attr);
			pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
			pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
			for (i = 0; i < soak_about[kind].slots; i++)
				pthread_mutex_init(lock_of(i), &attr);
		}
		/* what no node has modified, none can lose */
		memset(region + soak_offset(kind, 0), 0, soak_size(kind) - soak_offset(kind, 0));
		if (fsync(region_fd))
			gives_up(errno, "fsync");
	}
}

/* --- Work under locks ------------------------------------------------------------ */

static int take(void *lock, bool write)
{
	if (kind == SOAK_MUTEX)
		return pthread_mutex_lock(lock);
	return write ? weft_rwlock_wrlock(lock) : weft_rwlock_rdlock(lock);
}

static void leave(void *lock, bool mend)
{
	int error = 0;

	if (mend)
		error = kind == SOAK_MUTEX ? pthread_mutex_consistent(lock) :
			weft_rwlock_consistent(lock);
	if (error)
		gives_up(error, "consistent");
	error = kind == SOAK_MUTEX ? pthread_mutex_unlock(lock) : weft_rwlock_unlock(lock);
	if (error)
		gives_up(error, "unlock");
}

static bool is_mixed(const volatile struct block *b)
{
	uint64_t tag = b->first;
	unsigned int i;

	for (i = 0; i < WORDS - 4; i++)
		if (b->fill[i] != filling(tag, i))
			return true;
	return b->last != tag;
}

static void change(volatile struct block *b, uint64_t seen, uint64_t mine)
{
	unsigned int i;

	b->inside = mine;
	b->prev = seen;
	b->first = mine;
	for (i = 0; i < WORDS - 4; i++)
		b->fill[i] = filling(mine, i);
	b->last = mine;
	b->inside = 0;
}

static void section(uint32_t slot, bool write)
{
	volatile struct block *b = block_of(slot);
	uint64_t seen, prev, mine = 0, t0, ta, tr;
	char flags[8] = "-", *f = flags;
	bool told;
	int error;

	t0 = t0_now = now();
	error = take(lock_of(slot), write);
	told = error == EOWNERDEAD;
	if (error && !told)
		gives_up(error, "lock");
	ta = now();
	if (told)
		*f++ = 't';
	if (b->inside)
		*f++ = 'i';
	if (is_mixed(b))
		*f++ = 'm';
	seen = b->first;
	prev = b->prev;
	if (write) {
		mine = soak_tag(worker, ++seq);
		change(b, seen, mine);
	}
	tr = now();
	leave(lock_of(slot), told && write);
	tell("o %u %u %d %u %llu %llu %llu %llu %llx %llx %llx %s\n", node, worker, kind, slot,
	     (unsigned long long)t0, (unsigned long long)ta, (unsigned long long)tr,
	     (unsigned long long)now(), (unsigned long long)seen, (unsigned long long)prev,
	     (unsigned long long)mine, flags);
}

/* --- Work without ---------------------------------------------------------------- */

static void word(uint32_t slot, bool write)
{
	_Atomic uint64_t *w = (_Atomic uint64_t *)(region + soak_offset(kind, slot)) +
		slot % soak_about[kind].a_block * 8;
	uint64_t seen, mine = 0, t0, t1;

	t0 = t0_now = now();
	if (write) {
		mine = soak_tag(worker, ++seq);
		seen = atomic_exchange(w, mine);
	} else {
		seen = atomic_load(w);
	}
	t1 = now();
	tell("o %u %u %d %u %llu %llu %llu %llu %llx 0 %llx -\n", node, worker, kind, slot,
	     (unsigned long long)t0, (unsigned long long)t0, (unsigned long long)t1,
	     (unsigned long long)t1, (unsigned long long)seen, (unsigned long long)mine);
}

static volatile struct record *record_of(uint32_t slot)
{
	return (struct record *)(region + soak_offset(kind, slot)) +
		slot % soak_about[kind].a_block;
}

static void read_record(uint32_t slot)
{
	volatile struct record *r = record_of(slot);
	uint64_t tag, check, t0, t1;

	t0 = t0_now = now();
	tag = r->tag;
	check = r->check;
	t1 = now();
	tell("o %u %u %d %u %llu %llu %llu %llu %llx 0 0 %s\n", node, worker, kind, slot,
	     (unsigned long long)t0, (unsigned long long)t0, (unsigned long long)t1,
	     (unsigned long long)t1, (unsigned long long)tag,
	     check == random_mix(tag) ? "-" : "m");
}

/* Some records of this node, whose block nobody else writes. */
static void write_records(void)
{
	uint32_t per = soak_about[kind].a_block, slot[4], n, i;
	uint64_t tag[4], t0;

	n = 1 + (uint32_t)random_below(&state, 4);
	t0 = t0_now = now();
	for (i = 0; i < n; i++) {
		volatile struct record *r;

		/* each of them once */
		slot[i] = (node - 1) * per + (uint32_t)random_below(&state, per / 4) * 4 + i;
		tag[i] = soak_tag(worker, ++seq);
		r = record_of(slot[i]);
		r->tag = tag[i];
		r->check = random_mix(tag[i]);
	}
	slot_now = slot[0];
	if (random_below(&state, 2) ? fsync(region_fd) :
	    msync(block_of(slot[0]), SOAK_BLOCK, MS_SYNC))
		gives_up(errno, "fsync");
	for (i = 0; i < n; i++)
		tell("s %u %u %u %llu %llu %llx\n", node, worker, slot[i], (unsigned long long)t0,
		     (unsigned long long)now(), (unsigned long long)tag[i]);
}

static void one(void)
{
	uint32_t slot = (uint32_t)random_below(&state, soak_about[kind].slots);
	bool write = random_below(&state, 100) < 75;

	slot_now = slot;
	works[kind].slot = slot;
	works[kind].t0 = now();
	if (kind == SOAK_SYNC && write)
		write_records();
	else if (kind == SOAK_SYNC)
		read_record(slot);
	else if (kind == SOAK_WORD)
		word(slot, write);
	else
		section(slot, write || kind == SOAK_MUTEX);
	works[kind].t0 = 0;
}

/* --- Who waits too long ----------------------------------------------------------- */

/* What this node says of the region's blocks that something is under way for. */
static void say_late(enum soak_kind which, uint32_t slot, uint64_t took)
{
	const char *ctl = getenv("WEFTCTL");
	char command[512];

	fprintf(stderr, "node %u: %s %u takes %llu ms so far, at %llu; it is in block %zu\n", node,
		soak_about[which].name, slot, (unsigned long long)took / NS_PER_MS,
		(unsigned long long)now(), soak_offset(which, slot) / SOAK_BLOCK);
	snprintf(command, sizeof(command), LATE_COMMAND, ctl ? ctl : "weftctl",
		 soak_about[which].name);
	if (system(command))
		fputs("soak-worker: weftctl does not say more\n", stderr);
}

/* Each that is late is told of once. */
static void __attribute__((noreturn)) watch(uint64_t end)
{
	uint64_t told[SOAK_KINDS] = { 0 };
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "soak-watch");
	while (now_ms() < end) {
		pause_ms(LOOK_MS);
		for (i = 0; i < SOAK_KINDS; i++) {
			uint64_t t0 = works[i].t0, t = now();

			if (!t0 || t0 == told[i] || t < t0 + LATE_MS * NS_PER_MS)
				continue;
			told[i] = t0;
			say_late(i, works[i].slot, t - t0);
		}
	}
	_exit(0);
}

/* --- Processes ------------------------------------------------------------------- */

static void begin_process(const char *directory)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	prctl(PR_SET_NAME, soak_about[kind].name);
	tell("b %u %u %d %llu\n", node, worker, kind, (unsigned long long)now());
	open_region(directory, 0);
	if (soak_about[kind].locked)
		say_what_they_guard();
}

static pid_t start(const char *directory, uint64_t end, const char *stop, uint64_t seed,
		   uint64_t pause)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("soak-worker: fork");
		exit(1);
	}
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	state = random_stream(seed, worker);
	begin_process(directory);
	while (now_ms() < end && access(stop, F_OK)) {
		one();
		pause_us(random_below(&state, 2 * pause));
	}
	tell("z %u %u %llu\n", node, worker, (unsigned long long)now());
	_exit(0);
}

static int work(char **arg, int kinds, char **kind_names)
{
	uint64_t end = now_ms() + argument(arg[3], 1, 1000000) * 1000;
	uint64_t seed = argument(arg[5], 0, UINT64_MAX), pause = argument(arg[7], 1, 10000000);
	uint32_t number = argument_u32(arg[2]), number_of[SOAK_KINDS];
	pid_t child[SOAK_KINDS] = { 0 };
	int i, status, left = 0;
	pid_t watcher;

	works = mmap(NULL, SOAK_KINDS * sizeof(*works), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	watcher = works == MAP_FAILED ? -1 : fork();
	if (watcher < 0) {
		perror("soak-worker");
		return 1;
	}
	if (!watcher)
		watch(end);
	for (i = 0; i < SOAK_KINDS; i++) {
		bool wanted = !kinds;
		int k;

		for (k = 0; k < kinds; k++)
			wanted |= !strcmp(kind_names[k], soak_about[i].name);
		if (!wanted)
			continue;
		kind = i;
		worker = number_of[i] = number++;
		child[i] = start(arg[0], end, arg[4], seed, pause);
		left++;
	}
	while (left) {
		pid_t pid = wait(&status);

		for (i = 0; i < SOAK_KINDS && (pid <= 0 || child[i] != pid); i++)
			;
		if (pid < 0 && errno != EINTR)
			break;
		if (i == SOAK_KINDS)
			continue;
		if (!status) {
			child[i] = 0;
			left--;
			continue;
		}
		works[i].t0 = 0;
		tell("k %u %u %llu\n", node, number_of[i], (unsigned long long)now());
		/* those of no other kind end meanwhile, or they wait as long to be seen */
		pause_ms(AGAIN_MS);
		kind = i;
		worker = number_of[i] = number++;
		child[i] = start(arg[0], end, arg[4], seed, pause);
	}
	kill(watcher, SIGKILL);
	return 0;
}

/* What there is in the end. */
static void look(const char *directory, uint32_t first)
{
	uint32_t i;

	for (kind = 0; kind < SOAK_KINDS; kind++) {
		worker = first + kind;
		begin_process(directory);
		for (i = 0; i < soak_about[kind].slots; i++) {
			slot_now = i;
			if (kind == SOAK_SYNC)
				read_record(i);
			else if (kind == SOAK_WORD)
				word(i, false);
			else
				section(i, kind == SOAK_MUTEX);
		}
		tell("z %u %u %llu\n", node, worker, (unsigned long long)now());
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "make")) {
		make(argv[2]);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "now")) {
		khz = argument(argv[2], 1, 100000000);
		printf("%llu\n", (unsigned long long)now());
		return 0;
	}
	if (argc == 6 && !strcmp(argv[1], "look")) {
		node = argument_u32(argv[3]);
		khz = argument(argv[5], 1, 100000000);
		look(argv[2], argument_u32(argv[4]));
		return 0;
	}
	if (argc < 10 || strcmp(argv[1], "work")) {
		fputs("usage: soak-worker make DIRECTORY | now KHZ | look DIRECTORY NODE FIRST KHZ |\n"
		      "       work DIRECTORY NODE FIRST SECONDS STOP SEED KHZ PAUSE_US [KIND...]\n",
		      stderr);
		return 2;
	}
	node = argument_u32(argv[3]);
	khz = argument(argv[8], 1, 100000000);
	return work(argv + 2, argc - 10, argv + 10);
}
