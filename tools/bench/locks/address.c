// SPDX-License-Identifier: GPL-2.0-only
/* Where a program listens, as it is given on a command line. */
#include <arpa/inet.h>

#include "lock.h"

void lock_address(const char *option, const char *text, uint16_t port,
		  struct sockaddr_in *at)
{
	const char *colon = strchrnul(text, ':');
	char host[INET_ADDRSTRLEN] = "";

	if (*colon)
		port = (uint16_t)node_number_of(option, colon + 1, 1, 65535);
	*at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	if ((size_t)(colon - text) < sizeof(host))
		memcpy(host, text, (size_t)(colon - text));
	if (inet_pton(AF_INET, host, &at->sin_addr) != 1)
		node_die("%s %s: give an IPv4 address", option, text);
}
