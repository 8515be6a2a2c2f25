/* SPDX-License-Identifier: GPL-2.0-only */
/* Looking at other machines from outside of weft: echoes, ports. */
#ifndef WEFTCTL_PROBE_H
#define WEFTCTL_PROBE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* Return: a socket for echoes; or a negative errno, -EPERM if we may not. */
int probe_open(void);

/* Result of an echo. */
struct echo {
	uint64_t usec;	/* round trip */
	uint32_t fragment;	/* longest piece that the answer came in, 0 if it came in one */
};

/**
 * probe_echo() - send a datagram, wait for its echo
 * @fd: from probe_open()
 * @a: who is asked
 * @size: bytes of the datagram, with the IP header
 * @whole: it must not be cut on its way
 * @ms: how long the echo may take
 * @e: filled in
 *
 * Return: 0; -ETIMEDOUT; -EMSGSIZE, it is too long for this machine already; or
 * another negative errno.
 */
int probe_echo(int fd, struct in_addr a, uint32_t size, bool whole, int ms, struct echo *e);

/* Whether anything listens on a UDP port of another machine. */
struct knock {
	struct in_addr address;	/* whose */
	int fd;	/* -1: nobody is asked */
	bool refused;	/* that machine has said that nothing does */
};

void knock_open(struct knock *k, struct in_addr a, uint16_t port);
void knock_close(struct knock *k);

/**
 * knock_all() - send empty datagrams to all of them, wait for refusals
 * @list: of knock_open()
 * @n: how many
 * @echo_fd: from probe_open(), which tells how long refusals take; negative: there is
 *	none, and each gets the time that the slowest network would need
 */
void knock_all(struct knock *list, unsigned int n, int echo_fd);

/* Whether it was refused; also what has come since knock_all(). */
bool knock_refused(struct knock *k);

#endif /* WEFTCTL_PROBE_H */
