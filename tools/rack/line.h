/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What joins the agent to its host: see line.c.
 */
#ifndef WEFT_RACK_LINE_H
#define WEFT_RACK_LINE_H

int line_find(const char *name);
int line_open(const char *path);
void line_look_again(void);

#endif
