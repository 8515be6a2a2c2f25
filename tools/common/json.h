/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON: a writer, which takes values one after the other and keeps commas and depth, and
 * something to find a value in what such a writer wrote.
 *
 * Whether what is written arrives is known by @out, as ever.  Mistakes of the program (too
 * deep, closed too often) end it.
 */
#ifndef WEFT_TOOLS_COMMON_JSON_H
#define WEFT_TOOLS_COMMON_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX	16

/**
 * struct json - a document being written
 * @out: where to
 * @pretty: with newlines and indentation
 * @depth: objects and arrays open now
 * @closer: what closes each of them
 * @filled: whether each of them has a value already
 */
struct json {
	FILE *out;
	bool pretty;
	unsigned int depth;
	char closer[JSON_DEPTH_MAX];
	bool filled[JSON_DEPTH_MAX];
};

/* A document that is one object. */
void json_begin(struct json *j, FILE *out, bool pretty);

/* One that is whatever comes next. */
void json_start(struct json *j, FILE *out, bool pretty);

/* Closes what is open, and the line. */
void json_end(struct json *j);

/*
 * Values.  @key is the name of a member of an object, NULL in an array; it is trusted,
 * strings are not: what is no UTF-8, or a control character, is written as a number.
 */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_close(struct json *j);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
void json_string(struct json *j, const char *key, const char *value);

/* null if it is "", unless it is @there. */
void json_text(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, bool there, uint64_t value);

/* With three digits after the point; finite. */
void json_fixed(struct json *j, const char *key, double value);

/* @over / @under with three digits after the point; null without an under. */
void json_ratio(struct json *j, const char *key, uint64_t over, uint64_t under);

/* With six digits in all; null if it is not finite. */
void json_real(struct json *j, const char *key, double value);

/*
 * Where the value stands of the first member @key that @text has, however deep; NULL: there
 * is none.  A string that has the same in it is taken for one: for what we write ourselves.
 */
const char *json_find(const char *text, const char *key);

/* The same of a number; false: there is none, or it is no number. */
bool json_find_real(const char *text, const char *key, double *value);

#endif /* WEFT_TOOLS_COMMON_JSON_H */
