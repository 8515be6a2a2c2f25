/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log, on stderr, a sentence a line; with the time of day before it if that is a file.  Lines
 * that the network can provoke are limited in rate, so that nobody can fill a disk with them.
 */
#ifndef WEFT_MEMD_LOG_H
#define WEFT_MEMD_LOG_H

#include <stdbool.h>

extern bool log_verbose;
extern bool log_silent;	/* for tests that provoke a lot */

/* Start, stop, errors of people: always printed. */
__attribute__((format(printf, 1, 2)))
void log_say(const char *fmt, ...);

/* What came from the network: at most a few lines a second. */
__attribute__((format(printf, 1, 2)))
void log_warn(const char *fmt, ...);

/* Only with --verbose. */
__attribute__((format(printf, 1, 2)))
void log_note(const char *fmt, ...);

/* An IPv4 address in host byte order as text; good until the fourth next call. */
const char *log_addr(unsigned int addr);

#endif /* WEFT_MEMD_LOG_H */
