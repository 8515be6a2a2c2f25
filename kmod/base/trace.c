// SPDX-License-Identifier: GPL-2.0-only
/* Code of the tracepoints; in a file of its own, as trace.h must not be included before. */
#define CREATE_TRACE_POINTS
#include "base/trace.h"
