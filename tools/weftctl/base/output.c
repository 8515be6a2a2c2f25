// SPDX-License-Identifier: GPL-2.0-only
/* How results are printed, see output.h. */
#include "base/output.h"

struct output output;
