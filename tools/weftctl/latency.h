/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms of how long things take, for people and as JSON. */
#ifndef WEFTCTL_LATENCY_H
#define WEFTCTL_LATENCY_H

#include "json.h"
#include "kernel.h"

/**
 * latency_quantile() - what so many of the times are less than
 * @permille: of the times
 *
 * Return: end of the bucket that it falls into, ns; 0: there were no times, or
 * the bucket has no end.
 */
uint64_t latency_quantile(const struct hist *h, unsigned int permille);

/* Bars on stdout. */
void latency_print(const struct hists *h);

/* An object "latency". */
void latency_json(struct json *j, const struct hists *h);

#endif /* WEFTCTL_LATENCY_H */
