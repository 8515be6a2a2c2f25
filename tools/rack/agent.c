// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent in a guest: its first process. Runs the commands that come over the
 * virtio-serial port (in a user-mode kernel: a serial line) and sends back what they
 * print and how they end. See frame.h.
 *
 * One thread and a poll loop. A command is the leader of a session of its own, so
 * that everything it started can be found and killed when its client goes away;
 * what it put into a session of its own (a daemon) stays.
 */
#include "frame.h"
#include "line.h"
#include "rackio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/clock.h"
#include "tools/common/number.h"

#define PORT_NAME	"weft.exec"
/* Stop reading from commands while this much waits to be sent to the host. */
#define PORT_BACKLOG	(1024 * 1024)
/* Between asking a command to end and killing it, once its client is gone. */
#define KILL_AFTER_MS	1000
#define SESSIONS_MAX	128
#define WHY_MAX		(PATH_MAX + 256)	/* why a command does not start */

/* One of the two streams that a command writes. */
struct output {
	int		fd;	/* read end of the pipe; -1: closed */
	uint32_t	window;	/* bytes that may be sent still */
	enum frame_type	type;
};

struct session {
	struct session	*next;
	uint32_t	id;
	struct bytes	command;	/* until it is started */
	pid_t		pid;		/* 0: not started; also its session in the kernel */
	bool		exited;
	int		status;		/* of wait() */
	int		in;		/* write end of its standard input; -1: closed */
	bool		in_ended;	/* no more input will come */
	struct bytes	input;		/* at most a window */
	struct output	out[2];
	bool		orphan;		/* its client is gone: send nothing */
	uint64_t	kill_at;	/* ms; orphans only */
};

static struct session *sessions;
static int session_count;
static int port = -1;
static bool port_is_line;
static struct bytes to_host, from_host;

static struct session *find_session(uint32_t id)
{
	struct session *s;

	for (s = sessions; s; s = s->next)
		if (s->id == id)
			return s;
	return NULL;
}

static struct session *add_session(uint32_t id)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->id = id;
	s->in = -1;
	s->out[0] = (struct output){ -1, FRAME_WINDOW, FRAME_STDOUT };
	s->out[1] = (struct output){ -1, FRAME_WINDOW, FRAME_STDERR };
	s->next = sessions;
	sessions = s;
	session_count++;
	return s;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void remove_session(struct session *gone)
{
	struct session **at = &sessions;

	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	session_count--;
	close_fd(&gone->in);
	close_fd(&gone->out[0].fd);
	close_fd(&gone->out[1].fd);
	bytes_free(&gone->command);
	bytes_free(&gone->input);
	free(gone);
}

/* The kernel's session number of a process, -1 if there is none. */
static pid_t session_of(const char *pid)
{
	char path[64], text[512];
	const char *end;
	size_t length;
	int sid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	length = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[length] = '\0';
	/* The name of the program, in (), may contain anything. */
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %*d %*d %d", &sid) == 1 ? sid : -1;
}

/*
 * Signal all of a session. Its process groups are not enough: shells and
 * timeout(1) make groups of their own.
 */
static void signal_session(pid_t sid, int sig)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	uint64_t pid;

	while (dir && (entry = readdir(dir)))
		if (!number_decimal(entry->d_name, 1, INT_MAX, &pid) &&
		    session_of(entry->d_name) == sid)
			kill((pid_t)pid, sig);
	if (dir)
		closedir(dir);
}

static void send_exit(struct session *s, int status)
{
	if (!s->orphan)
		frame_add_u32(&to_host, s->id, FRAME_EXIT, status);
}

/* Say why a command did not start, as if it had printed that itself. */
static void refuse(struct session *s, const char *why, int status)
{
	char text[WHY_MAX + 16];
	int n = snprintf(text, sizeof(text), "weft-rack: %s\n", why);

	frame_add(&to_host, s->id, FRAME_STDERR, text, n);
	send_exit(s, status << 8);
	remove_session(s);
}

/* What a client asks to be run: strings of its message. */
struct command {
	char		**argv;		/* ends with NULL, and so does envp */
	char		**envp;
	const char	*directory;
};

static bool parse_command(struct command *c, char *strings, size_t length)
{
	size_t count = 0, args = 0, vars = 0;

	for (size_t at = 0; at < length; at += strlen(strings + at) + 1)
		count++;
	c->argv = calloc(count + 1, sizeof(*c->argv));
	c->envp = calloc(count + 1, sizeof(*c->envp));
	c->directory = "/";
	if (!c->argv || !c->envp)
		return false;
	for (size_t at = 0; at < length; at += strlen(strings + at) + 1) {
		char *text = strings + at + 1;

		switch (strings[at]) {
		case FRAME_TAG_DIRECTORY:
			c->directory = text;
			break;
		case FRAME_TAG_ARGUMENT:
			c->argv[args++] = text;
			break;
		case FRAME_TAG_VARIABLE:
			c->envp[vars++] = text;
			break;
		}
	}
	return args > 0;
}

static void free_command(struct command *c)
{
	free(c->argv);
	free(c->envp);
}

/*
 * posix_spawn() does not copy the agent's memory, which would cost a user-mode kernel as much as
 * the command's own.  Return: 0 or an errno.
 */
static int spawn(pid_t *pid, const struct command *c, const int fds[3])
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	char **own = environ;
	sigset_t none, pipe;
	int err = 0;

	sigemptyset(&none);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
				       POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &pipe);
	posix_spawn_file_actions_init(&files);
	for (int i = 0; i < 3 && !err; i++)
		err = posix_spawn_file_actions_adddup2(&files, fds[i], i);
	environ = c->envp;	/* PATH is looked up there */
	if (!err)
		err = posix_spawnp(pid, c->argv[0], &files, &how, c->argv, c->envp);
	environ = own;
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return err;
}

/* Run the command of @s.  Return: 0; else its exit status, and in @why (WHY_MAX) a sentence. */
static int run_command(struct session *s, const int fds[3], char *why)
{
	struct bytes *b = &s->command;
	struct command c = { 0 };
	char host[65] = "the guest";
	int err, status = 0;

	gethostname(host, sizeof(host) - 1);
	if (!bytes_left(b) || b->data[b->end - 1] != '\0' ||
	    !parse_command(&c, b->data + b->start, bytes_left(b))) {
		snprintf(why, WHY_MAX, "the command came damaged");
		status = RACK_TROUBLE;
	} else if (chdir(c.directory)) {
		snprintf(why, WHY_MAX, "%s: cannot change to %s: %s", host, c.directory,
			 strerror(errno));
		status = RACK_TROUBLE;
	} else {
		err = spawn(&s->pid, &c, fds);
		if (err) {
			s->pid = 0;
			snprintf(why, WHY_MAX, "%s: cannot run %s: %s", host, c.argv[0], strerror(err));
			status = err == ENOENT ? 127 : 126;
		}
	}
	if (chdir("/"))
		fprintf(stderr, "weft-rackio: cannot change to /: %s\n", strerror(errno));
	free_command(&c);
	return status;
}

static void start_command(struct session *s)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 }, fds[3], status;
	char why[WHY_MAX];

	if (port_is_line)
		line_look_again();
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
		snprintf(why, sizeof(why), "the guest has no room for another process");
		status = RACK_TROUBLE;
	} else {
		fds[0] = in[0];
		fds[1] = out[1];
		fds[2] = err[1];
		status = run_command(s, fds, why);
	}
	close_fd(&in[0]);
	close_fd(&out[1]);
	close_fd(&err[1]);
	bytes_free(&s->command);
	s->in = in[1];
	s->out[0].fd = out[0];
	s->out[1].fd = err[0];
	if (status) {
		refuse(s, why, status);
		return;
	}
	fcntl(s->in, F_SETFL, O_NONBLOCK);
	fcntl(s->out[0].fd, F_SETFL, O_NONBLOCK);
	fcntl(s->out[1].fd, F_SETFL, O_NONBLOCK);
}

static void orphan_session(struct session *s)
{
	if (!s->pid || s->exited) {
		remove_session(s);
		return;
	}
	s->orphan = true;
	s->kill_at = now_ms() + KILL_AFTER_MS;
	close_fd(&s->in);
	close_fd(&s->out[0].fd);
	close_fd(&s->out[1].fd);
	signal_session(s->pid, SIGHUP);
	signal_session(s->pid, SIGTERM);
}

static void handle_frame(const struct frame_head *head, const char *payload)
{
	struct session *s = find_session(head->session);

	if (!s && head->type == FRAME_COMMAND) {
		s = add_session(head->session);
		if (!s) {
			frame_add_u32(&to_host, head->session, FRAME_EXIT, RACK_TROUBLE << 8);
			return;
		}
	}
	/* What comes for a session that has ended crossed its end on the way. */
	if (!s || s->orphan)
		return;

	switch (head->type) {
	case FRAME_COMMAND:
		if (s->pid || bytes_left(&s->command) + head->length > FRAME_COMMAND_MAX)
			break;
		bytes_add(&s->command, payload, head->length);
		break;
	case FRAME_START:
		if (s->pid)
			break;
		if (session_count > SESSIONS_MAX)
			refuse(s, "too many commands at once in this guest", RACK_TROUBLE);
		else
			start_command(s);
		break;
	case FRAME_STDIN:
		if (!head->length)
			s->in_ended = true;
		else if (s->in >= 0)
			bytes_add(&s->input, payload, head->length);
		else	/* nobody reads it any more: let the sender go on */
			frame_add_u32(&to_host, s->id, FRAME_GRANT_STDIN, head->length);
		break;
	case FRAME_GRANT_STDOUT:
		s->out[0].window += frame_u32(head, payload);
		break;
	case FRAME_GRANT_STDERR:
		s->out[1].window += frame_u32(head, payload);
		break;
	case FRAME_SIGNAL:
		if (s->pid)
			signal_session(s->pid, frame_u32(head, payload));
		break;
	case FRAME_KILL:
		orphan_session(s);
		break;
	}
}

/* Pass input on to the command. */
static void feed(struct session *s)
{
	int n;

	if (s->in < 0)
		return;
	if (bytes_left(&s->input)) {
		n = bytes_write(&s->input, s->in, FRAME_WINDOW);
		if (n > 0)
			frame_add_u32(&to_host, s->id, FRAME_GRANT_STDIN, n);
		if (n < 0) {	/* EPIPE: the command does not want it */
			frame_add_u32(&to_host, s->id, FRAME_GRANT_STDIN,
				      bytes_left(&s->input));
			bytes_free(&s->input);
			close_fd(&s->in);
		}
	}
	if (s->in_ended && !bytes_left(&s->input))
		close_fd(&s->in);
}

/* Pass on what a command has written. */
static void drain(struct session *s, struct output *o)
{
	char text[FRAME_PAYLOAD_MAX];

	while (o->fd >= 0 && o->window && bytes_left(&to_host) < PORT_BACKLOG) {
		size_t most = o->window < sizeof(text) ? o->window : sizeof(text);
		ssize_t n = read(o->fd, text, most);

		if (n > 0) {
			frame_add(&to_host, s->id, o->type, text, n);
			o->window -= n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		/*
		 * Nothing there. If the command has ended, all that it wrote has
		 * been read; what it left behind in the background may still hold
		 * the pipe, but does not hold up the answer.
		 */
		if (n == 0 || errno != EAGAIN || s->exited)
			close_fd(&o->fd);
		return;
	}
}

static void reap(void)
{
	struct session *s;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (s = sessions; s; s = s->next) {
			if (s->pid != pid || s->exited)
				continue;
			s->exited = true;
			s->status = status;
		}
	}
}

/* Move everything that can move; drop the sessions that have ended. */
static void serve_sessions(void)
{
	struct session *s, *next;

	for (s = sessions; s; s = next) {
		next = s->next;
		if (!s->pid)
			continue;
		if (s->orphan) {
			if (now_ms() < s->kill_at)
				continue;
			signal_session(s->pid, SIGKILL);
			if (s->exited)
				remove_session(s);
			else
				s->kill_at = now_ms() + KILL_AFTER_MS;
			continue;
		}
		feed(s);
		drain(s, &s->out[0]);
		drain(s, &s->out[1]);
		if (s->exited && s->out[0].fd < 0 && s->out[1].fd < 0) {
			send_exit(s, s->status);
			remove_session(s);
		}
	}
}

static void add_poll(struct pollfd *polls, int *count, int fd, short events)
{
	polls[*count].fd = fd;
	polls[*count].events = events;
	polls[*count].revents = 0;
	++*count;
}

/* Sleep until something can move. The first entry is the port. */
static short wait_for_work(int signals)
{
	/* No more than SESSIONS_MAX are started, the others have no files. */
	static struct pollfd polls[2 + 3 * SESSIONS_MAX];
	bool room = bytes_left(&to_host) < PORT_BACKLOG;
	uint64_t now = now_ms();
	int64_t timeout = -1;
	struct session *s;
	int count = 0;

	add_poll(polls, &count, port, POLLIN | (bytes_left(&to_host) ? POLLOUT : 0));
	add_poll(polls, &count, signals, POLLIN);
	for (s = sessions; s; s = s->next) {
		if (s->orphan) {
			int64_t left = s->kill_at > now ? (int64_t)(s->kill_at - now) : 0;

			if (timeout < 0 || left < timeout)
				timeout = left;
			continue;
		}
		if (s->in >= 0 && bytes_left(&s->input))
			add_poll(polls, &count, s->in, POLLOUT);
		for (int i = 0; i < 2; i++)
			if (s->out[i].fd >= 0 && s->out[i].window && room)
				add_poll(polls, &count, s->out[i].fd, POLLIN);
	}
	if (poll(polls, count, timeout) < 0)
		return 0;
	return polls[0].revents;
}

static int serve_port(int signals)
{
	struct signalfd_siginfo info;
	struct frame_head head;
	const char *payload;
	short events;
	int n;

	events = wait_for_work(signals);
	while (read(signals, &info, sizeof(info)) == sizeof(info))
		;
	reap();

	/* The keeper never leaves before the guest does. Do not spin if it did. */
	if (events & POLLHUP)
		pause_ms(100);
	if (events & POLLIN) {
		n = bytes_read(&from_host, port, 65536);
		if (n < 0 && n != -EAGAIN)
			return n;
		if (n > 0 && port_is_line)
			frame_add_u32(&to_host, 0, FRAME_TAKEN, n);
	}
	while ((n = frame_next(&from_host, &head, &payload)) > 0) {
		handle_frame(&head, payload);
		bytes_take(&from_host, sizeof(head) + head.length);
	}
	if (n < 0)
		return n;

	serve_sessions();
	/* The driver takes at most 32 KiB a write, and copies. */
	while (bytes_left(&to_host)) {
		n = bytes_write(&to_host, port, 32768);
		if (n < 0)
			return n;
		if (!n)
			break;
	}
	return 0;
}

/**
 * agent_main() - weft-rackio agent [PORT]: the name of a port, or the path of a line
 * @argc: number of arguments
 * @argv: arguments
 *
 * Return: only on an error, which ends the guest if this is its first process.
 */
int agent_main(int argc, char **argv)
{
	const struct rlimit files = { 65536, 1048576 };
	const struct rlimit locked = { RLIM_INFINITY, RLIM_INFINITY };
	const char *name = argc > 1 ? argv[1] : PORT_NAME;
	sigset_t child;
	int signals, err;

	/* of all commands */
	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_MEMLOCK, &locked);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	signal(SIGPIPE, SIG_IGN);
	signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	port_is_line = name[0] == '/';
	port = port_is_line ? line_open(name) : line_find(name);
	if (port < 0 || signals < 0) {
		fprintf(stderr, "weft-rackio: cannot open the port %s: %s\n", name,
			strerror(errno));
		return 1;
	}
	frame_add_u32(&to_host, 0, FRAME_HELLO, FRAME_VERSION);
	do {
		err = serve_port(signals);
	} while (!err);
	fprintf(stderr, "weft-rackio: the port %s failed: %s\n", name, strerror(-err));
	return 1;
}
