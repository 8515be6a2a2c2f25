// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many messages a second one core takes through the directory, and how many
 * ordinary frames of the same size through the same pipeline.
 *
 * The messages are those of nodes that use random ones of all lines that the switch
 * can hold: GETS, GETM, and COMMIT when an answer asks for it.  Only the switch is
 * measured: its ports' queues, buffers and the pipeline; not the nodes.
 */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "generate.h"
#include "p4names.h"
#include "rig.h"
#include "tools/common/clock.h"
#include "tools/common/json.h"
#include "tools/common/random.h"

/* Seven nodes, and the home of all lines alone behind the last port. */
#define PORTS		8
#define NODES		(PORTS - 1)
#define HOME		(WEFT_BLADE_MIN + 6)

#define FRAME_LEN	AT_PAYLOAD
/* Frames that are in the switch at once. */
#define BURST		64
/* Frames that are made, and then measured: asking for the time takes time, too. */
#define CHUNK		(4 * BURST)
/* Copies that they can become. */
#define OUT_MAX		(CHUNK * PORTS)
/* COMMITs that are on their way. */
#define PENDING		1024

#define RUNS		5
#define FRAMES		(2048 * CHUNK)

#define GOAL_PER_SECOND	8e6
#define GOAL_RATIO	(1. / 3)

struct bench {
	struct rig rig;
	struct model model;		/* only says where members are */
	u64 random;
	u32 seq[NODES + 1];
	struct weft_msg pending[PENDING];
	unsigned int first_pending, n_pending;
	u8 frame[CHUNK][FRAME_LEN];
	unsigned int port[CHUNK];
	struct rte_mbuf *out[OUT_MAX];
	unsigned int n_out;
	double time;
};

/* --- Nodes --- */

static void put_frame(struct bench *b, unsigned int i, const struct weft_msg *msg,
		      u16 udp_port)
{
	u8 *f = b->frame[i];

	memset(f, 0, FRAME_LEN);
	weft_wire_pack_plain(msg, f + AT_WEFT);
	put_mac(f, AT_ETH_DST, member_mac(HOME));
	put_mac(f, AT_ETH_SRC, member_mac(msg->src));
	put16(f, AT_ETH_TYPE, 0x0800);
	f[AT_IP_VIHL] = 0x45;
	put16(f, AT_IP_LEN, FRAME_LEN - AT_IP);
	put16(f, AT_IP_FRAG, 0x4000);
	f[AT_IP_TTL] = 64;
	f[AT_IP_PROTO] = 17;
	put32(f, AT_IP_SRC, 0x0A570000 + msg->src);
	put32(f, AT_IP_DST, 0x0A570000 + HOME);
	put16(f, AT_IP_SUM, (u16)~sum_of(f, AT_IP, 20));
	put16(f, AT_UDP_SRC, udp_port);
	put16(f, AT_UDP_DST, udp_port);
	put16(f, AT_UDP_LEN, FRAME_LEN - AT_UDP);
	b->port[i] = (unsigned int)member_port(&b->model, msg->src);
}

static u64 line_of_slot(u32 i)
{
	return weft_line_key(1, WEFT_KIND_PAGE, i);
}

static struct weft_msg next_message(struct bench *b)
{
	u64 r = random_u64(&b->random);
	struct weft_msg msg = {
		.type = r & 3 ? WEFT_MSG_GETS : WEFT_MSG_GETM,
		.src = (u8)(1 + (r >> 8) % NODES),
		.line = line_of_slot((r >> 16) % WEFT_SWITCH_SLOTS),
	};

	/* as many COMMITs as there are reasons for them */
	if (b->n_pending > PENDING / 2) {
		b->n_pending--;
		return b->pending[b->first_pending++ % PENDING];
	}
	msg.txn = weft_txn(msg.src, ++b->seq[msg.src]);
	return msg;
}

/* What has come out: who got the lock of a line will COMMIT. */
static void look(struct bench *b, const u8 *f)
{
	struct weft_msg *commit;
	u8 type = f[AT_TYPE];

	if (!(f[AT_FLAGS] & WEFT_F_BUSY) || type == WEFT_MSG_NACK ||
	    b->n_pending == PENDING)
		return;
	/* of several copies of an INV, the first */
	if (type == WEFT_MSG_INV && b->n_pending &&
	    b->pending[(b->first_pending + b->n_pending - 1) % PENDING].txn ==
	    get32(f, AT_TXN))
		return;
	commit = &b->pending[(b->first_pending + b->n_pending++) % PENDING];
	*commit = (struct weft_msg) {
		.type = WEFT_MSG_COMMIT, .src = f[AT_SRC], .txn = get32(f, AT_TXN),
		.line = get64(f, AT_LINE), .grant = get32(f, AT_GRANT),
		.status = WEFT_M, .copyset = weft_node_bit(f[AT_SRC]),
	};
	if (type == WEFT_MSG_FWD) {
		commit->status = WEFT_S;
		commit->copyset |= get32(f, AT_COPYSET);
	}
}

/* --- The switch --- */

/* The time of this thread's CPU: others may use the machine as well. */
static double seconds(void)
{
	return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

/* Put a burst of frames in, run, take out what comes. */
static bool run_burst(struct bench *b, unsigned int first)
{
	struct rte_mbuf *mbuf;
	unsigned int i;

	for (i = first; i < first + BURST; i++)
		if (port_put_bytes(b->rig.port[b->port[i]], b->frame[i], FRAME_LEN, 0))
			return false;
	if (!pipeline_work(b->rig.pl))
		return false;
	for (i = 0; i < PORTS; i++)
		while (b->n_out < OUT_MAX && (mbuf = port_get(b->rig.port[i])))
			b->out[b->n_out++] = mbuf;
	return true;
}

static bool run_chunk(struct bench *b)
{
	double from = seconds();
	unsigned int i;

	b->n_out = 0;
	for (i = 0; i < CHUNK; i += BURST)
		if (!run_burst(b, i))
			return false;
	b->time += seconds() - from;
	return true;
}

static void free_chunk(struct bench *b)
{
	double from = seconds();
	unsigned int i;

	for (i = 0; i < b->n_out; i++)
		frame_free(b->out[i]);
	b->time += seconds() - from;
}

/* All slots of the switch get a line, by ADD. */
static bool install(struct bench *b)
{
	struct weft_msg msg = {
		.type = WEFT_MSG_MEMBERS, .src = HOME, .nonce = 1,
		.copyset = (1u << NODES) - 1,
	};
	u32 slot = 0;
	unsigned int i;

	for (i = 0; i < CHUNK; i++)
		put_frame(b, i, &msg, WEFT_WIRE_UDP_PORT);
	if (!run_chunk(b))
		return false;
	free_chunk(b);
	msg.type = WEFT_MSG_ADD;
	msg.nonce = 0;
	while (slot < WEFT_SWITCH_SLOTS) {
		for (i = 0; i < CHUNK; i++, slot++) {
			msg.line = line_of_slot(slot);
			msg.txn = weft_txn(msg.src, slot);
			put_frame(b, i, &msg, WEFT_WIRE_UDP_PORT);
		}
		if (!run_chunk(b))
			return false;
		free_chunk(b);
	}
	return true;
}

/* --- Measurements --- */

/* Messages a second, or 0 if something is wrong. */
static double measure_directory(struct bench *b, u64 frames)
{
	struct weft_msg msg;
	unsigned int i;
	u64 done;

	b->time = 0;
	for (done = 0; done < frames; done += CHUNK) {
		for (i = 0; i < CHUNK; i++) {
			msg = next_message(b);
			put_frame(b, i, &msg, WEFT_WIRE_UDP_PORT);
		}
		if (!run_chunk(b))
			return 0;
		for (i = 0; i < b->n_out; i++)
			look(b, frame_data(b->out[i]));
		free_chunk(b);
	}
	return (double)frames / b->time;
}

/* Frames a second: the same bytes, to another UDP port. */
static double measure_forwarding(struct bench *b, u64 frames)
{
	struct weft_msg msg = { .type = WEFT_MSG_GETS };
	unsigned int i;
	u64 done;

	b->time = 0;
	for (done = 0; done < frames; done += CHUNK) {
		for (i = 0; i < CHUNK; i++) {
			msg.src = (u8)(1 + i % NODES);
			msg.txn = (u32)random_u64(&b->random);
			put_frame(b, i, &msg, WEFT_WIRE_UDP_PORT + 1);
		}
		if (!run_chunk(b) || b->n_out != CHUNK)
			return 0;
		free_chunk(b);
	}
	return (double)frames / b->time;
}

/* What came of the messages, from the counters in the switch. */
static u64 count(const struct bench *b, unsigned int i)
{
	u64 value = 0;

	pipeline_register_read(b->rig.pl, P4_REG_STAT, i, &value);
	return value;
}

static bool is_sound(const struct bench *b)
{
	u64 hits = count(b, WEFT_COUNT_READ) + count(b, WEFT_COUNT_FWD) +
		   count(b, WEFT_COUNT_INV) + count(b, WEFT_COUNT_COMMIT);
	u64 others = count(b, WEFT_COUNT_MISS) + count(b, WEFT_COUNT_GRANT) +
		     count(b, WEFT_COUNT_BUSY);

	if (count(b, WEFT_COUNT_ADD) == WEFT_SWITCH_SLOTS &&
	    !count(b, WEFT_COUNT_DAMAGED) && !count(b, WEFT_COUNT_STRANGER) &&
	    hits > 50 * others)
		return true;
	fprintf(stderr, "weft-diff: %" PRIu64 " lines installed, %" PRIu64 " messages served and %"
		PRIu64 " not: this is no measurement\n", count(b, WEFT_COUNT_ADD), hits, others);
	return false;
}

static void report(const struct bench *b, double directory, double l2, bool json)
{
	double n = (double)(count(b, WEFT_COUNT_READ) + count(b, WEFT_COUNT_FWD) +
			    count(b, WEFT_COUNT_INV) + count(b, WEFT_COUNT_COMMIT)) / 100;
	const char *program = b->rig.spec->compiled ? "compiled" : "interpreted";

	if (json) {
		struct json j;

		json_begin(&j, stdout, false);
		json_u64(&j, "directory_per_s", (u64)directory);
		json_u64(&j, "l2_per_s", (u64)l2);
		json_fixed(&j, "ratio", directory / l2);
		json_u64(&j, "lines", WEFT_SWITCH_SLOTS);
		json_u64(&j, "runs", RUNS);
		json_string(&j, "program", program);
		json_end(&j);
		return;
	}
	printf("directory   %6.2f million messages a second, %s program\n", directory / 1e6,
	       program);
	printf("            (%.0f %% to the home, %.0f %% to a provider, %.0f %% invalidations, %.0f %% COMMITs; %d lines)\n",
	       (double)count(b, WEFT_COUNT_READ) / n, (double)count(b, WEFT_COUNT_FWD) / n,
	       (double)count(b, WEFT_COUNT_INV) / n, (double)count(b, WEFT_COUNT_COMMIT) / n,
	       WEFT_SWITCH_SLOTS);
	printf("forwarding  %6.2f million frames a second of the same size\n", l2 / 1e6);
	printf("ratio       %6.2f (goal: at least %.2f, and %.0f million messages a second)\n",
	       directory / l2, GOAL_RATIO, GOAL_PER_SECOND / 1e6);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int run(struct bench *b, u64 messages, bool json)
{
	double directory[RUNS], l2[RUNS];
	bool good;
	int i;

	if (messages)
		return install(b) && measure_directory(b, messages) > 0 ? 0 : 2;
	/* first to the state in which it stays */
	good = install(b) && measure_directory(b, 2 * FRAMES) > 0;
	for (i = 0; good && i < RUNS; i++) {
		l2[i] = measure_forwarding(b, FRAMES);
		directory[i] = measure_directory(b, FRAMES);
		good = l2[i] > 0 && directory[i] > 0;
	}
	if (!good) {
		fprintf(stderr, "weft-diff: the switch lost frames: this is no measurement\n");
		return 2;
	}
	if (!is_sound(b))
		return 2;
	qsort(directory, RUNS, sizeof(directory[0]), by_value);
	qsort(l2, RUNS, sizeof(l2[0]), by_value);
	report(b, directory[RUNS / 2], l2[RUNS / 2], json);
	return 0;
}

int bench(const char *spec, const char *compiled, u64 messages, bool json)
{
	struct bench *b = calloc(1, sizeof(*b));
	char err[ERR_MAX] = "";
	unsigned int i;
	int code = 2;

	if (!b || model_init(&b->model, PORTS, 0)) {
		fprintf(stderr, "weft-diff: out of memory\n");
		exit(2);
	}
	for (i = 1; i <= NODES; i++) {
		b->model.node_port[i] = (int)i - 1;
		b->model.sw.station[i] = (u8)i;
	}
	b->model.sw.station[HOME] = (u8)(1 + member_port(&b->model, HOME));
	if (rig_open(&b->rig, spec, compiled, PORTS, err) || rig_wire(&b->rig, &b->model, 0, err))
		fprintf(stderr, "weft-diff: %s\n", err);
	else
		code = run(b, messages, json);
	rig_close(&b->rig);
	model_free(&b->model);
	free(b);
	return code;
}
