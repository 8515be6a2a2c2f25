/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plain UDP server, to compare a blade with: as many bytes come and go in as many
 * datagrams, by batches as large, and nothing else is done.
 */
#ifndef WEFT_TESTS_MEMD_ECHO_H
#define WEFT_TESTS_MEMD_ECHO_H

#include <sys/types.h>

#include "types.h"

/**
 * struct echo - what it answers
 * @addr: where it listens, IPv4
 * @port: and at which port
 * @page: bytes that it answers each datagram with
 * @joined: to how many datagrams in a row of the same sender it answers by one, of so
 *	many pages
 * @batch: datagrams by one system call
 */
struct echo {
	u32 addr;
	u16 port;
	u32 page;
	u32 joined;
	u32 batch;
};

#define ECHO_BYTES_MAX	16384	/* of an answer */
#define ECHO_BATCH_MAX	64

/* Begin one, in a process of its own, which ends with ours.  Return: its pid. */
pid_t echo_start(const struct echo *e);

#endif /* WEFT_TESTS_MEMD_ECHO_H */
