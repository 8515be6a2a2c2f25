// SPDX-License-Identifier: GPL-2.0-only
/* DPDK's SWX pipeline: building it from a .spec, and running it. */
/* All of SWX is what DPDK calls experimental. */
#define ALLOW_EXPERIMENTAL_API

#include "pipeline.h"

#include <errno.h>
#include <stdlib.h>

#include "compiled.h"
#include "inside.h"
#include "p4names.h"

/*
 * Instructions between two looks whether everything is done: a packet takes
 * 50 to 300, including the empty turns of the other threads.
 */
#define RUN_STEP	512
/* Then others get a turn (timers, commands), even if there is more to do. */
#define RUN_STEPS_MAX	4096
/*
 * Packets that are taken from the ports at once by a program that was translated,
 * while what they need is read ahead; and how often before others get a turn.
 */
#define BATCH		16
#define BATCHES_MAX	1024
/* Our type of port, as DPDK knows it. */
#define DPDK_PORT	"weft"

/* --- Building --- */

/* DPDK tells no more than an errno: say what it was about. */
static int refused(char *err, int code, const char *what, const char *name,
		   unsigned int line)
{
	static const char *const nothing = "";

	return fail(err, code, "%s%s%s (line %u of the .spec): DPDK refuses it: %s%s",
		    what, *name ? " " : nothing, name, line, strerror(-code),
		    code == -ENOMEM ? ": give --memory more" : nothing);
}

/*
 * The ports as the pipeline sees them: as many inputs as a power of two, because
 * each has to be asked for packets; outputs up to the one that leads nowhere.
 */
static uint32_t ports_of(const struct pipeline *pl, struct port **ports,
			 struct port **all)
{
	uint32_t i, n_in = 1;

	while (n_in < pl->n_ports)
		n_in *= 2;
	for (i = 0; i <= P4_PORT_SINK; i++)
		all[i] = i < pl->n_ports ? ports[i] : pl->sink;
	return n_in;
}

static int build_ports(struct pipeline *pl, struct port **all, uint32_t n_in, char *err)
{
	uint32_t i;
	int code;

	code = rte_swx_pipeline_port_in_type_register(pl->p, DPDK_PORT, &port_swx_in_ops);
	if (!code)
		code = rte_swx_pipeline_port_out_type_register(pl->p, DPDK_PORT,
							       &port_swx_out_ops);
	for (i = 0; i < n_in && !code; i++)
		code = rte_swx_pipeline_port_in_config(pl->p, i, DPDK_PORT, all[i]);
	for (i = 0; i <= P4_PORT_SINK && !code; i++)
		code = rte_swx_pipeline_port_out_config(pl->p, i, DPDK_PORT, all[i]);
	return code ? fail(err, code, "DPDK refuses the ports: %s", strerror(-code)) : 0;
}

/*
 * Instructions name a field by its offset in eight bits.  DPDK does not look
 * whether it fits, and takes another field.
 */
static int check_struct(const struct spec_struct *st, char *err)
{
	uint32_t i, offset = 0;

	for (i = 0; i < st->n_fields; i++) {
		if (offset > UINT8_MAX)
			return fail(err, -E2BIG,
				    "struct %s (line %u of the .spec): field %s begins at byte %u, and DPDK reaches up to byte %d: use fewer or smaller variables",
				    st->name, st->line, st->fields[i].name, offset,
				    UINT8_MAX);
		offset += st->fields[i].n_bits / 8;
	}
	return 0;
}

static int check_offsets(const struct spec *spec, char *err)
{
	uint32_t i;
	int code = 0;

	for (i = 0; i < spec->n_structs && !code; i++)
		code = check_struct(&spec->structs[i], err);
	return code;
}

static int build_types(struct pipeline *pl, char *err)
{
	const struct spec *s = pl->spec;
	uint32_t i;
	int code;

	for (i = 0; i < s->n_structs; i++) {
		const struct spec_struct *st = &s->structs[i];

		code = rte_swx_pipeline_struct_type_register(pl->p, st->name, st->fields,
							     st->n_fields,
							     st->last_is_variable);
		if (code)
			return refused(err, code, "struct", st->name, st->line);
	}
	for (i = 0; i < s->n_externs; i++) {
		const struct spec_instance *e = &s->externs[i];

		code = rte_swx_pipeline_extern_object_config(pl->p, e->type, e->name,
							     e->pragma);
		if (code)
			return fail(err, code,
				    "extobj %s (line %u of the .spec): this switch has no externs of type %s",
				    e->name, e->line, e->type);
	}
	for (i = 0; i < s->n_headers; i++) {
		const struct spec_instance *h = &s->headers[i];

		code = rte_swx_pipeline_packet_header_register(pl->p, h->name, h->type);
		if (code)
			return refused(err, code, "header", h->name, h->line);
	}
	code = rte_swx_pipeline_packet_metadata_register(pl->p, s->metadata);
	return code ? refused(err, code, "metadata", s->metadata, 0) : 0;
}

static int build_arrays(struct pipeline *pl, char *err)
{
	const struct spec *s = pl->spec;
	uint32_t i;
	int code;

	for (i = 0; i < s->n_registers; i++) {
		const struct spec_array *a = &s->registers[i];

		code = rte_swx_pipeline_regarray_config(pl->p, a->name, a->size, a->initial);
		if (code)
			return refused(err, code, "regarray", a->name, a->line);
	}
	for (i = 0; i < s->n_meters; i++) {
		const struct spec_array *a = &s->meters[i];

		code = rte_swx_pipeline_metarray_config(pl->p, a->name, a->size);
		if (code)
			return refused(err, code, "metarray", a->name, a->line);
	}
	return 0;
}

static int build_table(struct pipeline *pl, const struct spec_table *t, char *err)
{
	struct rte_swx_pipeline_table_params params = {
		.fields = t->key,
		.n_fields = t->n_key,
		.action_names = t->actions,
		.action_is_for_table_entries = t->for_entries,
		.action_is_for_default_entry = t->for_default,
		.n_actions = t->n_actions,
		.default_action_name = t->default_action,
		.default_action_args = t->default_args,
		.default_action_is_const = t->default_is_const,
		.hash_func_name = t->hash,
	};
	int code = rte_swx_pipeline_table_config(pl->p, t->name, &params, t->type,
						 t->pragma, t->size);

	return code ? refused(err, code, "table", t->name, t->line) : 0;
}

/*
 * DPDK does not say which instruction it does not like.  Ask it about each one
 * alone, between the first and the last one of the program, which receive and
 * send.  Labels become that of the last one.  Whatever that does to the
 * pipeline does not matter any more.
 */
static int refused_code(struct pipeline *pl, const struct spec_code *code,
			const char *args_type, const char *where, char *err)
{
	const struct spec_code *apply = &pl->spec->apply;
	bool in_action = code != apply;
	uint32_t i;

	for (i = 0; i < code->n; i++) {
		char alone[RTE_SWX_INSTRUCTION_SIZE], end[RTE_SWX_INSTRUCTION_SIZE * 2];
		const char *text = strstr(code->text[i], " : ");
		const char *probe[3] = { apply->text[0], alone, end };
		const char *last = strstr(apply->text[apply->n - 1], "tx ");
		char label[RTE_SWX_NAME_SIZE] = "", name[RTE_SWX_NAME_SIZE];
		int bad;

		text = text ? text + 3 : code->text[i];
		if (!strncmp(text, in_action ? "return" : "rx ", in_action ? 6 : 3) ||
		    !strncmp(text, "tx ", 3))
			continue;
		snprintf(alone, sizeof(alone), "%s", text);
		if (sscanf(text, "jmp%*s %63s", label) != 1)
			sscanf(text, "jmp %63s", label);
		snprintf(end, sizeof(end), "%s%s%s", label, label[0] ? " : " : "",
			 in_action ? "return" : last ? last : "drop");
		snprintf(name, sizeof(name), "probe_%u", i);
		bad = in_action ?
		      rte_swx_pipeline_action_config(pl->p, name, args_type, probe + 1, 2) :
		      rte_swx_pipeline_instructions_config(pl->p, probe, 3);
		if (bad)
			return fail(err, bad, "%s: DPDK refuses the instruction '%s'",
				    where, code->text[i]);
	}
	return fail(err, -EINVAL, "%s: DPDK refuses it: is a label missing?", where);
}

static int build_code(struct pipeline *pl, char *err)
{
	struct rte_swx_pipeline_mirroring_params mirroring = {
		.n_slots = P4_SLOTS,
		.n_sessions = P4_SESSIONS,
	};
	const struct spec *s = pl->spec;
	uint32_t i;
	int code;

	for (i = 0; i < s->n_actions; i++) {
		const struct spec_action *a = &s->actions[i];

		code = rte_swx_pipeline_action_config(pl->p, a->name, a->args_type,
						      a->code.text, a->code.n);
		if (code) {
			char where[RTE_SWX_NAME_SIZE + 64];

			snprintf(where, sizeof(where), "action %s (line %u of the .spec)",
				 a->name, a->line);
			return refused_code(pl, &a->code, a->args_type, where, err);
		}
	}
	for (i = 0; i < s->n_tables; i++) {
		code = build_table(pl, &s->tables[i], err);
		if (code)
			return code;
	}
	code = rte_swx_pipeline_instructions_config(pl->p, s->apply.text, s->apply.n);
	if (code)
		return refused_code(pl, &s->apply, NULL, "apply block of the .spec", err);
	code = rte_swx_pipeline_mirroring_config(pl->p, &mirroring);
	if (!code)
		code = rte_swx_pipeline_build(pl->p);
	if (code)
		return fail(err, code, "DPDK cannot build the pipeline: %s%s", strerror(-code),
			    code == -ENOMEM || code == -ENODEV ? ": give --memory more" : "");
	return 0;
}

static int build_forwarding(struct pipeline *pl, char *err)
{
	uint64_t all = (1ull << pl->n_ports) - 1;
	unsigned int i;
	int code = 0;

	for (i = 0; i < P4_SESSIONS && !code; i++) {
		bool flood = i >= P4_SESSION_FLOOD &&
			     i < P4_SESSION_FLOOD + pl->n_ports;

		code = pipeline_session_set(pl, i, flood ? i - P4_SESSION_FLOOD : P4_PORT_SINK);
	}
	if (code)
		return fail(err, code, "DPDK refuses a mirroring session: %s",
			    strerror(-code));
	if (!pipeline_has_table(pl, P4_TABLE_FLOOD))
		return 0;
	for (i = 0; i < pl->n_ports && !code; i++)
		code = pipeline_flood_set(pl, i, all & ~(1ull << i), err);
	return code ? code : pipeline_commit(pl, err);
}

static int build(struct pipeline *pl, struct port **ports, char *err)
{
	struct port *all[P4_PORT_SINK + 1];
	uint32_t n_in = ports_of(pl, ports, all);
	int code = check_offsets(pl->spec, err);

	if (code)
		return code;
	pl->drop_port = P4_PORT_SINK + 1;
	if (pl->spec->compiled) {
		pl->p = compiled_build(pl->spec, all, n_in, all, P4_PORT_SINK + 1,
				       &pl->compiled, err);
		return pl->p ? 0 : -EINVAL;
	}
	code = rte_swx_pipeline_config(&pl->p, NULL, SOCKET_ID_ANY);
	if (code) {
		pl->p = NULL;
		return fail(err, code,
			    "DPDK has no memory for a pipeline: give --memory more");
	}
	if (build_ports(pl, all, n_in, err) || build_types(pl, err) ||
	    build_arrays(pl, err) || build_code(pl, err))
		return -EINVAL;
	return 0;
}

struct pipeline *pipeline_create(const struct spec *spec, struct port **ports,
				 unsigned int n_ports, char *err)
{
	struct pipeline *pl;

	if (!n_ports || n_ports > P4_PORT_MAX) {
		fail(err, -EINVAL, "a P4 switch has 1 to %d ports, not %u",
		     P4_PORT_MAX, n_ports);
		return NULL;
	}
	pl = calloc(1, sizeof(*pl));
	if (!pl) {
		fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	pl->spec = spec;
	pl->flow = ports[0]->flow;
	pl->n_ports = n_ports;
	memcpy(pl->ports, ports, n_ports * sizeof(ports[0]));
	pl->sink = port_create("sink=null:", P4_PORT_SINK, 0, pl->flow, err);
	if (!pl->sink)
		goto error;
	if (build(pl, ports, err))
		goto error;
	pl->ctl = rte_swx_ctl_pipeline_create(pl->p);
	if (!pl->ctl) {
		fail(err, -ENOMEM,
		     "DPDK has no memory for the tables of the program: give --memory more");
		goto error;
	}
	if (build_forwarding(pl, err))
		goto error;
	return pl;

error:
	pipeline_free(pl);
	return NULL;
}

void pipeline_free(struct pipeline *pl)
{
	if (!pl)
		return;
	pl->flow->ahead.n = 0;
	if (pl->compiled.program)
		pl->compiled.stop(pl->compiled.program);
	rte_swx_ctl_pipeline_free(pl->ctl);
	rte_swx_pipeline_free(pl->p);
	port_destroy(pl->sink);
	free(pl);
}

/* --- Running --- */

uint64_t pipeline_dropped(const struct pipeline *pl)
{
	struct rte_swx_port_out_stats stats = { 0 };

	rte_swx_ctl_pipeline_port_out_stats_read(pl->p, pl->drop_port, &stats);
	/* Of copies, DPDK counts each as dropped and as copied. */
	return stats.n_pkts_drop - stats.n_pkts_clone;
}

bool pipeline_drained(const struct pipeline *pl)
{
	const struct port_flow *flow = pl->flow;

	if (flow->waiting)
		return false;
	return flow->taken == flow->given ||
	       flow->taken == flow->given + pipeline_dropped(pl);
}

/* Packets of all ports in turn. */
static uint32_t take_batch(struct pipeline *pl, struct rte_swx_pkt pkts[BATCH],
			   uint32_t from[BATCH])
{
	uint32_t n = 0;

	while (n < BATCH && pl->flow->waiting) {
		from[n] = pl->next_port;
		n += (uint32_t)port_swx_in_ops.pkt_rx(pl->ports[pl->next_port], &pkts[n]);
		pl->next_port = pl->next_port + 1 < pl->n_ports ? pl->next_port + 1 : 0;
	}
	return n;
}

static bool work_translated(struct pipeline *pl)
{
	struct rte_swx_pkt pkts[BATCH];
	uint32_t from[BATCH], n;
	unsigned int i;

	for (i = 0; i < BATCHES_MAX && pl->flow->waiting; i++) {
		n = take_batch(pl, pkts, from);
		pl->compiled.run(pl->compiled.program, pkts, from, n);
	}
	return !pl->flow->waiting;
}

bool pipeline_work(struct pipeline *pl)
{
	unsigned int i;

	if (pl->compiled.program)
		return work_translated(pl);
	for (i = 0; i < RUN_STEPS_MAX; i++) {
		if (pipeline_drained(pl))
			return true;
		rte_swx_pipeline_run(pl->p, RUN_STEP);
	}
	return pipeline_drained(pl);
}
