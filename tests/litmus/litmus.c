// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-litmus: litmus tests across nodes.  Each thread of a test runs on another
 * node (the fourth of IRIW beside the first), for many rounds; what x86-TSO
 * forbids must never appear.
 *
 * A round needs variables that nobody has touched before: a pair of words on two
 * different pages, both 0.  Meeting between the rounds would take a hundred times
 * as long as a round does, so rounds go in batches:
 *
 *  - A test owns 2 n pages.  A batch of n rounds pairs them up at random, one
 *    pair a round, all different.  Batch b uses word b of each page, so every
 *    round has words of its own and pages that no other round of the batch
 *    touches; a page comes again only in another batch, with another partner.
 *    With --series s, s rounds in a row use the same pair and s words of each
 *    page: the first of them begins with pages as they are, in the others the
 *    pages move in the midst of the rounds, and a round costs fewer transfers.
 *  - Before a batch the nodes read or write unused words of some of the pages, so
 *    that rounds begin with pages in all states: nowhere, shared by some nodes,
 *    modified at one.  Stale copies can only be read where copies are.
 *  - The nodes meet, then each thread goes through the rounds of the batch in the
 *    same order, at its own pace, with random pauses before and within rounds
 *    from nanoseconds to --delay: sometimes a thread is ahead, sometimes another.
 *    Every --align rounds those who are ahead wait a little for the others, so
 *    that they keep meeting in the same rounds.
 *  - The nodes meet again; tests that ask for final values have all nodes read
 *    them: they must agree.
 *  - From batch to batch the threads move on to other nodes.
 *
 * With --break the nodes themselves do what is forbidden, and meet before each round:
 * the control, without which "never" could also mean that nobody could have seen it.
 *
 * Results stay in private memory during the test; then each node puts its own in
 * shared memory, with a sum, and every node judges all of them (judge.c).
 */
#include <getopt.h>
#include <pthread.h>

#include "tools/common/random.h"
#include "tools/demo/node.h"
#include "litmus.h"

#define BATCH_WORDS	504u	/* of a page, the last 8 are for making states */
#define PAGE_WORDS	512u
#define ALIGN_NS	20000000ull	/* nobody waits longer to be aligned */

/*
 * What is broken on purpose (--break), as the control of all this: then outcomes that
 * are forbidden do happen, between real nodes, and have to be found.
 */
enum broken {
	BROKEN_NOTHING,
	BROKEN_STALE,	/* loads may see a copy that missed its invalidation */
	BROKEN_ORDER,	/* the steps of a thread take place from the last to the first */
};

static struct {
	_Atomic uint64_t *data;
	const char *dir;
	uint64_t rounds;
	uint32_t batch;		/* rounds of a batch */
	uint64_t delay_ns;
	uint32_t align;
	uint32_t series;	/* rounds in a row with the same pages */
	uint64_t seed;
	uint32_t selected;	/* bit n: test n */
	enum broken broken;
} job = {
	.dir = "/weft", .rounds = 10000, .delay_ns = 100000, .align = 4, .series = 1,
	.seed = 1, .selected = (1u << 30) - 1
};

/* One test as this node runs it. */
struct run {
	const struct shape *shape;
	uint32_t number;
	_Atomic uint64_t *pages;
	_Atomic uint64_t *progress;	/* a page for each thread */
	struct result *mine;
};

struct batch {
	struct run *run;
	uint32_t number;
	uint32_t rounds;
	uint32_t *page;		/* series i has its variables on pages 2i, 2i+1 of these */
};

struct thread {
	struct batch *batch;
	uint32_t number;
	pthread_t thread;
};

static uint32_t pages_of_test(void)
{
	return 2 * (job.batch / job.series);
}

static _Atomic uint64_t *variable(const struct batch *b, uint32_t round, uint32_t var)
{
	return &b->run->pages[b->page[2 * (round / job.series) + var] * PAGE_WORDS +
			      b->number * job.series + round % job.series];
}

/* Which node runs a thread in this batch, 1.. */
static uint32_t node_of(const struct batch *b, uint32_t thread)
{
	uint32_t turn = b->number / node.count % 2 ? node.count - 1 : 1;

	return (b->number + thread * turn) % node.count + 1;
}

static void pause_ns(uint64_t ns)
{
	uint64_t end;

	if (!ns)
		return;
	end = now_ns() + ns;
	while (now_ns() < end)
		;
}

/* Half of the time none, else from 1 ns to --delay, all magnitudes alike. */
static void random_pause(uint64_t *random)
{
	uint64_t x = random_u64(random) >> 16, ns;

	if (x & 1 || !job.delay_ns)
		return;
	ns = job.delay_ns >> (x >> 1) % 17;
	pause_ns((x >> 8) % (ns + 1));
}

/*
 * Wait until the other threads of the test are here, too, but not for long: this
 * makes rounds more interesting, no result depends on it.
 */
static void align(const struct batch *b, uint32_t round, uint32_t thread)
{
	uint64_t here = (uint64_t)b->number * job.batch + round + 1, end;
	uint32_t t, looks = 0;

	atomic_store_explicit(&b->run->progress[thread * PAGE_WORDS], here,
			      memory_order_release);
	end = now_ns() + ALIGN_NS;
	for (t = 0; t < b->run->shape->threads; t++) {
		while (atomic_load_explicit(&b->run->progress[t * PAGE_WORDS],
					    memory_order_acquire) < here) {
			if (node_wait_a_bit(&looks) && now_ns() > end)
				return;
		}
	}
}

static void run_step(const struct step *step, _Atomic uint64_t *at, const uint64_t *stale,
		     uint8_t *cell)
{
	uint64_t value;

	/* The compiler keeps the order; the machine does what it may. */
	atomic_signal_fence(memory_order_seq_cst);
	switch (step->kind) {
	case STEP_STORE:
		atomic_store_explicit(at, step->arg, memory_order_relaxed);
		break;
	case STEP_LOAD:
		value = stale ? *stale : atomic_load_explicit(at, memory_order_relaxed);
		cell[step->arg] = value < SHAPE_VALUES ? value : RESULT_ABSENT - 1;
		break;
	case STEP_FENCE:
		atomic_thread_fence(memory_order_seq_cst);
		break;
	}
	atomic_signal_fence(memory_order_seq_cst);
}

static void run_round(const struct batch *b, uint32_t round, uint32_t thread,
		      uint64_t *random)
{
	const struct step *program = b->run->shape->program[thread], *step;
	uint8_t *cell = b->run->mine->cell[(uint64_t)b->number * job.batch + round];
	_Atomic uint64_t *at[SHAPE_VARS] = {
		variable(b, round, 0), variable(b, round, 1)
	};
	bool pauses = random_below(random, 4) == 0 || job.broken;
	uint64_t copy[SHAPE_VARS] = { 0 };
	uint32_t steps = 0, i;

	while (program[steps].kind != STEP_END)
		steps++;
	for (i = 0; i < SHAPE_VARS && job.broken == BROKEN_STALE; i++)
		copy[i] = atomic_load_explicit(at[i], memory_order_relaxed);
	/* a control is no search: all have their copies, then the round begins */
	if (job.broken)
		align(b, round, thread);
	random_pause(random);
	for (i = 0; i < steps; i++) {
		step = &program[job.broken == BROKEN_ORDER ? steps - 1 - i : i];
		run_step(step, at[step->var], job.broken == BROKEN_STALE &&
			 random_below(random, 2) ? &copy[step->var] : NULL, cell);
		if (pauses)
			random_pause(random);
	}
}

static void *run_thread(void *arg)
{
	struct thread *t = arg;
	struct batch *b = t->batch;
	uint64_t random = random_stream(job.seed + b->number,
				    b->run->number * SHAPE_THREADS + t->number);
	uint32_t i;

	for (i = 0; i < b->rounds; i++) {
		if (job.align && i % job.align == 0 && !job.broken)
			align(b, i, t->number);
		run_round(b, i, t->number, &random);
	}
	return NULL;
}

/* Pair the pages up for a batch: all nodes do it alike. */
static void shuffle(struct batch *b)
{
	uint64_t random = random_stream(job.seed, (uint64_t)b->run->number << 32 | b->number);
	uint32_t i, k;

	for (i = 0; i < pages_of_test(); i++) {
		k = random_below(&random, i + 1);
		b->page[i] = b->page[k];
		b->page[k] = i;
	}
}

/* Bring pages into various states. */
static void make_states(const struct batch *b)
{
	uint64_t random = random_stream(job.seed ^ 0x5a5a, (uint64_t)b->number << 32 |
				    b->run->number << 8 | node.number);
	uint32_t i, x;

	for (i = 0; i < pages_of_test(); i++) {
		_Atomic uint64_t *word = &b->run->pages[i * PAGE_WORDS +
			BATCH_WORDS + node.number % 8];

		x = random_below(&random, 8);
		if (x < 3)
			atomic_load_explicit(word, memory_order_relaxed);
		else if (x == 3)
			atomic_store_explicit(word, b->number + 1, memory_order_relaxed);
	}
}

static void run_batch(struct batch *b)
{
	struct thread threads[SHAPE_THREADS];
	const struct shape *s = b->run->shape;
	uint32_t i, t, n = 0;
	int err;

	shuffle(b);
	make_states(b);
	node_meet();
	for (t = 0; t < s->threads; t++)
		if (node_of(b, t) == node.number)
			threads[n++] = (struct thread){ .batch = b, .number = t };
	for (t = 1; t < n; t++) {
		err = pthread_create(&threads[t].thread, NULL, run_thread, &threads[t]);
		if (err)
			node_die("cannot start a thread: %s", strerror(err));
	}
	if (n)
		run_thread(&threads[0]);
	for (t = 1; t < n; t++)
		pthread_join(threads[t].thread, NULL);
	node_meet();
	for (i = 0; s->finals && i < b->rounds; i++) {
		uint8_t *cell = b->run->mine->cell[(uint64_t)b->number * job.batch + i];

		for (t = 0; t < s->vars; t++) {
			uint64_t value = atomic_load(variable(b, i, t));

			cell[SHAPE_REGS + t] = value < SHAPE_VALUES ? value :
				RESULT_ABSENT - 1;
		}
	}
}

static void print_tally(const struct shape *s, const struct tally *t, double seconds)
{
	static unsigned int number;
	unsigned int i, k, cells = shape_cells(s);
	bool ok = !t->error && !(s->forbidden && t->weak);
	uint8_t cell[SHAPE_CELLS];

	printf("%s %u - %s: %llu rounds in %.1f s, ", ok ? "ok" : "not ok", ++number,
	       s->name, (unsigned long long)job.rounds, seconds);
	if (t->error) {
		printf("%s\n", t->error);
		return;
	}
	if (!t->weak)
		printf("%s: never%s\n", s->weak, s->forbidden ? "" : " (allowed)");
	else
		printf("%s: %llu times, first in round %llu (%s)\n", s->weak,
		       (unsigned long long)t->weak, (unsigned long long)t->first,
		       s->forbidden ? "FORBIDDEN" : "allowed");
	printf("#");
	for (i = 0; i < shape_outcomes(s); i++) {
		if (!t->outcome[i])
			continue;
		shape_cell(s, i, cell);
		printf(" ");
		for (k = 0; k < cells; k++)
			printf("%u", cell[k < s->regs ? k : SHAPE_REGS + k - s->regs]);
		printf(":%llu", (unsigned long long)t->outcome[i]);
	}
	printf("\n");
}

static bool run_test(struct run *run, struct result **results)
{
	const struct result *all[NODE_MAX];
	uint32_t batches = (job.rounds + job.batch - 1) / job.batch, i;
	uint64_t start = now_ns();
	static struct tally tally;
	struct batch b = { .run = run };

	b.page = calloc(pages_of_test(), sizeof(*b.page));
	run->mine = malloc(result_size((uint64_t)batches * job.batch));
	if (!b.page || !run->mine)
		node_die("out of memory: give fewer --rounds");
	memset(run->mine, RESULT_ABSENT, result_size((uint64_t)batches * job.batch));
	for (b.number = 0; b.number < batches; b.number++) {
		b.rounds = b.number == batches - 1 ?
			job.rounds - (uint64_t)b.number * job.batch : job.batch;
		run_batch(&b);
	}
	result_seal(run->mine, job.rounds, run->number);
	memcpy(results[node.number - 1], run->mine, result_size(job.rounds));
	node_meet();
	for (i = 0; i < node.count; i++)
		all[i] = results[i];
	result_judge(run->shape, job.rounds, all, node.count, &tally);
	if (node.number == node.count)
		print_tally(run->shape, &tally, (now_ns() - start) / 1e9);
	free(b.page);
	free(run->mine);
	return !tally.error && !(run->shape->forbidden && tally.weak);
}

static int run_tests(void)
{
	static char path[4096];
	size_t room = (result_size(job.rounds) + NODE_PAGE - 1) / NODE_PAGE * NODE_PAGE;
	uint64_t test_words, results_size, zero = 0, options;
	struct result *results[NODE_MAX] = {};
	struct meeting *meeting;
	_Atomic uint64_t *agreed;
	uint32_t i, k;
	bool ok = true;
	char *memory;

	i = BATCH_WORDS / job.series;	/* batches there can be */
	job.batch = (job.rounds + i - 1) / i;
	if (job.batch < 32)
		job.batch = 32;
	job.batch = (job.batch + job.series - 1) / job.series * job.series;
	test_words = (uint64_t)(pages_of_test() + SHAPE_THREADS) * PAGE_WORDS;
	results_size = room * node.count * shape_count;
	snprintf(path, sizeof(path), "%s/litmus", job.dir);
	memory = node_map(path, 2 * NODE_PAGE + results_size +
			  shape_count * test_words * 8, NULL);
	meeting = (struct meeting *)memory;
	node_join(meeting, path);
	agreed = (_Atomic uint64_t *)(memory + NODE_PAGE);
	options = random_stream(random_stream(job.rounds, job.seed) + job.series + 64 * job.broken,
			    (uint64_t)job.align << 32 | job.selected);
	if (!atomic_compare_exchange_strong(agreed, &zero, options) && zero != options)
		node_die("another node was started with other --rounds, --seed, --align, --series, --break or --tests");
	job.data = (_Atomic uint64_t *)(memory + 2 * NODE_PAGE + results_size);

	for (i = 0; i < shape_count; i++) {
		struct run run = { .shape = &shapes[i], .number = i,
				   .pages = job.data + i * test_words };

		run.progress = run.pages + (uint64_t)pages_of_test() * PAGE_WORDS;
		if (!(job.selected >> i & 1))
			continue;
		for (k = 0; k < node.count; k++)
			results[k] = (struct result *)(memory + 2 * NODE_PAGE +
				room * (i * node.count + k));
		ok &= run_test(&run, results);
	}
	node_meet();
	return !ok;
}

static uint32_t select_tests(char *names)
{
	uint32_t selected = 0, i;
	char *name;

	for (name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		for (i = 0; i < shape_count && strcmp(name, shapes[i].name); i++)
			;
		if (i == shape_count)
			node_die("there is no test %s", name);
		selected |= 1u << i;
	}
	return selected;
}

static enum broken break_what(const char *name)
{
	if (!strcmp(name, "stale"))
		return BROKEN_STALE;
	if (strcmp(name, "order") != 0)
		node_die("--break %s: stale or order", name);
	return BROKEN_ORDER;
}

static const char usage[] =
"usage: weft-litmus [--dir DIR] --node K --nodes N [OPTIONS]\n"
"       weft-litmus --selftest\n"
"Runs litmus tests on N nodes at once; the last node prints the outcomes.  The\n"
"file DIR/litmus must not exist before.\n"
"  --dir DIR      shared directory (default /weft)\n"
"  --node K       this node, 1..N          --nodes N    all nodes (default 1)\n"
"  --rounds R     of each test (default 10000)\n"
"  --tests A,B    only these: SB SB+mfence MP LB IRIW 2+2W CoRR CoRR2 WRC S\n"
"  --align R      rounds until the threads wait for each other; 0: never (default 4)\n"
"  --series S     rounds in a row with the same two pages, 1..63 (default 1)\n"
"  --delay US     longest random pause (default 100)\n"
"  --seed S       other choices\n"
"  --timeout S    longest wait for the other nodes (default 120)\n"
"  --break WHAT   control: find what is broken on purpose; what is forbidden happens:\n"
"                 stale: loads may see a private copy (SB+mfence MP IRIW CoRR CoRR2 WRC)\n"
"                 order: threads run from their last step to their first (all tests)\n"
"  --selftest     test the detector: it must find what x86-TSO forbids\n";

enum {
	O_DIR = 256, O_ROUNDS, O_TESTS, O_ALIGN, O_SERIES, O_DELAY, O_SEED, O_BREAK,
	O_SELFTEST, O_HELP,
};

static const struct option options[] = {
	{ "dir", required_argument, NULL, O_DIR },
	NODE_OPTIONS,
	{ "rounds", required_argument, NULL, O_ROUNDS },
	{ "tests", required_argument, NULL, O_TESTS },
	{ "align", required_argument, NULL, O_ALIGN },
	{ "series", required_argument, NULL, O_SERIES },
	{ "delay", required_argument, NULL, O_DELAY },
	{ "seed", required_argument, NULL, O_SEED },
	{ "break", required_argument, NULL, O_BREAK },
	{ "selftest", no_argument, NULL, O_SELFTEST },
	{ "help", no_argument, NULL, O_HELP },
	{ }
};

int main(int argc, char **argv)
{
	int c;

	node_begin("weft-litmus");
	/* Threads that leave a meeting together meet in more rounds. */
	node.pause_us = 20;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (node_option(c))
			continue;
		switch (c) {
		case O_DIR: job.dir = optarg; break;
		case O_ROUNDS: job.rounds = node_number_of("--rounds", optarg, 1, 1u << 24); break;
		case O_TESTS: job.selected = select_tests(optarg); break;
		case O_ALIGN: job.align = node_number_of("--align", optarg, 0, 1u << 20); break;
		case O_SERIES: job.series = node_number_of("--series", optarg, 1, 63); break;
		case O_DELAY: job.delay_ns = 1000 * node_number_of("--delay", optarg, 0, 1000000); break;
		case O_SEED: job.seed = node_number_of("--seed", optarg, 0, UINT64_MAX); break;
		case O_BREAK: job.broken = break_what(optarg); break;
		case O_SELFTEST: return litmus_selftest();
		case O_HELP: fputs(usage, stdout); return 0;
		default: fputs(usage, stderr); return 2;
		}
	}
	if (optind < argc) {
		fputs(usage, stderr);
		return 2;
	}
	node_check();
	return run_tests();
}
