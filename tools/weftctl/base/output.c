// SPDX-License-Identifier: GPL-2.0-only
/* How results are printed, see output.h. */
#include "base/output.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>

#include "base/text.h"

struct output output;

void output_json(struct json *j)
{
	json_begin(j, stdout, output.pretty);
}

/* --- Columns ---------------------------------------------------------------- */

static bool is_last(const struct column *c)
{
	return !c->size && c->kind != COLUMN_FLAGS;
}

static const void *place(const struct column *c, const void *row)
{
	return (const char *)row + c->offset;
}

static uint64_t number(const struct column *c, const void *row)
{
	if (c->kind == COLUMN_U64)
		return *(const uint64_t *)place(c, row);
	if (c->kind == COLUMN_FLAG)
		return *(const bool *)place(c, row);
	return *(const uint32_t *)place(c, row);
}

static const char *string(const struct column *c, const void *row)
{
	if (c->kind == COLUMN_STRING)
		return place(c, row);
	if (c->kind == COLUMN_TEXT)
		return *(const char * const *)place(c, row);
	if (c->kind == COLUMN_ADDRESS)
		return text_address(*(const struct in_addr *)place(c, row));
	return c->word ? c->word((uint32_t)number(c, row)) : NULL;
}

/* "a,b", of the flags before column @end. */
static const char *flags(const struct column *columns, const struct column *end, const void *row)
{
	const struct column *c;
	const char *text = "";

	for (c = columns; c < end; c++) {
		if (c->kind == COLUMN_FLAG && number(c, row))
			text = text_format("%s%s%s", text, *text ? "," : "", c->key);
	}
	return text;
}

static const char *cell(const struct column *columns, const struct column *c, const void *row)
{
	const char *text = c->text ? c->text(row) : string(c, row);

	if (text)
		return text;
	if (c->kind == COLUMN_FLAGS)
		return flags(columns, c, row);
	return c->kind == COLUMN_FIXED ? text_format("%.1f", *(const double *)place(c, row)) :
					 text_format("%" PRIu64, number(c, row));
}

void columns_head(const struct column *columns, FILE *out)
{
	const struct column *c;
	const char *before = "";

	for (c = columns; !is_last(c); c++) {
		if (!c->title)
			continue;
		fprintf(out, "%s%*s", before, c->width, c->title);
		before = " ";
	}
	fputc('\n', out);
}

void columns_text(const struct column *columns, const void *row, FILE *out)
{
	const char *text, *before = "";
	const struct column *c;

	for (c = columns; !is_last(c); c++) {
		if (!c->title)
			continue;
		text = cell(columns, c, row);
		if (c->width || *text)
			fprintf(out, "%s%s%*s", before, *c->title == ' ' ? " " : "", c->width, text);
		before = " ";
	}
	fputc('\n', out);
}

/* The members of a set, from 1. */
static void json_set(struct json *j, const char *key, uint32_t set)
{
	uint32_t n;

	json_array(j, key);
	for (n = 1; set; n++, set >>= 1) {
		if (set & 1)
			json_u64(j, NULL, n);
	}
	json_close(j);
}

void columns_json(const struct column *columns, const void *row, struct json *j)
{
	const struct column *c;
	const char *text;

	for (c = columns; !is_last(c); c++) {
		if (c->json)
			c->json(j, row);
		if (!c->key)
			continue;
		text = string(c, row);
		if (c->optional && (text ? !*text : !number(c, row)))
			json_null(j, c->key);
		else if (text)
			json_string(j, c->key, text);
		else if (c->kind == COLUMN_FIXED)
			json_fixed(j, c->key, *(const double *)place(c, row));
		else if (c->kind == COLUMN_FLAG)
			json_bool(j, c->key, number(c, row));
		else if (c->kind == COLUMN_SET)
			json_set(j, c->key, (uint32_t)number(c, row));
		else
			json_u64(j, c->key, number(c, row));
	}
}

/* --- Lists on stdout -------------------------------------------------------- */

void table_begin(struct table *t, const char *key, const struct column *columns)
{
	*t = (struct table){ .columns = columns, .begun = output.json };
	if (!output.json)
		return;
	output_json(&t->json);
	json_array(&t->json, key);
}

void table_head(struct table *t)
{
	if (!t->begun)
		columns_head(t->columns, stdout);
	t->begun = true;
}

void table_row(struct table *t, const void *row)
{
	table_head(t);
	if (!output.json) {
		columns_text(t->columns, row, stdout);
		return;
	}
	json_object(&t->json, NULL);
	columns_json(t->columns, row, &t->json);
	json_close(&t->json);
}

void table_end(struct table *t)
{
	if (output.json)
		json_end(&t->json);
}
