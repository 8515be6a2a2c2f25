// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plain switch.
 */
#include "l2.h"

static void flood(struct port **ports, unsigned int n_ports, unsigned int from,
		  struct rte_mbuf *m)
{
	unsigned int i;

	for (i = 0; i < n_ports; i++) {
		if (i == from)
			continue;
		rte_mbuf_refcnt_update(m, 1);
		port_send(ports[i], m);
	}
	frame_free(m);
}

static void forward(struct port **ports, unsigned int n_ports, unsigned int from,
		    const struct learn *learn, struct rte_mbuf *m)
{
	int to = learn_lookup(learn, frame_data(m));

	if (to < 0)
		flood(ports, n_ports, from, m);
	else if (to == (int)from)
		frame_free(m);
	else
		port_send(ports[to], m);
}

void l2_work(struct port **ports, unsigned int n_ports, const struct learn *learn)
{
	unsigned int i;

	for (i = 0; i < n_ports; i++) {
		struct rte_mbuf *m;

		while ((m = port_take(ports[i])))
			forward(ports, n_ports, i, learn, m);
	}
}
