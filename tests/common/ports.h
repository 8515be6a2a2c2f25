/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ports of UDP and TCP for a test, whatever else runs on the machine: other tests, two copies
 * of this one, other programs.
 */
#ifndef WEFT_TESTS_COMMON_PORTS_H
#define WEFT_TESTS_COMMON_PORTS_H

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/common/check.h"

#define PORTS		16	/* of each test */
#define PORTS_FIRST	12000
#define PORTS_BLOCKS	1250	/* below those that the kernel gives to who asks for any */

/* Nobody uses this port just now, at whatever address. */
static inline bool port_is_free(uint32_t port, int type)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	bool is_free = fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at));

	CHECK(fd >= 0);
	close(fd);
	return is_free;
}

/* Those from @first on are nobody's, and ours from now on. */
static inline bool ports_take(uint32_t first)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t i;

	/* abstract: gone with the process */
	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "weft-ports-%u", first);
	if (bind(fd, (struct sockaddr *)&name, sizeof(name))) {
		CHECK(errno == EADDRINUSE);
		close(fd);
		return false;
	}
	for (i = first; i < first + PORTS; i++)
		if (!port_is_free(i, SOCK_DGRAM) || !port_is_free(i, SOCK_STREAM)) {
			close(fd);
			return false;
		}
	return true;
}

/*
 * The first of PORTS that no other test of this network namespace has, as long as we run.  They
 * are tried from block @block on.
 */
static inline uint32_t ports_claim_from(uint32_t block)
{
	uint32_t first, i;

	for (i = 0; i < PORTS_BLOCKS; i++) {
		first = PORTS_FIRST + (block + i) % PORTS_BLOCKS * PORTS;
		if (ports_take(first))
			return first;
	}
	CHECK_FAIL("no ports from %u to %u are free for a test", PORTS_FIRST,
		   PORTS_FIRST + PORTS_BLOCKS * PORTS - 1);
}

/* Others each run: an old program may still hold the last, and those after it. */
static inline uint32_t ports_claim(void)
{
	return ports_claim_from((uint32_t)getpid());
}

#endif /* WEFT_TESTS_COMMON_PORTS_H */
