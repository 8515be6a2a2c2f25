// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same frames through the P4 program and through the model.
 *
 * They come in batches, at one port at a time: so several messages are in the
 * pipeline at once, and still in a known order when they reach the registers.
 */
#include "compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/common/clock.h"
#include "tools/common/random.h"

/* Each node has one, some are for blades and others. */
#define N_PORTS		40
#define BATCH_MAX	32
/* Most members are behind this port, as most batches come in there. */
#define TRUNK		5
/* Frames between two looks at the registers of the lines. */
#define LOOK_EVERY	2000

struct batch {
	unsigned int n;
	unsigned int port;
	u32 len[BATCH_MAX];
	u8 frame[BATCH_MAX][FRAME_ROOM];
	struct outcome out[BATCH_MAX];
};

static bool quiet;

__attribute__((format(printf, 1, 2)))
static void say(const char *fmt, ...)
{
	va_list args;

	if (quiet)
		return;
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
}

static void show(const char *what, const u8 *f, u32 len)
{
	u32 i;

	say("%s, %" PRIu32 " bytes:", what, len);
	for (i = 0; i < len && i < AT_PAYLOAD + 16; i++) {
		const char *sep = i == AT_IP || i == AT_UDP || i == AT_WEFT ||
				  i == AT_TXN || i == AT_SRC || i == AT_COPYSET ||
				  i == AT_DATA_VERSION || i == AT_GRANT ||
				  i == AT_PAYLOAD ? "\n  " : i % 4 ? "" : " ";

		say("%s%02x", i ? sep : "\n  ", f[i]);
	}
	say("%s\n", i < len ? " ..." : "");
}

static void show_entry(const struct model *m, const u8 *f)
{
	const struct weft_slot *slot = &m->sw.slots[weft_line_slot(get64(f, AT_LINE))];
	const struct weft_dir_entry *e = &slot->entry;

	say("The core's slot is now: gen %x tag %" PRIx64
	       " lock %x grant %x status %u copyset %x\n",
	       slot->gen, slot->tag, e->lock, e->grant, e->status, e->copyset);
}

/* Which of the outcomes that are due at a port a frame is; -1 for none. */
static int find(const struct batch *b, u64 *due, unsigned int port,
		const u8 *bytes, u32 len)
{
	unsigned int i;

	for (i = 0; i < b->n; i++)
		if (due[i] >> port & 1 && b->out[i].len == len &&
		    !memcmp(b->out[i].bytes, bytes, len))
			return (int)i;
	return -1;
}

/* Compare what left by all ports with what was due. */
static bool collect(struct rig *rig, const struct model *m, const struct batch *b)
{
	u64 due[BATCH_MAX];
	struct rte_mbuf *mbuf;
	bool good = true;
	unsigned int p, i;
	int k;

	for (i = 0; i < b->n; i++)
		due[i] = b->out[i].ports;
	for (p = 0; p < N_PORTS; p++) {
		while ((mbuf = port_get(rig->port[p]))) {
			k = find(b, due, p, frame_data(mbuf), frame_len(mbuf));
			if (k >= 0) {
				due[k] &= ~(1ull << p);
			} else if (good) {
				good = false;
				say("DIFFERENCE: the P4 program sends to port %u what the core does not\n",
				       p);
				show("Sent", frame_data(mbuf), frame_len(mbuf));
			}
			frame_free(mbuf);
		}
	}
	for (i = 0; i < b->n; i++) {
		if (!due[i])
			continue;
		say("DIFFERENCE: of what came in at port %u, this has to leave by ports 0x%"
		       PRIx64 ", and did not by 0x%" PRIx64 "\n",
		       b->port, b->out[i].ports, due[i]);
		show("Came in", b->frame[i], b->len[i]);
		show("Expected", b->out[i].bytes, b->out[i].len);
		show_entry(m, b->frame[i]);
		return false;
	}
	return good;
}

static bool run_batch(struct rig *rig, struct model *m, struct generator *g,
		      struct batch *b, u64 max)
{
	unsigned int i;

	b->port = (unsigned int)(random_u64(&g->state) % N_PORTS);
	if (random_u64(&g->state) % 8)
		b->port = TRUNK;
	b->n = 1 + (unsigned int)(random_u64(&g->state) % BATCH_MAX);
	if (b->n > max)
		b->n = (unsigned int)max;
	for (i = 0; i < b->n; i++) {
		b->len[i] = generate(g, b->frame[i]);
		model_frame(m, b->port, b->frame[i], b->len[i], &b->out[i]);
	}
	for (i = 0; i < b->n; i++) {
		if (port_put_bytes(rig->port[b->port], b->frame[i], b->len[i], 0)) {
			say("FAILED: no room for a frame\n");
			return false;
		}
	}
	if (!pipeline_work(rig->pl)) {
		say("FAILED: the P4 program does not come to an end\n");
		return false;
	}
	return collect(rig, m, b);
}

static bool compare_lines(const struct rig *rig, const struct model *m,
			  const struct generator *g)
{
	unsigned int i;
	bool good = true;

	for (i = 0; i < N_LINES; i++)
		if (!rig_compare_slot(rig, m, weft_line_slot(g->line[i])))
			good = false;
	return rig_compare_globals(rig, m) && good;
}

static bool compare_all(const struct rig *rig, const struct model *m)
{
	bool good = rig_compare_globals(rig, m);
	u32 i;

	for (i = 0; i < WEFT_SWITCH_SLOTS; i++)
		if (!rig_compare_slot(rig, m, i))
			good = false;
	return good;
}

/* Was everything seen? */
static bool covered(const struct model *m)
{
	bool good = true;
	unsigned int i;

	for (i = 0; i < N_TALLIES; i++) {
		if (!tally_names[i])
			continue;
		say("%10" PRIu64 "  %s\n", m->tally[i], tally_names[i]);
		/* a sum happens to be 0 once in 65,535 messages */
		if (!m->tally[i] && i != TALLY_ZERO_SUM) {
			say("NOT COVERED: %s: more frames are needed (-n)\n",
			       tally_names[i]);
			good = false;
		}
	}
	return good;
}

/* Nodes behind ports in no order, one of them absent; any flooding. */
static void model_wire(struct model *m, u64 seed)
{
	unsigned int i, j;
	int port;

	for (i = 1; i <= WEFT_NODE_MAX; i++)
		m->node_port[i] = (int)(i - 1);
	for (i = WEFT_NODE_MAX; i > 1; i--) {
		j = 1 + (unsigned int)(random_u64(&seed) % i);
		port = m->node_port[i];
		m->node_port[i] = m->node_port[j];
		m->node_port[j] = port;
	}
	m->node_port[1 + random_u64(&seed) % WEFT_NODE_MAX] = -1;
	for (i = 0; i < N_PORTS; i++) {
		m->flood[i] = (1ull << N_PORTS) - 1;
		if (i % 3 == 1)
			m->flood[i] &= random_u64(&seed);
		m->flood[i] &= ~(1ull << i);
	}
	/* some senders are at home elsewhere, or nowhere */
	m->sw.rack = (u32)random_u64(&seed);
	for (i = 0; i < WEFT_SWITCH_SENDERS; i++) {
		m->sw.station[i] = TRUNK + 1;
		if (i % 8 == 3)
			m->sw.station[i] = (u8)(1 + random_u64(&seed) % N_PORTS);
		if (i % 16 == 14)
			m->sw.station[i] = 0;
	}
	/* free running counters wrap around */
	for (i = 0; i < WEFT_COUNTERS; i++)
		m->sw.count[i] = 0u - (u32)(random_u64(&seed) % 1000);
}

static enum comparison_result run(const struct comparison *c, struct rig *rig, struct model *m,
	       struct batch *b)
{
	struct generator g;
	u64 done = 0, look = 0;
	double begun, took;

	generator_init(&g, m, c->seed);
	begun = now_seconds();
	while (done < c->frames) {
		if (!run_batch(rig, m, &g, b, c->frames - done)) {
			say("after %" PRIu64 " frames, seed %" PRIu64 "\n", done, c->seed);
			return COMPARE_DIFFERENT;
		}
		done += b->n;
		if (done < look)
			continue;
		look = done + LOOK_EVERY;
		if (!compare_lines(rig, m, &g)) {
			say("DIFFERENCE in registers, after %" PRIu64 " frames, seed %"
			       PRIu64 "\n", done, c->seed);
			return COMPARE_DIFFERENT;
		}
	}
	if (!compare_all(rig, m)) {
		say("DIFFERENCE in registers, at the end, seed %" PRIu64 "\n", c->seed);
		return COMPARE_DIFFERENT;
	}
	took = now_seconds() - begun;
	if (!covered(m))
		return COMPARE_TOO_FEW;
	say("%" PRIu64 " frames, no difference; seed %" PRIu64 ", %.1f s\n", done, c->seed,
	    took);
	return COMPARE_SAME;
}

enum comparison_result compare(const struct comparison *c)
{
	/* generations wrap around, too */
	u32 epoch = 0u - (u32)(c->seed % 100);
	struct batch *b = malloc(sizeof(*b));
	struct model m = { .mutation = MUTATE_NONE };
	char err[ERR_MAX] = "";
	struct rig rig;
	enum comparison_result code = COMPARE_TROUBLE;

	if (!b || model_init(&m, N_PORTS, epoch)) {
		fprintf(stderr, "weft-diff: out of memory\n");
		free(b);
		return COMPARE_TROUBLE;
	}
	m.mutation = c->mutation;
	quiet = c->quiet;
	model_wire(&m, c->seed);
	if (rig_open(&rig, c->spec, c->compiled, N_PORTS, err) || rig_wire(&rig, &m, epoch, err)) {
		fprintf(stderr, "weft-diff: %s\n", err);
	} else {
		rig.quiet = c->quiet;
		code = run(c, &rig, &m, b);
	}
	rig_close(&rig);
	model_free(&m);
	free(b);
	return code;
}

enum comparison_result compare_mutations(const struct comparison *c)
{
	struct comparison one = *c;
	enum comparison_result code;
	int i, missed = 0;

	one.quiet = true;
	for (i = MUTATE_NONE + 1; i < N_MUTATIONS; i++) {
		one.mutation = (enum mutation)i;
		code = compare(&one);
		if (code == COMPARE_TROUBLE)
			return code;
		if (code != COMPARE_DIFFERENT) {
			printf("NOT FOUND: %s\n", mutation_texts[i]);
			missed++;
		}
	}
	printf("%d of %d errors found\n", N_MUTATIONS - 1 - missed, N_MUTATIONS - 1);
	return missed ? COMPARE_DIFFERENT : COMPARE_SAME;
}
