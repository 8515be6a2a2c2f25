// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands of the control socket.
 */
#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "link.h"
#include "switchd.h"
#include "tools/common/json.h"
#include "tools/common/number.h"

#define WORDS_MAX	32
/* Register cells in one answer. */
#define CELLS_MAX	65536

/**
 * struct request - a command being run
 * @sw: the switch
 * @word: the words of the line
 * @n: how many
 * @out: for the answer
 */
struct request {
	struct switchd *sw;
	char *word[WORDS_MAX];
	unsigned int n;
	FILE *out;
};

static int no_program(char *err)
{
	return fail(err, -ENOTSUP, "the switch runs no P4 program (--spec none)");
}

static struct port *port_named(struct request *r, unsigned int i, char *err)
{
	struct port *port = switchd_port(r->sw, r->word[i]);

	if (!port)
		fail(err, -ENOENT, "there is no port '%s'", r->word[i]);
	return port;
}

/* --- Faults --- */

static int set_one(struct fault_config *f, const char *what, double value, char *err)
{
	double *p = NULL;

	if (!strcmp(what, "delay")) {
		if (!(value >= 0 && value <= 1e7))
			return fail(err, -EINVAL,
				    "a delay is 0 to 10000000 microseconds");
		f->delay_ns = (uint64_t)(value * 1000);
		return 0;
	}
	if (!strcmp(what, "loss"))
		p = &f->loss;
	else if (!strcmp(what, "dup"))
		p = &f->dup;
	else if (!strcmp(what, "reorder"))
		p = &f->reorder;
	else if (!strcmp(what, "corrupt"))
		p = &f->corrupt;
	if (!p)
		return fail(err, -EINVAL,
			    "'%s' is no fault: loss, dup, reorder, delay and corrupt are", what);
	if (!(value >= 0 && value <= 1))
		return fail(err, -EINVAL, "a probability is a number from 0 to 1");
	*p = value;
	return 0;
}

static int do_set(struct request *r, char *err)
{
	struct port *only = NULL;
	unsigned int i;
	double value = -1;	/* what no fault can be, as "nan" */
	int code = 0;

	if (number_real(r->word[2], -HUGE_VAL, HUGE_VAL, &value) == -EINVAL)
		return fail(err, -EINVAL, "'%s' is not a number", r->word[2]);
	if (r->n > 3) {
		only = port_named(r, 3, err);
		if (!only)
			return -ENOENT;
	}
	for (i = 0; i < r->sw->n_ports && !code; i++)
		if (!only || only == r->sw->ports[i])
			code = set_one(&r->sw->ports[i]->fault.config, r->word[1],
				       value, err);
	return code;
}

static int do_seed(struct request *r, char *err)
{
	unsigned int i;

	if (number_u64(r->word[1], 0, UINT64_MAX, &r->sw->seed))
		return fail(err, -EINVAL, "a seed is a number");
	for (i = 0; i < r->sw->n_ports; i++)
		fault_reseed(&r->sw->ports[i]->fault, i, r->sw->seed);
	return 0;
}

static int do_cut(struct request *r, char *err)
{
	struct port *port = port_named(r, 1, err);

	if (!port)
		return -ENOENT;
	port_cut(port);
	return 0;
}

static int do_heal(struct request *r, char *err)
{
	struct port *port = port_named(r, 1, err);

	if (!port)
		return -ENOENT;
	port_heal(port);
	return 0;
}

/* --- Statistics --- */

static void print_port(struct json *j, const struct port *port)
{
	const struct fault_counters *f = &port->fault.n;
	const struct fault_config *c = &port->fault.config;
	const struct port_counters *n = &port->n;

	json_object(j, NULL);
	json_string(j, "name", port->name);
	json_string(j, "kind", link_kind(port->link));
	json_bool(j, "cut", port->is_cut);
	json_u64(j, "rx", n->rx);
	json_u64(j, "rx_bytes", n->rx_bytes);
	json_u64(j, "tx", n->tx);
	json_u64(j, "tx_bytes", n->tx_bytes);
	json_u64(j, "drop", n->rx_drop + n->tx_drop + n->cut + f->overflow);
	json_u64(j, "rx_drop", n->rx_drop);
	json_u64(j, "tx_drop", n->tx_drop);
	json_u64(j, "cut_drop", n->cut);
	json_u64(j, "lost", f->lost);
	json_u64(j, "dup", f->duplicated);
	json_u64(j, "damaged", f->damaged);
	json_u64(j, "held", f->held);
	json_u64(j, "reordered", f->reordered);
	json_u64(j, "delayed", f->delayed);
	json_u64(j, "overflow", f->overflow);
	json_object(j, "faults");
	json_real(j, "loss", c->loss);
	json_real(j, "dup", c->dup);
	json_real(j, "reorder", c->reorder);
	json_real(j, "corrupt", c->corrupt);
	json_real(j, "delay", (double)c->delay_ns / 1000);
	json_close(j);
	json_close(j);
}

static void print_program(struct json *j, const struct switchd *sw)
{
	uint64_t hits, misses;
	uint32_t i;

	json_object(j, "program");
	json_u64(j, "packets", sw->flow.taken);
	json_u64(j, "dropped", pipeline_dropped(sw->pl));
	json_object(j, "tables");
	for (i = 0; i < sw->spec->n_tables; i++) {
		const char *name = sw->spec->tables[i].name;

		if (pipeline_table_stats(sw->pl, name, &hits, &misses))
			continue;
		json_object(j, name);
		json_u64(j, "hit", hits);
		json_u64(j, "miss", misses);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

static int do_stats(struct request *r, char *err)
{
	struct switchd *sw = r->sw;
	unsigned int i;
	struct json j;

	(void)err;
	json_begin(&j, r->out, false);
	json_string(&j, "mode", sw->pl ? "p4" : "plain");
	json_u64(&j, "seed", sw->seed);
	json_u64(&j, "epoch", sw->epoch);
	/* Of the others, up to PORT_BATCH a port wait to be received into. */
	json_u64(&j, "buffers_free", frame_pool_free());
	json_u64(&j, "stations", sw->learn.n);
	json_u64(&j, "moves", sw->learn.n_moves);
	json_u64(&j, "not_learned", sw->learn.n_refused);
	json_array(&j, "ports");
	for (i = 0; i < sw->n_ports; i++)
		print_port(&j, sw->ports[i]);
	json_close(&j);
	if (sw->pl)
		print_program(&j, sw);
	json_close(&j);
	return 0;
}

static int do_stations(struct request *r, char *err)
{
	unsigned int i;
	struct json j;

	(void)err;
	json_start(&j, r->out, false);
	json_array(&j, NULL);
	for (i = 0; i < r->sw->learn.n; i++) {
		const struct station *s = &r->sw->learn.station[i];
		char mac[13];

		snprintf(mac, sizeof(mac), "%012" PRIx64, s->mac & 0xffffffffffff);
		json_object(&j, NULL);
		json_string(&j, "mac", mac);
		json_string(&j, "port", r->sw->ports[s->port]->name);
		json_close(&j);
	}
	json_close(&j);
	return 0;
}

/* --- The P4 program --- */

/* The directory's counters by their names. */
static int do_dir(struct request *r, char *err)
{
	static const char *const names[] = P4_STAT_NAMES;
	struct pipeline *pl = r->sw->pl;
	uint32_t i, size;
	uint64_t value;
	struct json j;

	if (!pl)
		return no_program(err);
	size = pipeline_register_size(pl, P4_REG_STAT);
	if (!size)
		return fail(err, -ENOENT, "the program has no register '%s'", P4_REG_STAT);
	json_begin(&j, r->out, false);
	json_u64(&j, "epoch", r->sw->epoch);
	for (i = 0; i < size && i < RTE_DIM(names); i++)
		if (!pipeline_register_read(pl, P4_REG_STAT, i, &value))
			json_u64(&j, names[i], value);
	json_close(&j);
	return 0;
}

/* NAME INDEX of a register cell. */
static int cell(struct request *r, uint64_t *index, uint32_t *size, char *err)
{
	if (!r->sw->pl)
		return no_program(err);
	*size = pipeline_register_size(r->sw->pl, r->word[1]);
	if (!*size)
		return fail(err, -ENOENT, "the program has no register '%s'", r->word[1]);
	if (number_u64(r->word[2], 0, *size - 1, index))
		return fail(err, -EINVAL, "register %s has cells 0 to %u, not '%s'",
			    r->word[1], *size - 1, r->word[2]);
	return 0;
}

static int do_register(struct request *r, char *err)
{
	uint64_t index = 0, count = 1, value, i;
	uint32_t size = 0;
	struct json j;
	int code = cell(r, &index, &size, err);

	if (code)
		return code;
	if (r->n > 3 && number_u64(r->word[3], 1, size - index < CELLS_MAX ? size - index :
				    CELLS_MAX, &count))
		return fail(err, -EINVAL,
			    "'%s' is too many cells, or none: register %s has %u, and an answer at most %d",
			    r->word[3], r->word[1], size, CELLS_MAX);
	json_start(&j, r->out, false);
	json_array(&j, NULL);
	for (i = 0; i < count; i++) {
		code = pipeline_register_read(r->sw->pl, r->word[1],
					      (uint32_t)(index + i), &value);
		if (code)
			return fail(err, code, "register %s cannot be read", r->word[1]);
		json_u64(&j, NULL, value);
	}
	json_close(&j);
	return 0;
}

static int do_write(struct request *r, char *err)
{
	uint64_t index = 0, value;
	uint32_t size = 0;
	int code = cell(r, &index, &size, err);

	if (code)
		return code;
	if (number_u64(r->word[3], 0, UINT64_MAX, &value))
		return fail(err, -EINVAL, "'%s' is not a number", r->word[3]);
	return pipeline_register_write(r->sw->pl, r->word[1], (uint32_t)index, value);
}

/* An entry of any table, in DPDK's words. */
static int do_entry(struct request *r, char *err)
{
	char entry[512] = "";
	size_t used = 0;
	unsigned int i;
	int code;

	if (!r->sw->pl)
		return no_program(err);
	for (i = 2; i < r->n && used < sizeof(entry); i++)
		used += (size_t)snprintf(entry + used, sizeof(entry) - used, "%s%s",
					 i > 2 ? " " : "", r->word[i]);
	code = pipeline_entry_set(r->sw->pl, r->word[1], entry, err);
	return code ? code : pipeline_commit(r->sw->pl, err);
}

static int do_node(struct request *r, char *err)
{
	return switchd_node(r->sw, r->word[1], err);
}

static int do_blade(struct request *r, char *err)
{
	return switchd_blade(r->sw, r->word[1], err);
}

static int do_clear(struct request *r, char *err)
{
	return switchd_clear(r->sw, err);
}

static int do_quit(struct request *r, char *err)
{
	(void)err;
	r->sw->quit = true;
	return 0;
}

static int do_help(struct request *r, char *err);

static const struct {
	const char *name;
	unsigned int min, max;		/* words after the name */
	int (*run)(struct request *r, char *err);
	const char *usage;
} commands[] = {
	{ "set", 2, 3, do_set, "set loss|dup|reorder|delay|corrupt VALUE [PORT]" },
	{ "seed", 1, 1, do_seed, "seed NUMBER" },
	{ "cut", 1, 1, do_cut, "cut PORT" },
	{ "heal", 1, 1, do_heal, "heal PORT" },
	{ "stats", 0, 0, do_stats, "stats" },
	{ "stations", 0, 0, do_stations, "stations" },
	{ "dir", 0, 0, do_dir, "dir" },
	{ "register", 2, 3, do_register, "register NAME INDEX [COUNT]" },
	{ "write", 3, 3, do_write, "write NAME INDEX VALUE" },
	{ "entry", 2, WORDS_MAX, do_entry, "entry TABLE match ... action ..." },
	{ "node", 1, 1, do_node, "node ID=PORT" },
	{ "blade", 1, 1, do_blade, "blade ID=PORT" },
	{ "clear", 0, 0, do_clear, "clear" },
	{ "help", 0, 0, do_help, "help" },
	{ "quit", 0, 0, do_quit, "quit" },
};

static int do_help(struct request *r, char *err)
{
	unsigned int i;

	(void)err;
	for (i = 0; i < RTE_DIM(commands); i++)
		fprintf(r->out, "%s%s", i ? "; " : "", commands[i].usage);
	return 0;
}

static int dispatch(struct request *r, char *err)
{
	unsigned int i;

	if (!r->n)
		return fail(err, -EINVAL, "no command: try help");
	for (i = 0; i < RTE_DIM(commands); i++) {
		if (strcmp(r->word[0], commands[i].name))
			continue;
		if (r->n - 1 < commands[i].min || r->n - 1 > commands[i].max)
			return fail(err, -EINVAL, "expected: %s", commands[i].usage);
		return commands[i].run(r, err);
	}
	return fail(err, -EINVAL, "unknown command '%.40s': try help", r->word[0]);
}

char *command_run(void *sw, char *line)
{
	struct request r = { .sw = sw };
	char *word, *rest = line, *answer = NULL;
	char err[ERR_MAX] = "";
	size_t len = 0;
	long written;
	int code;

	r.out = open_memstream(&answer, &len);
	if (!r.out)
		return NULL;
	while ((word = strtok_r(rest, " \t\r", &rest)) && r.n < WORDS_MAX)
		r.word[r.n++] = word;
	code = word ? fail(err, -EINVAL, "too many words") : dispatch(&r, err);
	written = ftell(r.out);
	if (code) {
		/* What was written until then is no answer. */
		rewind(r.out);
		fprintf(r.out, "error: %s", err[0] ? err : strerror(-code));
		fputc(0, r.out);
	} else if (!written) {
		fputs("ok", r.out);
	}
	if (fclose(r.out)) {
		free(answer);
		return NULL;
	}
	return answer;
}
