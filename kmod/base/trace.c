// SPDX-License-Identifier: GPL-2.0-only
/* The code of the tracepoints in trace.h. */
#define CREATE_TRACE_POINTS
#include "base/trace.h"
