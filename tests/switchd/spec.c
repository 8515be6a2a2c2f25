// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading .spec files: what is understood, and that everything else is refused
 * with a sentence that says where.
 */
#include <rte_common.h>

#include "frames.h"
#include "program.h"
#include "spec.h"
#include "tools/common/random.h"

static void test_program(void)
{
	char err[ERR_MAX] = "";
	char *text = program_text();
	struct spec *s = spec_parse(text, "program", err);

	CHECK(s, "%s", err);
	if (s) {
		const struct spec_table *t = s->tables;

		CHECK(s->n_structs == 5, "%u structs", s->n_structs);
		CHECK(s->structs[0].n_fields == 3 && s->structs[0].fields[1].n_bits == 48,
		      "struct %s", s->structs[0].name);
		CHECK(s->n_headers == 2 && !strcmp(s->headers[1].type, "cell_t"), "headers");
		CHECK(!strcmp(s->metadata, "meta_t"), "metadata %s", s->metadata);
		CHECK(s->n_registers == 4 && s->registers[1].size == 256 &&
		      s->registers[1].initial == 5 && s->registers[2].size == 16,
		      "registers");
		CHECK(s->n_actions == 3 && !strcmp(s->actions[0].args_type, "port_arg_t") &&
		      !s->actions[2].args_type && s->actions[0].code.n == 2 &&
		      !strcmp(s->actions[0].code.text[0], "mov m.port_out t." P4_ACTION_L2_PORT), "actions");
		CHECK(s->n_tables == 2 && t->n_key == 1 && t->n_actions == 2 &&
		      t->key[0].match_type == RTE_SWX_TABLE_MATCH_EXACT, "tables");
		CHECK(t->for_entries[0] && !t->for_default[0] && !t->for_entries[1] &&
		      t->for_default[1], "@tableonly and @defaultonly");
		CHECK(t->default_is_const && !t->default_args && !t[1].default_is_const &&
		      t->size == 256, "default action");
		/* Two constants are one too many for DPDK. */
		CHECK(s->structs[4].n_fields == 8, "%u fields of metadata",
		      s->structs[4].n_fields);
		CHECK(!strcmp(s->apply.text[s->apply.n - 14],
			      "mov m.switchd_constant 1") &&
		      !strcmp(s->apply.text[s->apply.n - 13],
			      "regadd " P4_REG_STAT " 0 m.switchd_constant"), "%s",
		      s->apply.text[s->apply.n - 13]);
		CHECK(!strcmp(s->apply.text[10], "AFTER_0 : mov m.bit m.mask"), "%s",
		      s->apply.text[10]);
	}
	spec_free(s);
	free(text);
}

static void test_forms(void)
{
	static const char text[] =
		"struct a_t {\n bit<8> x\n varbit<320> rest\n}\n"
		"struct m_t {\n\tbit<32> p\n}\r\n"
		"header a instanceof a_t\n"
		"extobj e instanceof thing pragma quick\n"
		"metadata instanceof m_t   // it\n"
		"metarray police size 0x10\n"
		"regarray r size 4 initval 0xffffffffffffffff\n"
		"action set args instanceof m_t {\n mov m.p t.p\n return\n}\n"
		"table t {\n key {\n  h.a.x wildcard\n  m.p lpm\n }\n actions {\n  set\n }\n"
		" default_action set args p 0x5 const\n hash jhash\n instanceof exact2\n"
		" pragma fast\n size 3\n}\n"
		"table no_key {\n actions {\n  set\n }\n default_action set args p 7\n}\n"
		"apply {\n rx m.p\n L : mov m.p 1\n tx m.p\n}";
	char err[ERR_MAX] = "";
	struct spec *s = spec_parse(text, "forms", err);

	CHECK(s, "%s", err);
	if (!s)
		return;
	CHECK(s->structs[0].last_is_variable && s->structs[0].fields[1].n_bits == 320,
	      "varbit");
	CHECK(s->n_externs == 1 && !strcmp(s->externs[0].type, "thing") &&
	      !strcmp(s->externs[0].pragma, "quick"), "extobj");
	CHECK(s->n_meters == 1 && s->meters[0].size == 16, "metarray");
	CHECK(s->registers[0].initial == UINT64_MAX, "initval");
	CHECK(!strcmp(s->tables[0].default_args, "p 0x5") && s->tables[0].default_is_const,
	      "default_action arguments");
	CHECK(!strcmp(s->tables[1].default_args, "p 7") && !s->tables[1].default_is_const &&
	      !s->tables[1].n_key, "table without key");
	CHECK(s->tables[0].n_key == 2 &&
	      s->tables[0].key[0].match_type == RTE_SWX_TABLE_MATCH_WILDCARD &&
	      s->tables[0].key[1].match_type == RTE_SWX_TABLE_MATCH_LPM, "match types");
	CHECK(!strcmp(s->tables[0].hash, "jhash") && !strcmp(s->tables[0].type, "exact2") &&
	      !strcmp(s->tables[0].pragma, "fast"), "hash, instanceof, pragma");
	CHECK(s->apply.n == 3, "apply has %u lines", s->apply.n);
	spec_free(s);
}

/* Each of these is refused at the line given, with these words. */
static const struct {
	const char *text;
	unsigned int line;
	const char *words;
} bad[] = {
	{ "", 0, "no metadata" },
	{ "hello\n", 1, "'hello' is not understood" },
	{ "struct a {\n", 1, "ends within a block (struct)" },
	{ "struct a\n", 1, "expected: struct NAME {" },
	{ "struct a {\n bit<7> x\n}\n", 2, "multiple of 8" },
	{ "struct a {\n bit<8>\n}\n", 2, "expected: bit<N> NAME" },
	{ "struct a {\n int<8> x\n}\n", 2, "is not a type" },
	{ "struct a {\n bit<8x x\n}\n", 2, "is not a type" },
	{ "struct a {\n varbit<8> x\n bit<8> y\n}\n", 3, "only the last field" },
	{ "\n\nheader h of t\n", 3, "expected: header" },
	{ "metadata instanceof a\nmetadata instanceof b\n", 2, "metadata already" },
	{ "extobj a instanceof\n", 1, "expected: extobj" },
	{ "regarray r size 8\n", 1, "initval" },
	{ "regarray r size many initval 0\n", 1, "'many' is not a number" },
	{ "regarray r size 0x10000000000 initval 0\n", 1, "is not a number up to" },
	{ "regarray r size -1 initval 0\n", 1, "is not a number" },
	{ "metarray m size\n", 1, "expected: metarray" },
	{ "action a args some {\n", 1, "expected: action" },
	{ "action a\n", 1, "expected: action" },
	{ "action a args none {\n movh h.x h.y\n}\n", 2, "no instruction 'movh'" },
	{ "apply {\n frob m.x\n}\n", 2, "no instruction 'frob'" },
	{ "apply {\n L : frob m.x\n}\n", 2, "no instruction 'frob'" },
	{ "apply {\n rx m.p\n}\napply {\n", 4, "apply block already" },
	{ "apply {\n mov 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", 2, "at most 16 words" },
	{ "table t {\n key\n", 2, "'key' is not understood" },
	{ "table t {\n key {\n  m.x around\n", 3, "exact|lpm|wildcard" },
	{ "table t {\n actions {\n  a @never\n", 3, "@tableonly" },
	{ "table t {\n default_action a\n", 2, "expected: default_action" },
	{ "table t {\n default_action a args x\n", 2, "pairs" },
	{ "table t {\n size x\n", 2, "'x' is not a number" },
	{ "table t {\n}\n", 2, "no default_action" },
	{ "selector s {\n", 1, "not supported" },
	{ "learner l {\n", 1, "not supported" },
	{ "metadata instanceof m\n", 1, "no apply block" },
	{ "regarray a_name_that_is_much_longer_than_what_the_library_can_keep_in_its_structures size 1 initval 0\n",
	  1, "too long" },
};

static void test_bad(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(bad); i++) {
		char err[ERR_MAX] = "", where[32];
		struct spec *s = spec_parse(bad[i].text, "x.spec", err);

		snprintf(where, sizeof(where), "x.spec:%u: ", bad[i].line);
		CHECK(!s, "accepted: %s", bad[i].text);
		CHECK(!strncmp(err, where, strlen(where)) && strstr(err, bad[i].words),
		      "'%s', expected '%s... %s'", err, where, bad[i].words);
		spec_free(s);
	}
}

/* Programs cut off or changed anywhere neither crash nor hang the reader. */
static void test_mutations(void)
{
	char *text = program_text(), *copy = strdup(text), err[ERR_MAX];
	size_t len = strlen(text), i;
	unsigned int accepted = 0;
	uint64_t seed = 1;

	for (i = 0; i < 20000; i++) {
		size_t at = random_below(&seed, len);
		struct spec *s;

		memcpy(copy, text, len + 1);
		copy[at] = (char)random_below(&seed, 128);
		if (i % 4 == 0)
			copy[at] = 0;
		s = spec_parse(copy, "mutation", err);
		accepted += !!s;
		spec_free(s);
	}
	/* A changed name is still a program; a missing half is not. */
	CHECK(accepted > 100 && accepted < 15000, "%u accepted", accepted);
	free(copy);
	free(text);
}

static void test_files(void)
{
	char err[ERR_MAX] = "";

	CHECK(!spec_load("/nonexistent/x.spec", err) && strstr(err, "cannot read") &&
	      strstr(err, "/nonexistent/x.spec"), "%s", err);
	CHECK(!spec_load("/", err) && strstr(err, "cannot read"), "%s", err);
}

int main(void)
{
	test_program();
	test_forms();
	test_bad();
	test_mutations();
	test_files();
	return check_result();
}
