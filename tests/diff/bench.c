// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many messages a second one core takes through the directory, and how many
 * ordinary frames of the same size through the same pipeline.
 *
 * Messages are made in chunks by the model, so that each of them is a hit: GETS and
 * GETM to random ones of all lines that the switch can hold, and the COMMITs that
 * end them.  Only the pipeline is measured, with its source and its sink: a frame
 * is copied to a buffer and put into a port's queue, and what leaves by a port is
 * taken out and freed.
 */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "generate.h"
#include "rig.h"

#define PORTS		8
#define CHUNK		4096
/* Frames put into the queues before the pipeline runs. */
#define BURST		512
#define RUNS		5
/* Frames of a run. */
#define FRAMES		(256 * CHUNK)
/* COMMITs that are on their way; each is sent so many messages after its cause. */
#define PENDING		1024
#define FRAME_LEN	AT_PAYLOAD

/* The home of all lines: alone behind the last port. */
#define HOME		(WEFT_BLADE_MIN + 6)

#define GOAL_PER_SECOND	3e6
#define GOAL_RATIO	(1. / 3)

struct bench {
	struct rig rig;
	struct model model;
	u64 random;
	u32 seq[WEFT_NODE_MAX + 1];
	u64 line[WEFT_SWITCH_SLOTS];	/* one for each slot */
	u64 used[WEFT_SWITCH_SLOTS];	/* last burst with a message about it */
	u64 made;			/* messages */
	struct weft_msg pending[PENDING];
	unsigned int next_pending;
	u8 frame[CHUNK][FRAME_LEN];
	unsigned int port[CHUNK];
	u64 expected;			/* frames that have to come out */
	u64 came;
	u64 by_type[WEFT_MSG_COMMIT + 1];
};

static void envelope(u8 *f, const struct weft_msg *msg, u16 udp_port)
{
	memset(f, 0, AT_WEFT);
	weft_wire_pack(msg, f + AT_WEFT);
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
}

/* A message, and what the model says comes of it. */
static void add_message(struct bench *b, unsigned int i, const struct weft_msg *msg,
			struct outcome *out)
{
	b->port[i] = (unsigned int)member_port(&b->model, msg->src);
	envelope(b->frame[i], msg, WEFT_WIRE_UDP_PORT);
	model_frame(&b->model, b->port[i], b->frame[i], FRAME_LEN, out);
	b->expected += (u64)__builtin_popcountll(out->ports);
}

/* After a request that took the lock: the COMMIT that will end it. */
static struct weft_msg commit_of(const struct weft_msg *msg, const struct weft_slot *slot)
{
	u32 bit = weft_node_bit(msg->src);

	if (slot->entry.lock != msg->txn)
		return (struct weft_msg) { .type = 0 };
	return (struct weft_msg) {
		.type = WEFT_MSG_COMMIT, .src = msg->src, .txn = msg->txn,
		.line = msg->line, .grant = slot->entry.grant,
		.status = msg->type == WEFT_MSG_GETM ? WEFT_M : WEFT_S,
		.copyset = msg->type == WEFT_MSG_GETM ? bit :
			   bit | slot->entry.copyset,
	};
}

static void make_messages(struct bench *b, struct outcome *out)
{
	unsigned int i;

	for (i = 0; i < CHUNK; i++) {
		struct weft_msg *pending = &b->pending[b->next_pending++ % PENDING];
		u64 r = random_u64(&b->random);
		struct weft_msg msg;

		if (pending->type) {
			msg = *pending;
			pending->type = 0;
		} else {
			msg = (struct weft_msg) {
				.type = r % 4 ? WEFT_MSG_GETS : WEFT_MSG_GETM,
				.src = (u8)(1 + (r >> 8) % (PORTS - 1)),
				.line = b->line[(r >> 16) % WEFT_SWITCH_SLOTS],
			};
			/*
			 * A line that somebody else has locked would be a refusal,
			 * and the order within a burst is not known.
			 */
			if (model_slot(&b->model, msg.line)->entry.lock ||
			    b->used[weft_line_slot(msg.line)] == b->made / BURST) {
				i--;
				continue;
			}
			msg.txn = weft_txn(msg.src, ++b->seq[msg.src]);
		}
		b->by_type[msg.type]++;
		b->used[weft_line_slot(msg.line)] = b->made++ / BURST;
		add_message(b, i, &msg, out);
		if (msg.type != WEFT_MSG_COMMIT)
			*pending = commit_of(&msg, model_slot(&b->model, msg.line));
	}
}

/* Ordinary frames: the same bytes, to another UDP port. */
static void make_ordinary(struct bench *b)
{
	struct weft_msg msg = { .type = WEFT_MSG_GETS };
	unsigned int i;

	for (i = 0; i < CHUNK; i++) {
		msg.src = (u8)(1 + i % (PORTS - 1));
		msg.txn = i;
		b->port[i] = (unsigned int)member_port(&b->model, msg.src);
		envelope(b->frame[i], &msg, WEFT_WIRE_UDP_PORT + 1);
	}
	b->expected += CHUNK;
}

static void drain(struct bench *b)
{
	struct rte_mbuf *mbuf;
	unsigned int i;

	for (i = 0; i < PORTS; i++) {
		while ((mbuf = port_get(b->rig.port[i]))) {
			b->came++;
			frame_free(mbuf);
		}
	}
}

/* The time of this thread's CPU: others may use the machine as well. */
static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns the time that a chunk took, or a negative number. */
static double run_chunk(struct bench *b)
{
	double from = seconds();
	unsigned int i, j;

	for (i = 0; i < CHUNK; i += BURST) {
		for (j = i; j < i + BURST; j++)
			if (port_put_bytes(b->rig.port[b->port[j]], b->frame[j],
					   FRAME_LEN, 0))
				return -1;
		if (!pipeline_work(b->rig.pl))
			return -1;
		drain(b);
	}
	return seconds() - from;
}

/* Frames a second, or a negative number. */
static double measure(struct bench *b, bool messages, struct outcome *out)
{
	double time = 0, chunk;
	unsigned int i;

	for (i = 0; i < FRAMES / CHUNK; i++) {
		if (messages)
			make_messages(b, out);
		else if (!i)
			make_ordinary(b);
		else
			b->expected += CHUNK;
		chunk = run_chunk(b);
		if (chunk < 0)
			return -1;
		time += chunk;
	}
	return FRAMES / time;
}

/* All slots of the switch get a line, by ADD. */
static bool install(struct bench *b, struct outcome *out)
{
	struct weft_msg msg = {
		.type = WEFT_MSG_MEMBERS, .src = HOME, .nonce = 1,
		.copyset = (1u << (PORTS - 1)) - 1,
	};
	u32 slot = 0;
	unsigned int i;

	for (i = 0; i < CHUNK; i++)
		add_message(b, i, &msg, out);
	if (run_chunk(b) < 0)
		return false;
	b->made = BURST;
	msg.type = WEFT_MSG_ADD;
	msg.nonce = 0;
	while (slot < WEFT_SWITCH_SLOTS) {
		for (i = 0; i < CHUNK; i++, slot++) {
			msg.line = weft_line_key(1 + slot % 3, WEFT_KIND_PAGE, slot);
			b->line[slot] = msg.line;
			msg.txn = weft_txn(msg.src, slot);
			add_message(b, i, &msg, out);
		}
		if (run_chunk(b) < 0)
			return false;
	}
	return true;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void report(const struct bench *b, double directory, double l2, bool json)
{
	u64 n = b->by_type[WEFT_MSG_GETS] + b->by_type[WEFT_MSG_GETM] +
		b->by_type[WEFT_MSG_COMMIT];

	if (json) {
		printf("{\"directory_per_s\":%.0f,\"l2_per_s\":%.0f,\"ratio\":%.3f,\"lines\":%d,\"runs\":%d}\n",
		       directory, l2, directory / l2, WEFT_SWITCH_SLOTS, RUNS);
		return;
	}
	printf("directory   %6.2f million messages a second (%.0f %% GETS, %.0f %% GETM, %.0f %% COMMIT; %d lines)\n",
	       directory / 1e6, 100. * (double)b->by_type[WEFT_MSG_GETS] / (double)n,
	       100. * (double)b->by_type[WEFT_MSG_GETM] / (double)n,
	       100. * (double)b->by_type[WEFT_MSG_COMMIT] / (double)n, WEFT_SWITCH_SLOTS);
	printf("forwarding  %6.2f million frames a second of the same size\n", l2 / 1e6);
	printf("ratio       %6.2f (goal: at least %.2f, and %.0f million messages a second)\n",
	       directory / l2, GOAL_RATIO, GOAL_PER_SECOND / 1e6);
}

static int run(struct bench *b, bool json)
{
	struct outcome *out = malloc(sizeof(*out));
	double directory[RUNS], l2[RUNS];
	bool good;
	int i;

	good = out && install(b, out);
	for (i = 0; good && i < RUNS; i++) {
		l2[i] = measure(b, false, out);
		directory[i] = measure(b, true, out);
		good = l2[i] > 0 && directory[i] > 0;
	}
	free(out);
	if (!good || b->came != b->expected) {
		fprintf(stderr, "weft-diff: %" PRIu64 " frames came out of %" PRIu64
			": this is no measurement\n", b->came, b->expected);
		return 2;
	}
	qsort(directory, RUNS, sizeof(directory[0]), by_value);
	qsort(l2, RUNS, sizeof(l2[0]), by_value);
	report(b, directory[RUNS / 2], l2[RUNS / 2], json);
	return directory[RUNS / 2] < GOAL_PER_SECOND ||
	       directory[RUNS / 2] < GOAL_RATIO * l2[RUNS / 2];
}

int bench(const char *spec, bool json)
{
	struct bench *b = calloc(1, sizeof(*b));
	char err[ERR_MAX] = "";
	unsigned int i;
	int code = 2;

	if (!b || model_init(&b->model, PORTS, 0)) {
		fprintf(stderr, "weft-diff: out of memory\n");
		exit(2);
	}
	for (i = 1; i < PORTS; i++)
		b->model.node_port[i] = (int)i - 1;
	if (rig_open(&b->rig, spec, PORTS, err) || rig_wire(&b->rig, &b->model, 0, err))
		fprintf(stderr, "weft-diff: %s\n", err);
	else
		code = run(b, json);
	rig_close(&b->rig);
	model_free(&b->model);
	free(b);
	return code;
}
