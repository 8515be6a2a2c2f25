// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading by one node: what it has in its cache, against the same in tmpfs; what
 * it does not have, in order and in random order.
 *
 * What is not cached can be read for the first time only once: the file is
 * divided, each repeat gets pages that were not touched before.  That another
 * node has filled the file, and this one has not looked at it, is up to the
 * caller.
 */
#include <pthread.h>

#include "tools/common/random.h"
#include "tools/demo/node.h"
#include "bench.h"

#define PAGE_WORDS (NODE_PAGE / 8)
#define SCAN_PART (1u << 20)

/* A file of which passes are timed. */
struct subject {
	const char *path;
	uint64_t size;
	uint64_t *words;
	int fd;
};

static void *map_read_only(const char *path, int fd, uint64_t size)
{
	void *at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		node_die("cannot map %s: %s", path, strerror(errno));
	return at;
}

static void subject_open(struct subject *s, const char *path, uint64_t size)
{
	struct stat st;

	s->path = path;
	s->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st))
		node_die("cannot open %s: %s", path, strerror(errno));
	s->size = st.st_size / NODE_PAGE * NODE_PAGE;
	if (size && size < s->size)
		s->size = size / NODE_PAGE * NODE_PAGE;
	if (!s->size)
		node_die("%s has less than a page", path);
	s->words = map_read_only(path, s->fd, s->size);
}

/* read() a part in large pieces, add up its words. */
static uint64_t read_sum(struct subject *s, uint64_t from, uint64_t size)
{
	static uint64_t buffer[(1 << 20) / 8];
	uint64_t sum = 0, at, want;
	ssize_t got;

	for (at = 0; at < size; at += got) {
		want = size - at < sizeof(buffer) ? size - at : sizeof(buffer);
		got = pread(s->fd, buffer, want, from + at);
		if (got < 8 || got % 8)
			node_die("cannot read %s: %s", s->path,
				 got < 0 ? strerror(errno) : "it ends early");
		sum += pattern_sum(buffer, got / 8);
	}
	return sum;
}

/* Nanoseconds that a pass over a part takes; the sum goes to @sum. */
static double pass(struct subject *s, bool read, uint64_t from, uint64_t size,
		   uint64_t *sum)
{
	uint64_t start = now_ns();

	*sum = read ? read_sum(s, from, size) :
		pattern_sum(s->words + from / 8, size / 8);
	return now_ns() - start;
}

/*
 * The reference: made from the file unless it is there, best while the file is not
 * cached, so that both take their memory in the same circumstances.  Through a mapping, so
 * that it gets its pages one by one as the file did: newer kernels give a large
 * write() to tmpfs large pieces of memory, which are read several times as fast.
 */
static void make_reference(const char *path, struct subject *of)
{
	uint64_t size;
	struct stat st;
	void *copy;

	if (!stat(path, &st) && (uint64_t)st.st_size >= of->size)
		return;
	copy = node_map(path, of->size, &size);
	memcpy(copy, of->words, size);
	munmap(copy, size);
}

/*
 * How one kind of scan compares: part by part, the file and the reference take
 * turns in being first, each pair of parts gives a ratio.  Parts are short, so
 * that most of them are not disturbed when the machine has other things to do.
 */
static void scan_kind(const struct bench *b, const char *label, struct subject *pair,
		      bool remap)
{
	uint64_t part = pair[0].size < SCAN_PART ? pair[0].size : SCAN_PART;
	uint64_t parts = pair[0].size / part, count = parts * b->repeats;
	double *ratio = calloc(3 * count, sizeof(*ratio)), ns[2];
	struct bench plain = *b;
	uint64_t sum[2], i;
	unsigned int k, which;
	char text[64];

	if (!ratio)
		node_die("out of memory");
	for (i = 0; i < count; i++) {
		for (k = 0; k < 2 && remap && i % parts == 0; k++) {
			munmap(pair[k].words, pair[k].size);
			pair[k].words = map_read_only(pair[k].path, pair[k].fd,
						      pair[k].size);
		}
		for (k = 0; k < 2; k++) {
			which = (i + k) % 2;
			ns[which] = pass(&pair[which], b->read, i % parts * part, part,
					 &sum[which]);
		}
		if (sum[0] != sum[1])
			node_die("%s and %s differ", pair[0].path, pair[1].path);
		ratio[i] = ns[1] / ns[0];
		ratio[count + i] = part * 1e3 / ns[0];
		ratio[2 * count + i] = part * 1e3 / ns[1];
	}
	plain.target = 0;
	snprintf(text, sizeof(text), "%s file", label);
	result_print(&plain, "scan", text, "MB/s", ratio + count, count);
	snprintf(text, sizeof(text), "%s reference", label);
	result_print(&plain, "scan", text, "MB/s", ratio + 2 * count, count);
	result_print(b, "scan", label, "ratio", ratio, count);
	free(ratio);
}

/**
 * bench_scan() - scan a cached file and its copy
 * @b:		the options
 *
 * "mapped": the page tables are filled; "faults": mapped anew for each repeat, so
 * each page costs a fault (or its share of one) in both.
 */
int bench_scan(const struct bench *b)
{
	struct subject pair[2];
	uint64_t sum;
	unsigned int i;

	if (!b->file || !b->reference)
		node_die("scan: give --file and --reference");
	subject_open(&pair[0], b->file, b->size);
	make_reference(b->reference, &pair[0]);
	subject_open(&pair[1], b->reference, pair[0].size);
	if (pair[1].size != pair[0].size)
		node_die("%s is shorter than %s: remove it", b->reference, b->file);
	for (i = 0; i < 4; i++)
		pass(&pair[i % 2], b->read, 0, pair[0].size, &sum);
	if (b->read) {
		scan_kind(b, "read", pair, false);
	} else {
		scan_kind(b, "mapped", pair, false);
		scan_kind(b, "faults", pair, true);
	}
	return 0;
}

/**
 * bench_seqread() - read an uncached file in order
 * @b:		the options
 */
int bench_seqread(const struct bench *b)
{
	uint64_t begin = b->offset / NODE_PAGE * NODE_PAGE;
	double rate[BENCH_REPEATS], ns;
	uint64_t part, from, sum, word, wanted;
	struct subject s;
	unsigned int i;

	if (!b->file)
		node_die("seqread: give --file");
	subject_open(&s, b->file, b->size ? begin + b->size : 0);
	part = begin < s.size ?
	       (s.size - begin) / b->repeats / NODE_PAGE * NODE_PAGE : 0;
	if (!part)
		node_die("seqread: %s is too short for %u repeats", b->file, b->repeats);
	for (i = 0; i < b->repeats; i++) {
		/* from the last part to the first: what is read ahead is no gift */
		from = begin + (b->repeats - 1 - i) * part;
		ns = pass(&s, b->read, from, part, &sum);
		for (word = wanted = 0; word < part / 8; word++)
			wanted += pattern_word(from / 8 + word);
		if (sum != wanted)
			node_die("%s: wrong contents; was it made by weft-bench fill?",
				 b->file);
		rate[i] = part * 1e3 / ns;
	}
	result_print(b, "seqread", b->read ? "read" : "mapped", "MB/s", rate, b->repeats);
	return 0;
}

/* --- Random order --------------------------------------------------------- */

struct reader {
	pthread_t thread;
	pthread_barrier_t *gate;
	const char *path;
	const volatile uint64_t *words;
	const uint32_t *page;	/* those of this thread */
	uint64_t count;
};

static void *read_pages(void *arg)
{
	struct reader *r = arg;
	uint64_t i, index;

	pthread_barrier_wait(r->gate);
	for (i = 0; i < r->count; i++) {
		index = (uint64_t)r->page[i] * PAGE_WORDS + i % PAGE_WORDS;
		pattern_check(r->path, index, r->words[index]);
	}
	return NULL;
}

/* Nanoseconds that @threads threads take for @count pages each. */
static double read_at_once(const struct bench *b, struct subject *s,
			   const uint32_t *page, unsigned int threads)
{
	struct reader *readers = calloc(threads, sizeof(*readers));
	pthread_barrier_t gate;
	unsigned int i;
	uint64_t start;
	int err;

	if (!readers)
		node_die("out of memory");
	pthread_barrier_init(&gate, NULL, threads + 1);
	for (i = 0; i < threads; i++) {
		readers[i] = (struct reader){
			.gate = &gate, .path = s->path, .words = s->words,
			.page = page + i * b->count, .count = b->count,
		};
		err = pthread_create(&readers[i].thread, NULL, read_pages, &readers[i]);
		if (err)
			node_die("cannot start a thread: %s", strerror(err));
	}
	start = now_ns();
	pthread_barrier_wait(&gate);
	for (i = 0; i < threads; i++)
		pthread_join(readers[i].thread, NULL);
	pthread_barrier_destroy(&gate);
	free(readers);
	return now_ns() - start;
}

static uint32_t *shuffled(uint64_t pages)
{
	uint32_t *page = malloc(pages * sizeof(*page)), x;
	uint64_t random = random_stream(pages, 1), i, k;

	if (!page)
		node_die("out of memory");
	for (i = 0; i < pages; i++)
		page[i] = i;
	for (i = pages - 1; i > 0; i--) {
		k = random_below(&random, i + 1);
		x = page[i];
		page[i] = page[k];
		page[k] = x;
	}
	return page;
}

/**
 * bench_randread() - read pages of an uncached file, each once, in random order
 * @b:		the options
 */
int bench_randread(const struct bench *b)
{
	double rate[BENCH_REPEATS], ns;
	uint64_t need = 0, used = 0;
	uint32_t *page;
	struct subject s;
	unsigned int w, i;
	char label[32];

	if (!b->file)
		node_die("randread: give --file");
	subject_open(&s, b->file, b->size);
	/* Neighbours of what was asked for may not come along uninvited. */
	madvise(s.words, s.size, MADV_RANDOM);
	for (w = 0; w < b->widths; w++)
		need += (uint64_t)b->threads[w] * b->count * b->repeats;
	if (need > s.size / NODE_PAGE)
		node_die("randread: %s has %llu pages, %llu are needed: give fewer --repeats or --count",
			 b->file, (unsigned long long)(s.size / NODE_PAGE),
			 (unsigned long long)need);
	page = shuffled(s.size / NODE_PAGE);
	for (w = 0; w < b->widths; w++) {
		for (i = 0; i < b->repeats; i++) {
			ns = read_at_once(b, &s, page + used, b->threads[w]);
			used += b->threads[w] * b->count;
			rate[i] = b->threads[w] * b->count * 1e9 / ns;
		}
		snprintf(label, sizeof(label), "threads=%u", b->threads[w]);
		result_print(b, "randread", label, "pages/s", rate, b->repeats);
	}
	free(page);
	return 0;
}
