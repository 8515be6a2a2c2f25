/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How results are printed: what the user wants, and lists.  A list is described once, by its
 * columns: which attribute of netlink has the value, how JSON calls it, where text shows it.
 */
#ifndef WEFTCTL_OUTPUT_H
#define WEFTCTL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/common/json.h"

/**
 * struct output - as the user wants it
 * @json: JSON instead of text (-j)
 * @pretty: JSON with newlines and indentation (-p)
 */
struct output {
	bool json;
	bool pretty;
};

extern struct output output;

/* Begins a document on stdout. */
void output_json(struct json *j);

/**
 * enum column_kind - what a row has there
 * @COLUMN_U32: a number, or a word if the column has @word
 * @COLUMN_U64: a number
 * @COLUMN_FIXED: a double
 * @COLUMN_FLAG: a bool
 * @COLUMN_STRING: an array of characters
 * @COLUMN_TEXT: a pointer to them
 * @COLUMN_ADDRESS: struct in_addr
 * @COLUMN_SET: uint32_t, of whose bits the lowest is 1
 * @COLUMN_FLAGS: nothing; text has the names of the flags that are true
 */
enum column_kind {
	COLUMN_U32,
	COLUMN_U64,
	COLUMN_FIXED,
	COLUMN_FLAG,
	COLUMN_STRING,
	COLUMN_TEXT,
	COLUMN_ADDRESS,
	COLUMN_SET,
	COLUMN_FLAGS,
};

#define COLUMN_CELL_MAX	1200	/* of text */

/**
 * struct column - one of a list; the last one has kind COLUMN_U32 and no size
 * @kind: what it is
 * @offset: where a row has it
 * @size: how many bytes
 * @attr: attribute of netlink, 0: the value comes from elsewhere
 * @key: member in JSON, NULL: none
 * @optional: JSON has null for 0 and ""
 * @json: writes the member instead
 * @title: in text, NULL: it is not there; with a blank in front each cell has one
 * @width: of text, negative: to the left; 0: the last one, which may be empty
 * @word: a number as a word
 * @text: makes the text of a cell, in @buf if need be
 */
struct column {
	enum column_kind kind;
	size_t offset;
	size_t size;
	int attr;
	const char *key;
	bool optional;
	void (*json)(struct json *j, const void *row);
	const char *title;
	int width;
	const char *(*word)(uint32_t value);
	const char *(*text)(const void *row, char buf[COLUMN_CELL_MAX]);
};

/* Of a member of a structure; further fields of the column may follow. */
#define COLUMN(type, member, of_kind, ...)					\
	{ .kind = COLUMN_##of_kind, .offset = offsetof(type, member),		\
	  .size = sizeof(((type *)0)->member), __VA_ARGS__ }
#define COLUMN_END	{ .size = 0 }

/* Takes a row of a list that comes.  Return: 0, or a negative errno to end. */
typedef int row_fn(void *row, void *arg);

/* One line, and one object's members. */
void columns_head(const struct column *columns, FILE *out);
void columns_text(const struct column *columns, const void *row, FILE *out);
void columns_json(const struct column *columns, const void *row, struct json *j);

/**
 * struct table - a list on stdout
 * @columns: of it
 * @json: the document
 * @begun: there is a heading, or none is needed
 */
struct table {
	const struct column *columns;
	struct json json;
	bool begun;
};

/* In JSON the list is member @key of the document.  Text has a heading before the first row. */
void table_begin(struct table *t, const char *key, const struct column *columns);

/* The heading, also of a list without rows. */
void table_head(struct table *t);
void table_row(struct table *t, const void *row);
void table_end(struct table *t);

#endif /* WEFTCTL_OUTPUT_H */
