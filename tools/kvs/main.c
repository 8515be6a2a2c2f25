// SPDX-License-Identifier: GPL-2.0-only
/* weft-kvs: a key-value store in shared memory.  The command line. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/json.h"
#include "tools/demo/node.h"
#include "bench.h"
#include "kvs.h"
#include "record.h"

static const char usage[] =
"usage: weft-kvs create FILE [--locks KIND] [--buckets N] [--bucket-blocks N]\n"
"                [--overflow N] [--block BYTES] [--sessions N]\n"
"       weft-kvs get FILE KEY\n"
"       weft-kvs put FILE KEY VALUE|-\n"
"       weft-kvs del FILE KEY\n"
"       weft-kvs load FILE [--records N] [--value-size N] [--threads N]\n"
"       weft-kvs bench FILE [--workload a|b|c] [--processes N] [--threads N]\n"
"                [--warm N] [--seconds N] [--operations N] [--seed N]\n"
"                [--sample N] [-j]\n"
"                [--kill MS] [--meet FILE --node K --nodes N] [--timeout S]\n"
"       weft-kvs check FILE [--settle] [-j]\n"
"A key-value store in a file, for all processes that map it: on all machines of a\n"
"rack if it is on a mounted weft. bench runs YCSB and checks what it sees, check\n"
"looks at everything. See weft-kvs(1).\n"
"Each command: --lock-library FILE brings more kinds of locks. Those that are here:\n";

enum {
	O_LOCKS = 256, O_LIBRARY, O_BUCKETS, O_BUCKET_BLOCKS, O_OVERFLOW, O_BLOCK,
	O_SESSIONS, O_RECORDS, O_VALUE, O_THREADS, O_WORKLOAD, O_PROCESSES, O_SECONDS, O_WARM,
	O_OPERATIONS, O_SEED, O_SAMPLE, O_KILL, O_MEET, O_NODE, O_NODES, O_TIMEOUT,
	O_SETTLE, O_HELP,
};

static const struct option options[] = {
	{ "locks", required_argument, NULL, O_LOCKS },
	{ "lock-library", required_argument, NULL, O_LIBRARY },
	{ "buckets", required_argument, NULL, O_BUCKETS },
	{ "bucket-blocks", required_argument, NULL, O_BUCKET_BLOCKS },
	{ "overflow", required_argument, NULL, O_OVERFLOW },
	{ "block", required_argument, NULL, O_BLOCK },
	{ "sessions", required_argument, NULL, O_SESSIONS },
	{ "records", required_argument, NULL, O_RECORDS },
	{ "value-size", required_argument, NULL, O_VALUE },
	{ "threads", required_argument, NULL, O_THREADS },
	{ "workload", required_argument, NULL, O_WORKLOAD },
	{ "processes", required_argument, NULL, O_PROCESSES },
	{ "seconds", required_argument, NULL, O_SECONDS },
	{ "warm", required_argument, NULL, O_WARM },
	{ "operations", required_argument, NULL, O_OPERATIONS },
	{ "seed", required_argument, NULL, O_SEED },
	{ "sample", required_argument, NULL, O_SAMPLE },
	{ "kill", required_argument, NULL, O_KILL },
	{ "meet", required_argument, NULL, O_MEET },
	{ "node", required_argument, NULL, O_NODE },
	{ "nodes", required_argument, NULL, O_NODES },
	{ "timeout", required_argument, NULL, O_TIMEOUT },
	{ "settle", no_argument, NULL, O_SETTLE },
	{ "help", no_argument, NULL, O_HELP },
	{ }
};

static struct kvs_make make;
static struct bench bench = {
	.workload = 'a', .records = 1000, .value_size = 100, .threads = 1, .processes = 1,
	.seconds = 10, .seed = 1, .sample = 8,
};
static const char *locks;
static bool settle;

static void print_usage(FILE *f)
{
	const struct kvs_lock_ops *ops;
	unsigned int i;

	fputs(usage, f);
	for (i = 0; (ops = kvs_locks_list(i)); i++)
		fprintf(f, "  %-9s %s%s\n", ops->name, ops->about ? ops->about : "",
			ops == &kvs_locks_weft ? " (unless told)" : "");
}

static char workload_of(const char *text)
{
	if (strlen(text) != 1 || !strchr("abcABC", *text))
		node_die("--workload %s: give a, b or c", text);
	return (char)(*text | 0x20);
}

static void load_library(const char *file)
{
	const char *what = kvs_locks_load(file);

	if (what)
		node_die("--lock-library %s: %s", file, what);
}

static const struct kvs_lock_ops *locks_of(const char *name)
{
	const struct kvs_lock_ops *ops = kvs_locks_find(name);

	if (!ops)
		node_die("--locks %s: there is no such kind: see weft-kvs --help", name);
	return ops;
}

/* One option; false: there is no such one. */
static bool option(int c, const char *text)
{
#define NUMBER(name, min, max) node_number_of("--" name, text, min, max)
	switch (c) {
	case O_LOCKS: locks = text; return true;
	case O_LIBRARY: load_library(text); return true;
	case O_BUCKETS: make.buckets = (uint32_t)NUMBER("buckets", 1, 1u << 24); return true;
	case O_BUCKET_BLOCKS:
		make.bucket_blocks = (uint32_t)NUMBER("bucket-blocks", 1, KVS_CHAIN_MAX / 2);
		return true;
	case O_OVERFLOW: make.overflow = (uint32_t)NUMBER("overflow", 1, 1u << 28); return true;
	case O_BLOCK: make.block = (uint32_t)NUMBER("block", 4096, 1u << 20); return true;
	case O_SESSIONS:
		make.sessions = (uint32_t)NUMBER("sessions", 1, KVS_SESSIONS_MAX);
		return true;
	case O_RECORDS: bench.records = NUMBER("records", 1, 1u << 30); return true;
	case O_VALUE:
		bench.value_size = NUMBER("value-size", RECORD_MIN, KVS_VALUE_MAX);
		return true;
	case O_THREADS: bench.threads = (unsigned int)NUMBER("threads", 1, KVS_LINES); return true;
	case O_WORKLOAD: bench.workload = workload_of(text); return true;
	case O_PROCESSES: bench.processes = (unsigned int)NUMBER("processes", 1, 256); return true;
	case O_SECONDS: bench.seconds = (unsigned int)NUMBER("seconds", 1, 86400); return true;
	case O_WARM: bench.warm = (unsigned int)NUMBER("warm", 0, 86400); return true;
	case O_OPERATIONS: bench.operations = NUMBER("operations", 1, UINT64_MAX); return true;
	case O_SEED: bench.seed = NUMBER("seed", 0, UINT64_MAX); return true;
	case O_SAMPLE: bench.sample = (unsigned int)NUMBER("sample", 1, 1u << 20); return true;
	case O_KILL: bench.kill_ms = (unsigned int)NUMBER("kill", 1, 1u << 20); return true;
	case O_MEET: bench.meet = text; return true;
	case O_NODE: node.number = (unsigned int)NUMBER("node", 1, NODE_MAX); return true;
	case O_NODES: node.count = (unsigned int)NUMBER("nodes", 1, NODE_MAX); return true;
	case O_TIMEOUT: node.timeout = (unsigned int)NUMBER("timeout", 1, 86400); return true;
	case O_SETTLE: settle = true; return true;
	case 'j': bench.json = true; return true;
	default: return false;
	}
#undef NUMBER
}

/* --- Commands ----------------------------------------------------------------- */

static int do_create(char **arguments)
{
	if (kvs_create(arguments[0], &make))
		node_die("%s: %s", arguments[0], kvs_why());
	return 0;
}

/* Opens the store; to write as well if @write. */
static struct kvs *open_store(const char *file, struct kvs_thread *t, bool write)
{
	struct kvs *k;

	if (kvs_open(file, &k) || (write && kvs_session_begin(k, -1)) ||
	    kvs_thread_begin(k, t))
		node_die("%s: %s", file, kvs_why());
	return k;
}

/* The end of a command that has got @error. */
static int close_store(const char *file, struct kvs *k, struct kvs_thread *t, int error)
{
	if (error)
		fprintf(stderr, "%s: %s: %s\n", node.program, file, kvs_why());
	kvs_thread_end(t);
	if (kvs_session_end(k))
		node_die("%s: %s", file, kvs_why());
	kvs_close(k);
	return error ? 1 : 0;
}

static int do_get(char **arguments)
{
	static struct kvs_thread t;
	struct kvs_found f;
	struct kvs *k = open_store(arguments[0], &t, false);
	int error = kvs_get(&t, arguments[1], strlen(arguments[1]), &f);

	if (!error) {
		fwrite(f.value, 1, f.len, stdout);
		putchar('\n');
	}
	return close_store(arguments[0], k, &t, error);
}

static int do_put(char **arguments)
{
	static char from_stdin[KVS_VALUE_MAX + 1];
	size_t len = strlen(arguments[2]);
	const char *value = arguments[2];
	static struct kvs_thread t;
	struct kvs *k;

	if (!strcmp(value, "-")) {
		value = from_stdin;
		len = fread(from_stdin, 1, sizeof(from_stdin), stdin);
		if (ferror(stdin))
			node_die("standard input cannot be read");
	}
	k = open_store(arguments[0], &t, true);
	return close_store(arguments[0], k, &t,
			   kvs_put(&t, arguments[1], strlen(arguments[1]), value, len));
}

static int do_del(char **arguments)
{
	static struct kvs_thread t;
	struct kvs *k = open_store(arguments[0], &t, true);

	return close_store(arguments[0], k, &t,
			   kvs_del(&t, arguments[1], strlen(arguments[1])));
}

static int do_load(char **arguments)
{
	bench.file = arguments[0];
	return bench_load(&bench);
}

static int do_bench(char **arguments)
{
	bench.file = arguments[0];
	if (node.count > 1 && !bench.meet)
		node_die("--nodes %u: say with --meet in which file they meet", node.count);
	node_check();
	return bench_run(&bench);
}

static void say(void *arg, const char *sentence)
{
	uint64_t *said = arg;

	/* The first tell what it is. */
	if (++*said <= 20)
		fprintf(stderr, "%s: WRONG: %s\n", node.program, sentence);
}

static void print_check(const struct kvs *k, const struct kvs_counts *c)
{
	struct json j;

	json_begin(&j, stdout, false);
	json_u64(&j, "keys", c->entries);
	json_u64(&j, "records", c->records);
	json_u64(&j, "loaded", k->header->records);
	json_u64(&j, "versions", c->versions);
	json_u64(&j, "changes_min", c->puts_min);
	json_u64(&j, "changes_max", c->puts_max);
	json_u64(&j, "overflow", c->blocks);
	json_u64(&j, "spare", c->spare);
	json_u64(&j, "longest", c->longest);
	json_u64(&j, "sessions", c->sessions);
	json_u64(&j, "wrong", c->bad);
	json_end(&j);
}

static int do_check(char **arguments)
{
	struct kvs_counts c;
	uint64_t said = 0;
	struct kvs *k;

	if (kvs_open(arguments[0], &k) || kvs_check(k, settle, &c, say, &said))
		node_die("%s: %s", arguments[0], kvs_why());
	if (bench.json)
		print_check(k, &c);
	else
		printf("%llu keys, %llu of them records of the benchmark; %llu changes are in the store, %llu to %llu were made\n%u buckets, locks %s, the longest has %llu blocks; %llu blocks of overflow, %llu spare; %llu sessions not ended\n%s\n",
		       (unsigned long long)c.entries, (unsigned long long)c.records,
		       (unsigned long long)c.versions, (unsigned long long)c.puts_min,
		       (unsigned long long)c.puts_max, k->g.buckets, k->ops->name,
		       (unsigned long long)c.longest, (unsigned long long)c.blocks,
		       (unsigned long long)c.spare, (unsigned long long)c.sessions,
		       c.bad ? "WRONG" : "all is well");
	kvs_close(k);
	return c.bad ? 1 : 0;
}

static const struct command {
	const char *name;
	int arguments;
	int (*run)(char **arguments);
} commands[] = {
	{ "create", 1, do_create }, { "get", 2, do_get }, { "put", 3, do_put },
	{ "del", 2, do_del }, { "load", 1, do_load }, { "bench", 1, do_bench },
	{ "check", 1, do_check },
};

int main(int argc, char **argv)
{
	bool help = false;
	unsigned int i;
	int c;

	node_begin("weft-kvs");
	while ((c = getopt_long(argc, argv, "j", options, NULL)) != -1) {
		if (c == O_HELP) {
			help = true;
		} else if (!option(c, optarg)) {
			print_usage(stderr);
			return 2;
		}
	}
	if (help) {
		print_usage(stdout);
		return 0;
	}
	/* When all libraries are there. */
	if (locks)
		make.locks = locks_of(locks);
	argv += optind;
	argc -= optind;
	for (i = 0; argc && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[0], commands[i].name) && argc == 1 + commands[i].arguments)
			return commands[i].run(argv + 1);
	print_usage(stderr);
	return 2;
}
