/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Namespaces of a user-mode kernel: see apart.c.
 */
#ifndef WEFT_RACK_APART_H
#define WEFT_RACK_APART_H

#include <signal.h>

/* Its end of the channel; its command line says so: guests.sh. */
#define APART_CHANNEL_FD	3

/* To the first process of the namespace: the guest is up. */
#define APART_UP		SIGUSR1

/* What a timer interrupt that the kernel has forgotten costs at most. */
#define APART_BEAT_MS		100

int apart_unshare(void);
int apart_channel(int *inherited);
int apart_enter(const char *memory);
int apart_first(void);

#endif
