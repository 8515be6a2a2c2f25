/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks of fuzz targets: libFuzzer keeps the input of one that aborts. */
#ifndef WEFT_TESTS_FUZZ_FUZZ_H
#define WEFT_TESTS_FUZZ_FUZZ_H

#include <stdlib.h>

#define CHECK_END()	abort()
#include "tests/common/check.h"

#endif /* WEFT_TESTS_FUZZ_FUZZ_H */
