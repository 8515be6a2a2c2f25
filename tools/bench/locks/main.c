// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-lockbench: locks over coherent memory, measured against each other.  See
 * the usage; each measurement is described where it is.
 */
#include <getopt.h>
#include <sys/prctl.h>

#include "arena.h"
#include "tools/common/number.h"

static const char usage[] =
"usage: weft-lockbench COMMAND [OPTIONS]\n"
"One JSON line a result.\n"
"  run       processes of all nodes at one lock; a line a node, and one for all,\n"
"            which the first node prints, with what the kernel counted\n"
"  counter   a process of each node adds to a counter: how often the lock changes\n"
"            node, how long the turns are; lines as of run\n"
"  handover  two nodes hand a lock to and fro; one way\n"
"  latency   one process alone, a lock that its node had last, and glibc's\n"
"  ping      a plain UDP message, in the rhythm of hand-overs and without rests\n"
"  pong      answers pings, for --seconds\n"
"  dlm       makes the kernel's distributed lock manager ready, on all nodes at once:\n"
"            --peer is the address of node 1, those of the others follow it\n"
"  serve     the lock service, for --seconds\n"
"  kinds     the locks that there are\n"
"Options:\n"
"  --locks L[,L...]   which; all unless told\n"
"  --readers P[,P...] percent of acquisitions that only read (run; default 0)\n"
"  --pages N          that the lock guards, each is touched wholly (default 1)\n"
"  --seconds S        of each measurement (default 2)\n"
"  --count N          acquisitions of each process instead; hand-overs, pings (100)\n"
"  --procs N          processes on each node (run; default 1)\n"
"  --think US         between leaving the lock and asking again (run, counter; default 0)\n"
"  --idle N           nodes that only open the lock, before the others: they are the first ones\n"
"                     (counter; default 0)\n"
"  --hold US          for how long a lock is held (handover, ping; default 4000)\n"
"  --settle MS        of silence before and after what is counted (default 300)\n"
"  --messages         count what goes over the network (run, counter,\n"
"                     handover)\n"
"  --service ADDRESS[:PORT]  of weft-lockbench serve\n"
"  --peer ADDRESS[:PORT]     of weft-lockbench pong\n"
"  --port N           of serve (default 4810), of pong (default 4811)\n"
"  --dir DIR          shared by all (default /weft); the file DIR/lockbench-COMMAND-NAME\n"
"                     must not exist before\n"
"  --name NAME        (default 1)\n"
"  --label TEXT       goes into the results\n"
"  --node K --nodes N --timeout S\n";

#define PONG_PORT	4811

static int serve(const struct lockbench *b)
{
	struct server_options o = {
		.port = b->port, .seconds = (unsigned int)b->seconds,
	};

	return server_run(&o);
}

static int kinds(const struct lockbench *b)
{
	unsigned int i;

	(void)b;
	for (i = 0; lock_kinds[i]; i++)
		printf("%-10s %s\n", lock_kinds[i]->name, lock_kinds[i]->what);
	printf("Only if told so:\n");
	for (i = 0; lock_guests[i]; i++)
		printf("%-10s %s\n", lock_guests[i]->name, lock_guests[i]->what);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(const struct lockbench *b);
	uint16_t port;
	uint64_t count;
} commands[] = {
	{ "run", bench_run, 0, 0 },
	{ "counter", bench_counter, 0, 0 },
	{ "handover", bench_handover, 0, 100 },
	{ "latency", bench_latency, 0, 0 },
	{ "ping", bench_ping, 0, 100 },
	{ "pong", bench_pong, PONG_PORT, 0 },
	{ "dlm", bench_dlm, 0, 0 },
	{ "serve", serve, SERVICE_PORT, 0 },
	{ "kinds", kinds, 0, 0 },
};

enum {
	O_LOCKS = 256, O_READERS, O_PAGES, O_SECONDS, O_COUNT, O_PROCS, O_THINK, O_IDLE,
	O_HOLD, O_SETTLE, O_MESSAGES, O_SERVICE, O_PEER, O_PORT, O_DIR, O_NAME, O_LABEL, O_HELP,
};

static const struct option options[] = {
	{ "locks", required_argument, NULL, O_LOCKS },
	{ "readers", required_argument, NULL, O_READERS },
	{ "pages", required_argument, NULL, O_PAGES },
	{ "seconds", required_argument, NULL, O_SECONDS },
	{ "count", required_argument, NULL, O_COUNT },
	{ "procs", required_argument, NULL, O_PROCS },
	{ "think", required_argument, NULL, O_THINK },
	{ "idle", required_argument, NULL, O_IDLE },
	{ "hold", required_argument, NULL, O_HOLD },
	{ "settle", required_argument, NULL, O_SETTLE },
	{ "messages", no_argument, NULL, O_MESSAGES },
	{ "service", required_argument, NULL, O_SERVICE },
	{ "peer", required_argument, NULL, O_PEER },
	{ "port", required_argument, NULL, O_PORT },
	{ "dir", required_argument, NULL, O_DIR },
	{ "name", required_argument, NULL, O_NAME },
	{ "label", required_argument, NULL, O_LABEL },
	NODE_OPTIONS,
	{ "help", no_argument, NULL, O_HELP },
	{ }
};

static void parse_locks(struct lockbench *b, char *list)
{
	char *item;

	b->kinds_len = 0;
	for (item = strtok(list, ","); item; item = strtok(NULL, ",")) {
		if (b->kinds_len == BENCH_KINDS)
			node_die("--locks: at most %u", BENCH_KINDS);
		b->kinds[b->kinds_len] = lock_kind_of(item);
		if (!b->kinds[b->kinds_len++])
			node_die("--locks: there is no lock '%s': see weft-lockbench kinds",
				 item);
	}
}

static double parse_seconds(const char *text)
{
	double s;

	if (number_real(text, 0.01, 86400, &s))
		node_die("--seconds %s: give a number from 0.01 to 86400", text);
	return s;
}

/* All kinds, but the service only where one is. */
static void all_locks(struct lockbench *b)
{
	unsigned int i;

	for (i = 0; lock_kinds[i]; i++)
		if (!lock_kinds[i]->service || b->service.sin_port)
			b->kinds[b->kinds_len++] = lock_kinds[i];
}

static int parse(struct lockbench *b, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (node_option(c))
			continue;
		switch (c) {
		case O_LOCKS: parse_locks(b, optarg); break;
		case O_READERS:
			b->readers_len = node_numbers_of("--readers", optarg, 0, 100,
							 b->readers, BENCH_SHARES);
			break;
		case O_PAGES: b->pages = node_number_of("--pages", optarg, 0, BENCH_PAGES); break;
		case O_SECONDS: b->seconds = parse_seconds(optarg); break;
		case O_COUNT: b->count = node_number_of("--count", optarg, 1, 1u << 30); break;
		case O_PROCS: b->procs = node_number_of("--procs", optarg, 1, BENCH_PROCS); break;
		case O_THINK: b->think_us = node_number_of("--think", optarg, 0, 10000000); break;
		case O_IDLE: b->idle = node_number_of("--idle", optarg, 0, NODE_MAX); break;
		case O_HOLD: b->hold_us = node_number_of("--hold", optarg, 1, 1000000); break;
		case O_SETTLE: b->settle_ms = node_number_of("--settle", optarg, 0, 60000); break;
		case O_MESSAGES: b->count_messages = true; break;
		case O_SERVICE: lock_address("--service", optarg, SERVICE_PORT, &b->service); break;
		case O_PEER: lock_address("--peer", optarg, PONG_PORT, &b->peer); break;
		case O_PORT: b->port = node_number_of("--port", optarg, 1, 65535); break;
		case O_DIR: b->dir = optarg; break;
		case O_NAME: b->name = optarg; break;
		case O_LABEL: b->label = optarg; break;
		case O_HELP: fputs(usage, stdout); exit(0);
		default: return -1;
		}
	}
	if (!b->kinds[0])
		all_locks(b);
	return optind < argc || !b->kinds_len || !b->readers_len ? -1 : 0;
}


int main(int argc, char **argv)
{
	struct lockbench b = {
		.dir = "/weft", .name = "1", .label = "", .readers_len = 1, .procs = 1,
		.pages = 1, .seconds = 2, .hold_us = 4000, .settle_ms = 300,
	};
	unsigned int i;

	node_begin("weft-lockbench");
	/* Short pauses are to be short. */
	prctl(PR_SET_TIMERSLACK, 1000);
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		b.port = commands[i].port;
		b.count = commands[i].count;
		if (parse(&b, argc - 1, argv + 1))
			break;
		node_check();
		return commands[i].run(&b);
	}
	fputs(usage, stderr);
	return 2;
}
