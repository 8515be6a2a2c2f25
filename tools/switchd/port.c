// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports: queues, counters, and what DPDK's pipeline calls.
 */
#include "port.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "link.h"

/* The last stage of the way in. */
static void port_deliver(void *arg, struct rte_mbuf *m)
{
	struct port *port = arg;

	if (frameq_full(&port->rxq)) {
		port->n.rx_drop++;
		frame_free(m);
		return;
	}
	port->n.rx++;
	port->n.rx_bytes += frame_len(m);
	port->flow->waiting++;
	frameq_put(&port->rxq, m);
}

/* Names go into JSON and commands as they are. */
static bool good_name(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_.-", name[i]))
			return false;
	return len && len < PORT_NAME_MAX;
}

struct port *port_create(const char *spec, unsigned int number, uint64_t seed,
			 struct port_flow *flow, char *err)
{
	const char *equals = strchr(spec, '=');
	struct port *port;

	if (!equals || !good_name(spec, (size_t)(equals - spec))) {
		fail(err, -EINVAL,
		     "port '%s': expected NAME=KIND:..., with a name of 1 to %d letters, digits and any of _.-",
		     spec, PORT_NAME_MAX - 1);
		return NULL;
	}
	port = calloc(1, sizeof(*port));
	if (!port)
		goto no_memory;
	memcpy(port->name, spec, (size_t)(equals - spec));
	port->number = number;
	port->flow = flow;
	if (frameq_init(&port->rxq, PORT_RXQ_SIZE) ||
	    frameq_init(&port->txq, PORT_TXQ_SIZE) ||
	    fault_init(&port->fault, number, seed, port_deliver, port))
		goto no_memory;
	if (link_open(&port->link, port->name, equals + 1, err)) {
		port_destroy(port);
		return NULL;
	}
	return port;

no_memory:
	fail(err, -ENOMEM, "port '%s': out of memory", spec);
	port_destroy(port);
	return NULL;
}

void port_destroy(struct port *port)
{
	if (!port)
		return;
	link_close(port->link);
	port->flow->waiting -= frameq_count(&port->rxq);
	frameq_free(&port->rxq);
	frameq_free(&port->txq);
	fault_free(&port->fault);
	free(port);
}

void port_receive(struct port *port, struct rte_mbuf *m, uint64_t now)
{
	if (port->is_cut) {
		port->n.cut++;
		frame_free(m);
	} else if (frame_len(m) < FRAME_MIN || frame_len(m) > FRAME_MAX) {
		port->n.rx_drop++;
		frame_free(m);
	} else if (fault_active(&port->fault)) {
		fault_frame(&port->fault, m, now);
	} else {
		port->fault.n_frames++;
		port_deliver(port, m);
	}
}

struct rte_mbuf *port_take(struct port *port)
{
	struct rte_mbuf *m = frameq_get(&port->rxq);

	if (m)
		port->flow->waiting--;
	return m;
}

void port_send(struct port *port, struct rte_mbuf *m)
{
	if (port->is_cut) {
		port->n.cut++;
		frame_free(m);
		return;
	}
	if (!port->link) {
		port->n.tx++;
		port->n.tx_bytes += frame_len(m);
		frame_free(m);
		return;
	}
	if (frameq_full(&port->txq)) {
		port->n.tx_drop++;
		frame_free(m);
		return;
	}
	frameq_put(&port->txq, m);
	if (frameq_count(&port->txq) % PORT_BATCH == 0 && !link_blocked(port->link))
		port_flush(port);
}

unsigned int port_fill(struct port *port, uint64_t now)
{
	struct rte_mbuf *batch[PORT_BATCH];
	unsigned int i, n;

	if (!port->link)
		return 0;
	n = link_receive(port->link, batch, PORT_BATCH, &port->n);
	for (i = 0; i < n; i++)
		port_receive(port, batch[i], now);
	return n;
}

void port_flush(struct port *port)
{
	if (port->link && frameq_count(&port->txq))
		link_send(port->link, &port->txq, &port->n);
}

void port_cut(struct port *port)
{
	if (port->is_cut)
		return;
	port->is_cut = true;
	port->n.cut += fault_flush(&port->fault) +
		       frameq_count(&port->rxq) + frameq_count(&port->txq);
	port->flow->waiting -= frameq_count(&port->rxq);
	frameq_flush(&port->rxq);
	frameq_flush(&port->txq);
}

void port_heal(struct port *port)
{
	port->is_cut = false;
}

int port_put_bytes(struct port *port, const void *bytes, size_t len, uint64_t now)
{
	struct rte_mbuf *m;

	if (len > FRAME_MAX)
		return -EMSGSIZE;
	m = frame_from(bytes, len);
	if (!m)
		return -ENOMEM;
	port_receive(port, m, now);
	return 0;
}

/* --- As the pipeline sees it --- */

/* The port exists already and survives the pipeline. */
static void *swx_create(void *args)
{
	return args;
}

static void swx_free(void *obj)
{
	(void)obj;
}

static int swx_rx(void *obj, struct rte_swx_pkt *pkt)
{
	struct port *port = obj;
	struct rte_mbuf *m = port_take(port);

	if (!m)
		return 0;
	port->flow->taken++;
	pkt->handle = m;
	pkt->pkt = m->buf_addr;
	pkt->offset = m->data_off;
	pkt->length = m->pkt_len;
	if (port->flow->ahead.n)
		ahead_frame(&port->flow->ahead, frame_data(m));
	return 1;
}

/*
 * Take over what the program did to the packet.  The length is 32 bits and
 * wraps around when a program takes more headers from a short packet than it
 * puts back: such a packet cannot be sent.
 */
static struct rte_mbuf *swx_finish(struct port *port, const struct rte_swx_pkt *pkt)
{
	struct rte_mbuf *m = pkt->handle;

	if (pkt->length < FRAME_MIN || pkt->length > FRAME_MAX ||
	    pkt->offset + pkt->length > m->buf_len) {
		port->n.tx_drop++;
		return NULL;
	}
	m->data_off = (uint16_t)pkt->offset;
	m->data_len = (uint16_t)pkt->length;
	m->pkt_len = pkt->length;
	return m;
}

static void swx_tx(void *obj, struct rte_swx_pkt *pkt)
{
	struct port *port = obj;
	struct rte_mbuf *m = swx_finish(port, pkt);

	port->flow->given++;
	if (m)
		port_send(port, m);
	else
		frame_free(pkt->handle);
}

/* A copy that shares the buffer: nobody writes to it any more. */
static void swx_fast_clone_tx(void *obj, struct rte_swx_pkt *pkt)
{
	struct port *port = obj;
	struct rte_mbuf *m = swx_finish(port, pkt);

	if (!m)
		return;
	rte_mbuf_refcnt_update(m, 1);
	port_send(port, m);
}

static void swx_clone_tx(void *obj, struct rte_swx_pkt *pkt, uint32_t truncated)
{
	struct port *port = obj;
	struct rte_mbuf *m = swx_finish(port, pkt);
	struct rte_mbuf *copy;

	if (!m)
		return;
	copy = frame_from(frame_data(m), RTE_MIN(frame_len(m), truncated));
	if (copy)
		port_send(port, copy);
	else
		port->n.tx_drop++;
}

static void swx_in_stats(void *obj, struct rte_swx_port_in_stats *stats)
{
	const struct port *port = obj;

	memset(stats, 0, sizeof(*stats));
	stats->n_pkts = port->n.rx;
	stats->n_bytes = port->n.rx_bytes;
}

static void swx_out_stats(void *obj, struct rte_swx_port_out_stats *stats)
{
	const struct port *port = obj;

	memset(stats, 0, sizeof(*stats));
	stats->n_pkts = port->n.tx;
	stats->n_bytes = port->n.tx_bytes;
	stats->n_pkts_drop = port->n.tx_drop;
}

struct rte_swx_port_in_ops port_swx_in_ops = {
	.create = swx_create,
	.free = swx_free,
	.pkt_rx = swx_rx,
	.stats_read = swx_in_stats,
};

/* No flush: the main loop flushes when the pipeline has nothing left to do. */
struct rte_swx_port_out_ops port_swx_out_ops = {
	.create = swx_create,
	.free = swx_free,
	.pkt_tx = swx_tx,
	.pkt_fast_clone_tx = swx_fast_clone_tx,
	.pkt_clone_tx = swx_clone_tx,
	.flush = NULL,
	.stats_read = swx_out_stats,
};
