/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text that p4c-dpdk makes of a P4 program (.spec), as data.
 *
 * DPDK 22.11 cannot read it; pipeline.c makes the calls that it describes.
 * One statement a line; comments start with "//", "#" or ";".  Numbers are
 * decimal, or hexadecimal with 0x.  One comment has a meaning, see interface.h:
 * "# interface sha256 HASH".
 *
 *	struct NAME { bit<N> FIELD ... }	the last one may be varbit<N>
 *	header NAME instanceof STRUCT
 *	metadata instanceof STRUCT
 *	extobj NAME instanceof TYPE [pragma TEXT]
 *	regarray NAME size N initval V
 *	metarray NAME size N
 *	action NAME args none|instanceof STRUCT { INSTRUCTION ... }
 *	table NAME { key { FIELD exact|lpm|wildcard ... }
 *		     actions { NAME [@tableonly|@defaultonly] ... }
 *		     default_action NAME args none|(ARGUMENT VALUE ...) [const]
 *		     hash NAME, instanceof TYPE, pragma TEXT, size N }
 *	apply { INSTRUCTION ... }
 *
 * Not supported, and refused with a sentence: selector, learner, rss, and
 * instructions that DPDK 22.11 does not have (movh for fields over 64 bits).
 */
#ifndef WEFT_SWITCHD_SPEC_H
#define WEFT_SWITCHD_SPEC_H

#include <stdint.h>

#include <rte_swx_pipeline.h>

#include "fail.h"

struct spec_struct {
	const char *name;
	unsigned int line;
	struct rte_swx_field_params *fields;
	uint32_t n_fields;
	int last_is_variable;
};

/* A header or an extern object: something of a type. */
struct spec_instance {
	const char *name;
	unsigned int line;
	const char *type;
	const char *pragma;
};

/* A register array, or a meter array. */
struct spec_array {
	const char *name;
	unsigned int line;
	uint32_t size;
	uint64_t initial;
};

struct spec_code {
	const char **text;
	uint32_t n;
};

struct spec_action {
	const char *name;
	unsigned int line;
	const char *args_type;		/* NULL: none */
	struct spec_code code;
};

struct spec_table {
	const char *name;
	unsigned int line;
	struct rte_swx_match_field_params *key;
	uint32_t n_key;
	const char **actions;
	int *for_entries;
	int *for_default;
	uint32_t n_actions;
	const char *default_action;
	const char *default_args;	/* NULL: none */
	int default_is_const;
	const char *hash;
	const char *type;
	const char *pragma;
	uint32_t size;
};

struct spec {
	struct spec_struct *structs;
	uint32_t n_structs;
	struct spec_instance *headers;
	uint32_t n_headers;
	struct spec_instance *externs;
	uint32_t n_externs;
	struct spec_array *registers;
	uint32_t n_registers;
	struct spec_array *meters;
	uint32_t n_meters;
	struct spec_action *actions;
	uint32_t n_actions;
	struct spec_table *tables;
	uint32_t n_tables;
	const char *metadata;		/* its struct */
	struct spec_code apply;

	uint64_t hash;			/* of the text */
	const char *interface;		/* hash that a comment names, or NULL */
	const char *compiled;		/* library made of it, or NULL: interpret */

	char **strings;			/* everything that names point to */
	uint32_t n_strings;
};

/**
 * spec_load() - read a .spec file
 * @path: the file
 * @err: why not; with the number of the line
 *
 * Return: what it says, or NULL.
 */
struct spec *spec_load(const char *path, char *err);

/**
 * spec_parse() - the same from memory
 * @text: contents of a .spec file
 * @from: where it comes from, for messages
 * @err: why not
 */
struct spec *spec_parse(const char *text, const char *from, char *err);

void spec_free(struct spec *spec);

#endif /* WEFT_SWITCHD_SPEC_H */
