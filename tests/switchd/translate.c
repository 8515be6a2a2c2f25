// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does a program that was translated (tools/switchd/translate.h) do what DPDK's
 * instructions do?  Programs of random instructions get random frames, one at a time,
 * interpreted and translated; what comes out, at which ports, and the registers have to
 * be the same.  tests/diff does so for weft's own program, which uses less of it.
 *
 *	switchd-translate [SEED]
 *
 * What has no defined value is left out: headers that are not there, and variables
 * before their first use.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "frames.h"
#include "p4names.h"
#include "pipeline.h"
#include "tests/common/argument.h"
#include "tests/common/folder.h"
#include "tools/common/random.h"

#define N_PORTS		4
#define PROGRAMS	4
#define INSTRUCTIONS	250
#define FRAMES		20000
#define FRAME_LEN	100

/* Sizes of the fields of each header, and of the metadata. */
static const unsigned int a_bits[] = { 48, 48, 16, 8, 24, 32, 64, 16, 40, 0 };
static const unsigned int b_bits[] = { 16, 16, 32, 8, 8, 64, 56, 0 };
static const unsigned int c_bits[] = { 32, 8, 16, 48, 8, 0 };
static const unsigned int k_bits[] = { 16, 16, 0 };
static const unsigned int m_bits[] = {
	8, 8, 16, 16, 24, 32, 32, 32, 40, 48, 56, 64, 64, 64, 0
};

static const struct {
	const char *name;
	const unsigned int *bits;
} structs[] = { { "a", a_bits }, { "b", b_bits }, { "c", c_bits }, { "k", k_bits } };

/* Sizes that are no power of two, too. */
static const struct {
	const char *name;
	unsigned int size;
} arrays[] = { { "one", 1 }, { "five", 5 }, { "many", 64 } };

struct side {
	struct port_flow flow;
	struct port *port[N_PORTS];
	struct spec *spec;
	struct pipeline *pl;
};

static uint64_t random_state;

static unsigned int below(unsigned int n)
{
	return (unsigned int)random_below(&random_state, n);
}

/* --- A random program --- */

static unsigned int count(const unsigned int *bits)
{
	unsigned int n = 0;

	while (bits[n])
		n++;
	return n;
}

static void metadata(FILE *f)
{
	fprintf(f, " m.f%u", below(count(m_bits)));
}

static void header(FILE *f)
{
	unsigned int i = below(3);

	fprintf(f, " h.%s.f%u", structs[i].name, below(count(structs[i].bits)));
}

static void field(FILE *f)
{
	if (below(2))
		metadata(f);
	else
		header(f);
}

/* Small ones meet often; the largest are cut off somewhere. */
static void number(FILE *f)
{
	fprintf(f, " 0x%llx", (unsigned long long)random_u64(&random_state) >> below(64));
}

static void operand(FILE *f)
{
	if (below(3))
		field(f);
	else
		number(f);
}

static void cell(FILE *f)
{
	fprintf(f, " %s", arrays[below(RTE_DIM(arrays))].name);
	field(f);
}

static void checksum(FILE *f)
{
	bool add = below(2);

	fprintf(f, "%s h.k.f%u", add ? "ckadd" : "cksub", below(2));
	if (add && below(3) == 0)
		fprintf(f, " h.%s", structs[below(3)].name);
	else
		header(f);
	/* and where it can be seen */
	fprintf(f, "\n\tmov m.f%u h.k.f%u", below(count(m_bits)), below(2));
}

static void one_mirror(FILE *f)
{
	fprintf(f, "mov m.slot");
	field(f);
	fprintf(f, "\n\tmov m.session");
	field(f);
	fprintf(f, "\n\tand m.session %d\n\tadd m.session %d\n\tmirror m.slot m.session",
		N_PORTS - 1, P4_SESSION_FLOOD);
}

static void one_table(FILE *f, unsigned int i)
{
	static const char *const jumps[] = { "jmph", "jmpnh", "jmpa", "jmpna" };
	unsigned int jump = below(RTE_DIM(jumps));

	fprintf(f, "table by_%s\n\t%s NEXT_%u%s", below(2) ? "header" : "metadata",
		jumps[jump], i, jump >= 2 ? " keep" : "");
}

/* An instruction, or a few that belong together. */
static void instruction(FILE *f, unsigned int i)
{
	static const char *const operations[] = {
		"mov", "add", "sub", "and", "or", "xor",
	};
	static const char *const jumps[] = { "jmpeq", "jmpneq", "jmplt", "jmpgt" };

	fprintf(f, "	");
	switch (below(16)) {
	case 0:
		fprintf(f, "%s", below(2) ? "shl" : "shr");
		field(f);
		if (below(2))
			metadata(f);
		else
			fprintf(f, " %u", below(64));
		break;
	case 1:
		fprintf(f, "regrd");
		field(f);
		cell(f);
		break;
	case 2:
		fprintf(f, "%s", below(2) ? "regwr" : "regadd");
		cell(f);
		operand(f);
		break;
	case 3:
		checksum(f);
		break;
	case 4:
		one_mirror(f);
		break;
	case 5:
		one_table(f, i);
		break;
	case 6:
	case 7:
	case 8:
		fprintf(f, "%s NEXT_%u", jumps[below(RTE_DIM(jumps))], i);
		field(f);
		operand(f);
		break;
	case 9:
		fprintf(f, "regrd m.f%u five %u", below(count(m_bits)), below(8));
		break;
	default:
		fprintf(f, "%s", operations[below(RTE_DIM(operations))]);
		field(f);
		operand(f);
	}
	fprintf(f, "\n");
}

static void write_structs(FILE *f)
{
	unsigned int i, j;

	for (i = 0; i < RTE_DIM(structs); i++) {
		fprintf(f, "struct %s_t {\n", structs[i].name);
		for (j = 0; structs[i].bits[j]; j++)
			fprintf(f, "	bit<%u> f%u\n", structs[i].bits[j], j);
		fprintf(f, "}\nheader %s instanceof %s_t\n", structs[i].name, structs[i].name);
	}
	fprintf(f, "struct m_t {\n	bit<32> in\n	bit<32> out\n	bit<8> slot\n	bit<16> session\n");
	for (j = 0; m_bits[j]; j++)
		fprintf(f, "	bit<%u> f%u\n", m_bits[j], j);
	fprintf(f, "}\nmetadata instanceof m_t\n");
	for (i = 0; i < RTE_DIM(arrays); i++)
		fprintf(f, "regarray %s size %u initval 3\n", arrays[i].name, arrays[i].size);
	fprintf(f, "struct two_t {\n	bit<32> x\n	bit<16> y\n}\n");
	fprintf(f, "action give args instanceof two_t {\n	mov m.f5 t.x\n	add m.f11 t.y\n	return\n}\n");
	fprintf(f, "action keep args none {\n	xor m.f6 0x55\n	return\n}\n");
	fprintf(f, "table by_header {\n	key {\n		h.a.f1 exact\n	}\n");
	fprintf(f, "	actions {\n		give\n		keep\n	}\n");
	fprintf(f, "	default_action keep args none\n	size 0x40\n}\n");
	fprintf(f, "table by_metadata {\n	key {\n		m.f0 exact\n	}\n");
	fprintf(f, "	actions {\n		give\n		keep\n	}\n");
	fprintf(f, "	default_action give args x 0x1234 y 0x5678\n	size 0x40\n}\n");
}

static void write_program(FILE *f)
{
	unsigned int i;

	write_structs(f);
	fprintf(f, "apply {\n	rx m.in\n	extract h.a\n	extract h.b\n	validate h.c\n");
	for (i = 0; m_bits[i]; i++)
		fprintf(f, "	mov m.f%u h.%c.f%u\n", i, i % 2 ? 'a' : 'b', i / 2);
	for (i = 0; c_bits[i]; i++)
		fprintf(f, "	mov h.c.f%u m.f%u\n", i, i);
	fprintf(f, "	mov h.k.f0 0\n	mov h.k.f1 m.f3\n");
	/* a number that the field cannot hold */
	fprintf(f, "	jmpeq WIDE h.a.f3 0x10005\n	regadd many h.a.f3 1\n	WIDE : jmpeq NARROW m.f1 0x10005\n	regadd many m.f1 1\n	NARROW : mov m.f7 m.f1\n");
	for (i = 0; i < INSTRUCTIONS; i++) {
		instruction(f, i);
		fprintf(f, "	NEXT_%u : xor m.f7 0x%x\n", i, i);
	}
	/* with or without a header between two others */
	fprintf(f, "	jmpgt KEEP h.a.f3 0x7F\n	invalidate h.c\n");
	fprintf(f, "	KEEP : jmpnv GONE h.c\n	add m.f7 1\n	GONE : jmpv THERE h.c\n	mov h.a.f3 1\n");
	fprintf(f, "	THERE : mov m.out h.a.f5\n	and m.out %d\n", N_PORTS * 2 - 1);
	fprintf(f, "	jmplt SEND m.out %d\n	jmpgt LOST m.out %d\n	mov m.out %d\n",
		N_PORTS, N_PORTS * 2 - 2, P4_PORT_SINK);
	fprintf(f, "	SEND : emit h.a\n	emit h.c\n	emit h.b\n	tx m.out\n	LOST : drop\n}\n");
}

/* --- Both of its sides --- */

static void close_side(struct side *s)
{
	unsigned int i;

	pipeline_free(s->pl);
	spec_free(s->spec);
	for (i = 0; i < N_PORTS; i++)
		port_destroy(s->port[i]);
	memset(s, 0, sizeof(*s));
}

static bool open_side(struct side *s, const char *path, const char *library)
{
	char name[16], entry[128], err[ERR_MAX] = "";
	unsigned int i;
	int code = 0;

	for (i = 0; i < N_PORTS; i++) {
		snprintf(name, sizeof(name), "p%u=mem:", i);
		s->port[i] = port_create(name, i, 1, &s->flow, err);
	}
	s->spec = spec_load(path, err);
	if (s->spec)
		s->spec->compiled = library;
	s->pl = s->spec ? pipeline_create(s->spec, s->port, N_PORTS, err) : NULL;
	for (i = 0; s->pl && i < 32 && !code; i++) {
		snprintf(entry, sizeof(entry), "match 0x%x action %s", i,
			 i % 3 ? "give x 7 y 9" : "keep");
		code = pipeline_entry_set(s->pl, "by_header", entry, err);
		if (!code)
			code = pipeline_entry_set(s->pl, "by_metadata", entry, err);
	}
	if (s->pl && !code)
		code = pipeline_commit(s->pl, err);
	CHECK(s->pl && !code, "%s", err);
	return s->pl && !code;
}

/* What came out of two ports is the same; both are empty then. */
static bool same_port(struct port *x, struct port *y, unsigned int *n_out)
{
	bool same = true;

	for (;;) {
		struct rte_mbuf *a = port_get(x), *b = port_get(y);

		if (!a && !b)
			return same;
		if (!a || !b || frame_len(a) != frame_len(b) ||
		    memcmp(frame_data(a), frame_data(b), frame_len(a)))
			same = false;
		++*n_out;
		if (a)
			frame_free(a);
		if (b)
			frame_free(b);
	}
}

static bool same_registers(struct side *x, struct side *y)
{
	uint64_t a = 0, b = 1;
	unsigned int i, j;

	for (i = 0; i < RTE_DIM(arrays); i++)
		for (j = 0; j < arrays[i].size; j++) {
			pipeline_register_read(x->pl, arrays[i].name, j, &a);
			pipeline_register_read(y->pl, arrays[i].name, j, &b);
			if (a != b)
				return false;
		}
	return true;
}

static void same_tables(struct side *x, struct side *y)
{
	static const char *const names[] = { "by_header", "by_metadata" };
	uint64_t hits[2] = { 0 }, misses[2] = { 0 };
	unsigned int i;

	for (i = 0; i < RTE_DIM(names); i++) {
		pipeline_table_stats(x->pl, names[i], &hits[0], &misses[0]);
		pipeline_table_stats(y->pl, names[i], &hits[1], &misses[1]);
		CHECK(hits[0] == hits[1] && misses[0] == misses[1], "table %s", names[i]);
	}
	CHECK(pipeline_dropped(x->pl) == pipeline_dropped(y->pl), "dropped: %lu and %lu",
	      (unsigned long)pipeline_dropped(x->pl), (unsigned long)pipeline_dropped(y->pl));
}

static void compare(struct side *x, struct side *y)
{
	unsigned int i, j, port, n_out = 0;
	bool same = true;
	uint8_t f[FRAME_LEN];

	for (i = 0; i < FRAMES && same; i++) {
		for (j = 0; j < sizeof(f); j++)
			f[j] = (uint8_t)random_u64(&random_state);
		/* an entry of the table, sometimes */
		if (below(2)) {
			memset(f + 6, 0, 6);
			f[11] = (uint8_t)below(40);
		}
		port = below(N_PORTS);
		port_put_bytes(x->port[port], f, sizeof(f), 0);
		port_put_bytes(y->port[port], f, sizeof(f), 0);
		pipeline_work(x->pl);
		pipeline_work(y->pl);
		for (j = 0; j < N_PORTS; j++)
			same = same_port(x->port[j], y->port[j], &n_out) && same;
		CHECK(same, "frame %u, what came out", i);
		if (i % 64 == 0 || i == FRAMES - 1) {
			same = same_registers(x, y) && same;
			CHECK(same, "frame %u, registers", i);
		}
	}
	CHECK(n_out > FRAMES / 4, "%u frames came out", n_out);
	same_tables(x, y);
}

/* --- Programs --- */

static bool translate_file(const char *spec, const char *library, const char *said)
{
	char command[1024];

	snprintf(command, sizeof(command), "tools/switchd/compile %s %s 2>%s", spec, library,
		 said);
	return !system(command);
}

static bool says(const char *path, const char *what)
{
	FILE *f = fopen(path, "re");
	char line[512];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, what))
			found = true;
	if (f)
		fclose(f);
	return found;
}

/* False: programs cannot be compiled here. */
static bool one_program(const char *dir, uint64_t seed)
{
	char spec[256], library[256], said[256];
	struct side x = { 0 }, y = { 0 };
	unsigned int buffers = frame_pool_free(), before = check_failures;
	FILE *f;

	snprintf(spec, sizeof(spec), "%s/program.spec", dir);
	snprintf(library, sizeof(library), "%s/program-%llu.so", dir,
		 (unsigned long long)seed);
	snprintf(said, sizeof(said), "%s/said", dir);
	random_state = seed;
	f = fopen(spec, "we");
	if (!f)
		return false;
	write_program(f);
	fclose(f);
	if (!translate_file(spec, library, said)) {
		CHECK(!says(said, "cannot compile"), "seed %llu", (unsigned long long)seed);
		unlink(spec);
		unlink(said);
		return false;
	}
	CHECK(!says(said, "does not know"), "seed %llu is not translated",
	      (unsigned long long)seed);
	if (open_side(&x, spec, NULL) && open_side(&y, spec, library))
		compare(&x, &y);
	close_side(&x);
	close_side(&y);
	CHECK(frame_pool_free() == buffers, "%u of %u buffers", frame_pool_free(), buffers);
	if (check_failures != before)
		printf("seed %llu\n", (unsigned long long)seed);
	unlink(spec);
	unlink(library);
	unlink(said);
	return true;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? argument(argv[1], 0, UINT64_MAX) : 1;
	char dir[FOLDER_MAX], err[ERR_MAX] = "";
	unsigned int i;

	folder_make(dir, sizeof(dir), folder_usual(), "translate");
	if (frame_init(0, 0, err)) {
		printf("not ok: %s\n", err);
		return 1;
	}
	for (i = 0; i < PROGRAMS && one_program(dir, seed + i); i++)
		;
	if (!i && !check_failures) {
		printf("skipped: programs cannot be compiled here\n");
		return 77;
	}
	return check_result();
}
