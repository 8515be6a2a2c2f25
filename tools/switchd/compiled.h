/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A P4 program as machine code.  DPDK can write C code for a program instead of
 * interpreting its instructions, and translate.h better one; the script "compile"
 * makes a library of both, and a switch that is given the library is several times as
 * fast.  It is the same pipeline otherwise.
 */
#ifndef WEFT_SWITCHD_COMPILED_H
#define WEFT_SWITCHD_COMPILED_H

#include "port.h"
#include "spec.h"

typedef void (*compiled_run_t)(const void *program, struct rte_swx_pkt *pkts,
			       const uint32_t *ports, uint32_t n);

/**
 * struct compiled - a program that was translated
 * @program: where its things are in the pipeline; NULL: it was not translated
 * @run: takes @n packets, which came from @ports, one after the other through it
 * @stop: to be called with @program before the pipeline is freed
 */
struct compiled {
	void *program;
	compiled_run_t run;
	void (*stop)(void *program);
};

/**
 * compiled_write() - write the C code
 * @spec_path: the program
 * @c_path: the file to be written
 * @err: why not
 *
 * DPDK's environment must be there (frame_init()).
 *
 * Return: 0 or a negative errno.
 */
int compiled_write(const char *spec_path, const char *c_path, char *err);

/**
 * compiled_build() - build a pipeline from the library spec->compiled
 * @spec: the program
 * @in: ports that frames come from
 * @n_in: how many, a power of two
 * @out: ports that they leave by
 * @n_out: how many
 * @compiled: set to what was translated
 * @err: why not
 *
 * Return: the pipeline, or NULL.
 */
struct rte_swx_pipeline *compiled_build(const struct spec *spec,
					struct port **in, uint32_t n_in,
					struct port **out, uint32_t n_out,
					struct compiled *compiled, char *err);

#endif /* WEFT_SWITCHD_COMPILED_H */
