// SPDX-License-Identifier: GPL-2.0-only
/*
 * Seeds for the fuzz targets: inputs that get far into what is fuzzed, the same each
 * time, made when they are needed instead of being kept.
 *
 *	seeds-seeds TARGET DIR		codec, home, memd, backing or conf
 */
#include <stdio.h>
#include <stdlib.h>

#include "call.h"
#include "tools/common/random.h"

#define INPUT_MAX	4096

struct input {
	u8 buf[INPUT_MAX];
	size_t len;
};

static const char *directory;
static u32 files;
static uint64_t state = 1;

static u32 draw(u32 n)
{
	return (u32)random_below(&state, n);
}

static void add(struct input *in, u8 byte)
{
	if (in->len < INPUT_MAX)
		in->buf[in->len++] = byte;
}

static void add_draws(struct input *in, u32 n)
{
	/* small numbers mean something more often than others */
	while (n--)
		add(in, (u8)(draw(2) ? draw(8) : draw(256)));
}

static void save(const struct input *in)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%03u", directory, files++);
	f = fopen(path, "w");
	if (!f || fwrite(in->buf, 1, in->len, f) != in->len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* --- codec: a message of each type, each call, two messages in a datagram ------ */

static void add_message(struct input *in, u8 type, const void *payload, u32 len)
{
	struct weft_msg m = {
		.type = type, .src = 1 + type % 32, .status = type % 3, .info = 1408,
		.txn = weft_txn(1, type), .line = weft_line_key(7, WEFT_KIND_PAGE, type),
		.copyset = 3, .version = 5, .size = 4096, .grant = 2, .len = len,
		.payload = payload,
	};

	if (in->len + WEFT_WIRE_HDR_LEN + len > INPUT_MAX)
		return;
	weft_wire_pack_plain(&m, in->buf + in->len);
	in->len += WEFT_WIRE_HDR_LEN;
	if (len)
		memcpy(in->buf + in->len, payload, len);
	in->len += len;
}

static void make_codec(void)
{
	static const u8 block[1408];
	u8 payload[WEFT_CALL_LEN_MAX];
	struct weft_call c;
	struct input in;
	u32 i;

	for (i = 1; i <= WEFT_MSG_REPLY; i++) {
		in.len = 0;
		add_message(&in, (u8)i, block, weft_msg_has_data((u8)i) ? sizeof(block) : 0);
		save(&in);
	}
	in.len = 0;
	add_message(&in, WEFT_MSG_DATA, block, sizeof(block));
	add_message(&in, WEFT_MSG_DATA, block, sizeof(block));
	save(&in);
	for (i = 1; i < WEFT_CALL_MAX; i++) {
		memset(&c, 0, sizeof(c));
		c.op = (u16)i;
		c.region = i;
		c.size = 4096u * i;
		c.name_len = (u16)snprintf(c.name, sizeof(c.name), "region%u", i);
		c.list_len = (u16)(8 * i);
		in.len = weft_call_pack(&c, payload);
		memcpy(in.buf, payload, in.len);
		save(&in);
		in.len = 0;
		add_message(&in, WEFT_MSG_CALL, payload, weft_call_pack(&c, payload));
		save(&in);
	}
}

/* --- home: 20 bytes a message, see tests/fuzz/home.c ---------------------------- */

static void make_home(void)
{
	struct input in;
	u32 how, type, i;

	for (how = 0; how < 8; how++) {
		in.len = 0;
		for (type = 0; type < 64; type++) {
			u8 step[20] = { (u8)type, (u8)draw(256), (u8)draw(5), (u8)draw(3),
					(u8)draw(8), 1, 0x80, 0x80 };

			step[16] = (u8)(type % 3 ? how : draw(8));
			step[17] = (u8)draw(4);
			step[18] = (u8)(how & 1);
			for (i = 0; i < sizeof(step); i++)
				add(&in, step[i]);
		}
		save(&in);
	}
	/* requests, and what the switch says to what follows from them */
	for (how = 0; how < 8; how++) {
		in.len = 0;
		for (i = 0; i < 100; i++) {
			u8 step[20] = { (u8)(1 + draw(6)), 0, (u8)draw(5), (u8)draw(3), 0, 1,
					0x80, 0x80 };

			step[16] = (u8)(i % 2 ? 3 : 1 + draw(5));
			step[17] = (u8)draw(4);
			step[18] = 1;
			in.len += 20 * (in.len + 20 <= INPUT_MAX);
			memcpy(in.buf + in.len - 20, step, 20);
		}
		save(&in);
	}
}

/* --- memd: an action a byte and what it needs, see tests/fuzz/memd.c ------------- */

#define MEMD_ACTIONS	10

static void make_memd(void)
{
	struct input in;
	u32 how, action, i;

	for (how = 0; how < 8; how++) {
		/* each action many times, with time between */
		for (action = 0; action < MEMD_ACTIONS; action++) {
			in.len = 0;
			add(&in, (u8)how);
			for (i = 0; i < 60; i++) {
				add(&in, (u8)(40 + action));
				add_draws(&in, 24);
				add(&in, 1);
				add(&in, (u8)draw(20));
			}
			save(&in);
		}
		/* and all of them */
		in.len = 0;
		add(&in, (u8)how);
		for (i = 0; i < 160; i++) {
			add(&in, (u8)(40 + draw(MEMD_ACTIONS)));
			add_draws(&in, 20);
		}
		save(&in);
	}
}

/* --- backing: frames, then records of the log, see tests/fuzz/backing.c ----------- */

static void make_backing(void)
{
	struct input in;
	u32 n, i, kind;

	for (n = 0; n < 16; n++) {
		in.len = 0;
		add(&in, (u8)(n * 4));
		for (i = 0; i < n * 4; i++) {
			u8 record[8] = { (u8)(1 + draw(3)), 0xC0, 0, (u8)i, 200, (u8)n };

			record[1] |= (u8)draw(64);
			for (kind = 0; kind < sizeof(record); kind++)
				add(&in, record[kind]);
		}
		for (i = 0; i < 24; i++) {
			u8 body[12] = { (u8)(1 + draw(3)), (u8)draw(6), 0, (u8)draw(40), 0, 0,
					(u8)draw(8), (u8)draw(4) };

			add(&in, sizeof(body));
			/* a region, or any type with a small number */
			add(&in, (u8)(i % 3 ? 0x10 : 0x80 | draw(8)));
			for (kind = 0; kind < sizeof(body); kind++)
				add(&in, body[kind]);
		}
		save(&in);
	}
}

/* --- conf: texts ------------------------------------------------------------------ */

static void make_conf(void)
{
	static const char *const texts[] = {
		"node = 1\ninterface = eth0\nhomes = 10.0.0.101, 10.0.0.102\n",
		"node=32\ninterface=enp1s0f0\nhomes=10.0.0.101\nrack=7\naddress=10.0.0.1\nmtu=9000\n",
		"# a comment\n\nnode = 2 # and one behind\n",
		"mount = /weft\ncache = 1G\nblock = 64K\nmode = 1777\nuid = 0\ngid = 100\n",
		"timeout = 2.5\nhold = 100\n",
		"mount = /weft\ncache = 4096\nblock = 64K\n",
		"node = 33\n", "node = 1\nnode = 2\n", "tiemout = 30\n", "cache = 1G\n",
		"node\n", "= 1\n", "[node]\n", "node = \"1\"\n", "homes = 10.0.0\n",
		"homes = 10.0.0.1,10.0.0.1\n", "block = 5K\n", "mode = 8\n", "mtu = 100\n",
		"node = 1\r\n", "interface = a/b\n", "mount = weft\n", "hold = -1\n",
		"address = 239.1.1.1\n", "timeout = 1e9\n", "cache = 99999999999T\n", "node =\n",
	};
	struct input in;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		in.len = strlen(texts[i]);
		memcpy(in.buf, texts[i], in.len);
		save(&in);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(void);
	} targets[] = {
		{ "codec", make_codec }, { "home", make_home }, { "memd", make_memd },
		{ "backing", make_backing }, { "conf", make_conf },
	};
	size_t i;

	for (i = 0; argc == 3 && i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (strcmp(targets[i].name, argv[1]) != 0)
			continue;
		directory = argv[2];
		targets[i].make();
		printf("%u seeds\n", files);
		return 0;
	}
	fprintf(stderr, "usage: seeds-seeds codec|home|memd|backing|conf DIR\n");
	return 2;
}
