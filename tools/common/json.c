// SPDX-License-Identifier: GPL-2.0-only
/* JSON, see json.h. */
#include "tools/common/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Writing --------------------------------------------------------------- */

static void newline(struct json *j)
{
	if (j->pretty)
		fprintf(j->out, "\n%*s", (int)j->depth * 4, "");
}

/* Bytes of the UTF-8 character at @c; 0 if there is none. */
static unsigned int utf8_len(const unsigned char *c)
{
	unsigned int len = *c < 0x80 ? 1 : *c >= 0xc2 && *c < 0xe0 ? 2 :
			   *c >= 0xe0 && *c < 0xf0 ? 3 :
			   *c >= 0xf0 && *c < 0xf5 ? 4 : 0;
	unsigned int i;

	for (i = 1; i < len; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Longer than needed, surrogates, beyond the last character. */
	if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) ||
	    (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f))
		return 0;
	return len;
}

static void quoted(struct json *j, const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	unsigned int len;

	fputc('"', j->out);
	for (; *c; c += len) {
		len = utf8_len(c);
		if (*c == '"' || *c == '\\') {
			fprintf(j->out, "\\%c", *c);
		} else if (!len || *c < 0x20 || *c == 0x7f) {
			/* Paths and what others send need not be UTF-8. */
			fprintf(j->out, "\\u%04x", *c);
			len = 1;
		} else {
			fwrite(c, 1, len, j->out);
		}
	}
	fputc('"', j->out);
}

/* What stands before any value. */
static void before(struct json *j, const char *key)
{
	if (j->depth) {
		if (j->filled[j->depth - 1])
			fputc(',', j->out);
		j->filled[j->depth - 1] = true;
		newline(j);
	}
	if (key) {
		quoted(j, key);
		fputs(j->pretty ? ": " : ":", j->out);
	}
}

static void enter(struct json *j, const char *key, char opener, char closer)
{
	before(j, key);
	if (j->depth == JSON_DEPTH_MAX)
		abort();	/* a mistake in this program */
	fputc(opener, j->out);
	j->closer[j->depth] = closer;
	j->filled[j->depth] = false;
	j->depth++;
}

void json_object(struct json *j, const char *key)
{
	enter(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	enter(j, key, '[', ']');
}

void json_close(struct json *j)
{
	if (!j->depth)
		abort();	/* a mistake in this program */
	j->depth--;
	if (j->filled[j->depth])
		newline(j);
	fputc(j->closer[j->depth], j->out);
}

void json_start(struct json *j, FILE *out, bool pretty)
{
	*j = (struct json){ .out = out, .pretty = pretty };
}

void json_begin(struct json *j, FILE *out, bool pretty)
{
	json_start(j, out, pretty);
	json_object(j, NULL);
}

void json_end(struct json *j)
{
	while (j->depth)
		json_close(j);
	fputc('\n', j->out);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	before(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	before(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	before(j, key);
	fputs("null", j->out);
}

void json_string(struct json *j, const char *key, const char *value)
{
	before(j, key);
	quoted(j, value);
}

void json_text(struct json *j, const char *key, const char *value)
{
	if (*value)
		json_string(j, key, value);
	else
		json_null(j, key);
}

void json_number(struct json *j, const char *key, bool there, uint64_t value)
{
	if (there)
		json_u64(j, key, value);
	else
		json_null(j, key);
}

void json_fixed(struct json *j, const char *key, double value)
{
	before(j, key);
	fprintf(j->out, "%.3f", value);
}

void json_ratio(struct json *j, const char *key, uint64_t over, uint64_t under)
{
	if (!under) {
		json_null(j, key);
		return;
	}
	json_fixed(j, key, (double)over / (double)under);
}

void json_real(struct json *j, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	before(j, key);
	fprintf(j->out, "%.6g", value);
}

/* --- Reading --------------------------------------------------------------- */

const char *json_find(const char *text, const char *key)
{
	size_t len = strlen(key);
	const char *at = text;

	while ((at = strstr(at, key))) {
		const char *behind = at + len;

		if (at > text && at[-1] == '"' && *behind == '"') {
			behind++;
			behind += strspn(behind, " \t\r\n");
			if (*behind == ':') {
				behind++;
				return behind + strspn(behind, " \t\r\n");
			}
		}
		at++;
	}
	return NULL;
}

bool json_find_real(const char *text, const char *key, double *value)
{
	const char *at = json_find(text, key);
	char *end;
	double v;

	if (!at || !strchr("-0123456789", *at))
		return false;
	v = strtod(at, &end);
	if (end == at || !strchr(",]} \t\r\n", *end))
		return false;
	*value = v;
	return true;
}
