// SPDX-License-Identifier: GPL-2.0-only
/*
 * The benchmark: starts its processes, ends them in time, kills some if asked to,
 * adds up what they have done.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#include "tools/common/random.h"
#include "tools/demo/node.h"
#include "bench.h"
#include "kvs.h"
#include "shared.h"

#define WEFT_SUPER_MAGIC	0x57656674
#define LOOK_US			2000

/**
 * struct result - what all have done
 * @seconds:	from the start to the end of the last thread
 * @done:	operations
 * @warmed:	operations before those
 * @times:	of those that were timed
 * @user_us, @system_us: processor time; of no meaning with @killed
 * @killed:	processes
 * @messages:	that the node sent and received, -1: not known
 */
struct result {
	double seconds;
	uint64_t done[KINDS];
	uint64_t warmed;
	struct hist times[KINDS];
	uint64_t user_us;
	uint64_t system_us;
	unsigned int killed;
	double messages;
};

static void *shared_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		node_die("out of memory");
	return p;
}

/* --- Processes ---------------------------------------------------------------- */

static void start(const struct bench *b, struct shared *s, unsigned int number)
{
	pid_t pid;

	s->generation++;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		node_die("cannot start a process: %s", strerror(errno));
	if (!pid) {
		client_run(b, s, number);
		fflush(stdout);
		_exit(0);
	}
	s->clients[number].pid = pid;
}

static void kill_all(const struct bench *b, struct shared *s)
{
	unsigned int i;

	for (i = 0; i < b->processes; i++) {
		if (s->clients[i].pid <= 0)
			continue;
		kill(s->clients[i].pid, SIGKILL);
		waitpid(s->clients[i].pid, NULL, 0);
		s->clients[i].pid = 0;
	}
}

/* How many are still there; ends the benchmark if one has failed. */
static unsigned int alive(const struct bench *b, struct shared *s)
{
	unsigned int i, n = 0;
	int status;

	for (i = 0; i < b->processes; i++) {
		struct client *c = &s->clients[i];

		if (!c->pid)
			continue;
		if (waitpid(c->pid, &status, WNOHANG) != c->pid) {
			n++;
			continue;
		}
		c->pid = 0;
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			continue;
		kill_all(b, s);
		if (WIFSIGNALED(status))
			node_die("process %u died of signal %d", i, WTERMSIG(status));
		node_die("process %u has failed", i);
	}
	return n;
}

static void wait_ready(const struct bench *b, struct shared *s)
{
	uint64_t deadline = now_ns() + node.timeout * 1000000000ull;
	unsigned int i;

	for (i = 0; i < b->processes; ) {
		alive(b, s);
		if (s->clients[i].ready) {
			i++;
			continue;
		}
		if (now_ns() > deadline) {
			kill_all(b, s);
			node_die("process %u is not ready after %u s", i, node.timeout);
		}
		pause_us(LOOK_US);
	}
}

/* A process dies, whatever it is doing; another one takes its place. */
static void replace(const struct bench *b, struct shared *s, unsigned int number)
{
	struct client *c = &s->clients[number];

	if (!c->pid)
		return;
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	c->ready = 0;
	start(b, s, number);
}

/* Until pages and locks are where they are used, as far as that goes. */
static void warm_up(const struct bench *b, struct shared *s)
{
	uint64_t end = now_ns() + b->warm * 1000000000ull;

	s->go = 1;
	while (now_ns() < end && alive(b, s))
		pause_us(LOOK_US);
}

/* Until the time is over or all have done their operations. */
static void watch(const struct bench *b, struct shared *s, struct result *r)
{
	uint64_t now = now_ns(), random = random_stream(b->seed, ~0ull - node.number);
	uint64_t end = now + b->seconds * 1000000000ull;
	uint64_t next = now + b->kill_ms * 1000000ull;

	while (alive(b, s) && now_ns() < end) {
		if (b->kill_ms && now_ns() >= next) {
			replace(b, s, (unsigned int)random_below(&random, b->processes));
			r->killed++;
			next = now_ns() + b->kill_ms * 1000000ull;
		}
		pause_us(LOOK_US);
	}
	s->stop = 1;
	end = now_ns() + node.timeout * 1000000000ull;
	while (alive(b, s)) {
		if (now_ns() > end) {
			kill_all(b, s);
			node_die("WRONG: a process is stuck %u s after the end: a lock cannot be had",
				 node.timeout);
		}
		pause_us(LOOK_US);
	}
}

/* --- Messages ----------------------------------------------------------------- */

static bool on_weft(const char *file)
{
	struct statfs fs;

	return !statfs(file, &fs) && fs.f_type == WEFT_SUPER_MAGIC;
}

/* What the node has sent and received, -1: nobody knows. */
static double messages(const char *file)
{
	static char text[65536];
	char path[4096], command[4200];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	double sent, received;
	FILE *f;

	if (n <= 0 || !on_weft(file))
		return -1;
	path[n] = '\0';
	strcpy(strrchr(path, '/') + 1, "");
	if (strchr(path, '\'') || strlen(path) > sizeof(path) - 16)
		return -1;
	snprintf(command, sizeof(command), "'%sweftctl' -j stats node 2>/dev/null", path);
	f = popen(command, "r");
	if (!f)
		return -1;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	pclose(f);
	if (!json_find_real(text, "msg_sent", &sent) ||
	    !json_find_real(text, "msg_received", &received))
		return -1;
	return sent + received;
}

/* --- Results ------------------------------------------------------------------ */

static uint64_t operations(const struct result *r)
{
	return r->done[READ] + r->done[UPDATE];
}

static void add_up(const struct bench *b, const struct shared *s, uint64_t begin,
		   struct result *r)
{
	uint64_t end = begin;
	unsigned int i, kind;

	for (i = 0; i < b->processes * b->threads; i++) {
		const struct worker *w = &s->workers[i];

		if (w->ended_ns > end)
			end = w->ended_ns;
		r->warmed += w->warmed;
		for (kind = READ; kind < KINDS; kind++) {
			r->done[kind] += w->done[kind];
			hist_join(&r->times[kind], &w->times[kind]);
		}
	}
	for (i = 0; i < b->processes; i++) {
		r->user_us += s->clients[i].user_us;
		r->system_us += s->clients[i].system_us;
	}
	r->seconds = (double)(end - begin) / 1e9;
}

static const unsigned int parts[] = { 500, 900, 990, 999 };
static const char *const part_names[] = { "p50", "p90", "p99", "p999" };

static void print_times(const struct hist *h, const char *name)
{
	unsigned int i;

	if (!h->count)
		return;
	printf("  %-8s", name);
	for (i = 0; i < 4; i++)
		printf(" %s %.2f", part_names[i], hist_quantile(h, parts[i]) / 1e3);
	printf(" max %.2f us\n", (double)h->max / 1e3);
}

static void json_times(struct json *j, const char *key, const struct hist *h)
{
	unsigned int i;

	if (!h->count) {
		json_null(j, key);
		return;
	}
	json_object(j, key);
	for (i = 0; i < 4; i++)
		json_fixed(j, part_names[i], hist_quantile(h, parts[i]) / 1e3);
	json_fixed(j, "max", (double)h->max / 1e3);
	json_close(j);
}

static void json_known(struct json *j, const char *key, double value, bool known)
{
	if (known)
		json_real(j, key, value);
	else
		json_null(j, key);
}

static void print_json(const struct bench *b, const struct kvs *k, const struct result *r)
{
	double n = operations(r) ? (double)operations(r) : 1;
	const char workload[] = { b->workload, '\0' };
	struct json j;

	json_begin(&j, stdout, false);
	json_string(&j, "workload", workload);
	json_string(&j, "locks", k->ops->name);
	json_u64(&j, "node", node.number);
	json_u64(&j, "nodes", node.count);
	json_u64(&j, "processes", b->processes);
	json_u64(&j, "threads", b->threads);
	json_u64(&j, "records", k->header->records);
	json_u64(&j, "value_size", k->header->value_size);
	json_u64(&j, "buckets", k->g.buckets);
	json_u64(&j, "seed", b->seed);
	json_real(&j, "seconds", r->seconds);
	json_u64(&j, "operations", operations(r));
	json_u64(&j, "reads", r->done[READ]);
	json_u64(&j, "updates", r->done[UPDATE]);
	json_u64(&j, "warmed", r->warmed);
	json_known(&j, "throughput", n / r->seconds, r->seconds > 0);
	json_times(&j, "read_us", &r->times[READ]);
	json_times(&j, "update_us", &r->times[UPDATE]);
	json_known(&j, "user_us_per_op", (double)r->user_us / n, !r->killed);
	json_known(&j, "system_us_per_op", (double)r->system_us / n, !r->killed);
	json_known(&j, "messages_per_op", r->messages / n, r->messages >= 0);
	json_u64(&j, "killed", r->killed);
	json_object(&j, "latency");
	hist_json(&j, "read", &r->times[READ]);
	hist_json(&j, "update", &r->times[UPDATE]);
	json_end(&j);
}

static void print_text(const struct bench *b, const struct kvs *k, const struct result *r)
{
	double n = operations(r) ? (double)operations(r) : 1;

	printf("node %u of %u: YCSB %c, locks %s, %u processes of %u threads, %.2f s\n",
	       node.number, node.count, b->workload - 'a' + 'A', k->ops->name, b->processes,
	       b->threads, r->seconds);
	printf("  %llu operations, %.0f a second; %llu reads, %llu updates; every one was checked\n",
	       (unsigned long long)operations(r), n / r->seconds,
	       (unsigned long long)r->done[READ], (unsigned long long)r->done[UPDATE]);
	print_times(&r->times[READ], "read");
	print_times(&r->times[UPDATE], "update");
	if (!r->killed)
		printf("  user %.3f us, system %.3f us an operation\n",
		       (double)r->user_us / n, (double)r->system_us / n);
	if (r->messages >= 0)
		printf("  %.3f messages an operation\n", r->messages / n);
	if (r->killed)
		printf("  %u processes were killed\n", r->killed);
}

/* Locks that the dead keep would stop all others for ever. */
static void check_kill(const struct bench *b, const struct kvs *k)
{
	const char *preload = getenv("LD_PRELOAD");

	if (!b->kill_ms || k->ops->robust)
		return;
	if (!strcmp(k->ops->name, "pthread") && preload && strstr(preload, "libweft-preload"))
		return;
	node_die("--kill: with locks of the kind %s what a killed process held is never free again",
		 k->ops->name);
}

int bench_run(const struct bench *b)
{
	struct shared *s = shared_memory(sizeof(*s));
	struct result *r = calloc(1, sizeof(*r));
	uint64_t begin;
	unsigned int i;
	struct kvs *k;

	if (!r)
		node_die("out of memory");
	/* To say early what is wrong with the file, and for the results. */
	if (kvs_open(b->file, &k))
		node_die("%s: %s", b->file, kvs_why());
	check_kill(b, k);
	s->clients = shared_memory(b->processes * sizeof(*s->clients));
	s->workers = shared_memory((size_t)b->processes * b->threads * sizeof(*s->workers));
	s->draws = shared_memory((size_t)b->processes * b->threads * DRAWS * sizeof(*s->draws));
	for (i = 0; i < b->processes; i++)
		s->clients[i].session = -1;
	if (b->meet)
		node_join(node_map(b->meet, sizeof(struct meeting), NULL), b->meet);
	for (i = 0; i < b->processes; i++)
		start(b, s, i);
	wait_ready(b, s);
	if (!b->warm)
		r->messages = messages(b->file);
	if (b->meet)
		node_meet();
	if (b->warm) {
		warm_up(b, s);
		r->messages = messages(b->file);
	}
	begin = now_ns();
	s->count = 1;
	s->go = 1;
	watch(b, s, r);
	if (b->meet)
		node_meet();
	if (r->messages >= 0) {
		double now = messages(b->file);

		r->messages = now < 0 ? now : now - r->messages;
	}
	add_up(b, s, begin, r);
	if (b->json)
		print_json(b, k, r);
	else
		print_text(b, k, r);
	if (!operations(r))
		node_die("not one operation was done");
	kvs_close(k);
	free(r);
	return 0;
}
