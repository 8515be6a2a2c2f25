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

/* As the user wants it. */
struct output {
	bool json;	/* JSON instead of text (-j) */
	bool pretty;	/* JSON with newlines and indentation (-p) */
};

extern struct output output;

/* Begins a document on stdout. */
void output_json(struct json *j);

/* How a row stores the value of a column. */
enum column_kind {
	COLUMN_U32,	/* a number, or a word if the column has @word */
	COLUMN_U64,	/* a number */
	COLUMN_FIXED,	/* a double */
	COLUMN_FLAG,	/* a bool */
	COLUMN_STRING,	/* an array of characters */
	COLUMN_TEXT,	/* a pointer to them */
	COLUMN_ADDRESS,	/* struct in_addr */
	COLUMN_SET,	/* uint32_t, of whose bits the lowest is 1 */
	COLUMN_FLAGS,	/* nothing; text has the names of the flags that are true */
};

/* One of a list; the last one has kind COLUMN_U32 and no size. */
struct column {
	enum column_kind kind;	/* what it is */
	size_t offset;	/* where a row has it */
	size_t size;	/* how many bytes */
	int attr;	/* attribute of netlink, 0: the value comes from elsewhere */
	const char *key;	/* member in JSON, NULL: none */
	bool optional;	/* JSON has null for 0 and "" */
	void (*json)(struct json *j, const void *row);	/* writes the member instead */
	/* in text, NULL: it is not there; with a blank in front each cell has one */
	const char *title;
	int width;	/* of text, negative: to the left; 0: the last one, which may be empty */
	const char *(*word)(uint32_t value);	/* a number as a word */
	const char *(*text)(const void *row);	/* makes the text of a cell */
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

/* A list on stdout. */
struct table {
	const struct column *columns;
	struct json json;	/* the document */
	bool begun;	/* there is a heading, or none is needed */
};

/* In JSON the list is member @key of the document.  Text has a heading before the first row. */
void table_begin(struct table *t, const char *key, const struct column *columns);

/* The heading, also of a list without rows. */
void table_head(struct table *t);
void table_row(struct table *t, const void *row);
void table_end(struct table *t);

#endif /* WEFTCTL_OUTPUT_H */
