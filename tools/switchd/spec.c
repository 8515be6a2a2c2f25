// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the text that p4c-dpdk makes of a P4 program.
 *
 * Line by line: a line is split into words; which function takes the words
 * depends on the block that is open.
 */
#include "spec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "instruction.h"
#include "tools/common/number.h"

#define WORDS_MAX	64
#define LINE_LEN_MAX	2048
#define FILE_LEN_MAX	(16L << 20)
#define ARRAY_SIZE_MAX	(64u << 20)

enum block {
	BLOCK_NONE,
	BLOCK_STRUCT,
	BLOCK_ACTION,
	BLOCK_TABLE,
	BLOCK_TABLE_KEY,
	BLOCK_TABLE_ACTIONS,
	BLOCK_APPLY,
};

static const char *const block_names[] = {
	[BLOCK_NONE] = "file",
	[BLOCK_STRUCT] = "struct",
	[BLOCK_ACTION] = "action",
	[BLOCK_TABLE] = "table",
	[BLOCK_TABLE_KEY] = "key",
	[BLOCK_TABLE_ACTIONS] = "actions",
	[BLOCK_APPLY] = "apply",
};

/**
 * struct parser - where we are
 * @spec: what was read so far
 * @from: name of the file
 * @line: number of the line
 * @block: the open block
 * @word: words of the line
 * @n: how many
 * @uses_constant: INSTRUCTION_FIELD is needed
 * @err: for the sentence
 */
struct parser {
	struct spec *spec;
	const char *from;
	unsigned int line;
	enum block block;
	const char *word[WORDS_MAX];
	unsigned int n;
	bool uses_constant;
	char *err;
};

#define refuse(p, fmt, ...) \
	fail((p)->err, -EINVAL, "%s:%u: " fmt, (p)->from, (p)->line, ##__VA_ARGS__)

static int no_memory(struct parser *p)
{
	return fail(p->err, -ENOMEM, "%s: out of memory", p->from);
}

/* Room for one more element at the end of an array; all zero. */
static void *grow_array(void **array, uint32_t *n, size_t size)
{
	char *bigger = realloc(*array, (*n + 1) * size);

	if (!bigger)
		return NULL;
	*array = bigger;
	return memset(bigger + (*n)++ * size, 0, size);
}

#define grow(array, n) grow_array((void **)&(array), &(n), sizeof(*(array)))

/* A copy that lives as long as the spec. */
static const char *keep(struct parser *p, const char *s)
{
	struct spec *spec = p->spec;
	char **slot = grow(spec->strings, spec->n_strings);

	if (!slot)
		return NULL;
	*slot = strdup(s);
	return *slot;
}

static int number(struct parser *p, const char *word, uint64_t max, uint64_t *value)
{
	if (number_u64(word, 0, max, value))
		return refuse(p, "'%s' is not a number up to %llu", word,
			      (unsigned long long)max);
	return 0;
}

static bool is_word(const struct parser *p, unsigned int i, const char *what)
{
	return i < p->n && !strcmp(p->word[i], what);
}

static bool closes(const struct parser *p)
{
	return p->n == 1 && is_word(p, 0, "}");
}

/* --- Blocks --- */

static int struct_field(struct parser *p)
{
	struct spec_struct *s = &p->spec->structs[p->spec->n_structs - 1];
	struct rte_swx_field_params *field;
	unsigned int bits, used = 0;

	if (s->last_is_variable)
		return refuse(p, "only the last field of a struct can be a varbit");
	if (p->n != 2)
		return refuse(p, "expected: bit<N> NAME");
	if (sscanf(p->word[0], "varbit<%u>%n", &bits, (int *)&used) == 1 &&
	    used && !p->word[0][used])
		s->last_is_variable = 1;
	else if (sscanf(p->word[0], "bit<%u>%n", &bits, (int *)&used) != 1 ||
		 !used || p->word[0][used])
		return refuse(p, "'%s' is not a type: expected bit<N> or varbit<N>",
			      p->word[0]);
	if (!bits || bits % 8 || bits > 65536)
		return refuse(p, "field %s has %u bits: DPDK wants a multiple of 8",
			      p->word[1], bits);
	field = grow(s->fields, s->n_fields);
	if (!field)
		return no_memory(p);
	field->n_bits = bits;
	field->name = keep(p, p->word[1]);
	return field->name ? 0 : no_memory(p);
}

static int code_line(struct parser *p, struct spec_code *code)
{
	char text[2][RTE_SWX_INSTRUCTION_SIZE], why[ERR_MAX];
	int i, n = instruction_fit(p->word, p->n, text, why);

	if (n < 0)
		return refuse(p, "%.300s", why);
	p->uses_constant |= n == 2;
	for (i = 0; i < n; i++) {
		const char **slot = grow(code->text, code->n);

		if (slot)
			*slot = keep(p, text[i]);
		if (!slot || !*slot)
			return no_memory(p);
	}
	return 0;
}

static int table_key(struct parser *p, struct spec_table *t)
{
	struct rte_swx_match_field_params *field;
	enum rte_swx_table_match_type match;

	if (is_word(p, 1, "exact"))
		match = RTE_SWX_TABLE_MATCH_EXACT;
	else if (is_word(p, 1, "lpm"))
		match = RTE_SWX_TABLE_MATCH_LPM;
	else if (is_word(p, 1, "wildcard"))
		match = RTE_SWX_TABLE_MATCH_WILDCARD;
	else
		return refuse(p, "expected: FIELD exact|lpm|wildcard");
	if (p->n != 2)
		return refuse(p, "expected: FIELD exact|lpm|wildcard");
	field = grow(t->key, t->n_key);
	if (!field)
		return no_memory(p);
	field->match_type = match;
	field->name = keep(p, p->word[0]);
	return field->name ? 0 : no_memory(p);
}

static int table_action(struct parser *p, struct spec_table *t)
{
	bool table_only = is_word(p, 1, "@tableonly");
	bool default_only = is_word(p, 1, "@defaultonly");
	uint32_t n = t->n_actions, n_default = t->n_actions;
	const char **name;
	int *entries, *dflt;

	if (p->n > 2 || (p->n == 2 && !table_only && !default_only))
		return refuse(p, "expected: ACTION [@tableonly|@defaultonly]");
	entries = grow(t->for_entries, n);
	dflt = grow(t->for_default, n_default);
	name = grow(t->actions, t->n_actions);
	if (!entries || !dflt || !name)
		return no_memory(p);
	*entries = !default_only;
	*dflt = !table_only;
	*name = keep(p, p->word[0]);
	return *name ? 0 : no_memory(p);
}

static int table_default(struct parser *p, struct spec_table *t)
{
	unsigned int end = p->n, i;
	char text[LINE_LEN_MAX] = "";

	if (p->n < 4 || !is_word(p, 2, "args"))
		return refuse(p, "expected: default_action NAME args none|... [const]");
	t->default_is_const = is_word(p, end - 1, "const");
	end -= (unsigned int)t->default_is_const;
	t->default_action = keep(p, p->word[1]);
	if (!t->default_action)
		return no_memory(p);
	if (end == 4 && is_word(p, 3, "none"))
		return 0;
	if (end < 5 || (end - 3) % 2)
		return refuse(p, "arguments of a default action are pairs: NAME VALUE");
	/* They come from one line, so they fit. */
	for (i = 3; i < end; i++)
		sprintf(text + strlen(text), "%s%s", i > 3 ? " " : "", p->word[i]);
	t->default_args = keep(p, text);
	return t->default_args ? 0 : no_memory(p);
}

static int table_line(struct parser *p)
{
	struct spec_table *t = &p->spec->tables[p->spec->n_tables - 1];
	const char **text = NULL;
	uint64_t value;
	int code;

	if (p->block == BLOCK_TABLE_KEY)
		return table_key(p, t);
	if (p->block == BLOCK_TABLE_ACTIONS)
		return table_action(p, t);
	if (is_word(p, 0, "key") && is_word(p, 1, "{") && p->n == 2) {
		p->block = BLOCK_TABLE_KEY;
		return 0;
	}
	if (is_word(p, 0, "actions") && is_word(p, 1, "{") && p->n == 2) {
		p->block = BLOCK_TABLE_ACTIONS;
		return 0;
	}
	if (is_word(p, 0, "default_action"))
		return table_default(p, t);
	if (is_word(p, 0, "size") && p->n == 2) {
		code = number(p, p->word[1], ARRAY_SIZE_MAX, &value);
		t->size = (uint32_t)value;
		return code;
	}
	if (is_word(p, 0, "hash"))
		text = &t->hash;
	else if (is_word(p, 0, "instanceof"))
		text = &t->type;
	else if (is_word(p, 0, "pragma"))
		text = &t->pragma;
	if (!text || p->n != 2)
		return refuse(p, "'%s' is not understood in a table", p->word[0]);
	*text = keep(p, p->word[1]);
	return *text ? 0 : no_memory(p);
}

/* --- Outside of blocks --- */

static int open_struct(struct parser *p)
{
	struct spec_struct *s;

	if (p->n != 3 || !is_word(p, 2, "{"))
		return refuse(p, "expected: struct NAME {");
	s = grow(p->spec->structs, p->spec->n_structs);
	if (!s)
		return no_memory(p);
	s->line = p->line;
	s->name = keep(p, p->word[1]);
	p->block = BLOCK_STRUCT;
	return s->name ? 0 : no_memory(p);
}

static int open_action(struct parser *p)
{
	bool none = p->n == 5 && is_word(p, 3, "none");
	struct spec_action *a;

	if (!is_word(p, 2, "args") || !is_word(p, p->n - 1, "{") ||
	    !(none || (p->n == 6 && is_word(p, 3, "instanceof"))))
		return refuse(p, "expected: action NAME args none|instanceof STRUCT {");
	a = grow(p->spec->actions, p->spec->n_actions);
	if (!a)
		return no_memory(p);
	a->line = p->line;
	a->name = keep(p, p->word[1]);
	if (!none)
		a->args_type = keep(p, p->word[4]);
	p->block = BLOCK_ACTION;
	return a->name && (none || a->args_type) ? 0 : no_memory(p);
}

static int open_table(struct parser *p)
{
	struct spec_table *t;

	if (p->n != 3 || !is_word(p, 2, "{"))
		return refuse(p, "expected: table NAME {");
	t = grow(p->spec->tables, p->spec->n_tables);
	if (!t)
		return no_memory(p);
	t->line = p->line;
	t->name = keep(p, p->word[1]);
	p->block = BLOCK_TABLE;
	return t->name ? 0 : no_memory(p);
}

static int open_apply(struct parser *p)
{
	if (p->n != 2 || !is_word(p, 1, "{"))
		return refuse(p, "expected: apply {");
	if (p->spec->apply.n)
		return refuse(p, "there is an apply block already");
	p->block = BLOCK_APPLY;
	return 0;
}

static int add_header(struct parser *p)
{
	struct spec_instance *h;

	if (p->n != 4 || !is_word(p, 2, "instanceof"))
		return refuse(p, "expected: header NAME instanceof STRUCT");
	h = grow(p->spec->headers, p->spec->n_headers);
	if (!h)
		return no_memory(p);
	h->line = p->line;
	h->name = keep(p, p->word[1]);
	h->type = keep(p, p->word[3]);
	return h->name && h->type ? 0 : no_memory(p);
}

static int add_extern(struct parser *p)
{
	bool pragma = p->n == 6 && is_word(p, 4, "pragma");
	struct spec_instance *e;

	if (!is_word(p, 2, "instanceof") || !(p->n == 4 || pragma))
		return refuse(p, "expected: extobj NAME instanceof TYPE [pragma TEXT]");
	e = grow(p->spec->externs, p->spec->n_externs);
	if (!e)
		return no_memory(p);
	e->line = p->line;
	e->name = keep(p, p->word[1]);
	e->type = keep(p, p->word[3]);
	if (pragma)
		e->pragma = keep(p, p->word[5]);
	return e->name && e->type && (!pragma || e->pragma) ? 0 : no_memory(p);
}

static int set_metadata(struct parser *p)
{
	if (p->n != 3 || !is_word(p, 1, "instanceof"))
		return refuse(p, "expected: metadata instanceof STRUCT");
	if (p->spec->metadata)
		return refuse(p, "there is metadata already");
	p->spec->metadata = keep(p, p->word[2]);
	return p->spec->metadata ? 0 : no_memory(p);
}

static int add_array(struct parser *p)
{
	bool meter = is_word(p, 0, "metarray");
	struct spec_array *a;
	uint64_t size = 0, initial = 0;
	int code;

	if (!is_word(p, 2, "size") || p->n != (meter ? 4u : 6u) ||
	    (!meter && !is_word(p, 4, "initval")))
		return refuse(p, "expected: %s", meter ? "metarray NAME size N" :
			      "regarray NAME size N initval V");
	code = number(p, p->word[3], ARRAY_SIZE_MAX, &size);
	if (!code && !meter)
		code = number(p, p->word[5], UINT64_MAX, &initial);
	if (code)
		return code;
	if (meter)
		a = grow(p->spec->meters, p->spec->n_meters);
	else
		a = grow(p->spec->registers, p->spec->n_registers);
	if (!a)
		return no_memory(p);
	a->line = p->line;
	a->size = (uint32_t)size;
	a->initial = initial;
	a->name = keep(p, p->word[1]);
	return a->name ? 0 : no_memory(p);
}

static int unsupported(struct parser *p)
{
	return refuse(p, "'%s' is not supported by this switch: use plain tables",
		      p->word[0]);
}

static const struct {
	const char *word;
	int (*take)(struct parser *p);
} statements[] = {
	{ "struct", open_struct },
	{ "header", add_header },
	{ "metadata", set_metadata },
	{ "extobj", add_extern },
	{ "regarray", add_array },
	{ "metarray", add_array },
	{ "action", open_action },
	{ "table", open_table },
	{ "apply", open_apply },
	{ "selector", unsupported },
	{ "learner", unsupported },
	{ "rss", unsupported },
};

/* --- Lines --- */

static int close_block(struct parser *p)
{
	struct spec *s = p->spec;

	switch (p->block) {
	case BLOCK_STRUCT:
		/* PNA programs have empty structs, which DPDK would refuse. */
		if (!s->structs[s->n_structs - 1].n_fields)
			s->n_structs--;
		break;
	case BLOCK_TABLE_KEY:
	case BLOCK_TABLE_ACTIONS:
		p->block = BLOCK_TABLE;
		return 0;
	case BLOCK_TABLE:
		if (!s->tables[s->n_tables - 1].default_action)
			return refuse(p, "table %s has no default_action",
				      s->tables[s->n_tables - 1].name);
		break;
	default:
		break;
	}
	p->block = BLOCK_NONE;
	return 0;
}

static int take_line(struct parser *p)
{
	unsigned int i;

	if (p->block != BLOCK_NONE && closes(p))
		return close_block(p);
	switch (p->block) {
	case BLOCK_STRUCT:
		return struct_field(p);
	case BLOCK_ACTION:
		return code_line(p, &p->spec->actions[p->spec->n_actions - 1].code);
	case BLOCK_APPLY:
		return code_line(p, &p->spec->apply);
	case BLOCK_TABLE:
	case BLOCK_TABLE_KEY:
	case BLOCK_TABLE_ACTIONS:
		return table_line(p);
	case BLOCK_NONE:
		break;
	}
	for (i = 0; i < RTE_DIM(statements); i++)
		if (is_word(p, 0, statements[i].word))
			return statements[i].take(p);
	return refuse(p, "'%s' is not understood", p->word[0]);
}

static bool is_comment(const char *word)
{
	return word[0] == '#' || word[0] == ';' ||
	       (word[0] == '/' && word[1] == '/');
}

/* The hash in a comment that "make p4" writes; the last one if there are several. */
static int take_comment(struct parser *p, const char *line)
{
	char hash[65];

	if (sscanf(line, "# interface sha256 %64[0-9a-f]", hash) != 1)
		return 0;
	p->spec->interface = keep(p, hash);
	return p->spec->interface ? 0 : no_memory(p);
}

static int split(struct parser *p, char *line)
{
	char *word, *rest = line;

	p->n = 0;
	while ((word = strtok_r(rest, " \t\r\v\f\n", &rest))) {
		if (is_comment(word))
			break;
		if (p->n == WORDS_MAX)
			return refuse(p, "more than %d words in a line", WORDS_MAX);
		if (strlen(word) >= RTE_SWX_NAME_SIZE)
			return refuse(p, "'%.20s...' is too long: DPDK's limit is %d letters, use shorter names in the program",
				      word, RTE_SWX_NAME_SIZE - 1);
		p->word[p->n++] = word;
	}
	return 0;
}

/* Gives the metadata the field that instruction_fit() uses. */
static int add_constant(struct parser *p)
{
	struct spec *s = p->spec;
	struct rte_swx_field_params *field;
	uint32_t i;

	for (i = 0; i < s->n_structs; i++)
		if (!strcmp(s->structs[i].name, s->metadata))
			break;
	if (i == s->n_structs)
		return refuse(p, "there is no struct '%s', which the metadata is",
			      s->metadata);
	field = grow(s->structs[i].fields, s->structs[i].n_fields);
	if (!field)
		return no_memory(p);
	field->n_bits = 64;
	field->name = keep(p, INSTRUCTION_FIELD);
	return field->name ? 0 : no_memory(p);
}

static int parse_lines(struct parser *p, const char *text)
{
	char line[LINE_LEN_MAX];
	int code;

	while (*text) {
		size_t len = strcspn(text, "\n");

		p->line++;
		if (len >= sizeof(line))
			return refuse(p, "the line is too long");
		memcpy(line, text, len);
		line[len] = 0;
		text += len + (text[len] == '\n');

		code = take_comment(p, line);
		if (!code)
			code = split(p, line);
		if (!code && p->n)
			code = take_line(p);
		if (code)
			return code;
	}
	if (p->block != BLOCK_NONE)
		return refuse(p, "the file ends within a block (%s)",
			      block_names[p->block]);
	if (!p->spec->apply.n || !p->spec->metadata)
		return refuse(p, "there is no %s: is this a .spec made by p4c-dpdk?",
			      p->spec->metadata ? "apply block" : "metadata");
	return p->uses_constant ? add_constant(p) : 0;
}

/* FNV-1a: tells one program from another. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	while (*text)
		hash = (hash ^ (uint8_t)*text++) * 0x100000001b3ull;
	return hash;
}

struct spec *spec_parse(const char *text, const char *from, char *err)
{
	struct parser p = {
		.spec = calloc(1, sizeof(*p.spec)),
		.from = from,
		.err = err,
	};

	if (!p.spec) {
		no_memory(&p);
		return NULL;
	}
	if (parse_lines(&p, text)) {
		spec_free(p.spec);
		return NULL;
	}
	p.spec->hash = hash_of(text);
	return p.spec;
}

struct spec *spec_load(const char *path, char *err)
{
	FILE *f = fopen(path, "re");
	struct spec *spec = NULL;
	char *text;
	size_t len;

	if (!f) {
		fail(err, -errno, "cannot read the program %s: %s", path,
		     strerror(errno));
		return NULL;
	}
	text = malloc(FILE_LEN_MAX + 1);
	if (text) {
		len = fread(text, 1, FILE_LEN_MAX, f);
		text[len] = 0;
		if (ferror(f))
			fail(err, -EIO, "cannot read the program %s", path);
		else
			spec = spec_parse(text, path, err);
	} else {
		fail(err, -ENOMEM, "%s: out of memory", path);
	}
	free(text);
	fclose(f);
	return spec;
}

void spec_free(struct spec *spec)
{
	uint32_t i;

	if (!spec)
		return;
	for (i = 0; i < spec->n_structs; i++)
		free(spec->structs[i].fields);
	for (i = 0; i < spec->n_actions; i++)
		free(spec->actions[i].code.text);
	for (i = 0; i < spec->n_tables; i++) {
		free(spec->tables[i].key);
		free(spec->tables[i].actions);
		free(spec->tables[i].for_entries);
		free(spec->tables[i].for_default);
	}
	for (i = 0; i < spec->n_strings; i++)
		free(spec->strings[i]);
	free(spec->structs);
	free(spec->headers);
	free(spec->externs);
	free(spec->registers);
	free(spec->meters);
	free(spec->actions);
	free(spec->tables);
	free(spec->apply.text);
	free(spec->strings);
	free(spec);
}
