/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics in Prometheus' text format, version 0.0.4.  Names follow from those
 * of the counters, so that they are as stable as these:
 *
 *	weft_node_NAME_total		counters of the node
 *	weft_blade_NAME_total		counters of a memory blade, or
 *	weft_blade_NAME			what there is of something at a blade
 *	weft_switch_NAME_total		counters of the switch; 32 bits, they wrap
 *	weft_latency_seconds		histograms of the node, by kind
 */
#ifndef WEFTCTL_PROMETHEUS_H
#define WEFTCTL_PROMETHEUS_H

#include "view/gather.h"

/* All that was gathered, on stdout. */
void prometheus_print(const struct gathered *g);

#endif /* WEFTCTL_PROMETHEUS_H */
