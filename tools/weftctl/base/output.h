/* SPDX-License-Identifier: GPL-2.0-only */
/* How results are printed. */
#ifndef WEFTCTL_OUTPUT_H
#define WEFTCTL_OUTPUT_H

#include <stdbool.h>

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

#endif /* WEFTCTL_OUTPUT_H */
