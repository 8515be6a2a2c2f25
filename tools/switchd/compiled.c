// SPDX-License-Identifier: GPL-2.0-only
/*
 * A P4 program as machine code: writing the C code, loading the library.
 */
/* All of SWX is what DPDK calls experimental. */
#define ALLOW_EXPERIMENTAL_API

#include "compiled.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ring.h>
#include <rte_version.h>

#include "instruction.h"
#include "p4names.h"
#include "translate.h"
#include "weft_wire.h"

/* What the pipeline's ports are until they are replaced. */
#define DUMMY_PORT	"weft-none"
#define IOSPEC_MAX	16384

typedef void (*compiled_ports_t)(struct rte_swx_pipeline *p,
				 const struct rte_swx_port_in_ops *in_ops,
				 void **in, uint32_t n_in,
				 const struct rte_swx_port_out_ops *out_ops,
				 void **out, uint32_t n_out);
typedef const uint64_t *(*compiled_cells_t)(const struct rte_swx_pipeline *p,
					    const char *name);
typedef void *(*compiled_start_t)(struct rte_swx_pipeline *p);

/**
 * struct library - what compiled.inc has for us
 * @ports: gives the pipeline our ports
 * @cells: finds the cells of a register array
 * @start: makes the argument of @run; NULL: the program was not translated
 * @stop: frees it
 * @run: takes packets through the program
 */
struct library {
	compiled_ports_t ports;
	compiled_cells_t cells;
	compiled_start_t start;
	void (*stop)(void *program);
	compiled_run_t run;
};

/* Registers with a cell for each line that all messages need. */
static const char *const line_registers[] = {
	P4_REG_TAG, P4_REG_LOCK, P4_REG_GRANT, P4_REG_STATUS, P4_REG_COPYSET,
};
static_assert(RTE_DIM(line_registers) <= AHEAD_MAX, "all of them can be read ahead");

/* --- Writing --- */

/* DPDK would stumble over instructions that instruction_fit() has to replace. */
static int check_fit(const struct spec *spec, const char *path, char *err)
{
	uint32_t i, j;

	for (i = 0; i < spec->n_structs; i++)
		for (j = 0; j < spec->structs[i].n_fields; j++)
			if (!strcmp(spec->structs[i].fields[j].name, INSTRUCTION_FIELD))
				return fail(err, -ENOTSUP,
					    "%s has an instruction that DPDK gets wrong (a constant written to a constant index of a register): it can only be interpreted",
					    path);
	return 0;
}

/* A copy without the comments that DPDK does not know. */
static FILE *without_comments(const char *path)
{
	FILE *in = fopen(path, "re"), *out = tmpfile();
	char line[4096];

	while (in && out && fgets(line, sizeof(line), in))
		if (line[0] != '#')
			fputs(line, out);
	if (in)
		fclose(in);
	if (out)
		rewind(out);
	return out;
}

/* What cannot be translated goes through what DPDK wrote. */
static void write_translation(const struct spec *spec, FILE *code)
{
	char err[ERR_MAX] = "", *text = NULL;
	size_t size = 0;
	FILE *part = open_memstream(&text, &size);
	int status = part ? translate(spec, part, err) : -ENOMEM;

	if (part)
		fclose(part);
	if (!status)
		fprintf(code, "#include \"program.inc\"\n%s", text);
	else
		fprintf(stderr, "weft-switchd: the program runs as DPDK has written it, at half the speed: the translator does not know %s\n",
			err);
	free(text);
}

int compiled_write(const char *spec_path, const char *c_path, char *err)
{
	struct spec *spec = spec_load(spec_path, err);
	const char *words = NULL;
	FILE *text, *code;
	uint32_t line = 0;
	int status;

	if (!spec)
		return -EINVAL;
	status = check_fit(spec, spec_path, err);
	if (status)
		goto free_spec;
	text = without_comments(spec_path);
	code = fopen(c_path, "we");
	if (!text || !code) {
		status = fail(err, -errno, "cannot write %s: %s", c_path, strerror(errno));
		goto close;
	}
	status = rte_swx_pipeline_codegen(text, code, &line, &words);
	if (status) {
		fail(err, status, "%s: DPDK writes no code for it: %s (line %u without comments)",
		     spec_path, words ? words : strerror(-status), line);
		goto close;
	}
	fprintf(code, "\nconst uint64_t compiled_hash = 0x%" PRIx64 ";\n", spec->hash);
	fprintf(code, "const char compiled_version[] = \"%s\";\n", rte_version());
	write_translation(spec, code);
	fprintf(code, "#include \"compiled.inc\"\n");
	if (ferror(code))
		status = fail(err, -EIO, "cannot write %s", c_path);
close:
	if (text)
		fclose(text);
	if (code && fclose(code) && !status)
		status = fail(err, -errno, "cannot write %s: %s", c_path, strerror(errno));
free_spec:
	spec_free(spec);
	return status;
}

/* --- Loading --- */

/* Is it this program, compiled for this DPDK? */
static int check_library(struct library *l, const struct spec *spec, void *lib, char *err)
{
	const uint64_t *hash = dlsym(lib, "compiled_hash");
	const char *version = dlsym(lib, "compiled_version");

	*(void **)&l->ports = dlsym(lib, "compiled_ports");
	*(void **)&l->cells = dlsym(lib, "compiled_cells");
	*(void **)&l->start = dlsym(lib, "compiled_start");
	*(void **)&l->stop = dlsym(lib, "compiled_stop");
	*(void **)&l->run = dlsym(lib, "compiled_run");
	if (!hash || !version || !l->ports || !l->cells || !l->start || !l->stop || !l->run)
		return fail(err, -EINVAL,
			    "%s was not made by the tools/switchd/compile of this version: run it",
			    spec->compiled);
	if (*hash != spec->hash)
		return fail(err, -EINVAL,
			    "%s was compiled from another program: run tools/switchd/compile again",
			    spec->compiled);
	if (strcmp(version, rte_version()))
		return fail(err, -EINVAL,
			    "%s was compiled for %s and this is %s: run tools/switchd/compile again",
			    spec->compiled, version, rte_version());
	return 0;
}

/* Has the ports read ahead what the program will need.  Without that it is slower. */
static void read_ahead(const struct library *l, const struct spec *spec,
		       const struct rte_swx_pipeline *p, struct ahead *ahead)
{
	uint32_t i, j;

	ahead->n = 0;
	for (i = 0; i < spec->n_registers; i++) {
		const struct spec_array *a = &spec->registers[i];

		for (j = 0; j < RTE_DIM(line_registers); j++)
			if (!strcmp(a->name, line_registers[j]) &&
			    a->size == WEFT_SWITCH_SLOTS)
				ahead->cells[ahead->n++] = l->cells(p, a->name);
	}
}

/* Ports that do nothing, of a kind that DPDK knows. */
static int write_iospec(char *text, uint32_t n_in, uint32_t n_out)
{
	int used = snprintf(text, IOSPEC_MAX, "mirroring slots %d sessions %d\n",
			    P4_SLOTS, P4_SESSIONS);
	uint32_t i;

	if (!rte_ring_lookup(DUMMY_PORT) &&
	    !rte_ring_create(DUMMY_PORT, 2, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ))
		return -ENOMEM;
	for (i = 0; i < n_in && used < IOSPEC_MAX; i++)
		used += snprintf(text + used, (size_t)(IOSPEC_MAX - used),
				 "port in %u ring %s bsz 1\n", i, DUMMY_PORT);
	for (i = 0; i < n_out && used < IOSPEC_MAX; i++)
		used += snprintf(text + used, (size_t)(IOSPEC_MAX - used),
				 "port out %u ring %s bsz 1\n", i, DUMMY_PORT);
	return used < IOSPEC_MAX ? used : -E2BIG;
}

static struct rte_swx_pipeline *build(const char *library, uint32_t n_in, uint32_t n_out,
				      char *err)
{
	static unsigned int number;
	struct rte_swx_pipeline *p = NULL;
	char name[32], *text = malloc(IOSPEC_MAX);
	FILE *iospec = NULL;
	int code = -ENOMEM;

	if (text)
		code = write_iospec(text, n_in, n_out);
	if (code > 0) {
		iospec = fmemopen(text, (size_t)code, "r");
		code = iospec ? 0 : -errno;
	}
	snprintf(name, sizeof(name), "weft-%u", number++);
	if (!code)
		code = rte_swx_pipeline_build_from_lib(&p, name, library, iospec,
						       SOCKET_ID_ANY);
	if (code) {
		p = NULL;
		fail(err, code, "DPDK cannot build a pipeline from %s: %s%s", library,
		     strerror(-code), code == -ENOMEM ? ": give --memory more" : "");
	}
	if (iospec)
		fclose(iospec);
	free(text);
	return p;
}

struct rte_swx_pipeline *compiled_build(const struct spec *spec,
					struct port **in, uint32_t n_in,
					struct port **out, uint32_t n_out,
					struct compiled *compiled, char *err)
{
	/* a name without a slash would be looked for elsewhere */
	char *path = realpath(spec->compiled, NULL);
	struct rte_swx_pipeline *p = NULL;
	struct library l;
	void *lib;

	lib = path ? dlopen(path, RTLD_LAZY) : NULL;
	if (!lib) {
		fail(err, -ENOENT, "cannot load the compiled program %s: %s", spec->compiled,
		     path ? dlerror() : strerror(errno));
		free(path);
		return NULL;
	}
	if (!check_library(&l, spec, lib, err))
		p = build(path, n_in, n_out, err);
	if (p) {
		l.ports(p, &port_swx_in_ops, (void **)in, n_in,
			&port_swx_out_ops, (void **)out, n_out);
		read_ahead(&l, spec, p, &in[0]->flow->ahead);
		compiled->run = l.run;
		compiled->stop = l.stop;
		compiled->program = l.start(p);
	}
	/* the pipeline holds it, too */
	dlclose(lib);
	free(path);
	return p;
}
