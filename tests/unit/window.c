// SPDX-License-Identifier: GPL-2.0-only
/*
 * The window of what is under way to a peer: alone and in pairs, on a path of a given rate,
 * delay and buffer, which is played here.
 */
#include "window.h"
#include "tests/common/check.h"

#define MS		1000000ull
#define SECOND		(1000 * MS)
#define BLOCK		4096u
#define READERS_MAX	2
#define UNDER_WAY_MAX	4096

/*
 * A path: blocks leave its queue one by one, then take their way.  What finds the queue full
 * is lost, and noticed after a time-out.
 */
struct path {
	u64 now;		/* ns */
	u64 block_ns;		/* that one takes in the queue */
	u64 way_ns;		/* ... and beside it */
	u32 buffer;		/* bytes that the queue takes */
	u64 free_at;		/* when the last one in the queue has left it */
	u64 timeout_ns;
	u64 lost;
};

/* Blocks of which the one that was asked for first is due first. */
struct row {
	struct {
		u64 asked;
		u64 due;
	} block[UNDER_WAY_MAX];
	u32 first;
	u32 n;
};

struct reader {
	struct weft_window w;
	struct row coming;
	struct row lost;
	u64 came;	/* bytes */
	u32 largest;	/* windows that there were */
	u32 smallest;
};

static struct path path;
static struct reader reader[READERS_MAX];

static void begin(u64 block_ns, u64 way_ns, u32 buffer)
{
	path = (struct path){
		.now = SECOND, .block_ns = block_ns, .way_ns = way_ns, .buffer = buffer,
		.timeout_ns = 20 * MS,
	};
	for (u32 i = 0; i < READERS_MAX; i++) {
		memset(&reader[i], 0, sizeof(reader[i]));
		weft_window_init(&reader[i].w);
		reader[i].smallest = ~0u;
	}
}

/* Does the queue take a block more?  When will it have left it? */
static bool enqueue(u64 *leaves)
{
	u64 at = path.free_at > path.now ? path.free_at : path.now;

	if ((at - path.now) / path.block_ns * BLOCK + BLOCK > path.buffer) {
		path.lost++;
		return false;
	}
	path.free_at = at + path.block_ns;
	*leaves = path.free_at;
	return true;
}

/* All that there is room for. */
static void ask(struct reader *r)
{
	while (weft_window_take(&r->w, BLOCK)) {
		u64 leaves = 0;
		bool taken = enqueue(&leaves);
		struct row *row = taken ? &r->coming : &r->lost;
		u32 at = (row->first + row->n++) % UNDER_WAY_MAX;

		CHECK(row->n <= UNDER_WAY_MAX);
		row->block[at].asked = path.now;
		row->block[at].due = taken ? leaves + path.way_ns :
					     path.now + path.timeout_ns;
	}
}

/* Takes the next one that is due out of a row. */
static bool is_due(struct row *row, u64 *asked)
{
	if (!row->n || row->block[row->first].due > path.now)
		return false;
	*asked = row->block[row->first].asked;
	row->first = (row->first + 1) % UNDER_WAY_MAX;
	row->n--;
	return true;
}

static void hear(struct reader *r)
{
	u64 asked;

	while (is_due(&r->coming, &asked)) {
		weft_window_give(&r->w, BLOCK);
		weft_window_answered(&r->w, BLOCK, path.now - asked, path.now);
		r->came += BLOCK;
		r->largest = r->w.size > r->largest ? r->w.size : r->largest;
	}
	while (is_due(&r->lost, &asked)) {
		weft_window_give(&r->w, BLOCK);
		weft_window_lost(&r->w, asked, path.now);
	}
	r->smallest = r->w.size < r->smallest ? r->w.size : r->smallest;
	CHECK(r->w.size >= WEFT_WINDOW_MIN);
	CHECK(r->w.size <= WEFT_WINDOW_MAX);
}

/* @readers of them, for so long. */
static void run(u32 readers, u64 ns)
{
	u64 end = path.now + ns;

	while (path.now < end) {
		for (u32 i = 0; i < readers; i++) {
			hear(&reader[i]);
			ask(&reader[i]);
			CHECK(reader[i].w.flight <= WEFT_WINDOW_MAX);
			CHECK(reader[i].w.flight);
		}
		path.now += path.block_ns;
	}
}

/* Forget what was counted so far; returns when. */
static u64 count_from_here(void)
{
	for (u32 i = 0; i < READERS_MAX; i++) {
		reader[i].came = 0;
		reader[i].largest = 0;
		reader[i].smallest = ~0u;
	}
	path.lost = 0;
	return path.now;
}

/* Part of what the path can bring that came since @from, in percent. */
static u64 used(u32 readers, u64 from)
{
	u64 came = 0;

	for (u32 i = 0; i < readers; i++)
		came += reader[i].came;
	return came * 100 / ((path.now - from) / path.block_ns * BLOCK);
}

/* --- one reader ------------------------------------------------------------------------ */

/* With buffers that are large enough nothing is lost, and the queue has bounds. */
static void converges(void)
{
	static const u64 ways[] = { MS / 50, MS / 5, MS, 10 * MS };
	u64 from, product;

	for (u32 i = 0; i < ARRAY_SIZE(ways); i++) {
		begin(20000, ways[i], 16 << 20);
		run(1, 12 * SECOND);
		from = count_from_here();
		run(1, 4 * SECOND);
		product = (ways[i] / path.block_ns + 1) * BLOCK;
		CHECK(used(1, from) >= 98);
		CHECK_EQ(path.lost, 0);
		CHECK(reader[0].smallest >= product);
		CHECK(reader[0].largest <= product + WEFT_WINDOW_QUEUE_MOST +
					   2 * WEFT_WINDOW_STEP);
	}
}

/* It grows to what a long way needs, and never above its bound. */
static void is_bounded(void)
{
	begin(1000, 10 * MS, 64 << 20);
	run(1, 12 * SECOND);
	CHECK_EQ(reader[0].w.size, WEFT_WINDOW_MAX);
	CHECK_EQ(reader[0].largest, WEFT_WINDOW_MAX);
	CHECK_EQ(path.lost, 0);
}

/* A buffer smaller than the queue that it would like: few losses, the rate is used. */
static void small_buffer(void)
{
	u64 from;

	begin(20000, MS / 5, 100 << 10);
	run(1, 20 * SECOND);
	from = count_from_here();
	run(1, 20 * SECOND);
	CHECK(path.lost > 0);
	CHECK(path.lost * BLOCK * 1000 < reader[0].came);
	CHECK(used(1, from) >= 90);
	CHECK(reader[0].largest <= 200 << 10);
}

/* A buffer that takes nearly nothing. */
static void tiny_buffer(void)
{
	u64 from;

	begin(20000, MS / 5, 2 * BLOCK);
	run(1, 20 * SECOND);
	from = count_from_here();
	run(1, 20 * SECOND);
	CHECK(reader[0].came > 0);
	CHECK(reader[0].largest <= 4 * WEFT_WINDOW_MIN);
	CHECK(used(1, from) > 0);
}

/* After a loss it is smaller, once for all that was lost with it, and comes back. */
static void recovers(void)
{
	struct weft_window *w = &reader[0].w;
	u64 cut;
	u32 size;

	begin(20000, 4 * MS, 16 << 20);
	run(1, 10 * SECOND);
	size = w->size;
	cut = path.now;
	CHECK(weft_window_lost(w, cut - MS, cut));
	CHECK(w->size <= size / 10 * 7);
	CHECK(w->size >= size / 10 * 7 - WEFT_WINDOW_STEP);
	CHECK(!weft_window_lost(w, cut - MS / 2, cut + MS));
	CHECK(!weft_window_lost(w, cut, cut + 2 * MS));
	CHECK(w->size <= size / 10 * 7);
	/* CUBIC's K of so large a window is less than six seconds */
	run(1, SECOND);
	CHECK(w->size < size);
	run(1, 6 * SECOND);
	CHECK(w->size >= 4 * MS / path.block_ns * BLOCK + WEFT_WINDOW_QUEUE_LEAST);
}

static void is_never_nothing(void)
{
	struct weft_window w;
	u64 now = SECOND;

	weft_window_init(&w);
	for (u32 i = 0; i < 1000; i++) {
		now += SECOND;
		CHECK(weft_window_lost(&w, now, now + MS));
		CHECK(w.size >= WEFT_WINDOW_MIN);
	}
	CHECK_EQ(w.size, WEFT_WINDOW_MIN);
	/* four small blocks, or one of any size */
	for (u32 i = 0; i < 4; i++)
		CHECK(weft_window_take(&w, BLOCK));
	CHECK(!weft_window_take(&w, BLOCK));
	weft_window_give(&w, 4 * BLOCK);
	CHECK(weft_window_take(&w, 2 << 20));
	CHECK(!weft_window_room(&w, 1));
	/* a program does not ask for room */
	weft_window_force(&w, BLOCK);
	CHECK_EQ(w.flight, (2 << 20) + BLOCK);
	weft_window_give(&w, 2 << 20);
	weft_window_give(&w, BLOCK);
	CHECK_EQ(w.flight, 0);
	CHECK(weft_window_room(&w, 1));
}

/* What nobody used is no reason to grow; as soon as somebody does, it is. */
static void grows_only_if_asked(void)
{
	struct weft_window w;
	u64 now = SECOND;

	weft_window_init(&w);
	for (u32 i = 0; i < 1000; i++) {
		CHECK(weft_window_take(&w, BLOCK));
		weft_window_give(&w, BLOCK);
		weft_window_answered(&w, BLOCK, MS, now += MS);
	}
	CHECK_EQ(w.size, WEFT_WINDOW_FIRST);
	while (weft_window_take(&w, BLOCK))
		;
	for (u32 i = 0; i < WEFT_WINDOW_FIRST / BLOCK; i++) {
		weft_window_give(&w, BLOCK);
		weft_window_answered(&w, BLOCK, MS, now += MS);
	}
	CHECK_EQ(w.size, 2 * WEFT_WINDOW_FIRST);
}

/* A cut that was wrong is taken back, and CUBIC's curve with it; a second time it is not. */
static void takes_back(void)
{
	struct weft_window *w = &reader[0].w;
	u32 size;

	begin(20000, 4 * MS, 16 << 20);
	run(1, 10 * SECOND);
	size = w->size;
	CHECK(weft_window_lost(w, path.now - MS, path.now));
	CHECK(w->size < size);
	weft_window_needless(w);
	CHECK_EQ(w->size, size);
	CHECK_EQ(w->cut, 0);
	CHECK(weft_window_lost(w, path.now - MS, path.now));
	weft_window_needless(w);
	CHECK(weft_window_lost(w, path.now - MS, path.now));
	size = w->size;
	weft_window_needless(w);
	CHECK(w->size > size);
	size = w->size;
	weft_window_needless(w);
	CHECK_EQ(w->size, size);
}

/* The path became longer: after the periods of the base the window knows. */
static void follows_the_path(void)
{
	u64 from;

	begin(20000, MS / 5, 16 << 20);
	run(1, 5 * SECOND);
	path.way_ns = 5 * MS;
	run(1, 40 * SECOND);
	from = count_from_here();
	run(1, 4 * SECOND);
	CHECK(used(1, from) >= 95);
}

/* --- two ------------------------------------------------------------------------------- */

/* The second one comes when the first has all. */
static void share(u32 buffer, u64 seconds, u64 most_used_of_100)
{
	u64 from, less, more;

	begin(20000, MS / 5, buffer);
	run(1, 20 * SECOND);
	CHECK(reader[0].w.size > 0);
	run(2, seconds * SECOND);
	from = count_from_here();
	run(2, 40 * SECOND);
	less = reader[0].came < reader[1].came ? reader[0].came : reader[1].came;
	more = reader[0].came + reader[1].came - less;
	CHECK(used(2, from) >= most_used_of_100);
	/* Jain's index of two at 3:2 is 0.96 */
	CHECK(2 * more <= 3 * less);
}

static void fair_with_room(void)
{
	share(16 << 20, 40, 98);
}

static void fair_without(void)
{
	share(200 << 10, 120, 85);
}

int main(void)
{
	converges();
	is_bounded();
	small_buffer();
	tiny_buffer();
	recovers();
	is_never_nothing();
	grows_only_if_asked();
	takes_back();
	follows_the_path();
	fair_with_room();
	fair_without();
	return check_result();
}
