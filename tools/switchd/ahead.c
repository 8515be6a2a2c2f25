// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading ahead: which cells a frame will need.
 */
#include "ahead.h"

#include <rte_byteorder.h>
#include <rte_prefetch.h>

#include "types.h"

/* Where it stands in a frame with an IPv4 header without options. */
#define AT_UDP_PORT	36
#define AT_MSG_TYPE	44
#define AT_MSG_LINE	54

/* Types beyond are forwarded, see weft_wire.h. */
#define TYPE_MAX	31

void ahead_frame(const struct ahead *ahead, const uint8_t *frame)
{
	uint16_t udp_port;
	uint64_t line;
	unsigned int i;
	uint32_t slot;

	/* what else could be wrong with a message is rare */
	memcpy(&udp_port, frame + AT_UDP_PORT, sizeof(udp_port));
	if (udp_port != RTE_BE16(WEFT_WIRE_UDP_PORT) || frame[AT_MSG_TYPE] > TYPE_MAX)
		return;
	memcpy(&line, frame + AT_MSG_LINE, sizeof(line));
	slot = weft_line_slot(rte_be_to_cpu_64(line));
	for (i = 0; i < ahead->n; i++)
		rte_prefetch0(&ahead->cells[i][slot]);
}
