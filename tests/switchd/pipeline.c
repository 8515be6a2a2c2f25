// SPDX-License-Identifier: GPL-2.0-only
/*
 * The P4 pipeline between ports in memory: forwarding, flooding, learning,
 * copies for nodes, registers, long and short frames, no buffer lost.  The
 * plain switch meets the same forwarding checks.
 */
#include <errno.h>
#include <stdlib.h>

#include "frames.h"
#include "l2.h"
#include "learn.h"
#include "pipeline.h"
#include "program.h"

#define N_PORTS		5

static struct port *port[N_PORTS];
static struct port_flow flow;
static struct learn learn;
static struct spec *spec;
static struct pipeline *pl;
static uint64_t now = 1000000000;

static void open_ports(void)
{
	char name[16], err[ERR_MAX] = "";
	unsigned int i;

	memset(&flow, 0, sizeof(flow));
	for (i = 0; i < N_PORTS; i++) {
		snprintf(name, sizeof(name), "p%u=mem:", i);
		port[i] = port_create(name, i, 1, &flow, err);
		CHECK(port[i], "%s", err);
	}
}

static void close_ports(void)
{
	unsigned int i;

	for (i = 0; i < N_PORTS; i++)
		port_destroy(port[i]);
}

/* What the main loop does, in small. */
static void work(void)
{
	char err[ERR_MAX];
	unsigned int i, j;

	now += 2 * LEARN_COMMIT_NS;
	for (i = 0; i < N_PORTS; i++)
		for (j = 0; j < frameq_count(&port[i]->rxq); j++)
			learn_frame(&learn, frame_data(frameq_peek(&port[i]->rxq, j)), i, now);
	if (!pl) {
		l2_work(port, N_PORTS, &learn);
		return;
	}
	CHECK(pipeline_work(pl), "the pipeline does not come to an end");
	if (learn_due(&learn, now))
		CHECK(!learn_commit(&learn, pl, now, err), "%s", err);
}

static void send_bytes(unsigned int from, const uint8_t *f, size_t len)
{
	CHECK(!port_put_bytes(port[from], f, len, now), "cannot send %zu bytes", len);
	work();
}

static void send_frame(unsigned int in, unsigned int to, unsigned int from, size_t len,
		       uint32_t tag)
{
	uint8_t f[FRAME_MAX];

	send_bytes(in, f, make_frame(f, to, from, len, tag));
}

/* The mask of ports that a frame came out of, each with the right bytes. */
static unsigned int came_out(const uint8_t *f, size_t len)
{
	unsigned int i, mask = 0;

	for (i = 0; i < N_PORTS; i++) {
		struct rte_mbuf *m = port_get(port[i]);

		if (!m)
			continue;
		CHECK(!(frame_len(m) != len || memcmp(frame_data(m), f, len)),
		      "port %u: %u bytes, expected %zu", i, frame_len(m), len);
		mask |= 1u << i;
		frame_free(m);
		m = port_get(port[i]);
		CHECK(!m, "port %u: more than one frame", i);
		if (m)
			frame_free(m);
	}
	return mask;
}

static unsigned int out_ports(unsigned int in, unsigned int to, unsigned int from,
			      size_t len, uint32_t tag)
{
	uint8_t f[FRAME_MAX];

	make_frame(f, to, from, len, tag);
	send_frame(in, to, from, len, tag);
	return came_out(f, len);
}

static void test_forwarding(void)
{
	static const size_t lengths[] = { 14, 15, 17, 60, 64, 1514, 9000, 9018, FRAME_MAX };
	unsigned int i, mask;
	uint8_t f[FRAME_MAX + 1];

	mask = out_ports(0, 2, 1, 64, 1);
	CHECK(mask == 0x1e, "unknown station: flooded to 0x%x", mask);
	mask = out_ports(1, 1, 2, 64, 2);
	CHECK(mask == 0x01, "known station: sent to 0x%x", mask);
	mask = out_ports(0, 2, 1, 64, 3);
	CHECK(mask == 0x02, "known station: sent to 0x%x", mask);
	mask = out_ports(2, 0xff, 3, 64, 4);
	CHECK(mask == 0x1b, "broadcast: sent to 0x%x", mask);
	/* It moves. */
	out_ports(4, 1, 2, 64, 5);
	mask = out_ports(0, 2, 1, 64, 6);
	CHECK(mask == 0x10, "moved station: sent to 0x%x", mask);
	CHECK(learn.n == 3 && learn.n_moves == 1, "%u stations, %lu moves", learn.n,
	      (unsigned long)learn.n_moves);
	for (i = 0; i < RTE_DIM(lengths); i++) {
		mask = out_ports(0, 2, 1, lengths[i], 7 + i);
		CHECK(mask == 0x10, "%zu bytes: sent to 0x%x", lengths[i], mask);
		mask = out_ports(3, 0xff, 4, lengths[i], 7 + i);
		CHECK(mask == 0x17, "%zu bytes: flooded to 0x%x", lengths[i], mask);
	}
	/* Too short and too long. */
	make_frame(f, 2, 1, 64, 0);
	port_put_bytes(port[0], f, 13, now);
	CHECK(port_put_bytes(port[0], f, FRAME_MAX + 1, now) == -EMSGSIZE, "accepted");
	work();
	CHECK(!came_out(f, 13) && port[0]->n.rx_drop == 1, "a frame of 13 bytes");
	CHECK(flow.waiting == 0, "%lu wait", (unsigned long)flow.waiting);
}

/* Many at once, so that several packets are in the pipeline at a time. */
static void test_many(void)
{
	unsigned int round, i, j, n_lost = 0, n_wrong = 0;
	uint8_t f[256];

	for (i = 0; i < N_PORTS; i++)
		out_ports(i, 0xff, 0x10 + i, 64, 0);
	for (round = 0; round < 20; round++) {
		uint32_t next[N_PORTS][N_PORTS] = { 0 };

		for (j = 0; j < 100; j++)
			for (i = 0; i < N_PORTS; i++) {
				unsigned int to = (i + 1 + j % (N_PORTS - 1)) % N_PORTS;

				make_frame(f, 0x10 + to, 0x10 + i, 200, j);
				port_put_bytes(port[i], f, 200, now);
			}
		work();
		for (i = 0; i < N_PORTS; i++) {
			struct rte_mbuf *m;
			unsigned int n = 0;

			while ((m = port_get(port[i]))) {
				unsigned int from = frame_data(m)[11] - 0x10u;

				/* Frames of one station to another stay in order. */
				n_wrong += frame_data(m)[5] != 0x10 + i || from >= N_PORTS ||
					   (next[i][from] > frame_tag(frame_data(m)));
				next[i][from % N_PORTS] = frame_tag(frame_data(m));
				n++;
				frame_free(m);
			}
			n_lost += 100 - n;
		}
	}
	CHECK(!n_lost && !n_wrong, "%u lost, %u wrong", n_lost, n_wrong);
}

static void test_cut(void)
{
	unsigned int mask;

	out_ports(4, 0xff, 2, 64, 0);
	port_cut(port[4]);
	mask = out_ports(0, 2, 1, 64, 1);
	CHECK(!mask, "to a port that is cut off: sent to 0x%x", mask);
	mask = out_ports(4, 1, 2, 64, 2);
	CHECK(!mask, "from a port that is cut off: sent to 0x%x", mask);
	CHECK(port[4]->n.cut == 2, "%lu counted", (unsigned long)port[4]->n.cut);
	port_heal(port[4]);
	mask = out_ports(0, 2, 1, 64, 3);
	CHECK(mask == 0x10, "healed: sent to 0x%x", mask);
}

/* --- Only with a program --- */

static void test_registers(void)
{
	uint64_t value = 0;
	unsigned int i;

	CHECK(pipeline_register_size(pl, "cells") == 256 &&
	      !pipeline_register_size(pl, "other"), "sizes");
	pipeline_register_read(pl, "cells", 255, &value);
	CHECK(value == 7, "initial value %lu", (unsigned long)value);
	CHECK(pipeline_register_read(pl, "cells", 256, &value), "read beyond the end");
	CHECK(pipeline_register_read(pl, "other", 0, &value), "read of nothing");
	CHECK(!pipeline_register_write(pl, "cells", 9, 0x123456789abcdef0), "write");
	pipeline_register_read(pl, "cells", 9, &value);
	CHECK(value == 0x123456789abcdef0, "0x%lx", (unsigned long)value);
	pipeline_reset(pl, 77);
	for (i = 0; i < 256; i++) {
		pipeline_register_read(pl, "cells", i, &value);
		CHECK(value == 7, "cells[%u] is %lu", i, (unsigned long)value);
		pipeline_register_read(pl, P4_REG_GEN, i, &value);
		CHECK(value == 77, "gen[%u] is %lu", i, (unsigned long)value);
	}
}

/* A message that reads and changes a register; answers go to nodes. */
static void test_nodes(void)
{
	uint8_t f[64];
	char err[ERR_MAX];
	unsigned int i, mask;
	uint64_t value;

	CHECK(!pipeline_node_set(pl, 1, 3, err), "%s", err);
	CHECK(pipeline_node_set(pl, 0, 3, err) && pipeline_node_set(pl, 33, 3, err) &&
	      pipeline_node_set(pl, 1, N_PORTS, err), "accepted");
	pipeline_reset(pl, 1);
	for (i = 0; i < 10; i++) {
		make_frame(f, 9, 9, sizeof(f), 0);
		f[13] = 0xb6;
		f[14] = f[15] = f[16] = 0;
		f[17] = 5;
		send_bytes(0, f, sizeof(f));
		/* Node 2 has no port: its copy goes nowhere. */
		memset(f + 18, 0, 3);
		f[21] = (uint8_t)(7 + i);
		mask = came_out(f, sizeof(f));
		CHECK(mask == 0x08, "copies went to 0x%x", mask);
	}
	pipeline_register_read(pl, "cells", 5, &value);
	CHECK(value == 17, "cells[5] is %lu", (unsigned long)value);
	pipeline_register_read(pl, P4_REG_STAT, 0, &value);
	CHECK(value == 10, "stat[0] is %lu", (unsigned long)value);
	CHECK(!pipeline_node_set(pl, 2, 4, err), "%s", err);
	make_frame(f, 9, 9, sizeof(f), 0);
	f[13] = 0xb6;
	memset(f + 14, 0, 4);
	f[17] = 6;
	send_bytes(0, f, sizeof(f));
	memset(f + 18, 0, 3);
	f[21] = 7;
	mask = came_out(f, sizeof(f));
	CHECK(mask == 0x18, "copies went to 0x%x", mask);
}

/* A header that is not all there is completed with zeros, not with old bytes. */
static void test_short_message(void)
{
	uint8_t f[64];
	uint64_t value;
	unsigned int mask;

	pipeline_reset(pl, 1);
	memset(f, 0xff, sizeof(f));
	port_put_bytes(port[0], f, sizeof(f), now);
	work();
	came_out(f, sizeof(f));
	make_frame(f, 9, 9, 16, 0);
	f[13] = 0xb6;
	f[14] = f[15] = 0;
	send_bytes(0, f, 16);
	/* cells[0] was hit; the frame that leaves has its old length. */
	pipeline_register_read(pl, "cells", 0, &value);
	CHECK(value == 8, "cells[0] is %lu", (unsigned long)value);
	mask = came_out(f, 16);
	CHECK(mask == 0x18, "copies went to 0x%x", mask);
}

static void test_drops(void)
{
	uint64_t before = pipeline_dropped(pl);
	unsigned int i;
	uint8_t f[64];

	for (i = 0; i < 100; i++) {
		make_frame(f, 9, 9, sizeof(f), 0);
		f[13] = 0xb7;
		send_bytes(i % N_PORTS, f, sizeof(f));
	}
	CHECK(!came_out(f, sizeof(f)), "something came out");
	CHECK(pipeline_dropped(pl) - before == 100, "%lu dropped",
	      (unsigned long)(pipeline_dropped(pl) - before));
	CHECK(pipeline_drained(pl), "not at the end");
}

static void test_tables(void)
{
	char err[ERR_MAX];
	unsigned int i, mask;
	uint64_t hits, misses;

	CHECK(pipeline_entry_set(pl, "none", "match 1 action " P4_ACTION_L2 " port 1", err) &&
	      strstr(err, "no table"), "%s", err);
	CHECK(pipeline_entry_set(pl, P4_TABLE_L2, "match 1 action " P4_ACTION_FLOOD " mask 1", err) &&
	      strstr(err, "does not take"), "%s", err);
	CHECK(pipeline_entry_set(pl, P4_TABLE_L2, "match 1 action " P4_ACTION_L2, err) &&
	      strstr(err, "does not take"), "%s", err);
	CHECK(pipeline_entry_set(pl, P4_TABLE_L2, "match 1", err) && strstr(err, "needs an action"),
	      "%s", err);
	CHECK(pipeline_l2_set(pl, 1, N_PORTS, err), "port that is not there");
	CHECK(pipeline_flood_set(pl, 0, 1u << N_PORTS, err), "port that is not there");

	/* Port 0 floods to 1 and 3 only. */
	CHECK(!pipeline_flood_set(pl, 0, 0x0a, err) && !pipeline_commit(pl, err), "%s", err);
	mask = out_ports(0, 0x77, 1, 64, 1);
	CHECK(mask == 0x0a, "flooded to 0x%x", mask);
	CHECK(!pipeline_flood_set(pl, 0, 0x1e, err) && !pipeline_commit(pl, err), "%s", err);

	/* As full as it gets, and then no more, and everything still works. */
	for (i = 0; i < 256 - learn.n; i++)
		CHECK(!pipeline_l2_set(pl, 0x030000000000 + i, 1, err), "%s", err);
	CHECK(!pipeline_commit(pl, err), "%s", err);
	CHECK(!pipeline_l2_set(pl, 0x030000001000, 1, err) && pipeline_commit(pl, err) &&
	      strstr(err, "full"), "%s", err);
	for (i = 0; i < 256 - learn.n; i++)
		CHECK(!pipeline_l2_delete(pl, 0x030000000000 + i, err), "%s", err);
	CHECK(!pipeline_commit(pl, err), "%s", err);
	mask = out_ports(4, 0x10, 0x14, 64, 2);
	CHECK(mask == 0x01, "sent to 0x%x", mask);
	CHECK(!pipeline_table_stats(pl, P4_TABLE_L2, &hits, &misses) && hits && misses,
	      "no hits or no misses");
}

/* More stations than fit: the first ones stay, and are replaced when aged. */
static void test_aging(void)
{
	char err[ERR_MAX];
	unsigned int i, mask;
	uint8_t f[64];

	CHECK(!learn_forget(&learn, pl, err) && !learn.n, "%s", err);
	for (i = 0; i < 400; i++) {
		make_frame(f, 0xff, 1, sizeof(f), i);
		f[9] = (uint8_t)(i >> 8);
		f[10] = (uint8_t)i;
		send_bytes(1, f, sizeof(f));
		came_out(f, sizeof(f));
	}
	CHECK(learn.n == learn.max && learn.n_refused == 400 - learn.max,
	      "%u stations, %lu refused", learn.n, (unsigned long)learn.n_refused);
	mask = out_ports(2, 0x42, 0x41, 64, 0);
	CHECK(mask == 0x1b, "0x%x", mask);
	now += LEARN_AGE_NS;
	out_ports(2, 0x42, 0x41, 64, 0);
	mask = out_ports(3, 0x41, 0x42, 64, 0);
	CHECK(mask == 0x04, "a new station in the place of an aged one: 0x%x", mask);
	CHECK(!learn.n_changed && !learn.n_gone, "changes are left");
	CHECK(!learn_forget(&learn, pl, err) && !learn.n, "%s", err);
	mask = out_ports(0, 0x41, 1, 64, 0);
	CHECK(mask == 0x1e, "forgotten: 0x%x", mask);
}

static void with_program(void)
{
	char err[ERR_MAX] = "", *text = program_text();

	open_ports();
	spec = spec_parse(text, "program", err);
	CHECK(spec, "%s", err);
	pl = pipeline_create(spec, port, N_PORTS, err);
	CHECK(pl, "%s", err);
	if (pl) {
		learn_init(&learn, pl);
		test_forwarding();
		test_many();
		test_cut();
		test_registers();
		test_nodes();
		test_short_message();
		test_drops();
		test_tables();
		test_aging();
	}
	pipeline_free(pl);
	pl = NULL;
	spec_free(spec);
	close_ports();
	free(text);
}

/* Programs that DPDK refuses, and with which words. */
static const struct {
	const char *from, *to, *words;
} broken[] = {
	{ "extract h.eth\n", "extract h.ethernet\n", "refuses the instruction 'extract h.ethernet'" },
	{ "jmpeq CELL h.eth.type 0x88b6", "jmpeq 0x88b6 CELL h.eth.type", "'jmpeq 0x88b6" },
	{ "jmph SEND", "jmph NOWHERE", "label" },
	{ "mov m.mask t." P4_ACTION_FLOOD_MASK, "mov m.mask t.musk",
	  "refuses the instruction 'mov m.mask t.musk'" },
	{ "h.eth.dst exact", "h.eth.dust exact", "table " P4_TABLE_L2 },
	{ "header eth instanceof eth_t", "header eth instanceof eth_u", "header eth" },
	{ "metadata instanceof meta_t", "metadata instanceof met_t", "metadata" },
	{ "regarray seen size 0x40", "regarray seen size 0", "regarray seen" },
	{ "regarray seen size 0x40", "regarray seen size 0x4000000", "memory" },
	{ "regarray seen", "extobj x instanceof magic\nregarray seen", "no externs of type magic" },
};

static void test_broken(void)
{
	unsigned int i;

	open_ports();
	for (i = 0; i < RTE_DIM(broken); i++) {
		char err[ERR_MAX] = "", *text = program_text();
		char *at = strstr(text, broken[i].from);
		char *changed = malloc(strlen(text) + 200);
		struct spec *s;

		sprintf(changed, "%.*s%s%s", (int)(at - text), text, broken[i].to,
			at + strlen(broken[i].from));
		s = spec_parse(changed, "broken", err);
		/* Some of it is found out before DPDK is asked. */
		pl = s ? pipeline_create(s, port, N_PORTS, err) : NULL;
		CHECK(!pl && strstr(err, broken[i].words), "%s: '%s'", broken[i].to, err);
		pipeline_free(pl);
		spec_free(s);
		free(changed);
		free(text);
	}
	pl = NULL;
	close_ports();
}

int main(void)
{
	char err[ERR_MAX];
	unsigned int free_before;

	if (frame_init(0, 0, err)) {
		printf("not ok: %s\n", err);
		return 1;
	}
	free_before = frame_pool_free();
	with_program();
	CHECK(frame_pool_free() == free_before, "%u frames leaked",
	      free_before - frame_pool_free());

	open_ports();
	learn_init(&learn, NULL);
	test_forwarding();
	test_many();
	test_cut();
	close_ports();
	test_broken();
	CHECK(frame_pool_free() == free_before, "%u frames leaked",
	      free_before - frame_pool_free());
	return check_result();
}
