/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's distributed lock manager: its lockspace for measurements. */
#ifndef WEFT_TOOLS_BENCH_LOCKS_DLM_H
#define WEFT_TOOLS_BENCH_LOCKS_DLM_H

#include "bench.h"

#define DLM_SPACE	"weft-lockbench"
/* As devtmpfs names it. */
#define DLM_DEVICE	"/dev/dlm_" DLM_SPACE

#endif /* WEFT_TOOLS_BENCH_LOCKS_DLM_H */
