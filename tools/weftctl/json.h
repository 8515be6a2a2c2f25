/* SPDX-License-Identifier: GPL-2.0-only */
/* A writer of JSON: values one after the other, commas and depth kept. */
#ifndef WEFTCTL_JSON_H
#define WEFTCTL_JSON_H

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

/* The document is one object. */
void json_begin(struct json *j, FILE *out, bool pretty);
void json_end(struct json *j);

/*
 * Values.  @key is the name of a member of an object, NULL in an array; it is
 * trusted, strings are not.
 */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_close(struct json *j);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
void json_string(struct json *j, const char *key, const char *value);

/* With three digits after the point; finite. */
void json_fixed(struct json *j, const char *key, double value);

/* @over / @under with three digits after the point; null without an under. */
void json_ratio(struct json *j, const char *key, uint64_t over, uint64_t under);

#endif /* WEFTCTL_JSON_H */
