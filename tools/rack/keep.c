// SPDX-License-Identifier: GPL-2.0-only
/*
 * weft-rackio keep: runs one program (QEMU, a user-mode kernel, the switch) in the
 * background for as long as it is wanted, and passes the commands of clients to the
 * agent in it.
 *
 * The keeper holds a lock on a file while it lives: that is how others find it and
 * know that it is alive, whatever happened to process numbers meanwhile. The
 * program dies with its keeper, the keeper ends with its program.
 */
#include "apart.h"
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
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/clock.h"
#include "tools/common/number.h"

#define CLIENTS_MAX	256
/* Do not read from clients while this much waits to be sent to the guest. */
#define GUEST_BACKLOG	(1024 * 1024)
/* The program gets this long to end by itself. */
#define STOP_MS		2000
/* What a keeper needs to end, several times over: to wait too short leaves a rack behind. */
#define STOP_LIMIT_MS	30000

struct client {
	int		fd;		/* -1: free */
	uint32_t	session;
	bool		known;		/* the agent may have heard of it */
	struct bytes	in, out;
};

struct keeper {
	const char	*state_path;
	const char	*lock_path;
	const char	*log_path;
	const char	*channel_path;	/* the guest's end; NULL: no commands */
	const char	*serve_path;	/* the clients' end */
	/* Of a user-mode kernel, which inherits its end of the channel. */
	const char	*memory;	/* directory for its memory */
	int		inherited;
	size_t		line_room;	/* bytes that may be sent now */
	int		lock, state, signals, owner;
	int		channel, serve, guest;
	pid_t		pid;
	uint64_t	kill_at;	/* ms; 0: not stopping */
	bool		ready;		/* the agent has said hello */
	uint32_t	last_session;
	struct bytes	to_guest, from_guest;
	struct client	clients[CLIENTS_MAX];
};

/* The state file has one short line, which readers see whole. */
static void set_state(struct keeper *k, const char *text, int number)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %-10d\n", text, number);

	if (pwrite(k->state, line, n, 0) != n || ftruncate(k->state, n) != 0)
		fprintf(stderr, "weft-rackio: cannot write %s: %s\n", k->state_path,
			strerror(errno));
}

static int listen_at(const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(name.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(name.sun_path, path);
	unlink(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&name, sizeof(name)) ||
			listen(fd, 64))) {
		int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

/* Let go of the caller's terminal, files and process group. */
static int detach(struct keeper *k)
{
	int log = open(k->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (log < 0 || null < 0)
		return -1;
	setsid();
	if (dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		return -1;
	close(null);
	close(log);
	return 0;
}

static int take_lock(struct keeper *k)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	k->lock = open(k->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (k->lock < 0)
		return -1;
	return fcntl(k->lock, F_SETLK, &whole);
}

static pid_t start_program(struct keeper *k, char **argv)
{
	pid_t self = getpid(), pid;
	sigset_t none;

	if (k->memory && apart_unshare())
		return -1;
	pid = fork();
	if (pid)
		return pid;
	/* Out of reach of a ^C meant for others, gone when the keeper is. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!k->memory && getppid() != self)
		_exit(RACK_TROUBLE);
	if (k->memory) {
		/* Else it would itself hold the end by which it knows its keeper. */
		close(k->guest);
		if (dup2(k->inherited, APART_CHANNEL_FD) < 0 || apart_enter(k->memory) ||
		    apart_first()) {
			fprintf(stderr, "weft-rack: cannot make room for a user-mode kernel: %s\n",
				strerror(errno));
			_exit(RACK_TROUBLE);
		}
	}
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	fprintf(stderr, "weft-rack: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void drop_client(struct keeper *k, struct client *c)
{
	if (c->fd < 0)
		return;
	if (c->known)
		frame_add(&k->to_guest, c->session, FRAME_KILL, NULL, 0);
	close(c->fd);
	c->fd = -1;
	bytes_free(&c->in);
	bytes_free(&c->out);
}

static void accept_client(struct keeper *k)
{
	int fd = accept4(k->serve, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &k->clients[i];

		if (c->fd >= 0)
			continue;
		*c = (struct client){ .fd = fd, .session = ++k->last_session };
		return;
	}
	close(fd);	/* the client says that the guest went away */
}

/* Pass whole frames on to the guest, under the client's session number. */
static int forward(struct keeper *k, struct client *c)
{
	struct frame_head head;
	const char *payload;
	int n;

	while ((n = frame_next(&c->in, &head, &payload)) > 0) {
		frame_add(&k->to_guest, c->session, head.type, payload, head.length);
		bytes_take(&c->in, sizeof(head) + head.length);
		c->known = true;
	}
	return n;
}

static void serve_client(struct keeper *k, struct client *c, short events)
{
	ssize_t n = -EAGAIN;

	if (events & (POLLIN | POLLHUP | POLLERR))
		n = bytes_read(&c->in, c->fd, 65536);
	if ((n <= 0 && n != -EAGAIN) || forward(k, c) < 0) {
		drop_client(k, c);
		return;
	}
	if (bytes_left(&c->out) && bytes_write(&c->out, c->fd, SIZE_MAX) < 0)
		drop_client(k, c);
}

/* Pass a frame on to the client that it is for, if that is still there. */
static void deliver(struct keeper *k, const struct frame_head *head, const char *payload)
{
	if (head->type == FRAME_HELLO) {
		if (frame_u32(head, payload) != FRAME_VERSION) {
			fprintf(stderr, "weft-rackio: the agent is of another version\n");
			return;
		}
		k->ready = true;
		if (k->memory)
			kill(k->pid, APART_UP);
		set_state(k, "ready", 0);
		return;
	}
	if (head->type == FRAME_TAKEN) {
		k->line_room += frame_u32(head, payload);
		return;
	}
	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &k->clients[i];

		if (c->fd < 0 || c->session != head->session)
			continue;
		frame_add(&c->out, 0, head->type, payload, head->length);
		if (head->type == FRAME_EXIT)
			c->known = false;	/* nothing left to kill */
		if (bytes_write(&c->out, c->fd, SIZE_MAX) < 0)
			drop_client(k, c);
		return;
	}
}

static void serve_guest(struct keeper *k, short events)
{
	struct frame_head head;
	const char *payload;
	ssize_t n = -EAGAIN;

	if (events & (POLLIN | POLLHUP | POLLERR))
		n = bytes_read(&k->from_guest, k->guest, 65536);
	if (n <= 0 && n != -EAGAIN) {
		close(k->guest);	/* QEMU is about to end */
		k->guest = -1;
		return;
	}
	while ((n = frame_next(&k->from_guest, &head, &payload)) > 0) {
		deliver(k, &head, payload);
		bytes_take(&k->from_guest, sizeof(head) + head.length);
	}
	if (n < 0) {
		fprintf(stderr, "weft-rackio: the guest sent something that is no frame\n");
		kill(k->pid, SIGKILL);
	}
}

static void send_to_guest(struct keeper *k)
{
	int n;

	/* Before its hello nobody would read it, and QEMU has little room. */
	if (k->guest < 0 || !k->ready)
		return;
	n = bytes_write(&k->to_guest, k->guest, k->memory ? k->line_room : SIZE_MAX);
	if (n < 0) {
		close(k->guest);
		k->guest = -1;
	} else if (k->memory) {
		k->line_room -= n;
	}
}

static void stop_program(struct keeper *k)
{
	if (k->kill_at)
		return;
	/* A user-mode kernel would shut down, which is not what pulling the plug does. */
	kill(k->pid, k->memory ? SIGKILL : SIGTERM);
	k->kill_at = now_ms() + STOP_MS;
}

/* Return: true once the program has ended. */
static bool handle_signals(struct keeper *k)
{
	struct signalfd_siginfo info;
	bool ended = false;
	int status;

	while (read(k->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD) {
			stop_program(k);
			continue;
		}
		if (waitpid(k->pid, &status, WNOHANG) != k->pid)
			continue;
		ended = true;
		if (WIFSIGNALED(status))
			set_state(k, "killed", WTERMSIG(status));
		else
			set_state(k, "exited", WEXITSTATUS(status));
	}
	return ended;
}

enum { POLL_SIGNALS, POLL_OWNER, POLL_CHANNEL, POLL_SERVE, POLL_GUEST, POLL_CLIENTS };

static void fill_polls(const struct keeper *k, struct pollfd *polls)
{
	bool room = bytes_left(&k->to_guest) < GUEST_BACKLOG;

	polls[POLL_SIGNALS] = (struct pollfd){ k->signals, POLLIN, 0 };
	polls[POLL_OWNER] = (struct pollfd){ k->kill_at ? -1 : k->owner, POLLIN, 0 };
	polls[POLL_CHANNEL] = (struct pollfd){ k->guest < 0 ? k->channel : -1, POLLIN, 0 };
	polls[POLL_SERVE] = (struct pollfd){ k->serve, POLLIN, 0 };
	polls[POLL_GUEST] = (struct pollfd){ k->guest, POLLIN, 0 };
	if (k->ready && bytes_left(&k->to_guest) && (!k->memory || k->line_room))
		polls[POLL_GUEST].events |= POLLOUT;
	for (int i = 0; i < CLIENTS_MAX; i++) {
		const struct client *c = &k->clients[i];
		short events = (room ? POLLIN : 0) | (bytes_left(&c->out) ? POLLOUT : 0);

		/* Without a wish, a hang-up would wake us again and again. */
		polls[POLL_CLIENTS + i] = (struct pollfd){ events ? c->fd : -1, events, 0 };
	}
}

/* Until the program has ended. */
static void keep(struct keeper *k)
{
	static struct pollfd polls[POLL_CLIENTS + CLIENTS_MAX];

	for (;;) {
		int64_t left = (int64_t)(k->kill_at - now_ms());

		fill_polls(k, polls);
		if (poll(polls, POLL_CLIENTS + CLIENTS_MAX,
			 !k->kill_at ? -1 : left > 0 ? left : 100) < 0)
			continue;
		if (handle_signals(k))
			return;
		if (k->kill_at && now_ms() >= k->kill_at)
			kill(k->pid, SIGKILL);
		if (polls[POLL_OWNER].revents)
			stop_program(k);
		if (polls[POLL_CHANNEL].revents) {
			k->guest = accept4(k->channel, NULL, NULL,
					   SOCK_CLOEXEC | SOCK_NONBLOCK);
			/* Whatever was half read came over another connection. */
			bytes_free(&k->from_guest);
			continue;
		}
		if (polls[POLL_GUEST].revents)
			serve_guest(k, polls[POLL_GUEST].revents);
		for (int i = 0; i < CLIENTS_MAX; i++)
			if (polls[POLL_CLIENTS + i].revents)
				serve_client(k, &k->clients[i],
					     polls[POLL_CLIENTS + i].revents);
		if (polls[POLL_SERVE].revents)
			accept_client(k);
		send_to_guest(k);
	}
}

/* In the process that stays. Return: 0, or -1 with errno set. */
static int keeper_start(struct keeper *k, char **argv)
{
	sigset_t handled;

	sigemptyset(&handled);
	sigaddset(&handled, SIGCHLD);
	sigaddset(&handled, SIGTERM);
	sigaddset(&handled, SIGINT);
	sigaddset(&handled, SIGHUP);
	sigprocmask(SIG_BLOCK, &handled, NULL);
	signal(SIGPIPE, SIG_IGN);

	k->signals = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
	k->state = open(k->state_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (k->signals < 0 || k->state < 0)
		return -1;
	if (k->channel_path) {
		k->channel = listen_at(k->channel_path);
		if (k->channel < 0)
			return -1;
	}
	if (k->serve_path) {
		k->serve = listen_at(k->serve_path);
		if (k->serve < 0)
			return -1;
	}
	if (k->memory) {
		k->guest = apart_channel(&k->inherited);
		if (k->guest < 0)
			return -1;
	}
	if (detach(k) < 0)
		return -1;
	set_state(k, "starting", 0);
	k->pid = start_program(k, argv);
	if (k->memory)
		close(k->inherited);
	return k->pid < 0 ? -1 : 0;
}

static int parse(struct keeper *k, int argc, char **argv)
{
	static const struct option options[] = {
		{ "state", required_argument, NULL, 's' },
		{ "lock", required_argument, NULL, 'l' },
		{ "log", required_argument, NULL, 'o' },
		{ "channel", required_argument, NULL, 'c' },
		{ "serve", required_argument, NULL, 'e' },
		{ "owner", required_argument, NULL, 'p' },
		{ "memory", required_argument, NULL, 'm' },
		{ 0 }
	};
	uint64_t pid;
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) >= 0) {
		switch (c) {
		case 's':
			k->state_path = optarg;
			break;
		case 'l':
			k->lock_path = optarg;
			break;
		case 'o':
			k->log_path = optarg;
			break;
		case 'c':
			k->channel_path = optarg;
			break;
		case 'e':
			k->serve_path = optarg;
			break;
		case 'm':
			k->memory = optarg;
			break;
		case 'p':
			k->owner = -1;
			errno = EINVAL;
			if (!number_decimal(optarg, 1, INT_MAX, &pid))
				k->owner = syscall(SYS_pidfd_open, (pid_t)pid, 0);
			if (k->owner < 0) {
				fprintf(stderr, "weft-rack: the owner %s of the rack: %s\n",
					optarg, strerror(errno));
				return -1;
			}
			break;
		default:
			return -1;
		}
	}
	if (optind == argc || !k->state_path || !k->lock_path || !k->log_path ||
	    (k->memory && k->channel_path) ||
	    (!k->channel_path && !k->memory) != !k->serve_path) {
		fprintf(stderr, "usage: weft-rackio keep --state F --lock F --log F [{--channel S | --memory DIR} --serve S] [--owner PID] -- COMMAND...\n");
		return -1;
	}
	return optind;
}

/**
 * keep_main() - weft-rackio keep
 * @argc: number of arguments
 * @argv: arguments
 *
 * Returns to its caller once the program has been started; the keeper goes on in
 * the background.
 *
 * Return: exit status, 0 if the program was started.
 */
int keep_main(int argc, char **argv)
{
	static struct keeper k = {
		.lock = -1, .state = -1, .signals = -1, .owner = -1,
		.channel = -1, .serve = -1, .guest = -1, .line_room = FRAME_LINE_ROOM,
	};
	int first, started[2], err = 0;
	pid_t pid;

	for (int i = 0; i < CLIENTS_MAX; i++)
		k.clients[i].fd = -1;
	first = parse(&k, argc, argv);
	if (first < 0)
		return RACK_TROUBLE;
	pid = pipe2(started, O_CLOEXEC) < 0 ? -1 : fork();
	if (pid < 0) {
		perror("weft-rackio keep");
		return RACK_TROUBLE;
	}
	if (pid) {
		close(started[1]);
		if (read(started[0], &err, sizeof(err)) == sizeof(err) && !err)
			return 0;
		fprintf(stderr, "weft-rack: cannot keep %s: %s\n", argv[first],
			err == EAGAIN || err == EACCES ? "it runs already" :
			err ? strerror(err) : "it died at once");
		return RACK_TROUBLE;
	}

	close(started[0]);
	/* Record locks belong to a process: only here, after the fork. */
	if (take_lock(&k) < 0 || keeper_start(&k, argv + first) < 0)
		err = errno;
	if (write(started[1], &err, sizeof(err)) != sizeof(err) || err)
		_exit(RACK_TROUBLE);
	close(started[1]);
	keep(&k);
	if (k.serve_path) {
		unlink(k.serve_path);
		if (k.channel_path)
			unlink(k.channel_path);
	}
	_exit(0);
}

/**
 * lock_holder() - who keeps what belongs to a lock file
 * @path: the lock file
 *
 * Return: the keeper's process, 0 if there is none.
 */
pid_t lock_holder(const char *path)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR | O_CLOEXEC);
	pid_t pid = 0;

	if (fd < 0)
		return 0;
	if (fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK)
		pid = whole.l_pid;
	close(fd);
	return pid;
}

/**
 * stop_main() - weft-rackio stop [--check] LOCK...
 * @argc: number of arguments
 * @argv: arguments
 *
 * Ends all keepers at once and waits until they have; with --check only tells
 * whether they live.
 *
 * Return: exit status: 0 if all have ended (--check: live), 1 if not.
 */
int stop_main(int argc, char **argv)
{
	bool check = argc > 1 && !strcmp(argv[1], "--check");
	uint64_t end = now_ms() + STOP_LIMIT_MS;
	bool alive, over, sent = false;

	if (check) {
		for (int i = 2; i < argc; i++)
			if (!lock_holder(argv[i]))
				return 1;
		return 0;
	}
	do {
		/* The last look is one after the time: the machine may have stood still. */
		over = now_ms() >= end;
		alive = false;
		for (int i = 1; i < argc; i++) {
			pid_t pid = lock_holder(argv[i]);

			if (pid <= 0)
				continue;
			alive = true;
			if (!sent)
				kill(pid, SIGTERM);
		}
		sent = true;
		if (!alive)
			return 0;
		pause_ms(10);
	} while (!over);
	fprintf(stderr, "weft-rack: something of the rack does not end\n");
	return 1;
}
