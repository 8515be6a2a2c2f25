// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-wordcount: the nodes of a rack count the words of one text together.
 *
 * The text is one shared file, the table of counts another; both are mapped by
 * every node, and C11 atomics are all that the nodes use to agree: chunks of
 * the text are handed out by a fetch-and-add, a word enters the table by a
 * compare-and-swap, is counted by a fetch-and-add, and no node ever waits for
 * another but at the meetings before and after the work.
 *
 * A word is a longest run of the bytes A-Z and a-z, in lower case.  That is what
 *	tr -cs 'A-Za-z' '\n' | tr A-Z a-z | grep . | sort | uniq -c
 * counts under LC_ALL=C, and --dump prints exactly what "sort -k1,1nr -k2"
 * makes of it.
 *
 * Each thread adds up the words of --batch bytes of text by itself before it
 * goes to the shared table (in the order of the table, so that a page is asked
 * for once a batch); --batch 0 takes every single word there at once.
 *
 * The table file, each part from a page of its own on:
 *	config | meeting | chunk cursor | heap cursor | a page per node | slots | heap
 * A slot is {key, count}; the key names the word's bytes in the heap and holds
 * some bits of its hash.  Nodes take the heap in segments, so that two nodes
 * seldom write to the same page of it.  A word that lost the race for its slot
 * is taken back from the heap before anybody has seen it.
 */
#include <getopt.h>
#include <pthread.h>

#include "node.h"
#include "tools/common/random.h"

#define TABLE_MAGIC	0x31626174746665ull
#define SEGMENT		(4 * NODE_PAGE)
#define SLOTS_LEAST	65536
#define SLOTS_SURE	262144	/* as many do no harm if few are used */
#define KEY_TAG_SHIFT	40
#define KEY_PLACE_MASK	((1ull << KEY_TAG_SHIFT) - 1)

struct slot {
	_Atomic uint64_t key;	/* 0 = free, else tag << 40 | place in heap + 1 */
	_Atomic uint64_t count;
};

/* What one node did, written once at its end. */
struct share {
	uint64_t words;
	uint64_t bytes;
	uint64_t chunks;
	uint64_t ns;
	char unused[NODE_PAGE - 4 * sizeof(uint64_t)];
};

union page {
	_Atomic uint64_t value;
	char bytes[NODE_PAGE];
};

/* What the table was made for: so no node works with another one, and a report needs no options. */
struct config {
	_Atomic uint64_t sum;	/* of all of it and of the text's size: the same for all */
	_Atomic uint64_t slots;
	_Atomic uint64_t heap_size;
	_Atomic uint64_t chunk_size;
	char unused[NODE_PAGE - 4 * sizeof(uint64_t)];
};

struct table {
	struct config config;
	struct meeting meeting;
	union page chunk;	/* next chunk to be counted */
	union page heap_end;	/* segments of the heap that are taken */
	struct share share[NODE_MAX];
	struct slot slots[];
};

/* A word in the heap. */
struct word {
	uint32_t len;
	char text[];
};

/* A word and how often a thread met it in its batch. */
struct seen {
	uint64_t hash;
	const unsigned char *text;
	uint32_t len;
	uint32_t count;
};

struct worker {
	pthread_t thread;
	struct seen *seen;	/* open addressing, seen_size is a power of two */
	size_t seen_size;
	size_t seen_used;
	uint64_t heap_at;	/* own segment: next free byte and end */
	uint64_t heap_end;
	uint64_t words;
	uint64_t bytes;
	uint64_t chunks;
};

static struct {
	const unsigned char *text;
	uint64_t text_size;
	struct table *table;
	char *heap;
	uint64_t slots;
	uint64_t heap_size;
	uint64_t chunk_size;
	bool progress;
	uint64_t batch;
	unsigned int threads;
} job;

/* 0 for what is not part of a word, else the lower-case letter. */
static unsigned char fold[256];

static void fold_init(void)
{
	int c;

	for (c = 'a'; c <= 'z'; c++)
		fold[c] = fold[c - 'a' + 'A'] = c;
}

static uint64_t hash_word(const unsigned char *text, uint32_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;
	uint32_t i;

	for (i = 0; i < len; i++)
		h = (h ^ fold[text[i]]) * 0x100000001b3ull;
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdull;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ull;
	return h ^ h >> 33;
}

static bool same_folded(const unsigned char *a, const unsigned char *b, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		if (fold[a[i]] != fold[b[i]])
			return false;
	return true;
}

/*
 * Write a word to the thread's part of the heap, without keeping the place:
 * that happens when it has won a slot.
 */
static uint64_t heap_put(struct worker *w, const unsigned char *text, uint32_t len)
{
	uint64_t need = (sizeof(struct word) + len + 3) & ~3ull;
	struct word *word;
	uint32_t i;

	if (w->heap_at + need > w->heap_end) {
		uint64_t segments = (need + SEGMENT - 1) / SEGMENT;

		w->heap_at = SEGMENT * atomic_fetch_add_explicit(
			&job.table->heap_end.value, segments, memory_order_relaxed);
		w->heap_end = w->heap_at + segments * SEGMENT;
		if (w->heap_end > job.heap_size)
			node_die("no room left for new words: give a larger --heap, and remove the table first");
	}
	word = (struct word *)(job.heap + w->heap_at);
	word->len = len;
	for (i = 0; i < len; i++)
		word->text[i] = fold[text[i]];
	return w->heap_at;
}

static void heap_keep(struct worker *w, uint32_t len)
{
	w->heap_at += (sizeof(struct word) + len + 3) & ~3ull;
}

static const struct word *word_of(uint64_t key)
{
	return (const struct word *)(job.heap + (key & KEY_PLACE_MASK) - 1);
}

static bool key_is(uint64_t key, uint64_t tag, const unsigned char *text, uint32_t len)
{
	const struct word *word;

	if (key >> KEY_TAG_SHIFT != tag)
		return false;
	word = word_of(key);
	return word->len == len &&
		same_folded((const unsigned char *)word->text, text, len);
}

static uint64_t power_of_two(uint64_t least)
{
	uint64_t n = 1;

	while (n < least)
		n *= 2;
	return n;
}

/* No text of @size bytes has more different words: all those of one letter, of two, ... */
static uint64_t words_most(uint64_t size)
{
	uint64_t n = 0, words = 26, len;

	for (len = 1; words <= size / (len + 1); len++) {
		n += words;
		size -= words * (len + 1);
		words *= 26;
	}
	/* the last one needs no end */
	return n + (size + 1) / (len + 1);
}

/*
 * How many slots a text gets: one for each word that it may have, if that is not much; else
 * twice as many as a dictionary of that size has different words.  These grow with
 * the square root of the size, and somewhat faster: 1 MB has 15 thousand, 8 MB 75, 40 MB 217.
 */
static uint64_t slots_for(uint64_t size)
{
	uint64_t n = SLOTS_LEAST, most = power_of_two(words_most(size));

	if (most <= SLOTS_SURE)
		return most > n ? most : n;
	while (n < most && n / 64 * (n / 64) < size)
		n *= 2;
	return n;
}

/* Add to the count of a word in the shared table. */
static void table_add(struct worker *w, uint64_t hash, const unsigned char *text,
		      uint32_t len, uint32_t count)
{
	uint64_t tag = hash >> KEY_TAG_SHIFT, key, mine = 0, i;
	struct slot *slot;

	for (i = 0; i < job.slots; i++) {
		slot = &job.table->slots[(hash + i) & (job.slots - 1)];
		/* Pairs with the release below: the word's bytes are there. */
		key = atomic_load_explicit(&slot->key, memory_order_acquire);
		if (!key) {
			if (!mine)
				mine = tag << KEY_TAG_SHIFT |
					(heap_put(w, text, len) + 1);
			if (atomic_compare_exchange_strong_explicit(&slot->key,
					&key, mine, memory_order_acq_rel,
					memory_order_acquire)) {
				heap_keep(w, len);
				key = mine;
			}
		}
		if (key == mine || key_is(key, tag, text, len)) {
			atomic_fetch_add_explicit(&slot->count, count,
						  memory_order_relaxed);
			return;
		}
	}
	node_die("the table is full (%llu slots): this text has more different words than texts of its size usually have; --slots %llu is enough for any; remove the table first",
		 (unsigned long long)job.slots,
		 (unsigned long long)power_of_two(words_most(job.text_size)));
}

static int compare_place(const void *a, const void *b)
{
	uint64_t x = ((const struct seen *)a)->hash & (job.slots - 1);
	uint64_t y = ((const struct seen *)b)->hash & (job.slots - 1);

	return (x > y) - (x < y);
}

/* Take the words of a batch to the shared table. */
static void batch_flush(struct worker *w)
{
	size_t i, n = 0;

	for (i = 0; i < w->seen_size; i++)
		if (w->seen[i].count)
			w->seen[n++] = w->seen[i];
	qsort(w->seen, n, sizeof(*w->seen), compare_place);
	for (i = 0; i < n; i++)
		table_add(w, w->seen[i].hash, w->seen[i].text, w->seen[i].len,
			  w->seen[i].count);
	memset(w->seen, 0, w->seen_size * sizeof(*w->seen));
	w->seen_used = 0;
}

static void batch_add(struct worker *w, uint64_t hash, const unsigned char *text,
		      uint32_t len)
{
	struct seen *s;
	uint64_t i;

	if (w->seen_used > w->seen_size / 2)
		batch_flush(w);
	for (i = hash; ; i++) {
		s = &w->seen[i & (w->seen_size - 1)];
		if (!s->count) {
			*s = (struct seen){ hash, text, len, 1 };
			w->seen_used++;
			return;
		}
		if (s->hash == hash && s->len == len &&
		    same_folded(s->text, text, len)) {
			s->count++;
			return;
		}
	}
}

/*
 * Count the words that begin in a chunk.  A word that a chunk's end cuts
 * belongs to the chunk where it begins.
 */
static void count_chunk(struct worker *w, uint64_t at, uint64_t end)
{
	const unsigned char *text = job.text;
	uint64_t start, hash;

	w->chunks++;
	w->bytes += end - at;
	if (at && fold[text[at - 1]])
		while (at < end && fold[text[at]])
			at++;
	while (at < end) {
		if (!fold[text[at]]) {
			at++;
			continue;
		}
		for (start = at; at < job.text_size && fold[text[at]]; at++)
			;
		if (at - start > UINT32_MAX)
			node_die("a word of 4 GiB is more than I can count");
		w->words++;
		hash = hash_word(text + start, at - start);
		if (job.batch)
			batch_add(w, hash, text + start, at - start);
		else
			table_add(w, hash, text + start, at - start, 1);
	}
}

static void *work(void *arg)
{
	uint64_t chunks = (job.text_size + job.chunk_size - 1) / job.chunk_size;
	struct worker *w = arg;
	uint64_t i, at, end, flushed = 0;

	for (;;) {
		i = atomic_fetch_add_explicit(&job.table->chunk.value, 1,
					      memory_order_relaxed);
		if (job.progress && i < chunks)
			fprintf(stderr, "progress %llu %llu\n", (unsigned long long)i,
				(unsigned long long)chunks);
		if (i >= chunks)
			break;
		at = i * job.chunk_size;
		end = at + job.chunk_size;
		count_chunk(w, at, end < job.text_size ? end : job.text_size);
		if (job.batch && w->bytes - flushed >= job.batch) {
			batch_flush(w);
			flushed = w->bytes;
		}
	}
	if (job.batch)
		batch_flush(w);
	return NULL;
}

/* All threads of this node; leaves the node's share in the table. */
static void count_words(void)
{
	struct share *share = &job.table->share[node.number - 1];
	struct worker *w, *workers;
	uint64_t start = now_ns();
	unsigned int i;
	int err;

	workers = calloc(job.threads, sizeof(*workers));
	if (!workers)
		node_die("out of memory");
	for (i = 0; i < job.threads; i++) {
		w = &workers[i];
		/* Half of it may be used; text seldom has more new words. */
		for (w->seen_size = 1024; w->seen_size < job.batch / 8; )
			w->seen_size *= 2;
		w->seen = calloc(w->seen_size, sizeof(*w->seen));
		if (!w->seen)
			node_die("out of memory: give a smaller --batch");
		err = pthread_create(&w->thread, NULL, work, w);
		if (err)
			node_die("cannot start a thread: %s", strerror(err));
	}
	for (i = 0; i < job.threads; i++) {
		w = &workers[i];
		pthread_join(w->thread, NULL);
		share->words += w->words;
		share->bytes += w->bytes;
		share->chunks += w->chunks;
		free(w->seen);
	}
	free(workers);
	share->ns = now_ns() - start;
	printf("node %u: %llu words in %llu chunks, %.1f MB, %.2f s\n",
	       node.number, (unsigned long long)share->words,
	       (unsigned long long)share->chunks, share->bytes / 1e6,
	       share->ns / 1e9);
}

/* --- The result ----------------------------------------------------------- */

struct line {
	uint64_t count;
	const struct word *word;
};

/* As "sort -k1,1nr -k2" does: by count, largest first, then by the bytes. */
static int compare_line(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	uint32_t len;
	int c;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	len = x->word->len < y->word->len ? x->word->len : y->word->len;
	c = memcmp(x->word->text, y->word->text, len);
	if (c)
		return c;
	return (x->word->len > y->word->len) - (x->word->len < y->word->len);
}

/*
 * Print the most frequent words and the totals, and check that no count was
 * lost: the table must hold as many words as the nodes have read.
 */
static int print_result(uint64_t top)
{
	struct table *t = job.table;
	uint64_t i, n = 0, words = 0, read = 0, bytes = 0;
	struct line *lines = NULL;
	size_t room = 0;

	for (i = 0; i < job.slots; i++) {
		uint64_t key = atomic_load(&t->slots[i].key);

		if (!key)
			continue;
		if (n == room) {
			room = room ? 2 * room : 4096;
			lines = realloc(lines, room * sizeof(*lines));
			if (!lines)
				node_die("out of memory");
		}
		lines[n].word = word_of(key);
		lines[n].count = atomic_load(&t->slots[i].count);
		words += lines[n++].count;
	}
	if (n)
		qsort(lines, n, sizeof(*lines), compare_line);
	for (i = 0; i < n && i < top; i++)
		printf("%7llu %.*s\n", (unsigned long long)lines[i].count,
		       (int)lines[i].word->len, lines[i].word->text);
	free(lines);

	for (i = 0; i < NODE_MAX; i++) {
		read += t->share[i].words;
		bytes += t->share[i].bytes;
	}
	fflush(stdout);
	fprintf(stderr, "total: %llu words, %llu different, in %llu bytes\n",
		(unsigned long long)words, (unsigned long long)n,
		(unsigned long long)bytes);
	if (words != read || bytes != job.text_size) {
		fprintf(stderr,
			"%s: WRONG: the nodes read %llu words in %llu of %llu bytes, the table holds %llu\n",
			node.program, (unsigned long long)read,
			(unsigned long long)bytes,
			(unsigned long long)job.text_size,
			(unsigned long long)words);
		return 1;
	}
	return 0;
}

/* --- Set-up --------------------------------------------------------------- */

static uint64_t round_up(uint64_t x, uint64_t to)
{
	return (x + to - 1) / to * to;
}

static uint64_t config_sum(void)
{
	return random_stream(random_stream(TABLE_MAGIC ^ job.text_size, job.slots),
			 job.heap_size ^ job.chunk_size << 1);
}

/* Of a table that is there: its sizes, unless told. */
static void take_config(const char *path)
{
	const struct config *config = node_map(path, 0, NULL);
	uint64_t slots = atomic_load(&config->slots);
	uint64_t heap = atomic_load(&config->heap_size);

	job.chunk_size = atomic_load(&config->chunk_size);
	if (!job.slots)
		job.slots = slots;
	if (!job.heap_size)
		job.heap_size = heap;
	if (!slots || config_sum() != atomic_load(&config->sum))
		node_die("%s was made for another text or with other options, or not finished: use the same, or remove it",
			 path);
}

/* All nodes have the same, or go. */
static void agree(const char *path)
{
	struct config *config = &job.table->config;
	uint64_t sum = config_sum(), was = 0;

	atomic_compare_exchange_strong(&config->sum, &was, sum);
	if (was && was != sum)
		node_die("%s was made for another text or with other options: use the same, or remove it",
			 path);
	atomic_store(&config->slots, job.slots);
	atomic_store(&config->heap_size, job.heap_size);
	atomic_store(&config->chunk_size, job.chunk_size);
	node_join(&job.table->meeting, path);
}

/* Sizes follow from the size of the text unless told. */
static void open_files(const char *dir, bool report)
{
	static char text_path[4096], table_path[4096];
	uint64_t size, was = 0;
	size_t slot_bytes;

	snprintf(text_path, sizeof(text_path), "%s/text", dir);
	snprintf(table_path, sizeof(table_path), "%s/table", dir);
	job.text = node_map(text_path, 0, &job.text_size);

	if (report)
		take_config(table_path);
	if (!job.slots)
		job.slots = slots_for(job.text_size);
	if (job.slots & (job.slots - 1))
		node_die("--slots %llu: give a power of two",
			 (unsigned long long)job.slots);
	if (!job.heap_size)
		job.heap_size = job.slots * 16 + NODE_MAX * 64 * SEGMENT;
	job.heap_size = round_up(job.heap_size, SEGMENT);
	slot_bytes = round_up(job.slots * sizeof(struct slot), NODE_PAGE);
	size = sizeof(struct table) + slot_bytes + job.heap_size;
	job.table = node_map(table_path, report ? 0 : size, &was);
	if (was < size)
		node_die("%s is too short for these options: it was made with others",
			 table_path);
	job.heap = (char *)job.table->slots + slot_bytes;
	if (!report)
		agree(table_path);
}

static const char usage[] =
"usage: weft-wordcount [--dir DIR] --node K --nodes N [OPTIONS]\n"
"       weft-wordcount [--dir DIR] --report [OPTIONS]\n"
"Counts the words of DIR/text into DIR/table, on N nodes at once; the last node\n"
"prints the most frequent words.  DIR/table must not exist before.\n"
"  --dir DIR      where text and table are (default /weft)\n"
"  --node K       this node, 1..N          --nodes N    all nodes (default 1)\n"
"  --threads T    on this node (default 1)\n"
"  --batch BYTES  text to add up before going to the table; 0: none (default 256K)\n"
"  --chunk BYTES  text that is handed out at a time (default 256K)\n"
"  --slots S      slots of the table       --heap BYTES room for the words\n"
"  --top N        print N words (default 20)\n"
"  --dump         print all words, as sort -k1,1nr -k2 does; totals go to stderr\n"
"  --report       do not count: print what DIR/table holds already\n"
"  --progress     tell on stderr how many chunks are done, and of how many\n"
"  --timeout S    longest wait for the other nodes (default 120)\n";

enum {
	O_DIR = 256, O_THREADS, O_BATCH, O_CHUNK, O_SLOTS, O_HEAP, O_TOP, O_DUMP, O_REPORT,
	O_PROGRESS, O_HELP,
};

static const struct option options[] = {
	{ "dir", required_argument, NULL, O_DIR },
	NODE_OPTIONS,
	{ "threads", required_argument, NULL, O_THREADS },
	{ "batch", required_argument, NULL, O_BATCH },
	{ "chunk", required_argument, NULL, O_CHUNK },
	{ "slots", required_argument, NULL, O_SLOTS },
	{ "heap", required_argument, NULL, O_HEAP },
	{ "top", required_argument, NULL, O_TOP },
	{ "dump", no_argument, NULL, O_DUMP },
	{ "report", no_argument, NULL, O_REPORT },
	{ "progress", no_argument, NULL, O_PROGRESS },
	{ "help", no_argument, NULL, O_HELP },
	{ }
};

int main(int argc, char **argv)
{
	const char *dir = "/weft";
	uint64_t top = 20;
	bool report = false;
	int c;

	node_begin("weft-wordcount");
	fold_init();
	job.chunk_size = job.batch = 256 << 10;
	job.threads = 1;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (node_option(c))
			continue;
		switch (c) {
		case O_DIR: dir = optarg; break;
		case O_THREADS: job.threads = node_number_of("--threads", optarg, 1, 64); break;
		case O_BATCH: job.batch = node_number_of("--batch", optarg, 0, 1u << 30); break;
		case O_CHUNK: job.chunk_size = node_number_of("--chunk", optarg, 1, 1u << 30); break;
		case O_SLOTS: job.slots = node_number_of("--slots", optarg, 256, 1ull << 36); break;
		case O_HEAP: job.heap_size = node_number_of("--heap", optarg, 1, 1ull << 39); break;
		case O_TOP: top = node_number_of("--top", optarg, 0, UINT64_MAX); break;
		case O_DUMP: top = UINT64_MAX; break;
		case O_REPORT: report = true; break;
		case O_PROGRESS: job.progress = true; break;
		case O_HELP: fputs(usage, stdout); return 0;
		default: fputs(usage, stderr); return 2;
		}
	}
	if (optind < argc) {
		fputs(usage, stderr);
		return 2;
	}
	node_check();
	open_files(dir, report);
	if (report)
		return print_result(top);

	node_meet();
	count_words();
	node_meet();
	return node.number == node.count ? print_result(top) : 0;
}
