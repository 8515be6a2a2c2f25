// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a .spec to C: a function that takes one packet through the program.
 *
 * In it, field N of the metadata is the variable mN, header N begins at hN, and what
 * has a name in the .spec is found by its number there (struct program in program.inc).
 */
#include "translate.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "tools/common/number.h"

#define HEADERS_MAX	64
#define EXPRESSION_MAX	128

enum kind { KIND_NUMBER, KIND_METADATA, KIND_HEADER, KIND_ARGUMENT };

/**
 * struct operand - a word of an instruction
 * @kind: what it is
 * @number: its value, of a KIND_NUMBER
 * @index: number of the field, of KIND_METADATA; of the header, of KIND_HEADER
 * @offset: where it is in its struct, in bytes
 * @n_bits: its size
 */
struct operand {
	enum kind kind;
	uint64_t number;
	uint32_t index;
	uint32_t offset;
	uint32_t n_bits;
};

/**
 * struct writer - where we are
 * @spec: the program
 * @out: the C code
 * @metadata: its struct
 * @arguments: struct of the arguments of the action that is being written, or NULL
 * @n_lookups: table look-ups that were written
 * @inside: labels are of the action after that look-up; 0: of the program itself
 * @in_packet: headers that are somewhere in a packet, sometimes; bit per header
 * @word: words of the instruction
 * @n: how many
 * @err: what went wrong
 */
struct writer {
	const struct spec *spec;
	FILE *out;
	const struct spec_struct *metadata;
	const struct spec_struct *arguments;
	unsigned int n_lookups;
	unsigned int inside;
	uint64_t in_packet;
	char *word[RTE_SWX_INSTRUCTION_TOKENS_MAX];
	unsigned int n;
	char *err;
};

static int unknown(struct writer *w, const char *what)
{
	return fail(w->err, -ENOTSUP, "%s '%s'", what, w->word[0]);
}

/* --- Names --- */

static const struct spec_struct *find_struct(const struct spec *spec, const char *name)
{
	uint32_t i;

	for (i = 0; name && i < spec->n_structs; i++)
		if (!strcmp(spec->structs[i].name, name))
			return &spec->structs[i];
	return NULL;
}

static uint32_t struct_bytes(const struct spec_struct *st)
{
	uint32_t i, n = 0;

	for (i = 0; i < st->n_fields; i++)
		n += st->fields[i].n_bits / 8;
	return n;
}

static int find_field(const struct spec_struct *st, const char *name, struct operand *o)
{
	uint32_t i;

	o->offset = 0;
	for (i = 0; st && i < st->n_fields; i++) {
		o->n_bits = st->fields[i].n_bits;
		if (!strcmp(st->fields[i].name, name)) {
			o->index = i;
			return o->n_bits <= 64 ? 0 : -ENOTSUP;
		}
		o->offset += o->n_bits / 8;
	}
	return -ENOENT;
}

/* "h.NAME", of @len letters; its number, or -1. */
static int find_header(const struct writer *w, const char *text, size_t len)
{
	uint32_t i;

	for (i = 0; len > 2 && !strncmp(text, "h.", 2) && i < w->spec->n_headers; i++)
		if (strlen(w->spec->headers[i].name) == len - 2 &&
		    !strncmp(w->spec->headers[i].name, text + 2, len - 2))
			return (int)i;
	return -1;
}

static const struct spec_struct *header_struct(const struct writer *w, int header)
{
	return find_struct(w->spec, w->spec->headers[header].type);
}

static int find_array(const struct writer *w, const char *name)
{
	uint32_t i;

	for (i = 0; i < w->spec->n_registers; i++)
		if (!strcmp(w->spec->registers[i].name, name))
			return (int)i;
	return -1;
}

static int find_action(const struct writer *w, const char *name)
{
	uint32_t i;

	for (i = 0; i < w->spec->n_actions; i++)
		if (!strcmp(w->spec->actions[i].name, name))
			return (int)i;
	return -1;
}

/* A field, or a number. */
static int read_operand(struct writer *w, const char *text, struct operand *o)
{
	const char *dot = strrchr(text, '.');
	int header, code = -ENOENT;

	memset(o, 0, sizeof(*o));
	if (isdigit((unsigned char)text[0])) {
		o->kind = KIND_NUMBER;
		code = number_u64(text, 0, UINT64_MAX, &o->number);
	} else if (!strncmp(text, "m.", 2)) {
		o->kind = KIND_METADATA;
		code = find_field(w->metadata, text + 2, o);
	} else if (!strncmp(text, "t.", 2)) {
		o->kind = KIND_ARGUMENT;
		code = find_field(w->arguments, text + 2, o);
	} else if (dot) {
		o->kind = KIND_HEADER;
		header = find_header(w, text, (size_t)(dot - text));
		if (header >= 0) {
			code = find_field(header_struct(w, header), dot + 1, o);
			o->index = (uint32_t)header;
		}
	}
	return code ? unknown(w, "an operand that is no field or number in") : 0;
}

static uint64_t mask_of(const struct operand *o)
{
	return UINT64_MAX >> (64 - o->n_bits);
}

/* --- Expressions --- */

/* The value of an operand, as a uint64_t. */
static const char *value(const struct operand *o, char text[EXPRESSION_MAX])
{
	switch (o->kind) {
	case KIND_NUMBER:
		snprintf(text, EXPRESSION_MAX, "UINT64_C(0x%" PRIx64 ")", o->number);
		break;
	case KIND_METADATA:
		snprintf(text, EXPRESSION_MAX, "(uint64_t)m%u", o->index);
		break;
	case KIND_HEADER:
		snprintf(text, EXPRESSION_MAX, "get(h%u + %u, %u)", o->index, o->offset,
			 o->n_bits);
		break;
	case KIND_ARGUMENT:
		snprintf(text, EXPRESSION_MAX, "raw(arguments + %u, %u)", o->offset,
			 o->n_bits);
		break;
	}
	return text;
}

static void write_set(struct writer *w, const struct operand *o, const char *expression)
{
	if (o->kind == KIND_METADATA)
		fprintf(w->out, "\tm%u = (%s) & UINT64_C(0x%" PRIx64 ");\n", o->index,
			expression, mask_of(o));
	else
		fprintf(w->out, "\tput(h%u + %u, %u, %s);\n", o->index, o->offset, o->n_bits,
			expression);
}

static const char *label(const struct writer *w, const char *name, char text[EXPRESSION_MAX])
{
	snprintf(text, EXPRESSION_MAX, "at%u_%s", w->inside, name);
	return text;
}

/* --- Instructions --- */

static int write_rx(struct writer *w)
{
	struct operand o;

	if (read_operand(w, w->word[1], &o) || o.kind != KIND_METADATA)
		return unknown(w, "an operand that is not metadata in");
	write_set(w, &o, "port");
	return 0;
}

static int write_tx(struct writer *w)
{
	char text[EXPRESSION_MAX];
	struct operand o;
	int code = read_operand(w, w->word[1], &o);

	if (!code)
		fprintf(w->out, "\tsend(c, k, %s);\n\treturn;\n", value(&o, text));
	return code;
}

static int write_drop(struct writer *w)
{
	fprintf(w->out, "\tsend(c, k, UINT64_MAX);\n\treturn;\n");
	return 0;
}

static int write_mirror(struct writer *w)
{
	char a[EXPRESSION_MAX], b[EXPRESSION_MAX];
	struct operand slot, session;
	int code = read_operand(w, w->word[1], &slot);

	if (!code)
		code = read_operand(w, w->word[2], &session);
	if (!code)
		fprintf(w->out, "\tcopy(c, k, %s, %s);\n", value(&slot, a),
			value(&session, b));
	return code;
}

/* What is done with a whole header. */
static int write_header(struct writer *w)
{
	int header = find_header(w, w->word[1], strlen(w->word[1]));
	const char *what = w->word[0];
	uint32_t n_bytes;

	if (header < 0)
		return unknown(w, "an operand that is no header in");
	n_bytes = struct_bytes(header_struct(w, header));
	if (!strcmp(what, "extract"))
		fprintf(w->out, "\th%d = extract(k, %d, %u);\n", header, header, n_bytes);
	else if (!strcmp(what, "lookahead"))
		fprintf(w->out, "\th%d = extract(k, %d, 0);\n", header, header);
	else if (!strcmp(what, "emit"))
		fprintf(w->out, "\temit(c, k, %d, h%d, %u);\n", header, header, n_bytes);
	else if (!strcmp(what, "validate"))
		fprintf(w->out, "\th%d = validate(c, k, %d, h%d);\n", header, header, header);
	else
		fprintf(w->out, "\tk->valid &= ~(UINT64_C(1) << %d);\n", header);
	return 0;
}

static int write_mov(struct writer *w)
{
	char text[EXPRESSION_MAX];
	struct operand to, from;
	int code = read_operand(w, w->word[1], &to);

	if (!code)
		code = read_operand(w, w->word[2], &from);
	/* DPDK may turn around the arguments of an action that go to a header. */
	if (!code && (to.kind == KIND_NUMBER || to.kind == KIND_ARGUMENT ||
		      (to.kind == KIND_HEADER && from.kind == KIND_ARGUMENT)))
		code = unknown(w, "unusual operands of");
	if (!code)
		write_set(w, &to, value(&from, text));
	return code;
}

static int write_operation(struct writer *w, const char *operator)
{
	char a[EXPRESSION_MAX], b[EXPRESSION_MAX], text[3 * EXPRESSION_MAX];
	bool shift = operator[0] == '<' || operator[0] == '>';
	struct operand to, from;
	int code = read_operand(w, w->word[1], &to);

	if (!code)
		code = read_operand(w, w->word[2], &from);
	if (!code && (to.kind == KIND_NUMBER || to.kind == KIND_ARGUMENT))
		code = unknown(w, "unusual operands of");
	if (code)
		return code;
	/* DPDK shifts as the processor does. */
	snprintf(text, sizeof(text), shift ? "%s %s (%s & 63)" : "%s %s %s",
		 value(&to, a), operator, value(&from, b));
	write_set(w, &to, text);
	return 0;
}

static int write_add(struct writer *w) { return write_operation(w, "+"); }
static int write_sub(struct writer *w) { return write_operation(w, "-"); }
static int write_and(struct writer *w) { return write_operation(w, "&"); }
static int write_or(struct writer *w) { return write_operation(w, "|"); }
static int write_xor(struct writer *w) { return write_operation(w, "^"); }
static int write_shl(struct writer *w) { return write_operation(w, "<<"); }
static int write_shr(struct writer *w) { return write_operation(w, ">>"); }

/* Sums as they stand in a packet; what is added may be a whole header. */
static int write_checksum(struct writer *w)
{
	int header = find_header(w, w->word[2], strlen(w->word[2]));
	bool add = !strcmp(w->word[0], "ckadd");
	struct operand sum, from = { 0 };
	int code = read_operand(w, w->word[1], &sum);

	if (!code && (sum.kind != KIND_HEADER || sum.n_bits != 16))
		code = unknown(w, "unusual operands of");
	if (!code && header < 0)
		code = read_operand(w, w->word[2], &from);
	if (!code && (header < 0 ? from.kind != KIND_HEADER : !add))
		code = unknown(w, "unusual operands of");
	if (code)
		return code;
	fprintf(w->out, "\tput_raw(h%u + %u, 16, ", sum.index, sum.offset);
	if (header >= 0)
		fprintf(w->out, "sum_add_bytes(raw(h%u + %u, 16), h%d, %u)", sum.index,
			sum.offset, header, struct_bytes(header_struct(w, header)));
	else
		fprintf(w->out, "sum_%s(raw(h%u + %u, 16), raw(h%u + %u, %u))",
			add ? "add" : "sub", sum.index, sum.offset, from.index, from.offset,
			from.n_bits);
	fprintf(w->out, ");\n");
	return 0;
}

/* The cell that the words from @first on name. */
static int read_cell(struct writer *w, unsigned int first, char cell[2 * EXPRESSION_MAX])
{
	int array = find_array(w, w->word[first]);
	char text[EXPRESSION_MAX];
	struct operand index;
	int code = read_operand(w, w->word[first + 1], &index);

	if (!code && array < 0)
		code = unknown(w, "no register array in");
	if (!code)
		snprintf(cell, 2 * EXPRESSION_MAX, "c->cells[%d][%s & UINT64_C(0x%x)]", array,
			 value(&index, text),
			 rte_align32pow2(w->spec->registers[array].size) - 1);
	return code;
}

static int write_regrd(struct writer *w)
{
	char cell[2 * EXPRESSION_MAX];
	struct operand to;
	int code = read_operand(w, w->word[1], &to);

	if (!code)
		code = read_cell(w, 2, cell);
	if (!code && (to.kind == KIND_NUMBER || to.kind == KIND_ARGUMENT))
		code = unknown(w, "unusual operands of");
	if (!code)
		write_set(w, &to, cell);
	return code;
}

static int write_regwr(struct writer *w)
{
	char cell[2 * EXPRESSION_MAX], text[EXPRESSION_MAX];
	const char *assign = !strcmp(w->word[0], "regadd") ? "+=" : "=";
	struct operand from;
	int code = read_cell(w, 1, cell);

	if (!code)
		code = read_operand(w, w->word[3], &from);
	if (!code)
		fprintf(w->out, "\t%s %s %s;\n", cell, assign, value(&from, text));
	return code;
}

/* --- Jumps --- */

static int write_jmp(struct writer *w)
{
	char to[EXPRESSION_MAX];

	fprintf(w->out, "\tgoto %s;\n", label(w, w->word[1], to));
	return 0;
}

static int write_compare(struct writer *w, const char *operator)
{
	char a[EXPRESSION_MAX], b[EXPRESSION_MAX], to[EXPRESSION_MAX];
	bool equal = operator[1] == '=';
	struct operand left, right;
	int code = read_operand(w, w->word[2], &left);

	if (!code)
		code = read_operand(w, w->word[3], &right);
	if (!code && left.kind == KIND_NUMBER)
		code = unknown(w, "unusual operands of");
	if (code)
		return code;
	/* DPDK compares what of a number a header's field can hold. */
	if (equal && left.kind == KIND_HEADER && right.kind == KIND_NUMBER)
		right.number &= mask_of(&left);
	fprintf(w->out, "\tif (%s %s %s)\n\t\tgoto %s;\n", value(&left, a), operator,
		value(&right, b), label(w, w->word[1], to));
	return 0;
}

static int write_jmpeq(struct writer *w) { return write_compare(w, "=="); }
static int write_jmpneq(struct writer *w) { return write_compare(w, "!="); }
static int write_jmplt(struct writer *w) { return write_compare(w, "<"); }
static int write_jmpgt(struct writer *w) { return write_compare(w, ">"); }

/* By the headers that are there. */
static int write_jmp_valid(struct writer *w)
{
	int header = find_header(w, w->word[2], strlen(w->word[2]));
	const char *not = !strcmp(w->word[0], "jmpnv") ? "!" : "";
	char to[EXPRESSION_MAX];

	if (header < 0)
		return unknown(w, "an operand that is no header in");
	fprintf(w->out, "\tif (%s(k->valid & UINT64_C(1) << %d))\n\t\tgoto %s;\n", not,
		header, label(w, w->word[1], to));
	return 0;
}

/* By what a table said. */
static int write_jmp_hit(struct writer *w)
{
	const char *not = !strcmp(w->word[0], "jmpnh") ? "!" : "";
	char to[EXPRESSION_MAX];

	fprintf(w->out, "\tif (%shit)\n\t\tgoto %s;\n", not, label(w, w->word[1], to));
	return 0;
}

static int write_jmp_action(struct writer *w)
{
	const char *operator = !strcmp(w->word[0], "jmpna") ? "!=" : "==";
	int action = find_action(w, w->word[2]);
	char to[EXPRESSION_MAX];

	if (action < 0)
		return unknown(w, "no action in");
	fprintf(w->out, "\tif (action %s c->actions[%d])\n\t\tgoto %s;\n", operator, action,
		label(w, w->word[1], to));
	return 0;
}

static int write_return(struct writer *w)
{
	char to[EXPRESSION_MAX];

	if (!w->inside)
		return unknown(w, "outside of an action:");
	fprintf(w->out, "\tgoto %s;\n", label(w, "", to));
	return 0;
}

/* --- Tables --- */

static int write_code(struct writer *w, const struct spec_code *code);

/*
 * A table reads its key out of memory, at the offset that the first of its fields has
 * in its struct.  Of metadata, one field is put there.
 */
static int write_key(struct writer *w, const struct spec_table *t)
{
	char text[EXPRESSION_MAX];
	struct operand o;
	int code;

	if (!t->n_key)
		return unknown(w, "a table without a key in");
	code = read_operand(w, t->key[0].name, &o);
	if (code)
		return code;
	if (o.kind == KIND_HEADER) {
		fprintf(w->out, "\tkey = h%u;\n", o.index);
		return 0;
	}
	if (o.kind != KIND_METADATA || t->n_key > 1)
		return unknown(w, "a key that is not one field in");
	fprintf(w->out, "\tput_raw(room + %u, %u, %s);\n\tkey = room;\n", o.offset, o.n_bits,
		value(&o, text));
	return 0;
}

static int write_table(struct writer *w)
{
	const struct spec *spec = w->spec;
	const struct spec_table *t = NULL;
	int action, code;
	uint32_t i;

	for (i = 0; i < spec->n_tables && !t; i++)
		if (!strcmp(spec->tables[i].name, w->word[1]))
			t = &spec->tables[i];
	if (!t || w->inside)
		return unknown(w, "no table in");
	code = write_key(w, t);
	if (code)
		return code;
	fprintf(w->out, "\taction = lookup(c, %d, &key, &arguments, &hit);\n",
		(int)(t - spec->tables));
	w->inside = ++w->n_lookups;
	for (i = 0; i < t->n_actions && !code; i++) {
		action = find_action(w, t->actions[i]);
		if (action < 0)
			return unknown(w, "no action in");
		/* The last of them needs no question, but its end needs a label. */
		fprintf(w->out, "\tif (action == c->actions[%d]) {\n", action);
		w->arguments = find_struct(spec, spec->actions[action].args_type);
		code = write_code(w, &spec->actions[action].code);
		w->arguments = NULL;
		fprintf(w->out, "\t}\n");
	}
	fprintf(w->out, "at%u_:\n\t;\n", w->inside);
	w->inside = 0;
	return code;
}

/* --- The program --- */

static const struct {
	const char *name;
	unsigned int n_words;
	int (*write)(struct writer *w);
} instructions[] = {
	{ "rx", 2, write_rx }, { "tx", 2, write_tx }, { "drop", 1, write_drop },
	{ "mirror", 3, write_mirror }, { "extract", 2, write_header },
	{ "lookahead", 2, write_header }, { "emit", 2, write_header },
	{ "validate", 2, write_header }, { "invalidate", 2, write_header },
	{ "mov", 3, write_mov }, { "add", 3, write_add }, { "sub", 3, write_sub },
	{ "and", 3, write_and }, { "or", 3, write_or }, { "xor", 3, write_xor },
	{ "shl", 3, write_shl }, { "shr", 3, write_shr },
	{ "ckadd", 3, write_checksum }, { "cksub", 3, write_checksum },
	{ "regrd", 4, write_regrd }, { "regwr", 4, write_regwr },
	{ "regadd", 4, write_regwr }, { "jmp", 2, write_jmp },
	{ "jmpeq", 4, write_jmpeq }, { "jmpneq", 4, write_jmpneq },
	{ "jmplt", 4, write_jmplt }, { "jmpgt", 4, write_jmpgt },
	{ "jmpv", 3, write_jmp_valid }, { "jmpnv", 3, write_jmp_valid },
	{ "jmph", 2, write_jmp_hit }, { "jmpnh", 2, write_jmp_hit },
	{ "jmpa", 3, write_jmp_action }, { "jmpna", 3, write_jmp_action },
	{ "table", 2, write_table }, { "return", 1, write_return },
};

static bool good_label(const char *name)
{
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return !*name;
}

static int write_instruction(struct writer *w, const char *instruction)
{
	char *copy = strdup(instruction), *rest = copy, text[EXPRESSION_MAX];
	unsigned int i, first;
	int code = -ENOTSUP;

	if (!copy)
		return fail(w->err, -ENOMEM, "out of memory");
	w->n = 0;
	while (w->n < RTE_DIM(w->word) && (w->word[w->n] = strsep(&rest, " ")))
		w->n++;
	first = w->n > 2 && !strcmp(w->word[1], ":") ? 2 : 0;
	if (first && good_label(w->word[0]))
		fprintf(w->out, "%s:\n", label(w, w->word[0], text));
	memmove(w->word, w->word + first, (w->n - first) * sizeof(w->word[0]));
	w->n -= first;
	for (i = 0; i < RTE_DIM(instructions); i++)
		if (!strcmp(instructions[i].name, w->word[0]) &&
		    instructions[i].n_words == w->n)
			break;
	if (i == RTE_DIM(instructions))
		unknown(w, "the instruction");
	else if (!strncmp(w->word[0], "jmp", 3) && !good_label(w->word[1]))
		unknown(w, "an unusual label in");
	else
		code = instructions[i].write(w);
	free(copy);
	return code;
}

static int write_code(struct writer *w, const struct spec_code *code)
{
	uint32_t i;
	int status = 0;

	for (i = 0; i < code->n && !status; i++)
		status = write_instruction(w, code->text[i]);
	return status;
}

/* Is there an instruction, or a key, that needs a header to be somewhere in memory? */
static uint64_t headers_in_packets(const struct writer *w)
{
	static const char *const needing[] = {
		"extract ", "lookahead ", "emit ", "validate ",
	};
	uint64_t found = 0;
	const char *dot;
	uint32_t i, j;
	int header;

	for (i = 0; i < w->spec->apply.n; i++)
		for (j = 0; j < RTE_DIM(needing); j++) {
			const char *at = strstr(w->spec->apply.text[i], needing[j]);

			if (!at)
				continue;
			at += strlen(needing[j]);
			header = find_header(w, at, strlen(at));
			if (header >= 0)
				found |= UINT64_C(1) << header;
		}
	for (i = 0; i < w->spec->n_tables; i++)
		for (j = 0; j < w->spec->tables[i].n_key; j++) {
			const char *name = w->spec->tables[i].key[j].name;

			dot = strrchr(name, '.');
			header = dot ? find_header(w, name, (size_t)(dot - name)) : -1;
			if (header >= 0)
				found |= UINT64_C(1) << header;
		}
	return found;
}

static void write_names(FILE *out, const char *what, const char *(*name)(const struct spec *spec,
									  uint32_t i),
			const struct spec *spec, uint32_t n)
{
	uint32_t i;

	fprintf(out, "static const char *const %s_names[] = {\n", what);
	for (i = 0; i < n; i++)
		fprintf(out, "\t\"%s\",\n", name(spec, i));
	fprintf(out, "\tNULL\n};\n");
}

static const char *array_name(const struct spec *spec, uint32_t i)
{
	return spec->registers[i].name;
}

static const char *table_name(const struct spec *spec, uint32_t i)
{
	return spec->tables[i].name;
}

static const char *action_name(const struct spec *spec, uint32_t i)
{
	return spec->actions[i].name;
}

static const char *header_name(const struct spec *spec, uint32_t i)
{
	return spec->headers[i].name;
}

static void write_variables(const struct writer *w)
{
	uint32_t i;

	for (i = 0; i < w->metadata->n_fields; i++) {
		uint32_t n = w->metadata->fields[i].n_bits;

		fprintf(w->out, "\tuint%u_t m%u = 0;\t/* %s */\n",
			n == 8 || n == 16 || n == 32 ? n : 64, i, w->metadata->fields[i].name);
	}
	for (i = 0; i < w->spec->n_headers; i++)
		if (w->in_packet & UINT64_C(1) << i)
			fprintf(w->out, "\tuint8_t *h%u = c->storage[%u];\n", i, i);
		else
			fprintf(w->out, "\tuint8_t h%u[%u] = { 0 };\n", i,
				struct_bytes(header_struct(w, (int)i)) + 1);
	fprintf(w->out, "\tuint8_t room[%u], *key, *arguments = NULL;\n",
		struct_bytes(w->metadata) + 8);
	fprintf(w->out, "\tuint64_t action = 0;\n\tint hit = 0;\n\n");
}

int translate(const struct spec *spec, FILE *out, char *err)
{
	struct writer w = {
		.spec = spec, .out = out, .err = err,
		.metadata = find_struct(spec, spec->metadata),
	};
	uint32_t i;

	if (!w.metadata || spec->n_externs || spec->n_meters || spec->n_headers > HEADERS_MAX)
		return fail(err, -ENOTSUP, "externs, meters or many headers");
	for (i = 0; i < spec->n_headers; i++) {
		const struct spec_struct *st = header_struct(&w, (int)i);

		if (!st || st->last_is_variable)
			return fail(err, -ENOTSUP, "a header of variable length");
	}
	for (i = 0; i < w.metadata->n_fields; i++)
		if (w.metadata->fields[i].n_bits > 64)
			return fail(err, -ENOTSUP, "metadata of more than 64 bits");
	w.in_packet = headers_in_packets(&w);
	write_names(out, "array", array_name, spec, spec->n_registers);
	fprintf(out, "static const uint32_t array_masks[] = {\n");
	for (i = 0; i < spec->n_registers; i++)
		fprintf(out, "\t0x%x,\n", rte_align32pow2(spec->registers[i].size) - 1);
	fprintf(out, "};\n");
	write_names(out, "table", table_name, spec, spec->n_tables);
	write_names(out, "action", action_name, spec, spec->n_actions);
	write_names(out, "header", header_name, spec, spec->n_headers);
	fprintf(out, "\nstatic void take_packet(const struct program *c, struct rte_swx_pkt *pkt, uint32_t port)\n{\n");
	fprintf(out, "\tstruct packet packet, *k = &packet;\n");
	write_variables(&w);
	fprintf(out, "\tbegin(k, pkt);\n");
	if (!spec->apply.n || strncmp(spec->apply.text[0], "rx ", 3))
		return fail(err, -ENOTSUP, "a program that does not begin with rx");
	if (write_code(&w, &spec->apply))
		return -ENOTSUP;
	fprintf(out, "}\n\n#define TRANSLATED\n");
	return 0;
}
