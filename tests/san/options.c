// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the sanitizers do in programs that run in guests, where no environment reaches
 * them: little memory is kept back, and what they say is found in the program's log.
 */
const char *__asan_default_options(void);

/* Called by the sanitizer before main(). */
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=1:detect_leaks=0";
}
