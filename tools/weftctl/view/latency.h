/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms of how long things take, for people and as JSON. */
#ifndef WEFTCTL_LATENCY_H
#define WEFTCTL_LATENCY_H

#include "kernel/kernel.h"
#include "tools/common/json.h"

/* Bars on stdout. */
void latency_print(const struct hists *h);

/* An object "latency". */
void latency_json(struct json *j, const struct hists *h);

#endif /* WEFTCTL_LATENCY_H */
