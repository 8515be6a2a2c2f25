// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions of the .spec.
 */
#include "instruction.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <rte_common.h>

/* The instructions of DPDK 22.11. */
static const char *const known[] = {
	"rx", "tx", "drop", "mirror", "recirculate", "recircid", "extract",
	"lookahead", "emit", "validate", "invalidate", "mov", "add", "sub",
	"ckadd", "cksub", "and", "or", "xor", "shl", "shr", "regprefetch",
	"regrd", "regwr", "regadd", "metprefetch", "meter", "table", "learn",
	"rearm", "forget", "entryid", "extern", "hash", "jmp", "jmpv", "jmpnv",
	"jmph", "jmpnh", "jmpa", "jmpna", "jmpeq", "jmpneq", "jmplt", "jmpgt",
	"return",
};

static bool is_number(const char *word)
{
	return word[0] >= '0' && word[0] <= '9';
}

static int check(const char *name, unsigned int n, char *err)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(known); i++)
		if (!strcmp(name, known[i]))
			break;
	if (i == RTE_DIM(known))
		return fail(err, -EINVAL, "DPDK 22.11 has no instruction '%s'%s", name,
			    strcmp(name, "movh") ? "" :
			    ": it is for fields of more than 64 bits, use smaller ones");
	if (n > RTE_SWX_INSTRUCTION_TOKENS_MAX)
		return fail(err, -EINVAL, "an instruction has at most %d words",
			    RTE_SWX_INSTRUCTION_TOKENS_MAX);
	return 0;
}

static int join(const char *const word[], unsigned int n,
		char text[RTE_SWX_INSTRUCTION_SIZE], char *err)
{
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < n && used < RTE_SWX_INSTRUCTION_SIZE; i++)
		used += (size_t)snprintf(text + used, RTE_SWX_INSTRUCTION_SIZE - used,
					 "%s%s", i ? " " : "", word[i]);
	if (used >= RTE_SWX_INSTRUCTION_SIZE)
		return fail(err, -EINVAL, "an instruction has less than %d letters",
			    RTE_SWX_INSTRUCTION_SIZE);
	return 0;
}

int instruction_fit(const char *const word[], unsigned int n,
		    char text[2][RTE_SWX_INSTRUCTION_SIZE], char *err)
{
	unsigned int first = n > 2 && !strcmp(word[1], ":") ? 2 : 0;
	const char *const *op = word + first;
	int code = check(op[0], n, err);

	if (code)
		return code;
	/*
	 * DPDK takes "regadd R 5 1" (and regwr), but works on the first register
	 * array of the program, whatever R is (22.11, and 23.11 still).  With
	 * the value in a field, it is right.
	 */
	if ((!strcmp(op[0], "regadd") || !strcmp(op[0], "regwr")) &&
	    n == first + 4 && is_number(op[2]) && is_number(op[3])) {
		const char *const field = "m." INSTRUCTION_FIELD;
		const char *const use[] = { op[0], op[1], op[2], field };
		const char *load[5] = { word[0], word[1] };

		load[first] = "mov";
		load[first + 1] = field;
		load[first + 2] = op[3];
		code = join(load, first + 3, text[0], err);
		if (!code)
			code = join(use, RTE_DIM(use), text[1], err);
		return code ? code : 2;
	}
	code = join(word, n, text[0], err);
	return code ? code : 1;
}
