/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A running weft-switchd for the tests, and stations on its unix sockets.
 */
#ifndef WEFT_TESTS_SWITCHD_DAEMON_H
#define WEFT_TESTS_SWITCHD_DAEMON_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frames.h"
#include "control.h"
#include "fail.h"
#include "tests/common/folder.h"
#include "tools/common/clock.h"
#include "tools/common/json.h"

#define START_MS	20000
#define END_S		60	/* for it to end, however busy it and the machine are */
#define ARGS_MAX	40

/*
 * For a frame that is certain to come.  Once something has failed it is less: what
 * else is wrong shall be seen before the time of the test is up.
 */
#define SOON_MS		(check_failures ? 3000 : 20000 * (int)check_scale())

static char dir[FOLDER_MAX];

/* A path in the directory of this run; good until 8 more were asked for. */
__attribute__((format(printf, 1, 2)))
static inline const char *in_dir(const char *fmt, ...)
{
	static char paths[8][128];
	static unsigned int i;
	char *path = paths[i++ % 8];
	va_list args;
	int n;

	n = snprintf(path, sizeof(paths[0]), "%s/", dir);
	va_start(args, fmt);
	vsnprintf(path + n, sizeof(paths[0]) - (size_t)n, fmt, args);
	va_end(args);
	return path;
}

/**
 * struct daemon - a switch that is running
 * @pid: its process
 * @args: its arguments
 * @n_args: how many
 */
struct daemon {
	pid_t pid;
	char *args[ARGS_MAX + 1];
	int n_args;
};

__attribute__((format(printf, 2, 3)))
static inline void daemon_arg(struct daemon *d, const char *fmt, ...)
{
	va_list args;

	if (d->n_args == ARGS_MAX)
		abort();
	va_start(args, fmt);
	if (vasprintf(&d->args[d->n_args++], fmt, args) < 0)
		abort();
	va_end(args);
}

/* Starts it, with what it prints in the file "log". */
static inline void daemon_exec(struct daemon *d)
{
	const char *build = getenv("BUILD");
	char program[512];

	snprintf(program, sizeof(program), "%s/bin/weft-switchd", build ? build : "build");
	d->pid = fork();
	if (d->pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!freopen(in_dir("log"), "w", stdout) || dup2(1, 2) < 0)
		_exit(126);
	memmove(d->args + 1, d->args, (ARGS_MAX - 1) * sizeof(d->args[0]));
	d->args[0] = program;
	d->args[d->n_args + 1] = NULL;
	execv(program, d->args);
	_exit(127);
}

static inline void daemon_forget_args(struct daemon *d)
{
	while (d->n_args)
		free(d->args[--d->n_args]);
}

/* The end of what it has printed. */
static inline const char *daemon_log(void)
{
	static char text[4096];
	FILE *f = fopen(in_dir("log"), "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = 0;
	if (f)
		fclose(f);
	return text;
}

/* Waits until it has ended by itself; gives its exit status. */
static inline int daemon_wait(struct daemon *d, double limit)
{
	double end = now_seconds() + limit * check_scale();
	int status;

	while (waitpid(d->pid, &status, WNOHANG) == 0) {
		if (now_seconds() > end) {
			kill(d->pid, SIGKILL);
			waitpid(d->pid, &status, 0);
			d->pid = 0;
			return -1;
		}
		usleep(2000);
	}
	d->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Starts it and waits for its control socket. */
static inline bool daemon_start(struct daemon *d)
{
	int i, status;

	daemon_arg(d, "--control");
	daemon_arg(d, "%s", in_dir("ctl"));
	daemon_exec(d);
	for (i = 0; i < START_MS / 5; i++) {
		char err[ERR_MAX], *answer;

		if (waitpid(d->pid, &status, WNOHANG) == d->pid) {
			d->pid = 0;
			CHECK(false, "the switch does not start: %s", daemon_log());
			return false;
		}
		if (!control_send(in_dir("ctl"), "help", &answer, err)) {
			free(answer);
			return true;
		}
		usleep(5000);
	}
	CHECK(false, "the switch does not answer");
	return false;
}

/* Sends a command; gives the answer, good until the next command. */
__attribute__((format(printf, 1, 2)))
static inline const char *command(const char *fmt, ...)
{
	static char *answer;
	char line[512], err[ERR_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	free(answer);
	answer = NULL;
	if (control_send(in_dir("ctl"), line, &answer, err)) {
		CHECK(false, "'%s': %s", line, err);
		return "";
	}
	return answer;
}

#define OK(...) do {							\
	const char *answer_ = command(__VA_ARGS__);			\
	CHECK(!strcmp(answer_, "ok"), "%s", answer_);			\
} while (0)

/* A number behind "name": in the part of the statistics for a port. */
static inline long port_stat(const char *port, const char *name)
{
	char key[64];
	const char *at;
	double value;

	snprintf(key, sizeof(key), "\"name\":\"%s\"", port);
	at = strstr(command("stats"), key);
	if (at && json_find_real(at, name, &value))
		return (long)value;
	CHECK(false, "no %s of port %s in the statistics", name, port);
	return -1;
}

/* Frames that are nowhere: neither free nor waiting to be received into. */
static inline long frames_missing(unsigned int n_ports)
{
	double value;

	return 8192 - (json_find_real(command("stats"), "buffers_free", &value) ?
		       64 * (long)n_ports + (long)value : 0);
}

static inline void daemon_stop(struct daemon *d)
{
	if (!d->pid)
		return;
	OK("quit");
	CHECK(daemon_wait(d, END_S) == 0, "it does not end well: %s", daemon_log());
	daemon_forget_args(d);
}

/* --- Stations --- */

/* A station: bound to NAME.q, sends to NAME.s; its port is --port of that. */
static inline void station_address(struct sockaddr_un *a, const char *name, char side)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	snprintf(a->sun_path, sizeof(a->sun_path), "%s/%s.%c", dir, name, side);
}

static inline int station_open(const char *name)
{
	struct sockaddr_un a;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), size = 1 << 20;

	station_address(&a, name, 'q');
	unlink(a.sun_path);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	CHECK(fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a)), "%s: %s",
	      a.sun_path, strerror(errno));
	return fd;
}

static inline void station_port(struct daemon *d, const char *name)
{
	daemon_arg(d, "--port");
	daemon_arg(d, "%s=unix:%s:%s", name, in_dir("%s.s", name), in_dir("%s.q", name));
}

/* Waits for room, but not for ever. */
static inline bool station_send(int fd, const char *name, const void *f, size_t len)
{
	struct timespec pause = { .tv_nsec = 100000 };
	struct sockaddr_un a;
	int i;

	station_address(&a, name, 's');
	for (i = 0; i < 50000; i++) {
		if (sendto(fd, f, len, MSG_DONTWAIT, (struct sockaddr *)&a,
			   sizeof(a)) == (ssize_t)len)
			return true;
		if (errno != EAGAIN)
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* The next frame, or -1 if there is none for @ms milliseconds. */
static inline ssize_t station_receive(int fd, void *f, size_t size, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, ms) != 1)
		return -1;
	return recv(fd, f, size, MSG_DONTWAIT);
}

/* --- A switch with four stations --- */

#define N_STATIONS	4

static const char *const names[N_STATIONS] = { "a", "b", "c", "d" };
static int fd[N_STATIONS];
static struct daemon sw;
static const char *spec;

/*
 * Two commands: when the second one is answered, the switch has been through
 * its loop since the first one came, and all that was sent before has arrived.
 */
static inline void settle(void)
{
	command("help");
	command("help");
}

/* Until nothing comes any more; the switch may have kept a lot. */
static inline void drain(void)
{
	uint8_t f[16384];
	int i, quiet = 0;

	while (quiet < 3) {
		quiet++;
		if (sw.pid)
			settle();
		for (i = 0; i < N_STATIONS; i++)
			while (station_receive(fd[i], f, sizeof(f), 0) >= 0)
				quiet = 0;
	}
}

static inline void start(const char *more, const char *value)
{
	int i;

	daemon_arg(&sw, "--spec");
	daemon_arg(&sw, "%s", spec);
	if (!strcmp(spec, in_dir("program.spec")))
		daemon_arg(&sw, "--foreign");
	for (i = 0; i < N_STATIONS; i++)
		station_port(&sw, names[i]);
	if (more) {
		daemon_arg(&sw, "%s", more);
		daemon_arg(&sw, "%s", value);
	}
	drain();
	daemon_start(&sw);
}

/* Sends a frame; the mask of stations that get it, the bytes checked. */
static inline unsigned int reached(unsigned int from, unsigned int to, size_t len, uint32_t tag)
{
	uint8_t f[16384], g[16384];
	unsigned int i, mask = 0;

	make_frame(f, to, 1 + from, len, tag);
	CHECK(station_send(fd[from], names[from], f, len), "cannot send: %s", strerror(errno));
	settle();
	for (i = 0; i < N_STATIONS; i++) {
		ssize_t n = station_receive(fd[i], g, sizeof(g), 0);

		if (n < 0)
			continue;
		CHECK(n == (ssize_t)len && !memcmp(f, g, len),
		      "station %s gets %zd other bytes", names[i], n);
		mask |= 1u << i;
	}
	return mask;
}

/* Frames from one reach these and nobody else, as soon as what was learned is in the table. */
static inline bool soon_reached(unsigned int from, unsigned int to, unsigned int wanted)
{
	unsigned int mask = 0;
	int i;

	for (i = 0; i < SOON_MS; i++) {
		mask = reached(from, to, 64, 1);
		if (mask == wanted)
			return true;
		usleep(1000);
	}
	CHECK(false, "from %u to %u: reached 0x%x, not 0x%x", from, to, mask, wanted);
	return false;
}

static inline void meet(void)
{
	unsigned int i;

	for (i = 0; i < N_STATIONS; i++)
		reached(i, 0xff, 64, 0);
	for (i = 0; i < N_STATIONS; i++)
		soon_reached((i + 1) % N_STATIONS, 1 + i, 1u << i);
}

/* A directory for this run, a program for the switch, the stations. */
static inline bool set_up(const char *program)
{
	FILE *f;
	int i;

	/* Children must not print what is waiting here, too. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	folder_make(dir, sizeof(dir), folder_usual(), "switchd");
	if (!program)
		return false;
	f = fopen(in_dir("program.spec"), "w");
	if (!f || fputs(program, f) < 0 || fclose(f))
		return false;
	for (i = 0; i < N_STATIONS; i++)
		fd[i] = station_open(names[i]);
	return true;
}

#endif /* WEFT_TESTS_SWITCHD_DAEMON_H */
