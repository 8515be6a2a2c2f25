/* SPDX-License-Identifier: GPL-2.0-only */
/* A terminal that shows one page, drawn anew again and again. */
#ifndef WEFTCTL_SCREEN_H
#define WEFTCTL_SCREEN_H

#include <stddef.h>

/* Takes the terminal on stdout; keys come as they are typed. */
void screen_begin(void);

/* Gives it back as it was. */
void screen_end(void);

/* Lines and columns that fit. */
void screen_size(unsigned int *lines, unsigned int *columns);

/* Shows @text, as much of it as fits. */
void screen_draw(const char *text);

/* A key that was typed, 0 if none was. */
char screen_key(void);

#endif /* WEFTCTL_SCREEN_H */
