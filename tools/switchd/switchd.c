// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switch as a whole.
 *
 * One thread, one loop.  It sleeps when, and only when, nothing is left in the
 * queues and in the pipeline; what wakes it up is a frame, room at a link that
 * was full, a delayed frame that is due, a command or a signal.
 */
#include "switchd.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "frame.h"
#include "interface.h"
#include "l2.h"
#include "link.h"
#include "tools/common/clock.h"

/* What an event is about: in the upper half of its data; lower half: which. */
#define EVENT_RX	(1ull << 32)
#define EVENT_TX	(2ull << 32)
#define EVENT_SIGNAL	(3ull << 32)
#define EVENT_CONTROL	(4ull << 32)
#define EVENT_MASK	(7ull << 32)

#define EVENTS_MAX	64
/*
 * An interface that goes down says so once.  A device that says nothing but
 * errors has gone, and would wake us up for ever.
 */
#define ERRORS_MAX	100
/* 2024-01-01, where epochs taken from the time start. */
#define EPOCH_START	1704067200ull
/* Generations that a slot can use up in a second before epochs could meet. */
#define EPOCHS_A_SECOND	16

/* Cells of switches have 32 bits. */
static uint64_t time_epoch(void)
{
	uint64_t now = (uint64_t)time(NULL);

	return (now > EPOCH_START ? now - EPOCH_START : 0) * EPOCHS_A_SECOND & UINT32_MAX;
}

struct port *switchd_port(struct switchd *sw, const char *name)
{
	unsigned int i;

	for (i = 0; i < sw->n_ports; i++)
		if (!strcmp(sw->ports[i]->name, name))
			return sw->ports[i];
	return NULL;
}

/* "ID=PORT"; @what the member is, for the error's sentence. */
static const struct port *member_port(struct switchd *sw, const char *what,
				      const char *text, unsigned int *id, char *err)
{
	const struct port *port;
	int used = 0;

	if (sscanf(text, "%u=%n", id, &used) != 1 || !used) {
		fail(err, 0, "%s '%s': expected ID=PORT", what, text);
		return NULL;
	}
	port = switchd_port(sw, text + used);
	if (!port)
		fail(err, 0, "%s %u: there is no port '%s'", what, *id, text + used);
	return port;
}

int switchd_node(struct switchd *sw, const char *node, char *err)
{
	unsigned int id;
	const struct port *port = member_port(sw, "node", node, &id, err);

	if (!port)
		return -EINVAL;
	/* A plain switch knows no nodes, and needs to know none. */
	return sw->pl ? pipeline_node_set(sw->pl, id, port->number, err) : 0;
}

int switchd_blade(struct switchd *sw, const char *blade, char *err)
{
	unsigned int id;
	const struct port *port = member_port(sw, "blade", blade, &id, err);

	if (!port)
		return -EINVAL;
	if (id < WEFT_BLADE_MIN || id > WEFT_BLADE_MAX)
		return fail(err, -EINVAL, "memory blades are numbered from %d to %d, not %u",
			    WEFT_BLADE_MIN, WEFT_BLADE_MAX, id);
	return sw->pl ? pipeline_station_set(sw->pl, id, port->number, err) : 0;
}

int switchd_clear(struct switchd *sw, char *err)
{
	uint64_t epoch = time_epoch(), value;
	uint32_t i, size;
	int code;

	if (sw->pl) {
		/* What was on its way still meets the old state. */
		pipeline_work(sw->pl);
		size = pipeline_register_size(sw->pl, P4_REG_GEN);
		for (i = 0; i < size; i++)
			if (!pipeline_register_read(sw->pl, P4_REG_GEN, i, &value) &&
			    value >= epoch)
				epoch = value + 1;
		pipeline_reset(sw->pl, epoch);
		sw->epoch = epoch;
	}
	code = learn_forget(&sw->learn, sw->pl, err);
	return code;
}

/* --- Creation --- */

static int open_ports(struct switchd *sw, const struct switchd_config *config, char *err)
{
	unsigned int i, j;

	if (!config->n_ports)
		return fail(err, -EINVAL, "a switch needs at least one --port");
	for (i = 0; i < config->n_ports; i++) {
		sw->ports[i] = port_create(config->ports[i], i, config->seed, &sw->flow, err);
		if (!sw->ports[i])
			return -EINVAL;
		sw->n_ports++;
		sw->ports[i]->fault.config = config->fault;
		for (j = 0; j < i; j++)
			if (!strcmp(sw->ports[j]->name, sw->ports[i]->name))
				return fail(err, -EINVAL, "there are two ports '%s'",
					    sw->ports[i]->name);
	}
	return 0;
}

static int read_program(struct switchd *sw, const struct switchd_config *config,
			char *err)
{
	if (!strcmp(config->spec, "none"))
		return 0;
	sw->spec = spec_load(config->spec, err);
	if (!sw->spec)
		return -EINVAL;
	sw->spec->compiled = config->compiled;
	return config->foreign ? 0 : interface_check(sw->spec, config->spec, err);
}

static int start_program(struct switchd *sw, const struct switchd_config *config,
			 char *err)
{
	unsigned int i;
	int code = 0;

	if (sw->spec) {
		sw->pl = pipeline_create(sw->spec, sw->ports, sw->n_ports, err);
		if (!sw->pl)
			return -EINVAL;
		sw->epoch = config->have_epoch ? config->epoch : time_epoch();
		pipeline_reset(sw->pl, sw->epoch);
	}
	for (i = 0; i < config->n_nodes && !code; i++)
		code = switchd_node(sw, config->nodes[i], err);
	for (i = 0; i < config->n_blades && !code; i++)
		code = switchd_blade(sw, config->blades[i], err);
	/* A foreign program has no directory. */
	if (sw->pl && !code && pipeline_register_size(sw->pl, P4_REG_RACK))
		code = pipeline_register_write(sw->pl, P4_REG_RACK, 0, config->rack);
	if (sw->pl && !config->n_blades && !config->foreign)
		fprintf(stderr, "weft-switchd: no --blade says where the memory blades are: they keep their directories themselves\n");
	learn_init(&sw->learn, sw->pl);
	return code;
}

static int watch(struct switchd *sw, int fd, int op, uint64_t data, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u64 = data };

	return epoll_ctl(sw->epoll, op, fd, &event);
}

/* Wait for what the link of a port waits for now. */
static int watch_port(struct switchd *sw, unsigned int i)
{
	const struct link *link = sw->ports[i]->link;
	int code;

	if (link_rx_fd(link) < 0)
		return 0;
	code = watch(sw, link_rx_fd(link), EPOLL_CTL_ADD, EVENT_RX | i, EPOLLIN);
	/* Only armed while frames wait for room. */
	if (!code && link_tx_fd(link) >= 0)
		code = watch(sw, link_tx_fd(link), EPOLL_CTL_ADD, EVENT_TX | i, EPOLLONESHOT);
	return code;
}

static int open_events(struct switchd *sw, char *err)
{
	sigset_t signals;
	unsigned int i;
	int code = 0;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sw->epoll = epoll_create1(EPOLL_CLOEXEC);
	sw->signals = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (sw->epoll < 0 || sw->signals < 0)
		return fail(err, -errno, "no file descriptors: %s", strerror(errno));
	code = watch(sw, sw->signals, EPOLL_CTL_ADD, EVENT_SIGNAL, EPOLLIN);
	for (i = 0; i < sw->n_ports && !code; i++)
		code = watch_port(sw, i);
	return code ? fail(err, -errno, "cannot wait for ports: %s", strerror(errno)) : 0;
}

static int choose_cpu(int cpu, char *err)
{
	cpu_set_t set;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return fail(err, -errno, "cannot run on CPU %d: %s", cpu, strerror(errno));
	return 0;
}

struct switchd *switchd_create(const struct switchd_config *config, char *err)
{
	struct switchd *sw = calloc(1, sizeof(*sw));
	sigset_t signals;

	if (!sw) {
		fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	sw->epoll = -1;
	sw->signals = -1;
	sw->seed = config->seed;
	/* Before DPDK starts its threads, which must not take the signals. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	/* DPDK takes some time, so it comes after what is often wrong. */
	if (choose_cpu(config->cpu, err) ||
	    open_ports(sw, config, err) ||
	    read_program(sw, config, err) ||
	    frame_init(config->memory, 0, err) ||
	    start_program(sw, config, err) ||
	    open_events(sw, err))
		goto error;
	if (config->control) {
		sw->control = control_open(config->control, sw->epoll, EVENT_CONTROL,
					   command_run, sw, err);
		if (!sw->control)
			goto error;
	}
	return sw;

error:
	switchd_destroy(sw);
	return NULL;
}

void switchd_destroy(struct switchd *sw)
{
	unsigned int i;

	if (!sw)
		return;
	control_close(sw->control);
	pipeline_free(sw->pl);
	spec_free(sw->spec);
	for (i = 0; i < sw->n_ports; i++)
		port_destroy(sw->ports[i]);
	if (sw->epoll >= 0)
		close(sw->epoll);
	if (sw->signals >= 0)
		close(sw->signals);
	free(sw);
}

/* --- The loop --- */

static void handle(struct switchd *sw, const struct epoll_event *event, uint64_t now)
{
	unsigned int which = (unsigned int)event->data.u64;
	struct port *port;
	int fd;

	switch (event->data.u64 & EVENT_MASK) {
	case EVENT_RX:
		port = sw->ports[which];
		fd = link_rx_fd(port->link);
		if (port_fill(port, now) || event->events & EPOLLIN) {
			port->n_errors = 0;
		} else if (++port->n_errors == ERRORS_MAX) {
			fprintf(stderr, "weft-switchd: port %s does not receive any more\n",
				port->name);
			epoll_ctl(sw->epoll, EPOLL_CTL_DEL, link_rx_fd(port->link), NULL);
		}
		if (link_rx_fd(port->link) != fd) {
			/* What is closed is watched no more; what listens still is. */
			epoll_ctl(sw->epoll, EPOLL_CTL_DEL, fd, NULL);
			watch_port(sw, which);
		}
		break;
	case EVENT_TX:
		port_flush(sw->ports[which]);
		break;
	case EVENT_SIGNAL:
		sw->quit = true;
		break;
	case EVENT_CONTROL:
		control_event(sw->control, which);
		break;
	}
}

static void learn_waiting(struct switchd *sw, uint64_t now)
{
	unsigned int i;
	uint32_t j;

	for (i = 0; i < sw->n_ports; i++) {
		const struct frameq *q = &sw->ports[i]->rxq;

		for (j = 0; j < frameq_count(q); j++)
			learn_frame(&sw->learn, frame_data(frameq_peek(q, j)), i, now);
	}
}

/* One round: what has come in goes through the switch and out. */
static bool work(struct switchd *sw, uint64_t now)
{
	char err[ERR_MAX];
	bool idle = true;
	unsigned int i;

	for (i = 0; i < sw->n_ports; i++)
		if (fault_due(&sw->ports[i]->fault) <= now)
			fault_poll(&sw->ports[i]->fault, now);
	if (sw->flow.waiting)
		learn_waiting(sw, now);
	if (sw->pl)
		idle = pipeline_work(sw->pl);
	else if (sw->flow.waiting)
		l2_work(sw->ports, sw->n_ports, &sw->learn);
	for (i = 0; i < sw->n_ports; i++) {
		struct port *port = sw->ports[i];

		if (!frameq_count(&port->txq))
			continue;
		if (!link_blocked(port->link))
			port_flush(port);
		if (link_blocked(port->link))
			watch(sw, link_tx_fd(port->link), EPOLL_CTL_MOD, EVENT_TX | i,
			      EPOLLOUT | EPOLLONESHOT);
	}
	/* After the frames: it takes longer than all of them. */
	if (sw->pl && idle && learn_due(&sw->learn, now) &&
	    learn_commit(&sw->learn, sw->pl, now, err))
		fprintf(stderr, "weft-switchd: stations are not learned: %s\n", err);
	return idle;
}

/* When the loop has to go on even if nothing comes in. */
static uint64_t next_due(const struct switchd *sw)
{
	uint64_t due = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < sw->n_ports; i++) {
		uint64_t port_due = fault_due(&sw->ports[i]->fault);

		if (port_due < due)
			due = port_due;
	}
	if (sw->pl && (sw->learn.n_changed || sw->learn.n_gone) &&
	    sw->learn.next_commit < due)
		due = sw->learn.next_commit;
	return due;
}

int switchd_run(struct switchd *sw, char *err)
{
	struct epoll_event events[EVENTS_MAX];
	bool idle = false;

	while (!sw->quit) {
		struct timespec wait = { 0 };
		uint64_t now, due = UINT64_MAX;
		int i, n;

		if (idle) {
			due = next_due(sw);
			now = due < UINT64_MAX ? now_ns() : 0;
			if (due > now) {
				wait.tv_sec = (time_t)((due - now) / 1000000000u);
				wait.tv_nsec = (long)((due - now) % 1000000000u);
			}
		}
		n = epoll_pwait2(sw->epoll, events, EVENTS_MAX,
				 due < UINT64_MAX || !idle ? &wait : NULL, NULL);
		if (n < 0 && errno != EINTR)
			return fail(err, -errno, "cannot wait: %s", strerror(errno));
		now = now_ns();
		for (i = 0; i < n; i++)
			handle(sw, &events[i], now);
		idle = work(sw, now);
	}
	return 0;
}
