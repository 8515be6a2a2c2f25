// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-switchd: a switch in software.  Options, and the client's side of the
 * control socket (--send).
 */
#include <getopt.h>
#include <stdlib.h>

#include "compiled.h"
#include "control.h"
#include "frame.h"
#include "switchd.h"
#include "tools/common/number.h"

static const char usage[] =
"usage: weft-switchd --spec FILE|none --port NAME=KIND... [OPTION]...\n"
"       weft-switchd --control PATH --send 'COMMAND'\n"
"       weft-switchd --spec FILE --write-code FILE\n"
"\n"
"  --spec FILE|none     P4 program compiled by p4c-dpdk; none: a plain switch\n"
"  --foreign            the program is not weft's own: run it all the same\n"
"  --compiled FILE      the same program as machine code, made by the script\n"
"                       tools/switchd/compile\n"
"  --port NAME=unix:LOCAL:REMOTE   a pair of datagram sockets, one frame each\n"
"  --port NAME=seq:SOCKET          a socket of packets, to which the other end connects\n"
"  --port NAME=tap:INTERFACE       a TAP device\n"
"  --port NAME=packet:INTERFACE    a network interface\n"
"  --node ID=NAME       node ID (1 to 32) is behind port NAME\n"
"  --blade ID=NAME      memory blade ID (33 to 48) is behind port NAME\n"
"  --rack N             number of the rack that it is the directory of (0)\n"
"  --epoch N            first generation of directory slots (from the time)\n"
"  --control PATH       socket for commands; it appears when the switch is ready\n"
"  --send COMMAND       send a command to a running switch, print its answer;\n"
"                       the command 'help' lists all\n"
"  --cpu N              run on this CPU only\n"
"  --memory MB          memory for frames, tables and registers (384)\n"
"  --write-code FILE    write C code for the program instead, for that script\n"
"\n"
"Faults of every frame that comes in; P is a probability from 0 to 1:\n"
"  --loss P --dup P --reorder P --corrupt P --delay MICROSECONDS --seed N\n";

enum option_id {
	OPT_SPEC = 256,
	OPT_FOREIGN,
	OPT_COMPILED,
	OPT_WRITE_CODE,
	OPT_PORT,
	OPT_NODE,
	OPT_BLADE,
	OPT_RACK,
	OPT_LOSS,
	OPT_DUP,
	OPT_REORDER,
	OPT_CORRUPT,
	OPT_DELAY,
	OPT_SEED,
	OPT_EPOCH,
	OPT_CONTROL,
	OPT_SEND,
	OPT_CPU,
	OPT_MEMORY,
	OPT_HELP,
};

static const struct option options[] = {
	{ "spec", required_argument, NULL, OPT_SPEC },
	{ "foreign", no_argument, NULL, OPT_FOREIGN },
	{ "compiled", required_argument, NULL, OPT_COMPILED },
	{ "write-code", required_argument, NULL, OPT_WRITE_CODE },
	{ "port", required_argument, NULL, OPT_PORT },
	{ "node", required_argument, NULL, OPT_NODE },
	{ "blade", required_argument, NULL, OPT_BLADE },
	{ "rack", required_argument, NULL, OPT_RACK },
	{ "loss", required_argument, NULL, OPT_LOSS },
	{ "dup", required_argument, NULL, OPT_DUP },
	{ "reorder", required_argument, NULL, OPT_REORDER },
	{ "corrupt", required_argument, NULL, OPT_CORRUPT },
	{ "delay", required_argument, NULL, OPT_DELAY },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "epoch", required_argument, NULL, OPT_EPOCH },
	{ "control", required_argument, NULL, OPT_CONTROL },
	{ "send", required_argument, NULL, OPT_SEND },
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static __attribute__((noreturn)) void give_up(const char *err)
{
	fprintf(stderr, "weft-switchd: %s\n", err);
	exit(1);
}

static double fraction(const char *option, const char *text, double max)
{
	char err[ERR_MAX];
	double value;

	if (number_real(text, 0, max, &value)) {
		fail(err, 0, "--%s '%s': expected a number from 0 to %.0f", option,
		     text, max);
		give_up(err);
	}
	return value;
}

static uint64_t number(const char *option, const char *text, uint64_t max)
{
	char err[ERR_MAX];
	uint64_t value;

	if (number_u64(text, 0, max, &value)) {
		fail(err, 0, "--%s '%s': expected a number up to %llu", option, text,
		     (unsigned long long)max);
		give_up(err);
	}
	return value;
}

static void take_option(struct switchd_config *c, int id, const char *name,
			const char **send)
{
	switch (id) {
	case OPT_SPEC:
		c->spec = optarg;
		break;
	case OPT_FOREIGN:
		c->foreign = true;
		break;
	case OPT_COMPILED:
		c->compiled = optarg;
		break;
	case OPT_WRITE_CODE:
		c->code = optarg;
		break;
	case OPT_PORT:
		if (c->n_ports == P4_PORT_MAX)
			give_up("too many ports");
		c->ports[c->n_ports++] = optarg;
		break;
	case OPT_NODE:
		if (c->n_nodes == WEFT_NODE_MAX)
			give_up("too many nodes");
		c->nodes[c->n_nodes++] = optarg;
		break;
	case OPT_BLADE:
		if (c->n_blades == sizeof(c->blades) / sizeof(c->blades[0]))
			give_up("too many memory blades");
		c->blades[c->n_blades++] = optarg;
		break;
	case OPT_RACK:
		c->rack = (uint32_t)number(name, optarg, UINT32_MAX);
		break;
	case OPT_LOSS:
		c->fault.loss = fraction(name, optarg, 1);
		break;
	case OPT_DUP:
		c->fault.dup = fraction(name, optarg, 1);
		break;
	case OPT_REORDER:
		c->fault.reorder = fraction(name, optarg, 1);
		break;
	case OPT_CORRUPT:
		c->fault.corrupt = fraction(name, optarg, 1);
		break;
	case OPT_DELAY:
		c->fault.delay_ns = (uint64_t)(fraction(name, optarg, 1e7) * 1000);
		break;
	case OPT_SEED:
		c->seed = number(name, optarg, UINT64_MAX);
		break;
	case OPT_EPOCH:
		c->epoch = number(name, optarg, UINT32_MAX);
		c->have_epoch = true;
		break;
	case OPT_CONTROL:
		c->control = optarg;
		break;
	case OPT_SEND:
		*send = optarg;
		break;
	case OPT_CPU:
		c->cpu = (int)number(name, optarg, 1023);
		break;
	case OPT_MEMORY:
		c->memory = (unsigned int)number(name, optarg, 65536);
		break;
	case OPT_HELP:
		fputs(usage, stdout);
		exit(0);
	default:
		fputs(usage, stderr);
		exit(2);
	}
}

static int send_command(const char *path, const char *command)
{
	char err[ERR_MAX], *answer;
	int failed;

	if (!path)
		give_up("--send needs --control, the socket of a running switch");
	if (control_send(path, command, &answer, err))
		give_up(err);
	failed = !strncmp(answer, "error:", 6);
	fprintf(failed ? stderr : stdout, "%s%s\n", failed ? "weft-switchd: " : "",
		failed ? answer + 7 : answer);
	free(answer);
	return failed;
}

static int write_code(const struct switchd_config *config)
{
	char err[ERR_MAX];

	if (frame_init(config->memory, 0, err) ||
	    compiled_write(config->spec, config->code, err))
		give_up(err);
	frame_exit();
	return 0;
}

int main(int argc, char **argv)
{
	struct switchd_config config = { .cpu = -1, .seed = 1 };
	const char *send = NULL;
	char err[ERR_MAX] = "";
	struct switchd *sw;
	int id, index, code;

	while ((id = getopt_long(argc, argv, "", options, &index)) != -1)
		take_option(&config, id, id == '?' ? "" : options[index].name, &send);
	if (optind < argc) {
		fputs(usage, stderr);
		return 2;
	}
	if (send)
		return send_command(config.control, send);
	if (!config.spec)
		give_up("--spec FILE|none is missing: which program is this switch to run?");

	if (config.code)
		return write_code(&config);

	sw = switchd_create(&config, err);
	if (!sw)
		give_up(err);
	code = switchd_run(sw, err);
	switchd_destroy(sw);
	frame_exit();
	if (code)
		give_up(err);
	return 0;
}
