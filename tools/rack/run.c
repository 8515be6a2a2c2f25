// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-rackio run: one command in a guest, as if it ran here: its output, its
 * input (unless that is a terminal), its signals, its exit status. See frame.h.
 */
#include "frame.h"
#include "rackio.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/clock.h"

/* How long a command may take to end after a signal was passed on to it. */
#define SIGNAL_MS	10000

/* Where one of the command's output streams goes. */
struct sink {
	int		fd;
	enum frame_type	grant;
	struct bytes	bytes;
	uint32_t	owed;		/* received, not granted yet */
	bool		line_open;	/* with a prefix: the line has begun */
};

struct client {
	const char	*socket_path, *name, *log_path, *prefix;
	bool		no_stdin, tied;
	int		socket, signals;
	struct bytes	to_guest, from_guest;
	uint32_t	window;		/* bytes of input that may be sent */
	bool		in_ended;
	struct sink	sinks[2];
	bool		ended;
	int		status;		/* of wait() */
	int		signal;		/* last one passed on */
	uint64_t	leave_at;	/* ms; with @signal */
};

static int connect_to(const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(name.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(name.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&name, sizeof(name)) < 0)
		return -1;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static void add_string(struct bytes *b, char tag, const char *text)
{
	bytes_add(b, &tag, 1);
	bytes_add(b, text, strlen(text) + 1);
}

/* The command, its directory and its environment. */
static int send_command(struct client *c, char **argv)
{
	struct bytes strings = { 0 };
	char directory[PATH_MAX];

	if (!getcwd(directory, sizeof(directory)))
		strcpy(directory, "/");
	add_string(&strings, FRAME_TAG_DIRECTORY, directory);
	for (; *argv; argv++)
		add_string(&strings, FRAME_TAG_ARGUMENT, *argv);
	for (char **e = environ; *e; e++)
		/* These belong to the machine, not to the command. */
		if (strncmp(*e, "HOSTNAME=", 9) && strncmp(*e, "XDG_RUNTIME_DIR=", 16))
			add_string(&strings, FRAME_TAG_VARIABLE, *e);
	if (bytes_left(&strings) > FRAME_COMMAND_MAX) {
		fprintf(stderr, "weft-rack: the command is too long\n");
		return -1;
	}
	frame_add(&c->to_guest, 0, FRAME_COMMAND, strings.data + strings.start,
		  bytes_left(&strings));
	frame_add(&c->to_guest, 0, FRAME_START, NULL, 0);
	bytes_free(&strings);
	return 0;
}

/* Read standard input as far as the guest has room for it. */
static void read_input(struct client *c)
{
	char text[FRAME_PAYLOAD_MAX];
	size_t most = c->window < sizeof(text) ? c->window : sizeof(text);
	ssize_t n = read(STDIN_FILENO, text, most);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		c->in_ended = true;
		frame_add(&c->to_guest, 0, FRAME_STDIN, NULL, 0);
		return;
	}
	c->window -= n;
	frame_add(&c->to_guest, 0, FRAME_STDIN, text, n);
}

/* Queue output, each line behind the prefix if there is one. */
static void add_output(struct client *c, struct sink *s, const char *text, size_t length)
{
	s->owed += length;
	if (!c->prefix) {
		bytes_add(&s->bytes, text, length);
		return;
	}
	while (length) {
		const char *newline = memchr(text, '\n', length);
		size_t part = newline ? (size_t)(newline - text) + 1 : length;

		if (!s->line_open)
			bytes_add(&s->bytes, c->prefix, strlen(c->prefix));
		bytes_add(&s->bytes, text, part);
		s->line_open = !newline;
		text += part;
		length -= part;
	}
}

static void handle_frame(struct client *c, const struct frame_head *head,
			 const char *payload)
{
	switch (head->type) {
	case FRAME_STDOUT:
		add_output(c, &c->sinks[0], payload, head->length);
		break;
	case FRAME_STDERR:
		add_output(c, &c->sinks[1], payload, head->length);
		break;
	case FRAME_GRANT_STDIN:
		c->window += frame_u32(head, payload);
		break;
	case FRAME_EXIT:
		c->ended = true;
		c->status = frame_u32(head, payload);
		break;
	}
}

/* Write what can be written now. Return: -errno if nobody wants it. */
static int write_output(struct client *c, struct sink *s, short events)
{
	int n;

	if (!events)
		return 0;
	/*
	 * poll() promises no more than PIPE_BUF bytes; standard output may be
	 * shared, so it is not for us to make it non-blocking.
	 */
	n = bytes_write(&s->bytes, s->fd, PIPE_BUF);
	if (n < 0)
		return n;
	/* So the queue never has more than a window and a quarter (and prefixes). */
	if (s->owed >= FRAME_WINDOW / 4 && bytes_left(&s->bytes) < FRAME_WINDOW / 4) {
		frame_add_u32(&c->to_guest, 0, s->grant, s->owed);
		s->owed = 0;
	}
	return 0;
}

static void handle_signals(struct client *c)
{
	struct signalfd_siginfo info;

	while (read(c->signals, &info, sizeof(info)) == sizeof(info)) {
		/* The second time we leave; the keeper has the command killed. */
		if (c->signal)
			exit(128 + info.ssi_signo);
		c->signal = info.ssi_signo;
		c->leave_at = now_ms() + SIGNAL_MS;
		frame_add_u32(&c->to_guest, 0, FRAME_SIGNAL, info.ssi_signo);
	}
}

static int receive(struct client *c)
{
	struct frame_head head;
	const char *payload;
	ssize_t n = bytes_read(&c->from_guest, c->socket, 65536);
	int more;

	while ((more = frame_next(&c->from_guest, &head, &payload)) > 0) {
		handle_frame(c, &head, payload);
		bytes_take(&c->from_guest, sizeof(head) + head.length);
	}
	if (more < 0)
		return more;
	return n > 0 || n == -EAGAIN ? 0 : -ENOTCONN;
}

static bool has_output(const struct client *c)
{
	return bytes_left(&c->sinks[0].bytes) || bytes_left(&c->sinks[1].bytes);
}

/* Until the command has ended and all it wrote is written here. */
static int serve(struct client *c)
{
	while (!c->ended || has_output(c)) {
		struct pollfd polls[] = {
			{ c->ended ? -1 : c->socket, POLLIN, 0 },
			{ c->signals, POLLIN, 0 },
			{ c->in_ended || !c->window || c->ended ? -1 : STDIN_FILENO, POLLIN, 0 },
			{ bytes_left(&c->sinks[0].bytes) ? c->sinks[0].fd : -1, POLLOUT, 0 },
			{ bytes_left(&c->sinks[1].bytes) ? c->sinks[1].fd : -1, POLLOUT, 0 },
		};
		int64_t left = (int64_t)(c->leave_at - now_ms());
		int err = 0;

		if (bytes_left(&c->to_guest))
			polls[0].events |= POLLOUT;
		if (poll(polls, 5, !c->signal ? -1 : left > 0 ? left : 0) < 0 && errno != EINTR)
			return -errno;
		handle_signals(c);
		if (c->signal && now_ms() >= c->leave_at)
			exit(128 + c->signal);
		if (polls[0].revents & (POLLIN | POLLHUP | POLLERR))
			err = receive(c);
		if (polls[2].revents)
			read_input(c);
		for (int i = 0; i < 2; i++)
			/* Nobody reads us: be killed as any other writer (SIGPIPE). */
			if (write_output(c, &c->sinks[i], polls[3 + i].revents) < 0)
				return -EPIPE;
		if (!c->ended && bytes_write(&c->to_guest, c->socket, SIZE_MAX) < 0)
			err = -ENOTCONN;
		if (err && !c->ended) {
			/* Give out what came before the guest went. */
			c->ended = true;
			c->status = -1;
		}
	}
	return 0;
}

static int parse(struct client *c, int argc, char **argv)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "name", required_argument, NULL, 'n' },
		{ "log", required_argument, NULL, 'l' },
		{ "prefix", required_argument, NULL, 'p' },
		{ "no-stdin", no_argument, NULL, 'i' },
		{ "tied", no_argument, NULL, 't' },
		{ 0 }
	};
	int o;

	while ((o = getopt_long(argc, argv, "+", options, NULL)) >= 0) {
		switch (o) {
		case 's':
			c->socket_path = optarg;
			break;
		case 'n':
			c->name = optarg;
			break;
		case 'l':
			c->log_path = optarg;
			break;
		case 'p':
			c->prefix = optarg;
			break;
		case 'i':
			c->no_stdin = true;
			break;
		case 't':
			c->tied = true;
			break;
		default:
			return -1;
		}
	}
	if (optind == argc || !c->socket_path || !c->name || !c->log_path) {
		fprintf(stderr, "usage: weft-rackio run --socket S --name N --log F [--prefix P] [--no-stdin] [--tied] -- COMMAND...\n");
		return -1;
	}
	return optind;
}

static void prepare_signals(struct client *c)
{
	static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t handled;

	sigemptyset(&handled);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++) {
		struct sigaction old;

		/* A shell lets background jobs ignore SIGINT: so do we. */
		sigaction(passed_on[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			sigaddset(&handled, passed_on[i]);
	}
	sigprocmask(SIG_BLOCK, &handled, NULL);
	c->signals = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
}

/**
 * run_main() - weft-rackio run
 * @argc: number of arguments
 * @argv: arguments
 *
 * Return: the command's exit status, 128 plus the signal that ended it,
 * RACK_TROUBLE if the guest is not there (any more) or if the command succeeded
 * but the guest's kernel complained meanwhile.
 */
int run_main(int argc, char **argv)
{
	static struct client c = {
		.window = FRAME_WINDOW,
		.sinks = {
			{ .fd = STDOUT_FILENO, .grant = FRAME_GRANT_STDOUT },
			{ .fd = STDERR_FILENO, .grant = FRAME_GRANT_STDERR },
		},
	};
	int first = parse(&c, argc, argv), status, complaints;
	struct stat log = { 0 };

	if (first < 0)
		return RACK_TROUBLE;
	prepare_signals(&c);
	if (c.tied)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (stat(c.log_path, &log) != 0)
		log.st_size = 0;
	c.socket = connect_to(c.socket_path);
	if (c.socket < 0) {
		fprintf(stderr, "weft-rack: %s is not running; see weft-rack status\n", c.name);
		return RACK_TROUBLE;
	}
	if (send_command(&c, argv + first) < 0)
		return RACK_TROUBLE;
	if (c.no_stdin || isatty(STDIN_FILENO)) {
		c.in_ended = true;
		frame_add(&c.to_guest, 0, FRAME_STDIN, NULL, 0);
	}
	status = serve(&c);
	if (status == -EPIPE)
		return 128 + SIGPIPE;

	if (c.status == -1) {
		fprintf(stderr, "weft-rack: %s went away while it ran %s\n", c.name,
			argv[first]);
		status = RACK_TROUBLE;
	} else if (WIFSIGNALED(c.status)) {
		status = 128 + WTERMSIG(c.status);
	} else {
		status = WEXITSTATUS(c.status);
	}
	complaints = trouble_scan(c.log_path, c.name, log.st_size);
	return status ? status : complaints ? RACK_TROUBLE : 0;
}
